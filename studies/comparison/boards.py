"""What the entries of one setting say when they are held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studies.comparison.entries import Comparison, Entry
from studies.comparison.spec import SettingOf

LEVEL = 0.05
"""Two are told apart where a test's corrected p lies below it."""


@dataclass(frozen=True)
class Behind:
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
    def told_apart(self) -> bool:
        """Whether it is surely worse than the best."""
        return self.holm < LEVEL


@dataclass(frozen=True)
class Standing:
    """One entry on its board."""

    place: int
    entry: Entry
    mean: float
    low: float
    high: float
    behind: Behind | None
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
        return self.behind is None or not self.behind.told_apart


@dataclass(frozen=True)
class Ranks:
    """Mean ranks and who can't be told from whom by them (Friedman's test, then Nemenyi's critical difference)."""

    friedman: float | None
    """p of all being alike; None for less than three."""
    critical: float
    """Mean ranks that differ by less are not told apart (95 %, for all pairs at once)."""
    groups: tuple[tuple[str, ...], ...]
    """Policies that can't be told apart, in the order of their mean ranks; each as large as can be, none alone."""


@dataclass(frozen=True)
class Board:
    """All entries of one setting, the best first."""

    setting: SettingOf
    standings: tuple[Standing, ...]
    ranks: Ranks | None
    """None where there is only one policy."""

    @property
    def best(self) -> Standing:
        """The one with the lowest mean regret."""
        return self.standings[0]

    def find(self, policy: str) -> Standing:
        """A policy's standing."""
        return next(each for each in self.standings if each.policy == policy)


@dataclass(frozen=True)
class Result:
    """A comparison with its boards, the more telling one first."""

    comparison: Comparison
    boards: tuple[Board, ...]

    @property
    def main(self) -> Board:
        """The tuned board where there is one."""
        return self.boards[0]

    def board(self, setting: SettingOf) -> Board | None:
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


def _board(board: Board) -> dict[str, Any]:
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
