"""`ravenlab recommend`: parameters for a scenario and a horizon from stored studies."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.registry import StudyDefaults
from tuning.cli import completion
from tuning.cli.options import (
    AllOption,
    ArmsOption,
    JsonOption,
    ScenarioArgument,
    StorageOption,
    integer_option,
    option,
)

if TYPE_CHECKING:
    from studies.results.alternatives import BetterPolicy
    from studies.results.interpolation import RecommendationQuery, RecommendedParameters


def recommend(
    scenario: ScenarioArgument,
    horizon: Annotated[int, integer_option("--horizon", "T", "Number of steps.")],
    policy: Annotated[
        str, option("--policy", "Policy to recommend parameters for.", complete=completion.policies)
    ] = StudyDefaults.policy,
    arms: ArmsOption = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recommend parameters for a scenario and a horizon.

    Uses the stored study of this horizon. If there is none, interpolates between the nearest longer and shorter
    horizons, or uses the parameters of the nearest horizon.

    Examples:
        # a horizon between those of stored studies
        ravenlab recommend variance-drift --horizon 3000
        # as JSON
        ravenlab recommend variance-drift --horizon 3000 --json
    """
    from environments.errors import InputError
    from studies.results.interpolation import NoRecommendationError, RecommendationQuery, recommend_parameters
    from studies.storage.database import use_storage
    from studies.storage.library import find_better_policies, read_recommendations
    from studies.storage.urls import sqlite_file, storage_url
    from tuning.cli.output import print_json

    query = RecommendationQuery(scenario, horizon, policy, arms)
    query.check()
    path = sqlite_file(storage_url(storage))
    command = tune_command(query, storage)
    better: dict[str, BetterPolicy] = {}
    try:
        if path is not None and not path.exists():
            result = recommend_parameters(query, [])
        else:
            with use_storage(storage) as store:
                result = recommend_parameters(query, read_recommendations(store, internal=show_all))
                if result.kind == "exact":
                    better = find_better_policies(store, result.sources)
    except NoRecommendationError as error:
        raise InputError(f"{str(error).rstrip('.')}; run: {command}") from None
    if as_json:
        print_json(_result_object(result, command, better.get(result.sources[0].study)))
    else:
        _print_result(result, command, better.get(result.sources[0].study))


def tune_command(query: RecommendationQuery, storage: str | None) -> str:
    """Return the command that tunes for a query.

    >>> from studies.results.interpolation import RecommendationQuery
    >>> tune_command(RecommendationQuery("blips", 3000, arms=5), storage="sqlite:///my file")
    "ravenlab tune blips --horizon 3000 --arms 5 --storage 'sqlite:///my file'"
    """
    from studies.storage.urls import mask_url

    words = ["ravenlab", "tune", query.scenario, "--horizon", str(query.horizon)]
    if query.policy != StudyDefaults.policy:
        words += ["--policy", query.policy]
    if query.arms is not None:
        words += ["--arms", str(query.arms)]
    if storage is not None:
        words += ["--storage", mask_url(storage)]
    return shlex.join(words)


def _result_object(result: RecommendedParameters, command: str, better: BetterPolicy | None) -> dict[str, Any]:
    """Return the JSON object of a result; regret is known only for a study of this very horizon."""
    exact = result.kind == "exact"
    return {
        "kind": result.kind,
        "policy": result.policy,
        "scenario": result.scenario,
        "horizon": result.horizon,
        "arms": result.arms,
        "params": result.params,
        "regret": result.sources[0].regret.model_dump() if exact else None,
        "better_policy": None if better is None else better.as_object(),
        "studies": [source.study for source in result.sources],
        "command": None if exact else command,
    }


def _print_result(result: RecommendedParameters, command: str, better: BetterPolicy | None) -> None:
    from studies.results.describe import describe_recommendation
    from studies.symbols import format_params
    from tuning.cli.output import print_line

    problem = f"{result.policy} in {result.scenario}, horizon {result.horizon:,}, {result.arms:,} arms"
    if result.kind == "exact":
        for line in describe_recommendation(result.sources[0], better):
            print_line(line)
        print_line(f"Exact: from the study of this horizon, {result.sources[0].study} ({problem}).")
        return
    print_line(f"Use {format_params(result.params)} ({problem}).")
    if result.kind == "interpolated":
        left, right = result.sources
        print_line(
            f"Interpolated over log horizon between T = {left.horizon:,} and T = {right.horizon:,}."
            " These parameters were not evaluated, so no regret is stated."
        )
    else:
        print_line(
            f"Extrapolated: these are the parameters for T = {result.sources[0].horizon:,}, the nearest stored horizon."
            " They were not evaluated at this horizon, so no regret is stated."
        )
    print_line(f"From {' and '.join(source.study for source in result.sources)}. To evaluate this horizon, run:")
    typer.echo(f"  {command}")
