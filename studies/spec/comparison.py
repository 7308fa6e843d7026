"""Specification of a comparison: several policies on one scenario at one horizon."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from environments.blocks import reward_bounds, reward_scale
from environments.recorded.recording import RewardScale
from policies import find_policy
from policies.engine.base import Value
from policies.engine.loading import scale_defaults
from studies.registry import ComparisonDefaults
from studies.spec.fields import Replications, SimulatedSpec, Trials, hash_unless_default
from studies.spec.space import round_digits
from studies.spec.study import StudySpec

# The policies of the paper's Table 3, in its order.
PAPER_POLICIES = (
    *("raven-ucb", "ucb1", "ucb-v", "epsilon-greedy", "thompson"),
    *("f-dsw-ts", "wls-optimistic-ts", "ccb", "ucb-imp"),
)

SettingKind = Literal["defaults", "tuned"]

# Finalists of each search, and held-out worlds for selection per world of a trial. The report of a search uses as many
# worlds as a trial, because the comparison evaluates the winner again.
CANDIDATES = 6
SELECTION_FACTOR = 2

# Length of the hash in a name; longer than elsewhere because a comparison and its searches share a prefix.
HASH_LETTERS = 6

# The regret of every entry in every world is stored with the entry.
MAX_WORLDS = 100_000

HASHED_FIELDS = ("settings", "policies", "tune", "search_replications", "replications", "defaults", "seed")


class ComparisonSpec(SimulatedSpec):
    """A comparison of policies at their defaults and, with a budget, at tuned parameters.

    >>> ComparisonSpec(scenario="blips", horizon=1000).study_name()
    'compare/blips/T1000/K10'
    """

    policies: tuple[str, ...] = Field(default=PAPER_POLICIES, min_length=1, max_length=1000)
    tune: Trials = Field(default=ComparisonDefaults.tune, ge=0)
    search_replications: Replications = ComparisonDefaults.search_replications
    replications: int = Field(default=ComparisonDefaults.replications, strict=True, ge=2, le=MAX_WORLDS)
    defaults: Literal["scaled", "original"] = ComparisonDefaults.defaults

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        horizon, arms = self.size()
        scenario = self.source.open()
        scenario.check(horizon, arms)
        for policy in self.policies:
            policy_class = find_policy(policy)
            if self.policies.count(policy) > 1:
                raise ValueError(f"policies must be distinct but {policy} was given twice")
            policy_class.resolve({}, arms + scenario.extra_arms, horizon)
            if self.tune == 0:
                continue
            if not any(param.low is not None for param in policy_class.parameters):
                raise ValueError(
                    f"{policy} has no parameter to tune; remove it, or compare defaults only with tune = 0"
                )
            self.search_spec(policy)
        return self

    def resolved(self) -> ResolvedComparisonSpec:
        """Return the comparison with horizon and arms filled in, as it is stored."""
        return ResolvedComparisonSpec.model_construct(**self.resolved_fields())

    def entries(self) -> list[tuple[str, SettingKind]]:
        """Return policy and kind of setting of each entry in the order of the trials: defaults first, then tuned."""
        kinds: tuple[SettingKind, ...] = ("defaults", "tuned") if self.tune else ("defaults",)
        return [(policy, kind) for kind in kinds for policy in self.policies]

    def search_spec(self, policy: str) -> StudySpec:
        """Return the search that tunes a policy; all policies get the same budget.

        Comparisons with the same budget share it.
        """
        from studies.spec.parse import parse_study_spec

        spec = self.resolved()
        trials, replications = self.tune, self.search_replications
        fields: dict[str, Any] = {
            "policy": policy,
            "scenario": spec.scenario,
            "settings": dict(self.settings),
            "horizon": spec.horizon,
            "arms": spec.arms,
            "trials": trials,
            "replications": replications,
            "candidates": CANDIDATES,
            "selection": SELECTION_FACTOR * replications,
            "report": replications,
            "seed": self.seed,
        }
        hashed = {"settings": self.settings, "trials": trials, "replications": replications, "seed": self.seed}
        defaults = {
            "settings": {},
            "seed": 0,
            "trials": ComparisonDefaults.tune,
            "replications": ComparisonDefaults.search_replications,
        }
        name = f"{spec.default_name()}/{policy}{hash_unless_default(hashed, defaults, HASH_LETTERS)}"
        return parse_study_spec({**fields, "name": name}, where=policy)

    def resolve_params(self, policy: str, params: dict[str, Value]) -> dict[str, Value]:
        """Return all parameters of a tuned entry."""
        spec = self.resolved()
        return find_policy(policy).resolve(params, spec.arms + self.source.extra_arms, spec.horizon)

    def reward_scale(self) -> RewardScale:
        """Measure the rewards on worlds of the search stream.

        The factor is 2σ: the standard deviation of the noise, relative to the largest one of rewards in [0, 1].
        """
        spec = self.resolved()
        problem = (self.source.open(), spec.horizon, spec.arms, self.seed)
        _, spread = reward_scale(*problem)
        low, high = reward_bounds(*problem)
        return RewardScale(round_digits(low), round_digits(high), round_digits(2.0 * spread))

    def default_params(self, policy: str, scale: RewardScale | None = None) -> dict[str, Value]:
        """Return all parameters of an entry at its defaults, scaled to the rewards unless `defaults` is original."""
        values = self.resolve_params(policy, {})
        if self.defaults == "original":
            return values
        scaled = scale_defaults(find_policy(policy), values, scale or self.reward_scale())
        return self.resolve_params(policy, scaled)

    def study_name(self) -> str:
        """Return `compare/scenario/T…/K…`, with a hash if any other field differs from its default."""
        if self.name is not None:
            return self.name
        spec = self.resolved()
        return f"{spec.default_name()}{hash_unless_default(*spec.with_defaults(HASHED_FIELDS), HASH_LETTERS)}"


class ResolvedComparisonSpec(ComparisonSpec):
    """A comparison with horizon and arms filled in.

    >>> ComparisonSpec(scenario="blips").resolved().arms
    10
    """

    horizon: int
    arms: int

    def resolved(self) -> ResolvedComparisonSpec:
        """Return the comparison itself."""
        return self

    def default_name(self) -> str:
        """Return the name of a comparison with default settings."""
        return f"compare/{self.scenario}/T{self.horizon}/K{self.arms}"
