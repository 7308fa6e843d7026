"""Recommended parameters for a problem: those of a stored study, of the law, or of a short search."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ravenlab.common.documents import Document, Result
from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    format_count,
    format_ends,
    format_interval,
    format_mean,
    format_number,
    format_percent,
    format_signed,
    name_problem,
)
from ravenlab.environments import Scenario, find_scenario
from ravenlab.studies.laws.axes import NoLawError
from ravenlab.studies.laws.law import COORDINATES, ProblemAnswer, answer
from ravenlab.studies.registry import StudyDefaults, describe_untuned
from ravenlab.studies.results.assumptions import describe_feedback
from ravenlab.studies.results.baselines import USUAL, describe_scale
from ravenlab.studies.storage.urls import DEFAULT_URL, mask_url, sqlite_file, storage_url
from ravenlab.studies.symbols import format_params

if TYPE_CHECKING:
    from pandas import DataFrame

    from ravenlab.environments.world import Floats
    from ravenlab.policies.engine.parameters import Value
    from ravenlab.studies.results.alternatives import BetterPolicy
    from ravenlab.studies.results.expected import ExpectedParameters
    from ravenlab.studies.results.recommendation import Recommendation


MAX_COMPARED_STUDIES = 4  # of the same problem
COMPARISON_SEED = 0

# Worlds in which stored studies and the law are compared, within a limit of steps.
MIN_COMPARED_WORLDS = 200
MAX_COMPARED_WORLDS = 2000
MAX_COMPARED_STEPS = 20_000_000


@dataclass(frozen=True)
class RecommendationQuery:
    """A query for the parameters of a policy in a scenario, for mean regret."""

    scenario: str
    horizon: int
    policy: str = StudyDefaults.policy
    arms: int | None = None
    """Number of arms; by default that of the scenario."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def open(self) -> tuple[Scenario, int]:
        """Return the scenario with its settings, and the number of arms. Raises InputError if the query is invalid."""
        if self.policy not in COORDINATES:
            # Policies import numba, which takes most of a second.
            from ravenlab.policies import find_policy

            find_policy(self.policy)
        scenario = find_scenario(self.scenario, dict(self.settings))
        arms = scenario.arms if self.arms is None else self.arms
        scenario.check(self.horizon, arms)
        if arms == 1:
            raise InputError("arms must be at least 2 but got 1.")
        return scenario, arms

    def tune_command(self, storage: str | None = None) -> str:
        """Return the command that answers the query with a study.

        >>> query = RecommendationQuery("blips", 3000, arms=5, settings={"every": "5%"})
        >>> query.tune_command(storage="sqlite:///my file")
        "ravenlab tune blips --horizon 3000 --arms 5 --set every=5% --storage 'sqlite:///my file'"
        """
        words = ["ravenlab", "tune", self.scenario, "--horizon", str(self.horizon)]
        if self.policy != StudyDefaults.policy:
            words += ["--policy", self.policy]
        if self.arms is not None:
            words += ["--arms", str(self.arms)]
        for name, value in self.settings.items():
            words += ["--noise", str(value)] if name == "noise" else ["--set", f"{name}={value}"]
        if storage is not None:
            words += ["--storage", mask_url(storage)]
        return shlex.join(words)


@dataclass(frozen=True, repr=False)
class RecommendedParameters(Result):
    """Parameters for a problem, from a stored study, from the law, or from a short search."""

    kind: Literal["stored", "interpolated", "extrapolated", "searched", "nothing to set"]
    policy: str
    scenario: str
    settings: dict[str, Any]
    horizon: int
    arms: int
    params: dict[str, Value]
    study: Recommendation | None = None
    """The stored study, or the short search."""
    law: ProblemAnswer | None = None
    """The answer of the law."""
    better: BetterPolicy | None = None
    """With a stored study: a policy that a stored comparison found to be better."""
    reason: str = ""
    """Why the stored study or the law was preferred, if there are both; why there was a search."""
    simulated: Interval | None = None
    """Of a policy without parameters: the regret in simulated worlds."""
    understood: str = ""
    """What a file or a description was understood to be."""

    def with_understanding(self, text: str) -> RecommendedParameters:
        """Return the answer with what a file or a description was understood to be."""
        return replace(self, understood=text)

    @property
    def regret(self) -> Interval:
        """The expected mean regret."""
        if self.simulated is not None:
            return self.simulated
        if self.law is not None:
            return self.law.answer.regret
        assert self.study is not None
        return self.study.regret

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        problem = ("kind", "policy", "scenario", "settings", "horizon", "arms", "params")
        out: dict[str, Any] = {
            **{name: getattr(self, name) for name in problem},
            "regret": self.regret.as_object(),
            "study": self.study.study if self.study is not None and self.kind == "stored" else None,
            "excess": None,
            "outside": [],
            "reason": self.reason or None,
            "understood": self.understood or None,
            "better_policy": None if self.better is None else self.better.as_object(),
        }
        if self.law is not None:
            out |= {"excess": self.law.answer.excess, "outside": self.law.outside}
            if self.law.better is not None:
                out["better_policy"] = self.law.better.as_object()
        return out

    def describe(self) -> list[str]:
        """Describe the answer of the law, or of a policy without parameters: one sentence per line."""
        if self.simulated is not None:
            problem = f"{self.scenario}, horizon {format_count(self.horizon)}, {format_count(self.arms)} arms"
            return [
                f"{self.policy} has no parameter to tune: there is nothing to set ({problem}).",
                f"Mean regret {format_interval(self.simulated)} in simulated worlds.",
                describe_feedback([self.scenario]),
            ]
        if self.law is None:
            return []
        answered = self.law.answer
        lines = [
            f"Use {format_params(self.params)} ({self.policy} in {self.scenario}, horizon"
            f" {format_count(self.horizon)}, {format_count(self.arms)} arms).",
            f"Expected mean regret {format_mean(self.regret)}, 95 % interval {format_ends(self.regret)}.",
        ]
        lines += [self.reason] if self.reason else []
        unit = float(self.params.get("unit", 1.0))
        if unit != 1.0:
            lines.append(describe_scale(unit, USUAL))
        if answered.excess is not None:
            lines.append(f"Excess regret over {describe_excess(answered.excess)}.")
        if self.law.outside:
            lines.append(f"Warning: extrapolated, because {'; '.join(self.law.outside)}.")
        else:
            lines.append("Interpolated: from the law, inside the range of the settings that it was fitted to.")
        if self.law.better is not None:
            better = self.law.better
            lines.append(
                f"{better.policy} with {format_params(dict(better.params))} is expected to have"
                f" {format_percent(1.0 - better.regret.mean / self.regret.mean)} less regret."
            )
            if better.excess is not None:
                lines.append(f"Excess regret of these parameters over {describe_excess(better.excess)}.")
        return [*lines, describe_feedback([self.scenario])]

    def as_recommendation(self) -> Recommendation | ExpectedParameters:
        """Return the recommendation of the stored study, or the parameters with their expected regret, for exports."""
        if self.study is not None:
            return self.study
        from ravenlab.studies.results.expected import ExpectedParameters
        from ravenlab.studies.storage.keys import project_version

        return ExpectedParameters(
            study=f"law/{self.policy}/{self.scenario}/T{self.horizon}/K{self.arms}",
            policy=self.policy,
            scenario=self.scenario,
            settings=self.settings,
            horizon=self.horizon,
            arms=self.arms,
            params=self.params,
            regret=self.regret,
            unit=float(self.params.get("unit", 1.0)),
            version=project_version(),
        )

    def to_frame(self) -> DataFrame:
        """Tabulate the parameters in pandas, in one row."""
        import pandas

        problem = {name: getattr(self, name) for name in ("policy", "scenario", "horizon", "arms", "kind")}
        return pandas.DataFrame([{**problem, **self.params, **self.regret.as_object("regret")}])

    def to_document(self) -> Document:
        label = name_problem(f"Parameters of {self.policy} for {self.scenario}", self.horizon, self.arms)
        if self.study is not None:
            from ravenlab.studies.results.documents import recommendation_document

            source = "a short search" if self.kind == "searched" else f"study {self.study.study!r}"
            stated = recommendation_document(self.study)
            return replace(stated, label=f"{label}, from {source}", problem="", details=(), card=None)
        answer, *facts = self.describe()
        return Document(answer if self.law is None else f"Use {format_params(self.params)}.", label, facts)


def recommend_parameters(query: RecommendationQuery, stored: Sequence[Recommendation]) -> RecommendedParameters:
    """Return the parameters of the best matching stored recommendation, or those of the law.

    Several stored studies are compared on the same worlds. The law answers if there is none, or if it may have less
    regret than the best of them and the same worlds confirm this.

    Raises:
        NoLawError: No recommendation is stored, and no law holds.
        InputError: The query is invalid.

    >>> recommend_parameters(RecommendationQuery("blips", 3000), []).kind
    'interpolated'
    """
    scenario, arms = query.open()
    problem = (query.policy, query.scenario, dict(query.settings), query.horizon, arms)
    if query.policy not in COORDINATES:
        from ravenlab.studies.spec.comparison import is_tunable
        from ravenlab.studies.statistics.intervals import mean_interval

        if not is_tunable(query.policy):
            (regrets,) = _play_all(query, scenario, arms, [{}])
            simulated = mean_interval(regrets, COMPARISON_SEED)
            return RecommendedParameters("nothing to set", *problem, params={}, simulated=simulated)
    studies = _find_stored(query, scenario, arms, stored)
    if not studies:
        law = answer(scenario, query.horizon, arms, query.policy)
        return RecommendedParameters(law.kind, *problem, params=dict(law.answer.params), law=law)
    study = studies[0]
    reason = ""
    if len(studies) > 1:
        regrets = _play_all(query, scenario, arms, [item.params for item in studies])
        study = studies[int(regrets.mean(axis=1).argmin())]
        worlds = format_count(regrets.shape[1])
        reason = f"Of {len(studies)} stored studies it has the lowest regret on the same {worlds} worlds. "
    from_study = RecommendedParameters(
        "stored", *problem, params=dict(study.params), study=study, reason=reason.strip()
    )
    try:
        law = answer(scenario, query.horizon, arms, query.policy)
    except NoLawError:
        return from_study
    if law.answer.regret.mean >= study.regret.high:
        expected = format_number(law.answer.regret.mean)
        return replace(from_study, reason=f"{reason}The law expects more regret for its own parameters: {expected}.")
    regrets = _play_all(query, scenario, arms, [study.params, law.answer.params])
    # Imported here because numba takes most of a second, which an answer of the law alone must not wait for.
    from ravenlab.studies.statistics.intervals import paired_interval

    of_study, of_law = regrets
    difference = paired_interval(of_study, of_law, COMPARISON_SEED)
    evidence = (
        f"on the same {format_count(regrets.shape[1])} worlds (difference"
        f" {format_mean(difference, format_signed)}, 95 % CI {format_ends(difference, format_signed)})."
    )
    if difference.low <= 0.0:
        doubt = f"The law's parameters do not have significantly less regret {evidence}"
        return replace(from_study, reason=f"{reason}{doubt}")
    reason = f"These parameters of the law have less regret than those of the stored study {study.study} {evidence}"
    return RecommendedParameters(law.kind, *problem, params=dict(law.answer.params), law=law, reason=reason)


def _play_all(
    query: RecommendationQuery, scenario: Scenario, arms: int, candidates: Sequence[Mapping[str, Any]]
) -> Floats:
    """Return the regret of each candidate in each of the same worlds, which no study has used."""
    # Imported here because numba takes most of a second, which an answer of the law alone must not wait for.
    import numpy as np

    from ravenlab.environments.blocks import split_into_blocks
    from ravenlab.environments.draw import draw_worlds
    from ravenlab.environments.streams import Stream
    from ravenlab.policies import find_policy
    from ravenlab.policies.engine.play import evaluate

    policy = find_policy(query.policy)
    count = max(MIN_COMPARED_WORLDS, min(MAX_COMPARED_WORLDS, MAX_COMPARED_STEPS // query.horizon))
    resolved = [policy.resolve(params, arms + scenario.extra_arms, query.horizon) for params in candidates]
    regrets = []
    for first, size in split_into_blocks(scenario, query.horizon, arms, count):
        worlds = draw_worlds(scenario, query.horizon, arms, COMPARISON_SEED, first, size, Stream.SIMULATE)
        regrets.append(evaluate(policy, resolved, worlds, COMPARISON_SEED, first, Stream.SIMULATE).regret)
    return np.concatenate(regrets, axis=1)


def find_parameters(
    query: RecommendationQuery,
    storage: str | None,
    internal: bool = False,
    search: Callable[[str], RecommendedParameters] | None = None,
) -> RecommendedParameters:
    """Answer from the storage if it exists and holds a matching study, otherwise from the law or by a search.

    Args:
        query: The problem.
        storage: The storage; None for the default one.
        internal: Whether searches of comparisons are included.
        search: Searches a problem that is outside the range of the law, for the given reason; None if it must not be.

    Raises:
        InputError: The query is invalid, or there is no answer without a search.
    """
    try:
        found = _find_stored_or_law(query, storage, internal)
    except NoLawError as error:
        if search is None:
            untuned = describe_untuned(query.open()[0].largest_rate)
            command = query.tune_command(storage)
            raise InputError(f"{error}; without tuning use {untuned}; to tune, run: {command}") from None
        reason = str(error)
    else:
        if search is None or found.law is None or found.kind != "extrapolated":
            return found
        reason = "; ".join(found.law.outside)
    return search(reason)


def _find_stored_or_law(query: RecommendationQuery, storage: str | None, internal: bool) -> RecommendedParameters:
    url = storage_url(storage)
    # The default is checked without parsing the URL, which would import the database library.
    path = Path(DEFAULT_URL.removeprefix("sqlite:///")) if url == DEFAULT_URL else sqlite_file(url)
    if path is not None and not path.exists():
        return recommend_parameters(query, [])
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.library import find_better_policies, read_recommendations

    query.open()
    with use_storage(storage) as store:
        result = recommend_parameters(query, read_recommendations(store, internal=internal))
        if result.study is None:
            return result
        return replace(result, better=find_better_policies(store, [result.study]).get(result.study.study))


def _find_stored(
    query: RecommendationQuery, scenario: Scenario, arms: int, stored: Sequence[Recommendation]
) -> list[Recommendation]:
    """Return the matching recommendations with the lowest upper limits of regret."""
    matching = [
        recommendation
        for recommendation in stored
        if recommendation.policy == query.policy
        and recommendation.scenario == query.scenario
        and recommendation.arms == arms
        and recommendation.horizon == query.horizon
        and recommendation.objective == "mean"
        and find_scenario(recommendation.scenario, dict(recommendation.settings)) == scenario
    ]
    return sorted(matching, key=lambda item: (item.regret.high, item.study))[:MAX_COMPARED_STUDIES]


def describe_excess(excess: Mapping[str, float]) -> str:
    """Describe the excess regret of a law that was measured in held-out settings.

    >>> describe_excess({"median": 0.01, "high": 0.07, "settings": 104, "trials": 200})
    'a 200-trial study: 1.0 % in the median and 7.0 % at the 90th percentile of 104 held-out settings'
    """
    return (
        f"a {excess['trials']:.0f}-trial study: {format_percent(excess['median'])} in the median and"
        f" {format_percent(excess['high'])} at the 90th percentile of {excess['settings']:.0f} held-out settings"
    )
