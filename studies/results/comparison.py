"""Results of a comparison of policies: entries and leaderboards with tests; `describe_comparison` words them."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ravenlab.common.documents import Document, Result
from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.common.text import format_count, format_number
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.export import SingleDocument
from ravenlab.studies.spec.comparison import FILE_FIELDS, ComparisonSpec, SettingKind, is_tunable
from ravenlab.studies.statistics.failures import FailureSample
from ravenlab.studies.tables import DataFrame


@dataclass(frozen=True)
class RegretCurve:
    """Mean cumulative regret over time, with its standard error."""

    steps: tuple[int, ...]
    mean: tuple[float, ...]
    stderr: tuple[float, ...]

    @classmethod
    def of(cls, steps: Floats | list[int], regret: Floats) -> Self:
        """Average cumulative regrets [R, steps] over worlds.

        >>> RegretCurve.of([1, 5], np.array([[0.0, 1.0], [0.0, 3.0]]))
        RegretCurve(steps=(1, 5), mean=(0.0, 2.0), stderr=(0.0, 1.0))
        """
        error = regret.std(axis=0, ddof=1) / np.sqrt(regret.shape[0])
        return cls(tuple(int(t) for t in steps), tuple(regret.mean(axis=0).tolist()), tuple(error.tolist()))

    def pool(self, worlds: int, other: Self, more: int) -> Self:
        """Return the curve over the worlds of this curve and `more` worlds of another one.

        >>> first, second = np.array([[1.0], [3.0]]), np.array([[2.0], [8.0]])
        >>> pooled = RegretCurve.of([9], first).pool(2, RegretCurve.of([9], second), 2)
        >>> bool(np.allclose(pooled.stderr, RegretCurve.of([9], np.concatenate([first, second])).stderr))
        True
        """
        count = worlds + more
        means = np.array(self.mean)
        others = np.array(other.mean)
        squares = sum(
            n * (n - 1) * np.array(errors) ** 2 for n, errors in ((worlds, self.stderr), (more, other.stderr))
        )
        squares += worlds * more / count * (means - others) ** 2
        pooled = (worlds * means + more * others) / count
        errors = np.sqrt(squares / (count * (count - 1)))
        return replace(self, mean=tuple(pooled.tolist()), stderr=tuple(errors.tolist()))


@dataclass(frozen=True)
class RecordedResult:
    """What the held-out segment of a trace or log adds to an entry."""

    reward: float
    """Mean reward per step, in the units of the file."""
    rows: int
    """Rows of the trace, or events of the held-out segment of a log."""
    parts: Floats | None = None
    """Trace: contributions of consecutive rows, of all segments, to the error of the mean regret."""
    inconclusive: str | None = None
    """Log: why it does not support a conclusion; None if it does."""
    simulated: bool = False
    """Log: whether regrets come from a simulator fitted to the log, instead of its events."""
    estimator: str = ""
    """Log: how rewards are estimated, and why."""
    files: bool = False
    """Whether regrets are those of the held-out files of a collection of traces, and the parts those of the others."""


@dataclass(frozen=True)
class ComparisonEntry:
    """One policy, at its defaults or tuned, evaluated on the worlds of the comparison."""

    policy: str
    setting: SettingKind
    params: dict[str, Value]
    regret: Floats
    """Regret by world; all entries are evaluated on the same worlds."""
    curve: RegretCurve
    trials: int = 0
    """Trials of the search that tuned it, each on `search_replications` worlds."""
    search_replications: int = 0
    failures: int | None = None
    """Number of worlds in which the policy fails; None if they were not counted (earlier versions)."""
    uniform: float = 0.0
    """Mean regret of uniform choice in these worlds."""
    nanoseconds: float | None = field(default=None, compare=False)
    """Measured CPU time per step. It differs between runs, so it is not exported."""
    recorded: RecordedResult | None = None
    """None in simulated worlds."""

    @property
    def failure_sample(self) -> FailureSample | None:
        """Evidence about rare failures; None if they were not counted."""
        if self.failures is None:
            return None
        return FailureSample(self.regret.size, self.failures, float(self.regret.mean()), self.uniform)

    @property
    def failure_rate(self) -> float | None:
        """Share of the worlds in which the policy fails."""
        return None if self.failures is None else self.failures / self.regret.size

    @property
    def reliable(self) -> bool:
        """Whether rare failures are well enough represented for the interval of the mean to be trusted."""
        return self.failure_sample is None or self.failure_sample.reliable

    def pool(self, more: Self) -> Self:
        """Return the entry on the worlds of both, in this order."""
        worlds = self.regret.size
        further = more.regret.size
        return replace(
            self,
            regret=np.concatenate([self.regret, more.regret]),
            curve=self.curve.pool(worlds, more.curve, further),
            failures=None if self.failures is None or more.failures is None else self.failures + more.failures,
            uniform=(worlds * self.uniform + further * more.uniform) / (worlds + further),
        )

    def shown_params(self) -> dict[str, Value]:
        """Return the searchable parameters, or all parameters if none is searchable."""
        searchable = {param.name for param in find_policy(self.policy).parameters if param.low is not None}
        return {name: value for name, value in self.params.items() if name in searchable or not searchable}


@dataclass(frozen=True)
class Comparison:
    """All entries in the order of `ComparisonSpec.entries()`."""

    spec: ComparisonSpec
    study: str
    entries: tuple[ComparisonEntry, ...]

    def of(self, setting: SettingKind) -> list[ComparisonEntry]:
        """List the entries of one leaderboard; policies without searched parameters are on that of tuned ones too."""
        return [entry for entry in self.entries if entry.setting == setting or not is_tunable(entry.policy)]

    @property
    def worlds(self) -> int:
        """Number of worlds that all entries play; at least the replications of the specification."""
        return self.entries[0].regret.size

    @property
    def settings(self) -> tuple[SettingKind, ...]:
        """Settings of the leaderboards, the main one first."""
        return ("tuned", "defaults") if self.spec.tune else ("defaults",)

    def describe(self, setting: SettingKind) -> str:
        """Describe a setting in words."""
        if setting == "tuned":
            return "all policies tuned"
        if self.spec.defaults == "original" or self.spec.scale == 1.0:
            return "all policies at their defaults"
        factor = "" if self.spec.scale is None else f", which is {format_number(self.spec.scale)} times the usual one"
        return f"all policies at defaults scaled to the spread of the rewards{factor}"


@dataclass(frozen=True)
class DifferenceFromBest:
    """Paired difference from the best entry, with its test."""

    difference: Interval
    """Its interval is simultaneous for all pairs and excludes 0 exactly if the corrected p-value is below 5 %."""
    share: Interval | None
    """The difference as a share of the regret of the best entry; None if that regret is zero, and on recorded data."""
    p: float
    holm: float
    """p after Holm's correction for all pairs, which accounts for choosing the best entry on the same worlds."""
    enough: bool = True
    """Whether a trace or log has enough independent rows or events for a conclusion."""

    @property
    def significant(self) -> bool:
        """Whether the entry is significantly worse than the best."""
        return self.enough and self.holm < ERROR_RATE


@dataclass(frozen=True)
class Standing:
    """The position of one entry on its leaderboard."""

    place: int
    entry: ComparisonEntry
    regret: Interval
    """Mean regret."""
    behind: DifferenceFromBest | None
    """None for the best."""
    mean_rank: float
    """Mean over worlds of the rank among all entries; 1 if it is the best in every world."""
    anchor: bool = False
    """Whether the policy knows the true means or changes. It cannot be deployed, so it has place 0 and no rank."""

    @property
    def policy(self) -> str:
        """Name of the policy."""
        return self.entry.policy

    @property
    def among_the_best(self) -> bool:
        """Whether it is the best or statistically indistinguishable from the best."""
        return not self.anchor and (self.behind is None or not self.behind.significant)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        entry = self.entry
        behind = self.behind
        return {
            "place": self.place,
            "policy": entry.policy,
            "params": entry.params,
            **self.regret.as_object(),
            "mean_rank": self.mean_rank,
            "among_the_best": self.among_the_best,
            **({"anchor": True} if self.anchor else {}),
            "difference": None if behind is None else list(behind.difference),
            "share": None if behind is None or behind.share is None else list(behind.share),
            "p": None if behind is None else behind.p,
            "p_holm": None if behind is None else behind.holm,
            **({} if entry.recorded is None else {"enough": behind is None or behind.enough}),
            **({} if entry.recorded is None else {"reward_per_step": entry.recorded.reward}),
            "trials": entry.trials,
            "search_replications": entry.search_replications,
            "failure_rate": entry.failure_rate,
            "reliable": entry.reliable,
            "regret": entry.regret.tolist(),
        }


@dataclass(frozen=True)
class RankTest:
    """Tests of mean ranks: Friedman's test, then Nemenyi's critical difference."""

    friedman: float | None
    """p-value of Friedman's test; None for fewer than three entries."""
    critical: float
    """Critical difference of mean ranks at the 5 % level, for all pairs simultaneously."""
    groups: tuple[tuple[str, ...], ...]
    """Maximal groups of at least two indistinguishable policies, ordered by mean rank."""


@dataclass(frozen=True)
class Leaderboard:
    """All entries of one setting, the best first."""

    setting: SettingKind
    description: str
    """The setting in words, such as "all policies tuned"."""
    standings: tuple[Standing, ...]
    """Policies that can be deployed, then anchors."""
    ranks: RankTest | None
    """None if there is only one policy."""

    @property
    def best(self) -> Standing:
        """The entry with the lowest mean regret."""
        return self.standings[0]

    @property
    def ranked(self) -> tuple[Standing, ...]:
        """The policies that can be deployed."""
        return tuple(standing for standing in self.standings if not standing.anchor)

    @property
    def anchors(self) -> tuple[Standing, ...]:
        """The policies that know the true means or changes."""
        return tuple(standing for standing in self.standings if standing.anchor)

    def find(self, policy: str) -> Standing:
        """Find the standing of a policy."""
        return next(standing for standing in self.standings if standing.policy == policy)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        ranks = self.ranks
        return {
            "setting": self.setting,
            "standings": [standing.as_object() for standing in self.standings],
            "friedman_p": None if ranks is None else ranks.friedman,
            "critical_difference": None if ranks is None else ranks.critical,
            "groups": [] if ranks is None else [list(group) for group in ranks.groups],
        }


@dataclass(frozen=True, repr=False)
class ComparisonResult(SingleDocument, Result):
    """A comparison with its leaderboards, the main one first."""

    comparison: Comparison
    boards: tuple[Leaderboard, ...]

    @property
    def main(self) -> Leaderboard:
        """The leaderboard of tuned policies, or of defaults if nothing was tuned."""
        return self.boards[0]

    def board(self, setting: SettingKind) -> Leaderboard | None:
        """Return the leaderboard of a setting, or None if it was not evaluated."""
        return next((board for board in self.boards if board.setting == setting), None)

    @property
    def label(self) -> str:
        """Scenario and horizon."""
        spec = self.comparison.spec
        return f"{spec.scenario}, T = {format_count(spec.horizon)}"

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data, without timestamps and times per step."""
        spec = self.comparison.spec
        return {
            "study": self.comparison.study,
            **spec.model_dump(mode="json", exclude={"name", *(() if spec.is_recorded else FILE_FIELDS)}),
            "worlds": self.comparison.worlds,
            "boards": [board.as_object() for board in self.boards],
        }

    def to_frame(self) -> DataFrame:
        """Tabulate all entries in pandas: one row per policy and setting."""
        from ravenlab.studies.export.comparison import tabulate_entries

        frame = tabulate_entries([self]).drop(columns="settings")
        frame["params"] = frame["params"].map(json.loads)
        return frame.infer_objects()

    def to_documents(self) -> list[Document]:
        """Return all leaderboards."""
        return self.document().to_documents()

    def to_document(self) -> Document:
        from ravenlab.studies.results.describe_comparison import comparison_document

        return comparison_document(self)
