"""`ravenlab tune`: search parameters for one scenario each, for a recording, or one setting for several scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import options
from ravenlab.tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from ravenlab.studies.results.recommendation import Recommendation
    from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
    from ravenlab.studies.spec.robust import RobustSpec
    from ravenlab.studies.spec.study import StudySpec
    from ravenlab.tuning.progress import Reporter
    from ravenlab.tuning.robust.run import RobustRun
    from ravenlab.tuning.study_run import StudyRun
    from ravenlab.tuning.workers.local import Workers

SLOW_PYTHON_STEPS = 1e8  # steps of a plain Python policy from which on a warning states how long they take
PYTHON_STEPS_PER_SECOND = 3e5  # steps per second of a simple plain Python policy on one core


def tune(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    study: options.StudyFileOption = None,
    plugin: options.PluginOption = None,
    trace: options.TraceOption = None,
    log: options.LogOption = None,
    window: options.WindowOption = None,
    minimize: options.MinimizeOption = False,
    estimator: options.EstimatorOption = None,
    policy: options.PolicyOption = None,
    trials: options.TrialsOption = None,
    replications: options.ReplicationsOption = None,
    sampler: options.SamplerOption = None,
    pruner: options.PrunerOption = None,
    objective: options.ObjectiveOption = None,
    ranges: options.RangeOption = None,
    fix: options.FixOption = None,
    batch: options.BatchOption = None,
    timeout: options.TimeoutOption = None,
    selection: options.SelectionOption = None,
    report: options.ReportOption = None,
    robust: options.RobustOption = False,
    measure: options.MeasureOption = None,
    csv: options.RobustCsvOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    dry_run: options.DryRunOption = False,
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Tune a policy, and validate the parameters on held-out worlds.

    Completed trials are saved: rerun the same command to resume, or with more --trials to extend the study.

    Examples:
        # one scenario at its default horizon
        ravenlab tune blips
        # four studies: two scenarios, two horizons
        ravenlab tune variance-drift blips --horizon 1000,10000 --trials 100
        # a bundled study file on a Dask cluster
        ravenlab tune --study quick --cluster tcp://localhost:8786
        # recorded response times of servers in milliseconds, where less is better
        ravenlab tune --trace latency.csv --minimize
        # one setting for three scenarios
        ravenlab tune blips periodic variance-drift --robust
    """
    from ravenlab.policies.engine.ahead import compile_ahead

    if scenarios and cluster is None and not dry_run:
        compile_ahead([policy or StudyDefaults.policy])  # before numba is imported: compilation takes longest
    from ravenlab.common.checks import check_nonnegative
    from ravenlab.common.errors import InputError
    from ravenlab.policies.engine.plugins import load_policy_plugin
    from ravenlab.studies.storage.urls import storage_url
    from ravenlab.tuning.cli import arguments
    from ravenlab.tuning.cli.arguments import assignments, drop_unset
    from ravenlab.tuning.files import check_file_writable

    arguments.load_plugins(plugin)
    fields = drop_unset(
        {
            "trials": trials,
            "replications": replications,
            "arms": arms,
            "batch": batch,
            "selection": selection,
            "report": report,
            "seed": seed,
            "policy": None if policy is None else load_policy_plugin(policy),
            "sampler": sampler,
            "pruner": pruner,
            "objective": objective,
            "estimator": estimator,
            "name": name,
            "settings": arguments.scenario_settings(setting, noise),
            "space": assignments("--range", ranges),
            "fixed": assignments("--fix", fix),
        }
    )
    fields |= arguments.recorded_fields(trace, log, window, minimize, bool(scenarios), horizon is not None)
    robust_fields = drop_unset({"measure": measure})
    if not robust:
        for option in [*robust_fields, *drop_unset({"csv": csv})]:
            raise InputError(f"--{option} requires --robust.")
    if study is not None:
        excluded = drop_unset({"SCENARIO": scenarios, "--horizon": horizon, "--noise": noise, "--robust": robust})
        plan = arguments.plan_from_file(study, list(excluded), fields)
    else:
        plan = arguments.plan_from_options(scenarios or [], horizon, fields, robust_fields if robust else None)
    arguments.check_one_name(name, len(plan))
    plan.studies = list({spec.study_name(): spec for spec in plan.studies}.values())
    arguments.print_warnings(plan.all_studies())
    pool = arguments.choose_workers(jobs, backend, cluster)
    limit = None if timeout is None else check_nonnegative("timeout", timeout)
    if dry_run:
        arguments.print_plan(plan, as_json)
        return
    if plan.robust and plan.studies and as_json:
        raise InputError("--json can't print studies and robust searches of one file together; use ravenlab export.")
    if csv is not None:
        check_file_writable(csv)
    url = storage_url(storage)
    if cluster is None:
        compile_ahead(spec.policy for spec in plan.all_studies() if spec.source.kind == "scenario")
    with pool as workers:
        robust_runs = _run_robust(plan.robust, url, workers, limit, quiet) if plan.robust else []
        study_runs = _run_studies(plan.studies, url, workers, limit, quiet)
    recommendations = [run.recommendation for run in study_runs if run.recommendation is not None]
    robust_results = [run.result for run in robust_runs if run.result is not None]
    if csv is not None:
        _write_robust_csv(robust_results, csv)
    if as_json:
        _print_json(recommendations, robust_results)
    else:
        _print_results(recommendations, robust_results)
    finished = [*(result.study for result in robust_results), *(result.study for result in recommendations)]
    _print_states([*robust_runs, *study_runs], finished)
    if finished and not quiet and not as_json:
        _print_next_steps([recommendation.study for recommendation in recommendations], storage)


def _run_robust(
    specs: Sequence[RobustSpec], url: str, workers: Workers, limit: float | None, quiet: bool
) -> list[RobustRun]:
    """Run all robust searches, and attach notes for the dashboard to their studies."""
    from ravenlab.tuning.cli.dashboard import attach_to_studies
    from ravenlab.tuning.cli.output import describing_interrupts
    from ravenlab.tuning.progress import Reporter
    from ravenlab.tuning.robust.run import run_robust

    runs = []
    with Reporter(quiet) as reporter, describing_interrupts(reporter, url):
        for spec in specs:
            robust = run_robust(spec, url, workers, limit, reporter.listener)
            finished = [run.study for run in robust.scenario_runs if run.recommendation is not None]
            attach_to_studies(url, finished if robust.result is None else [*finished, robust.study], figures=False)
            runs.append(robust)
    return runs


def _run_studies(
    specs: Sequence[StudySpec], url: str, workers: Workers, limit: float | None, quiet: bool
) -> list[StudyRun]:
    """Run all studies, and attach to each its note for the dashboard."""
    from ravenlab.tuning.cli.dashboard import attach_to_studies
    from ravenlab.tuning.cli.output import describing_interrupts
    from ravenlab.tuning.progress import Reporter
    from ravenlab.tuning.study_run import run_study
    from ravenlab.tuning.workers.local import run_concurrently

    def run(spec: StudySpec) -> StudyRun:
        result = run_study(spec, url, workers, limit, reporter.listener())
        reporter.add_steps(result.study, 0.0, done=True)
        if result.recommendation is not None:
            attach_to_studies(url, [result.study], figures=False)
        return result

    steps = {spec.study_name(): float(spec.simulated_steps()) for spec in specs}
    with (
        Reporter(quiet, many=workers.concurrent_studies > 1, steps=steps) as reporter,
        describing_interrupts(reporter, url),
    ):
        _warn_of_python_policies(specs, reporter)
        return run_concurrently(workers, [partial(run, spec) for spec in specs])


def _warn_of_python_policies(specs: Sequence[StudySpec], reporter: Reporter) -> None:
    """Warn that plain Python policies take long: the default budget is meant for compiled ones."""
    from ravenlab.common.text import format_approximate
    from ravenlab.policies import find_policy
    from ravenlab.policies.engine.plugins import PlainPolicy

    steps = sum(spec.simulated_steps() for spec in specs if issubclass(find_policy(spec.policy), PlainPolicy))
    if steps > SLOW_PYTHON_STEPS:
        minutes = format_approximate(steps / PYTHON_STEPS_PER_SECOND / 60)
        reporter.line(
            f"Plain Python policies are slow: {format_approximate(steps)} steps take about {minutes} minutes on one"
            " core. Reduce --horizon, --trials or --replications, or use all cores with --backend loky."
        )


def _write_robust_csv(results: Sequence[RobustRecommendation], path: Path) -> None:
    from ravenlab.studies.export.csv_table import write_robust
    from ravenlab.tuning.files import atomic_write

    if results:
        with atomic_write(path) as file:
            file.write(write_robust(results))


def _print_json(recommendations: Sequence[Recommendation], robust_results: Sequence[RobustRecommendation]) -> None:
    """Print the results of studies or of robust searches; a command has only one of them."""
    from ravenlab.studies.export import export
    from ravenlab.tuning.cli.output import print_exact

    print_exact(export([*recommendations, *robust_results], "json"))


def _print_results(recommendations: Sequence[Recommendation], robust_results: Sequence[RobustRecommendation]) -> None:
    for result in robust_results:
        print_robust(result)
    if recommendations:
        _print_recommendations(recommendations)


def _print_states(runs: Sequence[StudyRun | RobustRun], finished: Sequence[str]) -> None:
    """Print to stderr which studies were complete before, and which reached the time limit."""
    from ravenlab.tuning.cli.output import print_message

    for run in runs:
        if run.already_complete:
            print_message(f"{run.study}: already complete.")
        elif run.study not in finished:
            print_message(
                f"{run.study}: time limit reached after {run.trials:,} trials; rerun the same command to resume."
            )


def _print_recommendations(recommendations: Sequence[Recommendation]) -> None:
    """Print parameters and regret per study, and the extra regret of the paper's advice and of the defaults."""
    from ravenlab.common.text import format_interval
    from ravenlab.studies.results.baselines import format_difference
    from ravenlab.studies.results.describe import describe_failures, describe_regret, describe_verdict, format_failures
    from ravenlab.studies.results.naming import list_baselines
    from ravenlab.studies.results.recorded import describe_unit
    from ravenlab.studies.symbols import format_params
    from ravenlab.tuning.cli.output import print_line, print_table

    for recommendation in recommendations:
        name = f"{recommendation.study}: " if len(recommendations) > 1 else ""
        for line in (describe_verdict(recommendation), *describe_unit(recommendation)):
            print_line(f"{name}{line}")
    shown = list_baselines(recommendations)
    rows = []
    for recommendation in recommendations:
        baselines = {each.name: format_difference(each) for each in recommendation.comparisons}
        regret = recommendation.regret
        interval = format_interval(regret, name="")
        rows.append(
            [
                recommendation.study,
                format_params(recommendation.params),
                f"{interval}{recommendation.regret_unit}",
                format_failures(recommendation.failures),
                *(baselines.get(name, "–") for name in shown),
            ]
        )
    held_out = {"worlds" if recommendation.recorded is None else "data" for recommendation in recommendations}
    columns = ["study", "parameters", "regret (95 % CI)", "failures", *shown.values()]
    print_table(
        f"Recommended parameters, evaluated on held-out {' or '.join(sorted(held_out, reverse=True))};"
        " baselines: extra regret",
        columns,
        rows,
        numbers=columns[2:],
        if_too_wide="stack",
    )
    for recommendation in recommendations:
        if recommendation.recorded is not None:
            for line in describe_regret(recommendation):
                print_line(line)
        elif recommendation.failures is not None and not recommendation.failures.reliable:
            print_line(describe_failures(recommendation.failures, recommendation.regret.replications)[-1])


def _print_next_steps(studies: Sequence[str], storage: str | None) -> None:
    """Print commands that use the recommendations to stderr; names are quoted for the shell."""
    from shlex import quote

    from ravenlab.studies.storage.urls import mask_url
    from ravenlab.tuning.cli.output import command_name

    command = command_name()
    where = "" if storage is None else f" --storage {quote(mask_url(storage))}"
    study = f" {quote(studies[0])}" if len(studies) == 1 else ""
    typer.echo("Next, to use the parameters in a program:", err=True)
    typer.echo(f"  {command} export{study}{where} -o recommended.json", err=True)
    typer.echo("or to view the results:", err=True)
    typer.echo(f"  {command} report{where}", err=True)
    typer.echo(f"  {command} dashboard{where}", err=True)


def print_robust(result: RobustRecommendation) -> None:
    """Print the conclusions, and the settings in every scenario."""
    from ravenlab.studies.results.describe import describe_robust
    from ravenlab.studies.results.naming import list_contenders
    from ravenlab.tuning.cli.output import print_line

    for line in describe_robust(result):
        print_line(line)
    title = f"{result.study}: regret (excess over the parameters tuned for the scenario)"
    _print_settings(title, result.scenarios, list_contenders(result))


def _print_settings(title: str, scenarios: Sequence[str], settings: Sequence[EvaluatedSetting]) -> None:
    from ravenlab.common.text import format_interval, format_number, format_percent
    from ravenlab.studies.symbols import format_params
    from ravenlab.tuning.cli.output import print_table

    columns = ["setting", "parameters", *scenarios, "excess (95 % CI)"]
    rows = []
    for setting in settings:
        cells = [f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)})" for world in setting.worlds]
        excess = format_interval(setting.price, name="", format_value=format_percent)
        rows.append([setting.name, format_params(setting.params), *cells, excess])
    print_table(title, columns, rows, numbers=columns[2:], if_too_wide="stack")
