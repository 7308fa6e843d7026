"""Parameters for any horizon: those of a stored study, or interpolated or extrapolated from neighboring horizons.

Between horizons T₁ < T < T₂ a parameter is interpolated with the weight ln(T/T₁)/ln(T₂/T₁): geometrically if it is
searched on a log scale, geometrically in 1 − x for rates near 1, and linearly otherwise. The result was not evaluated,
so no regret is stated for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from environments import find_scenario
from environments.display import Result
from environments.errors import InputError
from environments.text import join_words
from policies import find_policy
from policies.engine.base import Param, Value
from studies.registry import StudyDefaults
from studies.results.recommendation import Recommendation

if TYPE_CHECKING:
    from pandas import DataFrame

    from environments.display import Card

Kind = Literal["exact", "interpolated", "extrapolated"]


@dataclass(frozen=True, repr=False)
class RecommendedParameters(Result):
    """Parameters for a scenario and horizon, and the studies they come from."""

    kind: Kind
    policy: str
    scenario: str
    horizon: int
    arms: int
    params: dict[str, Value]
    sources: tuple[Recommendation, ...]
    """The study itself, its two neighbors, or the nearest study."""

    def to_frame(self) -> DataFrame:
        """Tabulate the parameters in pandas, in one row."""
        from studies.results.cards import parameters_frame

        return parameters_frame(self)

    def _card(self) -> Card:
        from studies.results.cards import parameters_card

        return parameters_card(self)


class NoRecommendationError(InputError):
    """No stored recommendation matches a query."""


@dataclass(frozen=True)
class RecommendationQuery:
    """A query for the parameters of a policy in a scenario with default settings, for mean regret."""

    scenario: str
    horizon: int
    policy: str = StudyDefaults.policy
    arms: int | None = None
    """Number of arms; by default that of the scenario."""

    def resolved_arms(self) -> int:
        """Return the number of arms."""
        return find_scenario(self.scenario).arms if self.arms is None else self.arms

    def check(self) -> None:
        """Raise InputError if the policy, the scenario, the horizon or the number of arms is invalid."""
        find_policy(self.policy)
        find_scenario(self.scenario).check(self.horizon, self.resolved_arms())


def recommend_parameters(query: RecommendationQuery, stored: Sequence[Recommendation]) -> RecommendedParameters:
    """Derive parameters from the stored recommendations.

    Raises:
        NoRecommendationError: No stored recommendation matches the query.
        InputError: The query is invalid.
    """
    query.check()
    by_horizon = _index_by_horizon(query, stored)
    if not by_horizon:
        raise NoRecommendationError(_describe_missing(query, stored))
    below = max((horizon for horizon in by_horizon if horizon <= query.horizon), default=None)
    above = min((horizon for horizon in by_horizon if horizon >= query.horizon), default=None)
    if below is None or above is None:
        nearest = by_horizon[max(by_horizon) if above is None else min(by_horizon)]
        return _make_result("extrapolated", query, _adapt(query, dict(nearest.params)), (nearest,))
    left, right = by_horizon[below], by_horizon[above]
    if below == above:
        return _make_result("exact", query, dict(left.params), (left,))
    return _make_result("interpolated", query, interpolate(query, left, right), (left, right))


def interpolate(query: RecommendationQuery, left: Recommendation, right: Recommendation) -> dict[str, Value]:
    """Interpolate between two horizons; categorical values are those of the nearer horizon."""
    policy = find_policy(query.policy)
    weight = math.log(query.horizon / left.horizon) / math.log(right.horizon / left.horizon)
    first, second = (policy.resolve(source.params, source.arms, source.horizon) for source in (left, right))
    names = {*left.params, *right.params}
    params: dict[str, Value] = {
        param.name: _interpolate_value(param, first[param.name], second[param.name], weight)
        for param in policy.parameters
        if param.name in names
    }
    return _adapt(query, params)


def _interpolate_value(param: Param, left: Value, right: Value, weight: float) -> Value:
    if isinstance(left, str) or isinstance(right, str):
        return left if weight <= 0.5 else right
    if left == right:
        return left
    if param.scale == "log" and min(left, right) > 0.0:
        value = left ** (1.0 - weight) * right**weight
    elif param.scale == "one-minus" and max(left, right) < 1.0:
        value = 1.0 - (1.0 - left) ** (1.0 - weight) * (1.0 - right) ** weight
    else:
        value = (1.0 - weight) * left + weight * right
    return float(round(value)) if param.integer else value


def _adapt(query: RecommendationQuery, params: dict[str, Value]) -> dict[str, Value]:
    """Set a parameter `horizon` to the horizon of the query, and check the parameters."""
    if "horizon" in params:
        params["horizon"] = float(query.horizon)
    find_policy(query.policy).resolve(params, query.resolved_arms(), query.horizon)
    return params


def _make_result(
    kind: Kind, query: RecommendationQuery, params: dict[str, Value], sources: tuple[Recommendation, ...]
) -> RecommendedParameters:
    arms = query.resolved_arms()
    return RecommendedParameters(kind, query.policy, query.scenario, query.horizon, arms, params, sources)


def _index_by_horizon(query: RecommendationQuery, stored: Sequence[Recommendation]) -> dict[int, Recommendation]:
    """Choose one matching recommendation per horizon: the study with the default name, else the longest search."""
    default_scenario = find_scenario(query.scenario)
    matching = [
        recommendation
        for recommendation in stored
        if recommendation.policy == query.policy
        and recommendation.scenario == query.scenario
        and recommendation.arms == query.resolved_arms()
        and recommendation.objective == "mean"
        and find_scenario(recommendation.scenario, dict(recommendation.settings)) == default_scenario
    ]
    by_horizon: dict[int, Recommendation] = {}
    for recommendation in sorted(matching, key=lambda item: (not _has_default_name(item), -item.trials, item.study)):
        by_horizon.setdefault(recommendation.horizon, recommendation)
    return by_horizon


def _has_default_name(recommendation: Recommendation) -> bool:
    parts = (recommendation.policy, recommendation.scenario, f"T{recommendation.horizon}", f"K{recommendation.arms}")
    return recommendation.study == "/".join(parts)


def _describe_missing(query: RecommendationQuery, stored: Sequence[Recommendation]) -> str:
    arms = {
        recommendation.arms
        for recommendation in stored
        if (recommendation.policy, recommendation.scenario) == (query.policy, query.scenario)
    }
    wanted = query.resolved_arms()
    others = [str(count) for count in sorted(arms - {wanted})]
    hint = f" (there are some with {join_words(others)} arms)" if others else ""
    return f"no recommendation is stored for {query.policy} in {query.scenario} with {wanted} arms{hint}."
