"""`ravenlab recommend`: parameters for a scenario and a horizon, from what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tuning.cli import completion
from tuning.cli.options import ArmsOption, JsonOption, ScenarioArgument, StorageOption

if TYPE_CHECKING:
    from studies.results.interpolation import RecommendedParameters


def recommend(
    scenario: ScenarioArgument,
    horizon: Annotated[str, typer.Option(metavar="T", help="Steps.", show_default=False)],
    policy: Annotated[str, typer.Option(help="Whose parameters.", autocompletion=completion.policies)] = "raven-ucb",
    arms: ArmsOption = None,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which parameters to use for a scenario and a horizon.

    Those of a study where there is one; otherwise between or beyond those of the nearest horizons, and marked so.

    Examples:
        # a horizon that need not have been studied
        ravenlab recommend variance-drift --horizon 3000
        # for programs
        ravenlab recommend variance-drift --horizon 3000 --json
    """
    from studies.results.interpolation import RecommendationQuery, recommend_parameters
    from studies.storage.database import use_storage
    from studies.storage.library import read_recommendations
    from studies.storage.urls import mask_url, sqlite_file, storage_url
    from tuning.cli.options import whole_number
    from tuning.cli.output import print_json

    if storage is not None:
        sqlite_file(storage)
    question = RecommendationQuery(
        scenario,
        whole_number("--horizon", horizon),
        policy,
        None if arms is None else whole_number("--arms", arms),
        None if storage is None else mask_url(storage),
    )
    question.check()
    path = sqlite_file(storage_url(storage))
    if path is not None and not path.exists():
        found = recommend_parameters(question, [])
    else:
        with use_storage(storage) as store:
            found = recommend_parameters(question, read_recommendations(store))
    if as_json:
        print_json(as_object(found))
        return
    _print(found)


def as_object(found: RecommendedParameters) -> dict[str, Any]:
    """The JSON object of an answer; regret only where the study was played at that very horizon."""
    exact = found.kind == "exact"
    return {
        "kind": found.kind,
        "policy": found.policy,
        "scenario": found.scenario,
        "horizon": found.horizon,
        "arms": found.arms,
        "params": found.params,
        "regret": found.sources[0].regret.model_dump() if exact else None,
        "studies": [each.study for each in found.sources],
        "command": found.command,
    }


def _print(found: RecommendedParameters) -> None:
    from studies.results.describe import describe_recommendation
    from studies.symbols import format_params
    from tuning.cli.output import say

    say(f"{found.policy} in {found.scenario}, horizon {found.horizon}, {found.arms} arms: {found.kind}")
    if found.kind == "exact":
        for line in describe_recommendation(found.sources[0]):
            say(line)
        say(f"From study {found.sources[0].study}.")
        return
    say(f"Use {format_params(found.params)}.")
    if found.kind == "interpolated":
        left, right = found.sources
        say(
            f"Interpolated over log horizon between T = {left.horizon:,} and T = {right.horizon:,}. This setting"
            " was not evaluated, so no regret is stated."
        )
    else:
        say(
            f"Extrapolated: these are the parameters for T = {found.sources[0].horizon:,}, the nearest horizon stored;"
            " no regret is claimed."
        )
    say(f"From {' and '.join(each.study for each in found.sources)}. To settle it, run:")
    typer.echo(f"  {found.command}")
