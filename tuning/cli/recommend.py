"""`ravenlab recommend`: parameters for a problem, from a stored study or from the law."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ravenlab.common.errors import InputError
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.arguments import scenario_settings
from ravenlab.tuning.cli.options import (
    AllOption,
    ArmsOption,
    JsonOption,
    NoiseOption,
    ScenarioArgument,
    SettingOption,
    StorageOption,
    choice_option,
    integer_option,
    option,
)
from ravenlab.tuning.cli.output import print_exact, print_json, print_line

if TYPE_CHECKING:
    from ravenlab.studies.laws.recommendation import RecommendedParameters


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
    show_all: AllOption = False,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recommend parameters for a scenario and a horizon.

    Uses the stored study of this problem with the lowest regret. If there is none, evaluates the parameter law, a
    formula fitted to many studies; this needs no search and no storage. If the law expects less regret than a stored
    study has, both are compared on the same worlds. Prints the expected regret with its interval. A problem outside
    the range of the law is rejected; the message contains the ravenlab tune command to run instead.

    Examples:
        # from the law, at once
        ravenlab recommend localized-jump --horizon 30000 --arms 20
        # with other noise and a higher rate of change
        ravenlab recommend localized-jump --horizon 30000 --set every=2% --set variance_high=0.2
        # a file that RavenUCB.load reads
        ravenlab recommend variance-drift --horizon 3000 --format json -o recommended.json
    """
    from ravenlab.studies.laws.axes import NoLawError
    from ravenlab.studies.laws.recommendation import RecommendationQuery, describe_missing, find_parameters
    from ravenlab.tuning.files import atomic_write, check_file_writable

    if output is not None:
        if form is None:
            raise InputError("--output requires --format.")
        check_file_writable(output)
    query = RecommendationQuery(scenario, horizon, policy, arms, scenario_settings(setting, noise))
    try:
        result = find_parameters(query, storage, show_all)
    except NoLawError as reason:
        raise describe_missing(query, reason, storage) from None
    if as_json:
        command = None if result.study is not None else query.tune_command(storage)
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


def _print_result(result: RecommendedParameters, command: str) -> None:
    if result.study is not None:
        from ravenlab.studies.results.describe import describe_recommendation

        for line in describe_recommendation(result.study, result.better):
            print_line(line)
        print_line(f"From the stored study of this problem, {result.study.study}. {result.reason}".rstrip())
        return
    for line in result.describe():
        print_line(line)
    print_line("To confirm this with a study, run:")
    typer.echo(f"  {command}")
