"""What was measured: an entry is a policy with its parameters, a comparison all entries of one world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from environments.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    join_words,
    plural,
)
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Value
from studies.spec.comparison import SLOW_REPLICATIONS, SLOW_TRIALS, ResolvedComparisonSpec, SettingKind
from studies.symbols import format_params


@dataclass(frozen=True)
class RegretCurve:
    """Mean cumulative regret over time, with its standard error."""

    steps: tuple[int, ...]
    mean: tuple[float, ...]
    stderr: tuple[float, ...]

    @staticmethod
    def of(steps: Floats | list[int], regret: Floats) -> RegretCurve:
        """From cumulative regrets [R, steps].

        >>> RegretCurve.of([1, 5], np.array([[0.0, 1.0], [0.0, 3.0]]))
        RegretCurve(steps=(1, 5), mean=(0.0, 2.0), stderr=(0.0, 1.0))
        """
        error = regret.std(axis=0, ddof=1) / np.sqrt(regret.shape[0])
        return RegretCurve(tuple(int(t) for t in steps), tuple(regret.mean(axis=0).tolist()), tuple(error.tolist()))


@dataclass(frozen=True)
class ComparisonEntry:
    """One policy, at its defaults or tuned, in the worlds of the comparison."""

    policy: str
    setting: SettingKind
    params: dict[str, Value]
    """All of them."""
    regret: Floats
    """What it lost in each world; the worlds are the same for all entries."""
    curve: RegretCurve
    trials: int = 0
    """Of the search that tuned it, each in `search_replications` worlds."""
    search_replications: int = 0
    nanoseconds: float | None = field(default=None, compare=False)
    """CPU time of a step as it was measured: it differs from run to run, so no file that must not differ holds it."""

    def shown_params(self) -> dict[str, Value]:
        """The parameters that a search may choose; those of a policy that has none are all shown."""
        wanted = {param.name for param in find_policy(self.policy).parameters if param.low is not None}
        return {name: value for name, value in self.params.items() if name in wanted or not wanted}


@dataclass(frozen=True)
class Comparison:
    """All entries in the order of `ComparisonSpec.entries()`."""

    spec: ResolvedComparisonSpec
    study: str
    entries: tuple[ComparisonEntry, ...]

    def of(self, setting: SettingKind) -> list[ComparisonEntry]:
        """The entries that meet each other on one board."""
        return [entry for entry in self.entries if entry.setting == setting]

    @property
    def settings(self) -> tuple[SettingKind, ...]:
        """The boards there are, the more telling one first."""
        return ("tuned", "defaults") if self.spec.tune else ("defaults",)


LEVEL = 0.05
"""Two are told apart where a test's corrected p lies below it."""


@dataclass(frozen=True)
class DifferenceFromBest:
    """How far one lies behind the best, in the same worlds: the paired difference with its 95 % interval and tests."""

    difference: float
    low: float
    high: float
    share: tuple[float, float, float] | None
    """The same as a share of the best one's regret, with its interval; None where that is next to nothing."""
    p: float
    holm: float
    """p after Holm's correction for all pairs of the board: it holds although the same worlds chose the best."""

    @property
    def significant(self) -> bool:
        """Whether it is surely worse than the best."""
        return self.holm < LEVEL


@dataclass(frozen=True)
class Standing:
    """One entry on its board."""

    place: int
    entry: ComparisonEntry
    mean: float
    low: float
    high: float
    behind: DifferenceFromBest | None
    """None for the best."""
    mean_rank: float
    """Its rank among all entries of the board, averaged over worlds; 1 would be the best in every world."""

    @property
    def policy(self) -> str:
        """Whose entry it is."""
        return self.entry.policy

    @property
    def among_the_best(self) -> bool:
        """Whether it is the best or can't be told from it."""
        return self.behind is None or not self.behind.significant


@dataclass(frozen=True)
class RankTest:
    """Mean ranks and who can't be told from whom by them (Friedman's test, then Nemenyi's critical difference)."""

    friedman: float | None
    """p of all being alike; None for less than three."""
    critical: float
    """Mean ranks that differ by less are not told apart (95 %, for all pairs at once)."""
    groups: tuple[tuple[str, ...], ...]
    """Policies that can't be told apart, in the order of their mean ranks; each as large as can be, none alone."""


@dataclass(frozen=True)
class Leaderboard:
    """All entries of one setting, the best first."""

    setting: SettingKind
    standings: tuple[Standing, ...]
    ranks: RankTest | None
    """None where there is only one policy."""

    @property
    def best(self) -> Standing:
        """The one with the lowest mean regret."""
        return self.standings[0]

    def find(self, policy: str) -> Standing:
        """A policy's standing."""
        return next(each for each in self.standings if each.policy == policy)


@dataclass(frozen=True)
class ComparisonResult:
    """A comparison with its boards, the more telling one first."""

    comparison: Comparison
    boards: tuple[Leaderboard, ...]

    @property
    def main(self) -> Leaderboard:
        """The tuned board where there is one."""
        return self.boards[0]

    def board(self, setting: SettingKind) -> Leaderboard | None:
        """The board of a setting, if it was played."""
        return next((board for board in self.boards if board.setting == setting), None)

    @property
    def label(self) -> str:
        """Where it was, in short."""
        spec = self.comparison.spec
        return f"{spec.scenario}, T = {spec.horizon}"

    def as_object(self) -> dict[str, Any]:
        """For JSON; no time of day or of a step in it."""
        spec = self.comparison.spec
        return {
            "study": self.comparison.study,
            **spec.model_dump(mode="json", exclude={"name"}),
            "boards": [_board(board) for board in self.boards],
        }


def _board(board: Leaderboard) -> dict[str, Any]:
    ranks = board.ranks
    return {
        "setting": board.setting,
        "standings": [_standing(each) for each in board.standings],
        "friedman_p": None if ranks is None else ranks.friedman,
        "critical_difference": None if ranks is None else ranks.critical,
        "groups": [] if ranks is None else [list(group) for group in ranks.groups],
    }


def _standing(each: Standing) -> dict[str, Any]:
    entry, behind = each.entry, each.behind
    return {
        "place": each.place,
        "policy": entry.policy,
        "params": entry.params,
        "mean": each.mean,
        "low": each.low,
        "high": each.high,
        "mean_rank": each.mean_rank,
        "among_the_best": each.among_the_best,
        "difference": None if behind is None else [behind.difference, behind.low, behind.high],
        "share": None if behind is None or behind.share is None else list(behind.share),
        "p": None if behind is None else behind.p,
        "p_holm": None if behind is None else behind.holm,
        "trials": entry.trials,
        "search_replications": entry.search_replications,
        "regret": entry.regret.tolist(),
    }


MOST_NAMES = 4
"""Maximal number of policies that a sentence lists by name."""

SETTINGS = {"tuned": "all policies tuned", "defaults": "all policies at their defaults"}

LEGEND = (
    "★ best, ≈ statistically indistinguishable from the best (paired t-tests of all pairs, Holm correction, 5 % level)."
)


def describe_result(result: ComparisonResult) -> list[str]:
    """Describe the main board, and the effect of tuning on the best policy."""
    board = result.main
    lines = [describe_best(board, result.comparison.spec.replications)]
    if len(board.standings) > 1:
        lines.append(describe_margin(board))
    untuned = result.board("defaults")
    if board.setting == "tuned" and untuned is not None:
        lines.append(_describe_tuning(board.best, untuned))
    return lines


def describe_best(board: Leaderboard, worlds: int) -> str:
    """Name the policy with the lowest mean regret."""
    best = board.best
    params = f" ({format_params(best.entry.shown_params())})" if board.setting == "tuned" else ""
    regret = f"mean regret {format_interval(best.mean, best.low, best.high)} on {plural(worlds, 'held-out world')}"
    if len(board.standings) == 1:
        return f"{best.policy}{params} is the only policy: {regret}."
    return f"With {SETTINGS[board.setting]}, {best.policy}{params} has the lowest regret: {regret}."


def describe_margin(board: Leaderboard) -> str:
    """Describe the distance of the other policies from the best, and which are indistinguishable from it."""
    close = [standing for standing in board.standings[1:] if standing.among_the_best]
    if not close:
        return f"Second is {_describe_standing(board.standings[1])}. All other policies are significantly worse."
    worse = len(board.standings) - 1 - len(close)
    rest = f" {capitalize_first(plural(worse, 'other policy is', 'other policies are'))} significantly worse."
    return f"Statistically indistinguishable from it: {_list_standings(close)}.{rest if worse else ''}"


def describe_distance(behind: DifferenceFromBest) -> str:
    """Describe the distance of a policy from the best.

    >>> describe_distance(Behind(5.0, 4.0, 6.0, (0.05, 0.04, 0.06), 0.001, 0.01))
    '5.0 % above the best, 95 % CI 4.0 % to 6.0 %'
    """
    values = (behind.difference, behind.low, behind.high)
    if behind.share is None:
        mean, low, high = (format_number(value) for value in values)
    else:
        mean, low, high = (format_percent(share) for share in behind.share)
    return f"{mean} above the best, 95 % CI {low} to {high}"


def describe_search(result: ComparisonResult) -> str | None:
    """Describe the search budget of each policy; None if nothing was tuned."""
    spec = result.comparison.spec
    if spec.tune == 0:
        return None
    reduced = [policy for policy in spec.policies if spec.budget(policy) != (spec.tune, spec.search_replications)]
    budget = (
        f"Search budget per policy: {format_count(spec.tune)} trials × {format_count(spec.search_replications)} worlds"
    )
    if not reduced:
        return f"{budget}."
    cap = f"{min(spec.tune, SLOW_TRIALS)} × {min(spec.search_replications, SLOW_REPLICATIONS)}"
    return (
        f"{budget}; {cap} for {join_words(reduced, 'and')}, which are slow because they draw random numbers for each"
        " arm."
    )


def describe_overview(results: Sequence[ComparisonResult]) -> str:
    """Describe which policies are best most often over several scenarios and horizons."""
    wins: dict[str, int] = {}
    among: dict[str, int] = {}
    for result in results:
        wins[result.main.best.policy] = wins.get(result.main.best.policy, 0) + 1
        for standing in result.main.standings:
            among[standing.policy] = among.get(standing.policy, 0) + standing.among_the_best
    ordered = sorted(among, key=lambda policy: (-wins.get(policy, 0), -among[policy], policy))
    sentences = [
        f"{policy} is best in {wins[policy]} of {len(results)} cases and best or indistinguishable from the best in"
        f" {among[policy]}"
        for policy in ordered[:3]
        if policy in wins
    ]
    return f"With {SETTINGS[results[0].main.setting]}: {'; '.join(sentences)}."


def _describe_tuning(best: Standing, untuned: Leaderboard) -> str:
    """Describe how tuning changed the regret of the best policy, and which policy is best without tuning."""
    before = untuned.find(best.policy)
    if before.mean > best.mean:
        change = (
            f"Tuning reduced the regret of {best.policy} from {format_number(before.mean)} to"
            f" {format_number(best.mean)}"
        )
    else:
        change = f"Tuning did not reduce the regret of {best.policy} ({format_number(before.mean)} at its defaults)"
    same = untuned.best.policy == best.policy
    leader = "it is also best" if same else f"{untuned.best.policy} is best"
    return f"{change}; with {SETTINGS['defaults']} {leader}."


def _list_standings(standings: Sequence[Standing]) -> str:
    named = [_describe_standing(standing) for standing in standings[:MOST_NAMES]]
    more = len(standings) - len(named)
    return f"{', '.join(named)} and {more} more" if more else join_words(named, "and")


def _describe_standing(standing: Standing) -> str:
    behind = standing.behind
    if behind is None:
        return standing.policy
    p = format_p_value(behind.holm)
    return f"{standing.policy} ({describe_distance(behind)}, {f'p {p}' if p.startswith('<') else f'p = {p}'})"
