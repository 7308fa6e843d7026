"""What is compared, in one frozen object: policies in one scenario at one horizon."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from policies import find_policy
from policies.engine.base import Value
from studies.registry import ComparisonDefaults
from studies.spec.fields import SimulatedSpec, hash_unless_default
from studies.spec.study import StudySpec

PAPER_POLICIES = (
    *("raven-ucb", "ucb1", "ucb-v", "epsilon-greedy", "thompson"),
    *("f-dsw-ts", "wls-optimistic-ts", "ccb", "ucb-imp"),
)
"""The nine policies of the paper's Table 3, in its order."""

SettingKind = Literal["defaults", "tuned"]

SLOW_TRIALS, SLOW_REPLICATIONS = 20, 20
"""The most that a search of a slow policy gets: it takes as long a step as ten to twenty others."""

CANDIDATES = 6
"""How many of a search's best meet again on fresh worlds, before one of them enters."""

SELECTION = 2
"""Fresh worlds that choose among them, times those of a trial; the search's own report is made on as many as a trial:
the comparison plays its winner again."""

HASH_LETTERS = 6
"""Of the hash in a name; more than others have, since a comparison and its searches share one."""

MAX_WORLDS = 100_000
"""What every entry got in every world is kept with it."""


class ComparisonSpec(SimulatedSpec):
    """One comparison.

    >>> ComparisonSpec(scenario="blips", horizon=1000).study_name()
    'compare/blips/T1000/K10'
    """

    policies: tuple[str, ...] = Field(default=PAPER_POLICIES, min_length=1, max_length=1000)
    tune: int = Field(default=ComparisonDefaults.tune, strict=True, ge=0, le=1_000_000)
    search_replications: int = Field(default=ComparisonDefaults.search_replications, strict=True, ge=2, le=10_000_000)
    replications: int = Field(default=ComparisonDefaults.replications, strict=True, ge=2, le=MAX_WORLDS)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        horizon, arms = self.size()
        scenario = self.open_scenario()
        scenario.check(horizon, arms)
        for policy in self.policies:
            found = find_policy(policy)
            if self.policies.count(policy) > 1:
                raise ValueError(f"policies must differ but {policy} was given twice")
            found.resolve({}, arms + scenario.extra_arms, horizon)
            if self.tune == 0:
                continue
            if not any(param.low is not None for param in found.parameters):
                raise ValueError(f"{policy} has nothing to tune; leave it out, or compare defaults only, with tune = 0")
            self.search(policy)
        return self

    def resolved(self) -> ResolvedComparisonSpec:
        """The same with horizon and arms filled in, as it is stored."""
        return ResolvedComparisonSpec.model_construct(**self.resolved_fields())

    def entries(self) -> list[tuple[str, SettingKind]]:
        """Who meets whom, in the order of the trials: all at their defaults, then all that are tuned."""
        kinds: tuple[SettingKind, ...] = ("defaults", "tuned") if self.tune else ("defaults",)
        return [(policy, kind) for kind in kinds for policy in self.policies]

    def budget(self, policy: str) -> tuple[int, int]:
        """Trials of a policy's search, and the worlds that each of them plays.

        >>> spec = ComparisonSpec(scenario="blips", tune=100)
        >>> spec.budget("ucb1"), spec.budget("thompson")
        ((100, 50), (20, 20))
        """
        return _bounded(policy, self.tune, self.search_replications)

    def search(self, policy: str) -> StudySpec:
        """The search that tunes a policy; the same one for all comparisons that ask for the same budget."""
        from studies.spec.parse import parse_study_spec

        here = self.resolved()
        trials, replications = self.budget(policy)
        fields: dict[str, Any] = {
            "policy": policy,
            "scenario": here.scenario,
            "settings": dict(self.settings),
            "horizon": here.horizon,
            "arms": here.arms,
            "trials": trials,
            "replications": replications,
            "candidates": CANDIDATES,
            "selection": SELECTION * replications,
            "report": replications,
            "seed": self.seed,
        }
        asked = {"settings": self.settings, "trials": trials, "replications": replications, "seed": self.seed}
        fields_of = ComparisonSpec.model_fields
        usual_budget = _bounded(policy, fields_of["tune"].default, fields_of["search_replications"].default)
        usual = {"settings": {}, "seed": 0, **dict(zip(("trials", "replications"), usual_budget, strict=True))}
        name = f"{here.place()}/{policy}{hash_unless_default(asked, usual, HASH_LETTERS)}"
        return parse_study_spec({**fields, "name": name}, where=policy)

    def values(self, policy: str, params: dict[str, Value]) -> dict[str, Value]:
        """All parameters of an entry, checked."""
        here = self.resolved()
        return find_policy(policy).resolve(params, here.arms + self.source.extra_arms, here.horizon)

    def study_name(self) -> str:
        """`compare/scenario/T…/K…`, with a short hash where anything else is not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        return f"{here.place()}{hash_unless_default(*here.beside_usual(_HASHED), HASH_LETTERS)}"


class ResolvedComparisonSpec(ComparisonSpec):
    """A comparison with horizon and arms filled in: the form that is stored, played and shown.

    >>> ComparisonSpec(scenario="blips").resolved().arms
    10
    """

    horizon: int
    arms: int

    def resolved(self) -> ResolvedComparisonSpec:
        """Itself."""
        return self

    def place(self) -> str:
        """The part of the name that says where policies are compared."""
        return f"compare/{self.scenario}/T{self.horizon}/K{self.arms}"


_HASHED = ("settings", "policies", "tune", "search_replications", "replications", "seed")


def _bounded(policy: str, trials: int, replications: int) -> tuple[int, int]:
    """A budget of trials and worlds, less where the policy is slow."""
    if not find_policy(policy).slow:
        return trials, replications
    return min(trials, SLOW_TRIALS), min(replications, SLOW_REPLICATIONS)
