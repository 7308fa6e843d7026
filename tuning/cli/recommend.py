"""`ravenlab recommend`: parameters for a problem, from a stored study or from the law."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_duration
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.arguments import scenario_settings
from ravenlab.tuning.cli.options import (
    AllOption,
    ArmsOption,
    JobsOption,
    JsonOption,
    NoiseOption,
    QuietOption,
    ScenarioArgument,
    SettingOption,
    StorageOption,
    choice_option,
    integer_option,
    option,
)
from ravenlab.tuning.cli.output import print_exact, print_json, print_line, print_message

if TYPE_CHECKING:
    from ravenlab.studies.laws.recommendation import RecommendationQuery, RecommendedParameters


def recommend(
    scenario: ScenarioArgument,
    horizon: Annotated[int, integer_option("--horizon", "T", "Number of steps.")],
    policy: Annotated[
        str, option("--policy", "Policy to recommend parameters for.", complete=completion.policies)
    ] = StudyDefaults.policy,
    arms: ArmsOption = None,
    noise: NoiseOption = None,
    setting: SettingOption = None,
    form: Annotated[str | None, choice_option("--format", "Format", FORMATS)] = None,
    output: Annotated[
        Path | None, option("--output", "Output file of --format. [default: stdout]", short="-o", metavar="FILE")
    ] = None,
    no_search: Annotated[
        bool, option("--no-search", "Do not search; a problem outside the range of the law is rejected.")
    ] = False,
    jobs: JobsOption = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Recommend parameters for a scenario and a horizon.

    Uses the stored study of this problem with the lowest regret. If there is none, evaluates the parameter law, a
    formula fitted to many studies; this needs no search and no storage. If the law expects less regret than a stored
    study has, both are compared on the same worlds. A problem outside the range of the law, such as one with rewards
    of 0 and 1, is answered by a search of seconds that starts from the nearest law and is not stored. Prints the
    expected regret with its interval.

    Examples:
        # from the law, at once
        ravenlab recommend localized-jump --horizon 30000 --arms 20
        # clicks, by a short search
        ravenlab recommend stationary --horizon 20000 --noise bernoulli --set mean_low=0.01 --set mean_high=0.06
        # with other noise and a higher rate of change
        ravenlab recommend localized-jump --horizon 30000 --set every=2% --set variance_high=0.2
        # a file that RavenUCB.load reads
        ravenlab recommend variance-drift --horizon 3000 --format json -o recommended.json
    """
    from ravenlab.studies.laws.recommendation import RecommendationQuery, find_parameters
    from ravenlab.tuning.files import atomic_write, check_file_writable

    if output is not None:
        if form is None:
            raise InputError("--output requires --format.")
        check_file_writable(output)
    query = RecommendationQuery(scenario, horizon, policy, arms, scenario_settings(setting, noise))
    search = None if no_search else partial(_search, query, jobs, quiet)
    result = find_parameters(query, storage, show_all, search)
    if as_json:
        command = query.tune_command(storage) if result.kind not in ("stored", "nothing to set") else None
        print_json({**result.as_object(), "command": command})
    elif form is None:
        _print_result(result, query.tune_command(storage))
    else:
        text = export([result.as_recommendation()], form)
        if output is None:
            print_exact(text)
            return
        with atomic_write(output) as file:
            file.write(text)
        print_line(f"Wrote {output}.")


def _search(query: RecommendationQuery, jobs: int | None, quiet: bool, reason: str) -> RecommendedParameters:
    """Search with progress, after stating why and how long it takes."""
    from ravenlab.tuning.progress import Reporter
    from ravenlab.tuning.short_search import expected_seconds, plan_short_search, search_parameters
    from ravenlab.tuning.workers.local import open_workers, worker_count

    if not quiet:
        spec = plan_short_search(query)
        seconds = format_duration(max(5.0, expected_seconds(spec, worker_count(jobs))))
        print_message(f"No law for this problem: {reason}. Searching {spec.trials} candidates, about {seconds} ...")
    with Reporter(quiet) as reporter:
        return search_parameters(query, reason, open_workers(jobs), reporter)


def _print_result(result: RecommendedParameters, command: str) -> None:
    if result.study is not None:
        from ravenlab.studies.results.describe import describe_recommendation

        for line in describe_recommendation(result.study, result.better):
            print_line(line)
        if result.kind == "stored":
            print_line(f"From the stored study of this problem, {result.study.study}. {result.reason}".rstrip())
            return
        print_line(f"From a search of {result.study.trials} candidates, because {result.reason}.")
        print_line("For a longer search that is stored, run:")
        typer.echo(f"  {command}")
        return
    for line in result.describe():
        print_line(line)
    if result.law is None:
        return
    print_line("To confirm this with a study, run:")
    typer.echo(f"  {command}")
