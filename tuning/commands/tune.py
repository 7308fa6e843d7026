"""`ravenlab tune`: search, validate, recommend; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tuning.commands.bringing import BringOption, bring
from tuning.commands.crews import BackendOption, ClusterOption, JobsOption, hire

if TYPE_CHECKING:
    from studies.spec import StudySpec


NAMES = {"space": "--range", "fixed": "--fix", "settings": "--set"}
"""How fields of a study are called on the command line."""


def tune(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENARIO…", help="Names, effects joined by '+', or ./yours.py:name.", show_default=False
        ),
    ] = None,
    horizon: Annotated[str | None, typer.Option(metavar="T[,T…]", help="Steps; several make several studies.")] = None,
    trace: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A .csv or .parquet of your own: one row a step, one column an arm."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A .csv or .parquet of your own: columns step, arm, reward[, propensity]."),
    ] = None,
    window: Annotated[
        str | None, typer.Option(metavar="W", help="Rows of a window. [default: an eighth of the trace]")
    ] = None,
    minimize: Annotated[bool, typer.Option("--minimize", help="The trace or log holds costs.")] = False,
    study: Annotated[
        str | None, typer.Option("--study", metavar="FILE", help="A study file, or a shipped one by name.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Whose parameters are searched; ./yours.py:Name brings your own. [default: raven-ucb]"),
    ] = None,
    trials: Annotated[str | None, typer.Option(metavar="N", help="Candidates. [default: 200]")] = None,
    replications: Annotated[str | None, typer.Option(metavar="R", help="Worlds each one plays. [default: 200]")] = None,
    sampler: Annotated[str | None, typer.Option(help="tpe, gp, cmaes, qmc, random or grid. [default: tpe]")] = None,
    pruner: Annotated[str | None, typer.Option(help="none, hyperband or race. [default: none]")] = None,
    objective: Annotated[
        str | None, typer.Option(help="mean, quantile:0.9, cvar:0.9, after:10% or reward. [default: mean]")
    ] = None,
    arms: Annotated[str | None, typer.Option(metavar="K", help="Arms. [default: the scenario's]")] = None,
    noise: Annotated[str | None, typer.Option(help="normal, laplace, logistic, uniform, student-t, bernoulli.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the scenario, name=value; may be given again.")
    ] = None,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="Where a parameter is searched, name=low:high.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", help="A parameter that is not searched, name=value.")
    ] = None,
    own: BringOption = None,
    robust: Annotated[
        bool, typer.Option("--robust", help="One setting for all scenarios, when nobody knows which it will be.")
    ] = False,
    measure: Annotated[
        str | None,
        typer.Option(help="With --robust, what counts of relative regrets: worst, mean or cvar:0.5. [default: worst]"),
    ] = None,
    pareto: Annotated[
        bool, typer.Option("--pareto", help="With --robust, every setting that no other beats in all scenarios.")
    ] = False,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --robust, write settings × scenarios to a file.")
    ] = None,
    batch: Annotated[str | None, typer.Option(metavar="B", help="Candidates asked at a time. [default: 16]")] = None,
    selection: Annotated[
        str | None, typer.Option(metavar="R", help="Fresh worlds to choose on. [default: 2000]")
    ] = None,
    report: Annotated[str | None, typer.Option(metavar="R", help="Fresh worlds to report on. [default: 2000]")] = None,
    seed: Annotated[str | None, typer.Option(metavar="S", help="Names worlds and search. [default: 0]")] = None,
    name: Annotated[str | None, typer.Option(help="The study's name; made from its fields if not given.")] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Where studies are kept. [default: sqlite:///studies.sqlite3]")
    ] = None,
    jobs: JobsOption = None,
    backend: BackendOption = "threads",
    cluster: ClusterOption = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="S", help="Stop after so many seconds; rerun to go on.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the recommendations as JSON.")] = False,
) -> None:
    """Search a policy's parameters, validate the best on fresh worlds, and recommend.

    A rerun of the same command goes on where it stopped; a larger --trials extends the study.

    Example: `ravenlab tune variance-drift blips --horizon 1000,10000 --trials 100`
    """
    from functools import partial

    from environments.errors import InputError
    from environments.own_scenarios import bring_scenario
    from policies.own import bring_policy
    from studies.files import load_robust_tables, load_study_file
    from studies.reading import spec_from
    from studies.robust import RobustSpec, robust_spec_from
    from studies.shipped import find_study_file
    from studies.urls import storage_url
    from tuning.commands.attaching import attach_to
    from tuning.commands.outcome import print_outcome
    from tuning.commands.robust import print_plan, run_and_print
    from tuning.commands.words import parse_assignments, parse_ranges, whole_number, whole_numbers
    from tuning.progress import Reporter
    from tuning.running import Ran, run_study
    from tuning.side_by_side import side_by_side

    numbers = {
        "trials": trials,
        "replications": replications,
        "arms": arms,
        "batch": batch,
        "selection": selection,
        "report": report,
        "seed": seed,
    }
    fields: dict[str, Any] = {key: whole_number(f"--{key}", text) for key, text in numbers.items() if text is not None}
    bring(own)
    words = {
        "policy": None if policy is None else bring_policy(policy),
        "sampler": sampler,
        "pruner": pruner,
        "objective": objective,
        "name": name,
    }
    fields |= {key: text for key, text in words.items() if text is not None}
    settings = parse_assignments("--set", setting or [])
    if noise is not None:
        settings["noise"] = noise
    if settings:
        fields["settings"] = settings
    if ranges:
        fields["space"] = parse_ranges(ranges)
    if fix:
        fields["fixed"] = parse_assignments("--fix", fix)
    fields |= _file_fields(trace, log, window, minimize, bool(scenarios), horizon)
    if robust and trace is not None:
        raise InputError("--robust takes scenarios, so --trace can't be given beside it.")
    over_worlds = {"measure": measure, "pareto": pareto or None, "csv": csv}
    over_worlds = {key: given for key, given in over_worlds.items() if given is not None}
    if over_worlds and not robust:
        raise InputError(f"--{next(iter(over_worlds))} belongs to --robust.")
    worlds: list[RobustSpec] = []
    specs: list[StudySpec] = []
    if study is not None:
        if scenarios or horizon or fields or robust:
            given = "SCENARIO" if scenarios else "--horizon" if horizon else f"--{next(iter(fields), 'robust')}"
            raise InputError(f"--study takes everything from its file, so {given} can't be given beside it.")
        path = find_study_file(study)
        specs, worlds = load_study_file(path), load_robust_tables(path)
    elif trace is not None or log is not None:
        specs = [spec_from(fields, names={**NAMES, "horizon": "--window"})]
    else:
        if not scenarios:
            raise InputError(
                "SCENARIO is missing: name one or more (ravenlab list scenarios), or give --study, --trace or --log."
            )
        horizons: list[int | None] = [*whole_numbers("--horizon", horizon)] if horizon is not None else [None]
        brought = [bring_scenario(one) for one in scenarios]
        if robust:
            fields |= {key: over_worlds[key] for key in ("measure", "pareto") if key in over_worlds}
            worlds = [robust_spec_from({"scenarios": brought, "horizon": steps, **fields}, NAMES) for steps in horizons]
        else:
            asked = [{"scenario": one, "horizon": steps, **fields} for one in brought for steps in horizons]
            specs = [spec_from(each, names=NAMES) for each in asked]
    if name is not None and len(specs) + len(worlds) > 1:
        raise InputError(f"--name fits one study but {len(specs) + len(worlds)} were asked for.")
    crews = hire(jobs, backend, cluster)
    seconds = _seconds(timeout)
    if dry_run:
        print_plan(worlds)
        if specs:
            _print_plan(specs)
        return
    if worlds and specs and as_json:
        raise InputError("--json fits studies or searches over several scenarios but the file holds both; use export.")
    url = storage_url(storage)

    def one(spec: StudySpec) -> Ran:
        done = run_study(spec, url, crew, seconds, reporter.listener())
        if done.recommendation is not None:
            attach_to(url, [done.study])
        return done

    with crews as crew:
        if worlds:
            run_and_print(worlds, url, crew, seconds, quiet, as_json, csv)
        with Reporter(quiet, many=crew.side_by_side > 1) as reporter:
            ran = side_by_side(crew, [partial(one, spec) for spec in specs])
    if specs:
        print_outcome(ran, as_json)


def _file_fields(
    trace: str | None, log: str | None, window: str | None, minimize: bool, scenarios: bool, horizon: str | None
) -> dict[str, Any]:
    """The fields of a study on a trace or a log; the rows of a window are its horizon."""
    from environments.errors import InputError
    from tuning.commands.words import whole_number

    if window is not None and trace is None:
        raise InputError("--window goes with --trace.")
    if trace is None and log is None:
        if minimize:
            raise InputError("--minimize goes with --trace or --log.")
        return {}
    kind = "log" if trace is None else "trace"
    if scenarios or horizon is not None or (trace is not None and log is not None):
        instead = "SCENARIO" if scenarios else "--log" if horizon is None else "--horizon"
        hint = " (say --window)" if instead == "--horizon" and kind == "trace" else ""
        raise InputError(f"--{kind} takes the place of a scenario, so {instead}{hint} can't be given beside it.")
    fields: dict[str, Any] = {kind: log if trace is None else trace, "minimize": minimize}
    if window is not None:
        fields["horizon"] = whole_number("--window", window)
    return fields


def _seconds(timeout: str | None) -> float | None:
    from environments.errors import InputError

    if timeout is None:
        return None
    try:
        seconds = float(timeout)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= 1e9:
        raise InputError(f"--timeout must be a number of seconds, at least 0, but got {timeout!r}.")
    return seconds


def _print_plan(specs: list[StudySpec]) -> None:
    total = 0
    for spec in specs:
        steps = spec.simulated_steps()
        total += steps
        typer.echo(
            f"{spec.study_name()}: {spec.trials} trials × {spec.replications} replications, "
            f"{spec.sampler}, pruner {spec.pruner}, {steps:.3g} steps"
        )
    typer.echo(f"{len(specs)} {'study' if len(specs) == 1 else 'studies'}, {total:.3g} simulated steps in all")
