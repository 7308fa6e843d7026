"""Parameters for a horizon: those of a stored study, or between or beyond those of its neighbours, and marked so.

Between horizons T₁ < T < T₂ a parameter lies at w = ln(T/T₁)/ln(T₂/T₁) of the way: geometrically where it is
searched on a log scale, linearly elsewhere, by 1 − x geometrically for rates near 1. Nobody has played the
result, so no regret and no interval is claimed for it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from environments import find_scenario
from environments.errors import InputError
from policies import find_policy
from policies.engine.base import Param, Policy, Value
from studies.registry import StudyDefaults
from studies.results.recommendation import Recommendation


@dataclass(frozen=True)
class RecommendedParameters:
    """What to use, and where it comes from."""

    kind: Literal["exact", "interpolated", "extrapolated"]
    policy: str
    scenario: str
    horizon: int
    arms: int
    params: dict[str, Value]
    sources: tuple[Recommendation, ...]
    """The study itself, the two neighbours, or the nearest one."""
    command: str | None
    """What would settle it; None where it is settled."""


@dataclass(frozen=True)
class RecommendationQuery:
    """What is asked for: parameters of a policy in a scenario with its own settings, for mean regret."""

    scenario: str
    horizon: int
    policy: str = StudyDefaults.policy
    arms: int | None = None
    storage: str | None = None
    """Given by hand, so that the command needs it too."""

    def count(self) -> int:
        """How many arms: the scenario's own unless said otherwise."""
        return find_scenario(self.scenario).arms if self.arms is None else self.arms

    def check(self) -> None:
        """Raise InputError for what could not be tuned either."""
        find_policy(self.policy)
        find_scenario(self.scenario).check(self.horizon, self.count())

    def command(self) -> str:
        """The command that settles it.

        >>> Question("blips", 3000, arms=5).command()
        'ravenlab tune blips --horizon 3000 --arms 5'
        """
        words = ["ravenlab", "tune", self.scenario, "--horizon", str(self.horizon)]
        if self.policy != StudyDefaults.policy:
            words += ["--policy", self.policy]
        if self.arms is not None:
            words += ["--arms", str(self.arms)]
        if self.storage is not None:
            words += ["--storage", self.storage]
        return shlex.join(words)


def recommend_parameters(question: RecommendationQuery, stored: Sequence[Recommendation]) -> RecommendedParameters:
    """The best answer that the stored recommendations have; InputError with the command to run where they have none."""
    question.check()
    by_horizon = _by_horizon(question, stored)
    if not by_horizon:
        raise InputError(_nothing(question, stored))
    below = max((t for t in by_horizon if t <= question.horizon), default=None)
    above = min((t for t in by_horizon if t >= question.horizon), default=None)
    if below == above and below is not None:
        found = by_horizon[below]
        return _answer("exact", question, dict(found.params), (found,))
    if below is None or above is None:
        nearest = by_horizon[max(by_horizon) if above is None else min(by_horizon)]
        return _answer("extrapolated", question, _moved(question, nearest), (nearest,))
    left, right = by_horizon[below], by_horizon[above]
    return _answer("interpolated", question, between(question, left, right), (left, right))


def _answer(
    kind: Literal["exact", "interpolated", "extrapolated"],
    question: RecommendationQuery,
    params: dict[str, Value],
    sources: tuple[Recommendation, ...],
) -> RecommendedParameters:
    command = None if kind == "exact" else question.command()
    return RecommendedParameters(
        kind, question.policy, question.scenario, question.horizon, question.count(), params, sources, command
    )


def _by_horizon(question: RecommendationQuery, stored: Sequence[Recommendation]) -> dict[int, Recommendation]:
    """One recommendation a horizon: of several, the study that goes by its plain name, then the longest search."""
    usual = find_scenario(question.scenario)
    fitting = [
        each
        for each in stored
        if (each.policy, each.scenario, each.arms) == (question.policy, question.scenario, question.count())
        and each.objective == "mean"
        and find_scenario(each.scenario, dict(each.settings)) == usual
    ]
    found: dict[int, Recommendation] = {}
    for each in sorted(fitting, key=lambda each: (not _plain(each), -each.trials, each.study)):
        found.setdefault(each.horizon, each)
    return found


def _plain(each: Recommendation) -> bool:
    return each.study == f"{each.policy}/{each.scenario}/T{each.horizon}/K{each.arms}"


def between(question: RecommendationQuery, left: Recommendation, right: Recommendation) -> dict[str, Value]:
    """The parameters at a horizon between two; words that differ are those of the nearer one."""
    policy = find_policy(question.policy)
    weight = math.log(question.horizon / left.horizon) / math.log(right.horizon / left.horizon)
    first, second = (policy.resolve(each.params, each.arms, each.horizon) for each in (left, right))
    named = {*left.params, *right.params}
    params: dict[str, Value] = {}
    for param in policy.parameters:
        if param.name in named:
            params[param.name] = _between(param, first[param.name], second[param.name], weight)
    return _checked(policy, question, params)


def _between(param: Param, left: Value, right: Value, weight: float) -> Value:
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


def _moved(question: RecommendationQuery, nearest: Recommendation) -> dict[str, Value]:
    """The nearest one's parameters as they are."""
    return _checked(find_policy(question.policy), question, dict(nearest.params))


def _checked(policy: type[Policy], question: RecommendationQuery, params: dict[str, Value]) -> dict[str, Value]:
    """A policy that knows its horizon is told the one that is asked for."""
    if "horizon" in params:
        params["horizon"] = float(question.horizon)
    policy.resolve(params, question.count(), question.horizon)
    return params


def _nothing(question: RecommendationQuery, stored: Sequence[Recommendation]) -> str:
    wanted = f"{question.policy} in {question.scenario} with {question.count()} arms"
    arms = sorted(
        {each.arms for each in stored if (each.policy, each.scenario) == (question.policy, question.scenario)}
    )
    others = [str(count) for count in arms if count != question.count()]
    hint = f" (there are some with {' or '.join(others)} arms)" if others else ""
    return f"no recommendation is stored for {wanted}{hint}; run: {question.command()}"
