"""What is compared, in one frozen object: policies in one scenario at one horizon."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from policies import find_policy
from policies.base import Value
from studies.played_spec import PlayedSpec
from studies.spec import StudySpec

PAPER = (
    *("raven-ucb", "ucb1", "ucb-v", "epsilon-greedy", "thompson"),
    *("f-dsw-ts", "wls-optimistic-ts", "ccb", "ucb-imp"),
)
"""The nine policies of the paper's Table 3, in its order."""

SettingOf = Literal["defaults", "tuned"]

SLOW_TRIALS, SLOW_REPLICATIONS = 20, 20
"""The most that a search of a slow policy gets: it takes as long a step as ten to twenty others."""

CANDIDATES = 6
"""How many of a search's best meet again on fresh worlds, before one of them enters."""

SELECTION = 2
"""Fresh worlds that choose among them, times those of a trial; the search's own report is made on as many as a trial:
the comparison plays its winner again."""

MOST_WORLDS = 100_000
"""What every entry got in every world is kept with it."""


class ComparisonSpec(PlayedSpec):
    """One comparison.

    >>> ComparisonSpec(scenario="blips", horizon=1000).study_name()
    'compare/blips/T1000/K10'
    """

    policies: tuple[str, ...] = Field(default=PAPER, min_length=1, max_length=1000)
    tune: int = Field(default=50, strict=True, ge=0, le=1_000_000)
    search_replications: int = Field(default=50, strict=True, ge=2, le=10_000_000)
    replications: int = Field(default=200, strict=True, ge=2, le=MOST_WORLDS)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        world = self.world()
        horizon, arms = self.horizon or world.horizon, self.arms or world.arms
        world.check(horizon, arms)
        for policy in self.policies:
            found = find_policy(policy)
            if self.policies.count(policy) > 1:
                raise ValueError(f"policies must differ but {policy} was given twice")
            found.resolve({}, arms + world.extra_arms, horizon)
            if self.tune == 0:
                continue
            if not any(param.low is not None for param in found.parameters):
                raise ValueError(f"{policy} has nothing to tune; leave it out, or compare defaults alone (--tune 0)")
            self.search(policy)
        return self

    def entries(self) -> list[tuple[str, SettingOf]]:
        """Who meets whom, in the order of the trials: all at their defaults, then all that are tuned."""
        kinds: tuple[SettingOf, ...] = ("defaults", "tuned") if self.tune else ("defaults",)
        return [(policy, kind) for kind in kinds for policy in self.policies]

    def budget(self, policy: str) -> tuple[int, int]:
        """Trials of a policy's search, and the worlds that each of them plays.

        >>> spec = ComparisonSpec(scenario="blips", tune=100)
        >>> spec.budget("ucb1"), spec.budget("thompson")
        ((100, 50), (20, 20))
        """
        if not find_policy(policy).slow:
            return self.tune, self.search_replications
        return min(self.tune, SLOW_TRIALS), min(self.search_replications, SLOW_REPLICATIONS)

    def search(self, policy: str) -> StudySpec:
        """The search that tunes a policy; the same one for all comparisons that ask for the same budget."""
        from studies.reading import spec_from

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
        usual = {"settings": {}, "seed": 0, **dict(zip(("trials", "replications"), _usual_budget(policy), strict=True))}
        name = f"{here._place()}/{policy}{_hash(asked, usual)}"
        return spec_from({**fields, "name": name}, where=policy)

    def values(self, policy: str, params: dict[str, Value]) -> dict[str, Value]:
        """All parameters of an entry, checked."""
        here = self.resolved()
        assert here.arms is not None
        return find_policy(policy).resolve(params, here.arms + self.world().extra_arms, here.horizon)

    def study_name(self) -> str:
        """`compare/scenario/T…/K…`, with a short hash where anything else is not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        usual = {field: ComparisonSpec.model_fields[field].get_default(call_default_factory=True) for field in _HASHED}
        return f"{here._place()}{_hash({field: getattr(here, field) for field in _HASHED}, usual)}"

    def _place(self) -> str:
        return f"compare/{self.scenario}/T{self.horizon}/K{self.arms}"

    def identity(self) -> dict[str, Any]:
        """What makes entries comparable: everything but the name, every default written out."""
        return self.resolved().model_dump(mode="json", exclude={"name"})

    def differences(self, stored: ComparisonSpec) -> list[str]:
        """In words, where a stored comparison's entries would not be comparable with this one's.

        >>> ComparisonSpec(scenario="blips", seed=1).differences(ComparisonSpec(scenario="blips"))
        ['seed was 0, now 1']
        """
        mine, theirs = self.identity(), stored.identity()
        return [f"{key} was {theirs[key]}, now {mine[key]}" for key in mine if mine[key] != theirs[key]]


_HASHED = ("settings", "policies", "tune", "search_replications", "replications", "seed")


def _usual_budget(policy: str) -> tuple[int, int]:
    fields = ComparisonSpec.model_fields
    trials, replications = fields["tune"].default, fields["search_replications"].default
    if find_policy(policy).slow:
        return min(trials, SLOW_TRIALS), min(replications, SLOW_REPLICATIONS)
    return trials, replications


def _hash(mine: dict[str, Any], usual: dict[str, Any]) -> str:
    """Nothing where all is as usual, else a short hash behind a tilde."""
    if mine == usual:
        return ""
    text = json.dumps(mine, sort_keys=True, default=list)
    return f"~{hashlib.sha256(text.encode()).hexdigest()[:6]}"
