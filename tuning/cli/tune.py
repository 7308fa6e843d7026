"""`ravenlab tune --robust`: one setting for an unknown world, or a Pareto front over several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tuning.cli import options
from tuning.cli import tune_options as special
from tuning.cli.arguments import bring, hire
from tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.results.recommendation import Baseline, Recommendation
    from studies.results.robust import EvaluatedSetting, Front, RobustRecommendation
    from studies.spec.robust import RobustSpec
    from studies.spec.study import StudySpec
    from tuning.progress import Reporter
    from tuning.robust.run import RobustRun
    from tuning.study_run import StudyRun
    from tuning.workers.local import Workers


LISTED = 20
"""Members of a front that are printed."""


def run_and_print(
    specs: Sequence[RobustSpec],
    url: str,
    workers: Workers,
    timeout: float | None,
    quiet: bool,
    as_json: bool,
    csv: Path | None,
) -> bool:
    """Run what was asked for, say what came of it, and give whether anything did; notes and figures are attached."""
    from studies.export.csv_table import write_robust
    from tuning.cli.dashboard import attach_to
    from tuning.cli.output import saying_what_is_kept
    from tuning.files import atomic_write, check_file_writable
    from tuning.progress import Reporter
    from tuning.robust.run import run_robust

    if csv is not None:
        check_file_writable(csv)
    ran = []
    with Reporter(quiet) as reporter, saying_what_is_kept(reporter, url):
        for spec in specs:
            ran.append(run_robust(spec, url, workers, timeout, reporter.listener))
            attach_to(url, [one.study for one in ran[-1].own if one.recommendation is not None])
            if ran[-1].found is not None:
                attach_to(url, [ran[-1].study])
    found = [one.found for one in ran if one.found is not None]
    if csv is not None and found:
        with atomic_write(csv) as file:
            file.write(write_robust(found))
    _print(ran, found, as_json)
    return bool(found)


def _print(ran: Sequence[RobustRun], found: Sequence[RobustRecommendation | Front], as_json: bool) -> None:
    from studies.export import export
    from studies.results.robust import Front, RobustRecommendation
    from tuning.cli.output import print_json, put

    if as_json:
        fronts = [one for one in found if isinstance(one, Front)]
        if fronts:
            document = {"fronts": [front.as_object() for front in fronts]}
            print_json(document)
        else:
            put(export([one for one in found if isinstance(one, RobustRecommendation)], "json"))
    else:
        for one in found:
            print_found(one)
    for each in ran:
        if not each.fresh:
            typer.echo(f"{each.study}: already complete.", err=True)
        elif each.found is None:
            typer.echo(f"{each.study}: time limit reached; rerun the same command to resume.", err=True)


def print_found(found: RobustRecommendation | Front) -> None:
    """The settings in every world, and what follows from them in words."""
    from studies.results.describe import describe_front, describe_robust
    from studies.results.robust import Front
    from tuning.cli.output import say

    if isinstance(found, Front):
        kept = found.kept()
        more = f"; the first {LISTED} of {len(kept)}" if len(kept) > LISTED else ""
        _print_worlds(f"{found.study}: Pareto front on held-out worlds{more}", found.scenarios, kept[:LISTED])
        lines = describe_front(found)
    else:
        title = f"{found.study}: regret, and its excess over the setting tuned for the scenario"
        _print_worlds(title, found.scenarios, found.contenders)
        lines = describe_robust(found)
    for line in lines:
        say(line)


def _print_worlds(title: str, scenarios: Sequence[str], contenders: Sequence[EvaluatedSetting]) -> None:
    from environments.text import format_number, format_percent
    from studies.symbols import format_params
    from tuning.cli.output import print_table

    columns = ["setting", "parameters", *scenarios, "price (95 %)"]
    rows = []
    for each in contenders:
        cells = [f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)})" for world in each.worlds]
        price = (
            f"{format_percent(each.price.mean)} ({format_percent(each.price.low)} to {format_percent(each.price.high)})"
        )
        rows.append([each.name, format_params(each.params), *cells, price])
    print_table(title, columns, rows, numbers=columns[2:], stacked=True)


def print_outcome(ran: list[StudyRun], as_json: bool) -> None:
    """The recommendations on stdout; what was left undone, and what to type next, on stderr."""
    found = [one.recommendation for one in ran if one.recommendation is not None]
    if as_json:
        from studies.export import export
        from tuning.cli.output import put

        put(export(found, "json"))
    elif found:
        _print_table(found)
    for one in ran:
        if not one.fresh:
            typer.echo(f"{one.study}: already complete.", err=True)
        elif not one.finished:
            typer.echo(
                f"{one.study}: time limit reached after {one.trials:,} trials; rerun the same command to resume.",
                err=True,
            )


def say_next(ran: list[StudyRun], storage: str | None) -> None:
    """What can be done with what was found, on stderr: a line a command, to be copied whole.

    Words that a shell would cut stand in quotes.
    """
    from shlex import quote

    from studies.storage.urls import mask_url
    from tuning.cli.output import called

    command = called()
    where = "" if storage is None else f" --storage {quote(mask_url(storage))}"
    names = [quote(one.study) for one in ran if one.recommendation is not None]
    which = f" {names[0]}" if len(names) == 1 else ""
    typer.echo("Next, to use it in a program:", err=True)
    typer.echo(f"  {command} export{which}{where} -o recommended.json", err=True)
    typer.echo("or to look at it:", err=True)
    typer.echo(f"  {command} report{where}", err=True)
    typer.echo(f"  {command} dashboard{where}", err=True)


def _print_table(found: list[Recommendation]) -> None:
    """Print parameters and regret per study, and the extra regret of the paper's advice and of the defaults."""
    from environments.text import format_interval
    from studies.symbols import format_params
    from tuning.cli.output import print_table

    rows = []
    for one in found:
        versus = {rival.name: _cost(rival, one.recorded is not None) for rival in one.versus}
        regret = format_interval(one.regret.mean, one.regret.low, one.regret.high, level=None)
        use = format_params(one.params)
        rows.append([one.study, use, regret, versus.get("paper", "–"), versus.get("defaults", "–")])
    columns = ["study", "use", "regret (95 %)", "paper's advice", "defaults"]
    print_table(
        f"Recommended parameters, evaluated on {_evaluated_on(found)}; baselines: extra regret",
        columns,
        rows,
        numbers=columns[2:],
        stacked=True,
    )
    for one in found:
        for line in _describe_data(one):
            typer.echo(line)


def _evaluated_on(found: list[Recommendation]) -> str:
    """Name the held-out part: new worlds, or the last part of a recorded file."""
    kinds = {"held-out worlds" if one.recorded is None else "held-out data" for one in found}
    return " or ".join(sorted(kinds, reverse=True))


def _describe_data(one: Recommendation) -> list[str]:
    """Describe the regret on a trace or log: its definition and its reliability."""
    from studies.results.describe import describe_regret

    return [] if one.recorded is None else describe_regret(one)


def _cost(rival: Baseline, on_a_file: bool) -> str:
    """Format the extra regret of a baseline with its interval, or say that it is not significant."""
    from environments.text import format_number
    from studies.results.describe import INCONCLUSIVE, WITHIN_NOISE

    more = f"{'+' if rival.difference >= 0 else ''}{format_number(rival.difference)}"
    if on_a_file and rival.same:
        return "identical"
    if not rival.significant:
        return f"{more} ({INCONCLUSIVE if on_a_file else WITHIN_NOISE})"
    return f"{more} ({format_number(rival.low)} to {format_number(rival.high)})"


MANY_IN_PYTHON = 1e8
"""Steps of a plain class from which it is said how long they take."""

A_SECOND_IN_PYTHON = 3e5
"""Steps of a simple plain class that a core of today takes in a second."""


def tune(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    study: special.StudyFileOption = None,
    own: options.PluginOption = None,
    trace: special.TraceOption = None,
    log: special.LogOption = None,
    window: special.WindowOption = None,
    minimize: special.MinimizeOption = False,
    policy: special.PolicyOption = None,
    trials: special.TrialsOption = None,
    replications: special.ReplicationsOption = None,
    sampler: special.SamplerOption = None,
    pruner: special.PrunerOption = None,
    objective: special.ObjectiveOption = None,
    ranges: special.RangeOption = None,
    fix: special.FixOption = None,
    batch: special.BatchOption = None,
    timeout: special.TimeoutOption = None,
    selection: special.SelectionOption = None,
    report: special.ReportOption = None,
    robust: special.RobustOption = False,
    measure: special.MeasureOption = None,
    pareto: special.ParetoOption = False,
    csv: special.CsvOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    dry_run: special.DryRunOption = False,
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
    from policies.engine.plugins import load_policy_plugin
    from studies.storage.urls import storage_url
    from tuning.cli.arguments import (
        file_fields,
        from_file,
        from_words,
        given,
        numbers,
        parameters_of,
        print_plan,
        seconds,
        settings_of,
    )

    counts = {"trials": trials, "replications": replications, "arms": arms, "batch": batch}
    fields = numbers({**counts, "selection": selection, "report": report, "seed": seed})
    bring(own)
    words = {"sampler": sampler, "pruner": pruner, "objective": objective, "name": name}
    fields |= given({"policy": None if policy is None else load_policy_plugin(policy), **words})
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
        found = bool(asked.worlds) and run_and_print(asked.worlds, url, crew, limit, quiet, as_json, csv)
        ran = _run(specs, url, crew, limit, quiet)
    if specs:
        print_outcome(ran, as_json)
    found = found or any(one.recommendation is not None for one in ran)
    if found and not quiet and not as_json:
        say_next(ran, storage)


def _run(specs: Sequence[StudySpec], url: str, workers: Workers, limit: float | None, quiet: bool) -> list[StudyRun]:
    """Run all studies, and attach to each what the dashboard shows of it."""
    from tuning.cli.dashboard import attach_to
    from tuning.cli.output import saying_what_is_kept
    from tuning.progress import Reporter
    from tuning.study_run import run_study
    from tuning.workers.local import run_concurrently

    def one(spec: StudySpec) -> StudyRun:
        done = run_study(spec, url, workers, limit, reporter.listener())
        if done.recommendation is not None:
            attach_to(url, [done.study])
        return done

    with Reporter(quiet, many=workers.concurrent_studies > 1) as reporter, saying_what_is_kept(reporter, url):
        _warn_of_plain_classes(specs, reporter)
        return run_concurrently(workers, [partial(one, spec) for spec in specs])


def _warn_of_plain_classes(specs: Sequence[StudySpec], reporter: Reporter) -> None:
    """The usual budget is made for compiled rules; a class in Python takes long enough to look hung."""
    from policies import find_policy
    from policies.engine.plugins import PlainPolicy

    steps = sum(spec.simulated_steps() for spec in specs if issubclass(find_policy(spec.policy), PlainPolicy))
    if steps > MANY_IN_PYTHON:
        minutes = steps / A_SECOND_IN_PYTHON / 60
        reporter.line(
            f"A plain class plays at Python's speed: {steps:.2g} steps, about {minutes:.0f} min of one core. A smaller"
            " --horizon, --trials or --replications takes less; --backend loky uses all cores."
        )
