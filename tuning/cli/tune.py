"""`ravenlab tune`: search parameters for one scenario each, for a recording, or one setting for several scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from ravenlab.common.checks import check_nonnegative
from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_document, print_line
from ravenlab.studies.export import export
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.storage.urls import mask_url
from ravenlab.tuning.cli import arguments, options
from ravenlab.tuning.cli.fields import STUDY_FIELDS, drop_unset, takes_fields
from ravenlab.tuning.cli.output import command_name, print_exact, print_message
from ravenlab.tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from ravenlab.tuning.study_run import StudyRun


@takes_fields(STUDY_FIELDS)
def tune(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    study: options.StudyFileOption = None,
    plugin: options.PluginOption = None,
    timeout: options.TimeoutOption = None,
    no_map: options.NoMapOption = False,
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
    **fields: Any,
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
        # the same for a policy that runs 50,000 steps without a restart
        ravenlab tune --trace latency.csv --minimize --horizon 50k --keep-state
        # one setting for three scenarios
        ravenlab tune blips periodic variance-drift --robust
    """
    from ravenlab.policies.engine.ahead import compile_ahead

    if scenarios and cluster is None and not dry_run:
        compile_ahead(
            [fields.get("policy", StudyDefaults.policy)]
        )  # before numba is imported: compilation takes longest
    from ravenlab.studies.export.csv_table import write_robust
    from ravenlab.studies.kinds import ROBUST, TUNE
    from ravenlab.studies.results.documents import MANY, recommendations_documents
    from ravenlab.tuning.files import check_file_writable, write_text

    arguments.load_plugins(plugin)
    fields |= drop_unset({"name": name})
    fields |= {"map": False} if no_map else {}
    arguments.set_recorded(fields, bool(scenarios), horizon is not None)
    robust_fields = drop_unset({"measure": measure})
    if not robust:
        for option in [*robust_fields, *drop_unset({"csv": csv})]:
            raise InputError(f"--{option} requires --robust.")
    if study is not None:
        noise = "noise" in fields.get("settings", {})
        excluded = drop_unset({"SCENARIO": scenarios, "--horizon": horizon, "--noise": noise, "--robust": robust})
        plan = arguments.plan_from_file(study, list(excluded), fields)
    else:
        plan = arguments.plan_from_options(scenarios or [], horizon, fields, robust_fields if robust else None)
    arguments.print_warnings(plan)
    pool = arguments.choose_workers(jobs, backend, cluster)
    limit = None if timeout is None else check_nonnegative("timeout", timeout)
    if dry_run:
        arguments.print_plan(plan, as_json)
        return
    if plan.of_kind(ROBUST) and plan.of_kind(TUNE) and as_json:
        raise InputError("--json can't print studies and robust searches of one file together; use ravenlab export.")
    if csv is not None:
        check_file_writable(csv)
    runs = arguments.run(plan, pool, storage, quiet, limit)
    results = [run.result for run in runs if run.result is not None]
    recommendations = [result for result in results if isinstance(result, TUNE.result)]
    robust_results = [result for result in results if isinstance(result, ROBUST.result)]
    if csv is not None and robust_results:
        write_text(csv, write_robust(robust_results))
    _print_states(runs, quiet)
    if as_json:
        print_exact(export([*recommendations, *robust_results], "json"))
    else:
        for result in robust_results:
            print_document(result.to_document())
        for document in recommendations_documents(recommendations):
            if not document.tables and len(recommendations) > MANY:  # the summary
                print_line("")
            print_document(document)
    if results and not quiet and not as_json:
        _print_next_steps([recommendation.study for recommendation in recommendations], storage)


def _print_states(runs: Sequence[StudyRun[Any]], quiet: bool) -> None:
    """Print to stderr which studies reached the time limit, and without progress which were complete before."""
    for run in runs:
        if run.already_complete and quiet:
            print_message(f"{run.study}: already complete.")
        elif run.result is None:
            print_message(
                f"{run.study}: time limit reached after {run.trials:,} trials; rerun the same command to resume."
            )


def _print_next_steps(studies: Sequence[str], storage: str | None) -> None:
    """Print commands that use the recommendations to stderr; names are quoted for the shell."""
    command = command_name()
    where = "" if storage is None else f" --storage {quote(mask_url(storage))}"
    study = f" {quote(studies[0])}" if len(studies) == 1 else ""
    typer.echo("\nNext, to use the parameters in a program:", err=True)
    typer.echo(f"  {command} export{study}{where} -o recommended.json", err=True)
    typer.echo("or to view the results:", err=True)
    typer.echo(f"  {command} show{study or ' STUDY'}{where}", err=True)
    typer.echo(f"  {command} report{where}", err=True)
    typer.echo(f"  {command} dashboard{where}", err=True)
