"""`ravenlab tune`: search, validate, recommend; rerun it to go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuning.commands import completing, options
from tuning.commands.bringing import bring
from tuning.commands.crews import hire

if TYPE_CHECKING:
    from studies.spec import StudySpec
    from tuning.crew import Crew
    from tuning.running import Ran

DATA = "Your own data"
WORLDS = "One setting for several scenarios"


def tune(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--study",
            metavar="FILE",
            help="A study file, or a shipped one by name (ravenlab list studies), in place of all this.",
            autocompletion=completing.study_files,
            rich_help_panel=options.PROBLEM,
        ),
    ] = None,
    own: options.BringOption = None,
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A .csv or .parquet: one row a step, one column an arm.", rich_help_panel=DATA
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A .csv or .parquet: columns step, arm, reward[, propensity].", rich_help_panel=DATA
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(metavar="W", help="Rows of a window. [default: an eighth of the trace]", rich_help_panel=DATA),
    ] = None,
    minimize: Annotated[
        bool, typer.Option("--minimize", help="The trace or log holds costs.", rich_help_panel=DATA)
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Whose parameters are searched; ./yours.py:Name brings your own. [default: raven-ucb]",
            autocompletion=completing.policies,
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option(metavar="N", help="Candidates. [default: 200]", rich_help_panel=options.SEARCH)
    ] = None,
    replications: Annotated[
        str | None,
        typer.Option(metavar="R", help="Worlds each one plays. [default: 200]", rich_help_panel=options.SEARCH),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(options.SAMPLERS[:-1])} or {options.SAMPLERS[-1]}. [default: tpe]",
            autocompletion=completing.words(*options.SAMPLERS),
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    pruner: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(options.PRUNERS[:-1])} or {options.PRUNERS[-1]}. [default: none]",
            autocompletion=completing.words(*options.PRUNERS),
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="mean, quantile:0.9, cvar:0.9, after:10% or reward. [default: mean]",
            autocompletion=completing.words("mean", "quantile:0.9", "cvar:0.9", "after:10%", "reward"),
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="Where a parameter is searched; may be given again.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="NAME=VALUE",
            help="A parameter that is not searched; may be given again.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(metavar="B", help="Candidates asked at a time. [default: 16]", rich_help_panel=options.SEARCH),
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="S", help="Stop after so many seconds; rerun to go on.", rich_help_panel=options.SEARCH),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="Fresh worlds to choose on. [default: 2000]", rich_help_panel=options.VALIDATION
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="Fresh worlds to report on. [default: 2000]", rich_help_panel=options.VALIDATION
        ),
    ] = None,
    robust: Annotated[
        bool,
        typer.Option("--robust", help="Search it, for when nobody knows which it will be.", rich_help_panel=WORLDS),
    ] = False,
    measure: Annotated[
        str | None,
        typer.Option(
            help="What counts of relative regrets: worst, mean or cvar:0.5. [default: worst]",
            autocompletion=completing.words("worst", "mean", "cvar:0.5"),
            rich_help_panel=WORLDS,
        ),
    ] = None,
    pareto: Annotated[
        bool,
        typer.Option(
            "--pareto", help="Find every setting that no other beats in all scenarios.", rich_help_panel=WORLDS
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write settings × scenarios to a file.", rich_help_panel=WORLDS),
    ] = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = "threads",
    cluster: options.ClusterOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and run nothing.", rich_help_panel=options.WORKERS)
    ] = False,
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Search parameters, validate them on fresh worlds, and recommend.

    A rerun of the same command goes on where it stopped; a larger --trials extends the study.

    Examples:
        # one scenario at its own horizon
        ravenlab tune blips
        # four studies: two scenarios, two horizons
        ravenlab tune variance-drift blips --horizon 1000,10000 --trials 100
        # a study file that comes along, on all cores of a cluster
        ravenlab tune --study quick --cluster tcp://localhost:8786
        # your own data: milliseconds of servers, the fewer the better
        ravenlab tune --trace latency.csv --minimize
        # one setting for whichever of three worlds it will be
        ravenlab tune blips periodic variance-drift --robust
    """
    from environments.errors import InputError
    from policies.own import bring_policy
    from studies.urls import storage_url
    from tuning.commands.asking import (
        file_fields,
        from_file,
        from_words,
        given,
        numbers,
        parameters_of,
        seconds,
        settings_of,
    )
    from tuning.commands.outcome import print_outcome, say_next
    from tuning.commands.plans import print_plan
    from tuning.commands.robust import run_and_print

    counts = {"trials": trials, "replications": replications, "arms": arms, "batch": batch}
    fields = numbers({**counts, "selection": selection, "report": report, "seed": seed})
    bring(own)
    words = {"sampler": sampler, "pruner": pruner, "objective": objective, "name": name}
    fields |= given({"policy": None if policy is None else bring_policy(policy), **words})
    fields |= given({"settings": settings_of(setting, noise) or None}) | parameters_of(ranges, fix)
    fields |= file_fields(trace, log, window, minimize, bool(scenarios), horizon)
    over_worlds = given({"measure": measure, "pareto": pareto, "csv": csv})
    if over_worlds and not robust:
        raise InputError(f"--{next(iter(over_worlds))} belongs to --robust.")
    if study is not None:
        beside = given({"SCENARIO": scenarios, "--horizon": horizon, "--noise": noise, "--robust": robust})
        asked = from_file(study, list(beside), fields)
    else:
        asked = from_words(scenarios or [], horizon, fields, over_worlds if robust else None)
    if name is not None and len(asked) > 1:
        raise InputError(f"--name fits one study but {len(asked)} were asked for.")
    specs = list({spec.study_name(): spec for spec in asked.specs}.values())  # one that is named twice is run once
    crews = hire(jobs, backend, cluster)
    limit = seconds(timeout)
    if dry_run:
        print_plan(specs, asked.worlds, as_json)
        return
    if asked.worlds and specs and as_json:
        raise InputError("--json fits studies or searches over several scenarios but the file holds both; use export.")
    url = storage_url(storage)
    with crews as crew:
        if asked.worlds:
            run_and_print(asked.worlds, url, crew, limit, quiet, as_json, csv)
        ran = _run(specs, url, crew, limit, quiet)
    if specs:
        print_outcome(ran, as_json)
    if not quiet and not as_json:
        say_next(ran, storage)


def _run(specs: Sequence[StudySpec], url: str, crew: Crew, limit: float | None, quiet: bool) -> list[Ran]:
    """Run all studies, and attach to each what the dashboard shows of it."""
    from tuning.commands.attaching import attach_to
    from tuning.commands.keeping import saying_what_is_kept
    from tuning.progress import Reporter
    from tuning.running import run_study
    from tuning.side_by_side import side_by_side

    def one(spec: StudySpec) -> Ran:
        done = run_study(spec, url, crew, limit, reporter.listener())
        if done.recommendation is not None:
            attach_to(url, [done.study])
        return done

    with Reporter(quiet, many=crew.side_by_side > 1) as reporter, saying_what_is_kept(reporter, url):
        return side_by_side(crew, [partial(one, spec) for spec in specs])
