"""Specification of a comparison: several policies on one scenario, trace or log at one horizon."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from ravenlab.environments.recorded.log_world import MIN_REPLAYS
from ravenlab.environments.reward_scale import RewardScale
from ravenlab.policies import find_policy
from ravenlab.policies.engine.loading import scale_defaults
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.registry import ComparisonDefaults
from ravenlab.studies.spec.descriptions import COMPARISON, STUDY
from ravenlab.studies.spec.fields import (
    ColumnNames,
    FileName,
    Replications,
    SimulatedSpec,
    Trials,
    Whole,
    name_suffix,
    optional,
)
from ravenlab.studies.spec.source import Source, make_source
from ravenlab.studies.spec.study import StudySpec

# The policies of the paper's Table 3, in its order.
PAPER_POLICIES = (
    *("raven-ucb", "ucb1", "ucb-v", "epsilon-greedy", "thompson"),
    *("f-dsw-ts", "wls-optimistic-ts", "ccb", "ucb-imp"),
)

SettingKind = Literal["defaults", "tuned"]

# Finalists of each search, and held-out worlds for selection per world of a trial. The report of a search uses as many
# worlds as a trial, because the comparison evaluates the winner again.
CANDIDATES = 6
SELECTION_FACTOR = 10

# Length of the hash in a name; longer than elsewhere because a comparison and its searches share a prefix.
HASH_LETTERS = 6

# The regret of every entry in every world is stored with the entry.
MAX_WORLDS = 100_000

# Fields that only comparisons on a trace or log use.
FILE_FIELDS = ("trace", "log", "minimize", "columns", "digest")

REPLICATION_NAMES = {"scenario": "worlds", "trace": "windows", "log": "runs"}

# Fields that a default name states if they differ from their defaults.
NAMED_FIELDS = ("policies", "tune", "search_replications", "replications", "defaults", "seed")


def is_search_name(name: str, scenario: str, horizon: int, arms: int, policy: str) -> bool:
    """Whether a study of this problem has the name of a search that a comparison runs.

    >>> is_search_name("compare/blips/T1000/K10/ucb1/seed=3", "blips", 1000, 10, "ucb1")
    True
    """
    prefix = f"{_default_name(scenario, horizon, arms)}/{policy}"
    return name == prefix or name.startswith((f"{prefix}/", f"{prefix}~"))


def _default_name(scenario: str, horizon: int, arms: int) -> str:
    return f"compare/{scenario}/T{horizon}/K{arms}"


def is_tunable(policy: str) -> bool:
    """Whether a policy has searched parameters.

    >>> is_tunable("ucb1"), is_tunable("published-ucb1")
    (True, False)
    """
    return any(param.low is not None for param in find_policy(policy).parameters)


class ComparisonSpec(SimulatedSpec):
    """A comparison of policies at their defaults and, with a budget, at tuned parameters.

    >>> ComparisonSpec(scenario="blips", horizon=1000).study_name()
    'compare/blips/T1000/K10'
    """

    policies: tuple[str, ...] = Field(
        default=PAPER_POLICIES, min_length=1, max_length=1000, description=COMPARISON["policies"]
    )
    tune: Trials = Field(default=ComparisonDefaults.tune, ge=0, description=COMPARISON["tune"])
    search_replications: Replications = Field(
        default=ComparisonDefaults.search_replications, description=COMPARISON["search_replications"]
    )
    replications: Whole = Field(
        default=ComparisonDefaults.replications, ge=2, le=MAX_WORLDS, description=COMPARISON["replications"]
    )
    defaults: Literal["scaled", "original"] = Field(
        default=ComparisonDefaults.defaults, description=COMPARISON["defaults"]
    )
    trace: FileName | None = Field(default=None, description=STUDY["trace"])
    log: FileName | None = Field(default=None, description=STUDY["log"])
    minimize: bool = Field(default=False, strict=True, description=STUDY["minimize"])
    columns: ColumnNames | None = optional(STUDY["columns"])
    digest: str | None = Field(default=None, max_length=64, description=STUDY["digest"])
    scale: float | None = Field(default=None, gt=0, description=STUDY["scale"])

    @property
    def source(self) -> Source:
        recorded = (self.trace, self.log, self.minimize, self.digest, self.scale)
        return make_source(self.scenario, self.settings, *recorded, columns=self.columns)

    @property
    def replications_name(self) -> str:
        """What a replication is called, in the plural."""
        return REPLICATION_NAMES[self.source.kind]

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        is_new = self.digest is None  # the file of a stored comparison is not opened again
        self.fill_in_size()
        if is_new:
            self.source.open().check(self.horizon, self.arms)
        if self.scale is None:
            self.__dict__.update(scale=self.source.reward_scale(self.horizon).factor)
        arms = self.arms + self.source.extra_arms
        if self.log is not None and self.replications < MIN_REPLAYS:
            raise ValueError(f"replications must be at least {MIN_REPLAYS} on a log but got {self.replications}")
        for policy in self.policies:
            policy_class = find_policy(policy)
            secret = policy_class.hidden_knowledge()
            if secret is not None and self.is_recorded:
                raise ValueError(f"{policy} {secret}, which are unknown for a {self.source.kind}")
            if self.policies.count(policy) > 1:
                raise ValueError(f"policies must be distinct but {policy} was given twice")
            policy_class.resolve({}, arms, self.horizon)
            if self.tune > 0 and is_new and is_tunable(policy):
                self.search_spec(policy)
        if all(find_policy(policy).hidden_knowledge() is not None for policy in self.policies):
            raise ValueError("policies must include one that can be deployed, to compare the others with")
        if self.tune > 0 and not any(is_tunable(policy) for policy in self.policies):
            raise ValueError(
                f"{self.policies[0]} has no parameter to tune; add another policy, or compare defaults with tune = 0"
            )
        return self

    @property
    def is_recorded(self) -> bool:
        """Whether rewards come from a trace or a log."""
        return self.trace is not None or self.log is not None

    @property
    def planned(self) -> int:
        return len(self.entries())

    def worlds(self) -> int:
        return self.replications

    def entry_steps(self, policy: str, setting: SettingKind) -> int:
        """Return the number of steps that an entry simulates, with its search if it is tuned.

        >>> ComparisonSpec(scenario="blips", horizon=100, replications=20, tune=0).entry_steps("ucb1", "defaults")
        2000
        """
        played = self.replications * self.horizon
        if setting == "defaults":
            return played
        search = self.search_spec(policy)
        return played + search.simulated_steps() - search.alternative_steps()

    def simulated_steps(self) -> int:
        """Return the number of steps of all entries; further worlds are not counted."""
        return sum(self.entry_steps(policy, setting) for policy, setting in self.entries())

    def searched_policies(self) -> list[str]:
        return [policy for policy, setting in self.entries() if setting == "tuned"]

    def summary(self) -> dict[str, Any]:
        fields = self.model_dump(include={"scenario", "horizon", "arms", "seed"})
        return {"policy": f"{len(self.policies)} policies", **fields}

    def entries(self) -> list[tuple[str, SettingKind]]:
        """Return policy and kind of setting of each entry in the order of the trials: defaults first, then tuned.

        A policy without searched parameters has no tuned entry.
        """
        tuned = [policy for policy in self.policies if self.tune > 0 and is_tunable(policy)]
        return [*((policy, "defaults") for policy in self.policies), *((policy, "tuned") for policy in tuned)]

    def search_spec(self, policy: str) -> StudySpec:
        """Return the search that tunes a policy; all policies get the same budget.

        Comparisons with the same budget share it.
        """
        from ravenlab.studies.spec.parse import parse_study_spec

        replications = self.search_replications
        least = MIN_REPLAYS if self.log is not None else 2
        fields: dict[str, Any] = {
            "policy": policy,
            **self.source.fields(),
            "settings": dict(self.settings),
            "horizon": self.horizon,
            "arms": self.arms,
            "trials": max(1, self.tune),
            "replications": replications,
            "candidates": CANDIDATES,
            "selection": max(least, SELECTION_FACTOR * replications),
            "report": max(least, replications),
            "seed": self.seed,
            "map": False,
        }
        overrides = self.overrides(("tune", "search_replications", "seed"))
        prefix = _default_name(self.scenario, self.horizon, self.arms)
        name = f"{prefix}/{policy}{name_suffix(overrides, HASH_LETTERS)}"
        return parse_study_spec({**fields, "name": name}, where=policy)

    def resolve_params(self, policy: str, params: dict[str, Value]) -> dict[str, Value]:
        """Return all parameters of a tuned entry."""
        if self.is_recorded and is_tunable(policy):
            return self.search_spec(policy).resolve_params(params)
        return find_policy(policy).resolve(params, self.arms + self.source.extra_arms, self.horizon)

    def default_params(self, policy: str, scale: RewardScale | None = None) -> dict[str, Value]:
        """Return all parameters of an entry at its defaults, scaled to the rewards unless `defaults` is original."""
        if self.defaults == "original":
            return find_policy(policy).resolve({}, self.arms + self.source.extra_arms, self.horizon)
        values = self.resolve_params(policy, {})
        if self.is_recorded:
            return values
        scaled = scale_defaults(find_policy(policy), values, scale or self.source.reward_scale(self.horizon))
        return self.resolve_params(policy, scaled)

    def study_name(self) -> str:
        """Return `compare/scenario/T…/K…`, followed by all other fields that differ from their defaults."""
        if self.name is not None:
            return self.name
        prefix = _default_name(self.scenario, self.horizon, self.arms)
        return f"{prefix}{name_suffix(self.overrides(NAMED_FIELDS), HASH_LETTERS)}"
