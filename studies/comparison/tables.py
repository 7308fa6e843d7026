"""A comparison as tables: rows of words for people, records for CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from environments.text import format_count, format_interval, format_number, format_p_value, format_percent
from studies.comparison.boards import Board, Result, Standing
from studies.comparison.summary import SETTINGS
from studies.reproduction.tables import Table
from studies.symbols import format_params

BEST, EQUAL = "★", "≈"


@dataclass(frozen=True)
class WordTable:
    """Cells are words already; `numbers` says which columns are set flush right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]


def board_table(result: Result, board: Board, *, timed: bool = False) -> WordTable:
    """One row a policy, the best first; with `timed` also what a step cost, which differs from run to run."""
    tuned = board.setting == "tuned"
    untuned = result.board("defaults") if tuned else None
    columns = ["Policy", "Regret (95 %)", "Above the best (95 %)", "p (Holm)", "Mean rank"]
    numbers = [1, 2, 3, 4]
    if tuned:
        columns += ["At defaults", "Search"]
        numbers += [5, 6]
    if timed:
        numbers.append(len(columns))
        columns.append("ns per step")
    columns.append("Parameters")
    rows = []
    for each in board.standings:
        row = [
            f"{each.place}. {each.policy} {mark(each)}".strip(),
            format_interval(each.mean, each.low, each.high, level=None),
        ]
        row += [_behind(each), _p(each), f"{each.mean_rank:.2f}"]
        if untuned is not None:
            row += [
                format_number(untuned.find(each.policy).mean),
                f"{each.entry.trials} × {each.entry.search_replications}",
            ]
        if timed:
            row.append("–" if each.entry.nanoseconds is None else f"{each.entry.nanoseconds:.0f}")
        rows.append((*row, format_params(each.entry.shown_params())))
    return WordTable(board_caption(result, board), tuple(columns), tuple(rows), tuple(numbers))


def board_caption(result: Result, board: Board) -> str:
    """Where it was, who met, and in how many worlds."""
    spec = result.comparison.spec
    where = f"{spec.scenario}, T = {spec.horizon:,}, K = {spec.arms}"
    return f"{where}, {SETTINGS[board.setting]}, R = {format_count(spec.replications)} worlds"


def overview_table(results: Sequence[Result]) -> WordTable:
    """Policies × scenarios and horizons: mean regret, the best of each column marked, and who can't be told from it."""
    rows = []
    for policy in by_relative_regret(results):
        standings = [result.main.find(policy) for result in results]
        rows.append((policy, *(f"{format_number(each.mean)} {mark(each)}".strip() for each in standings)))
    columns = ("Policy", *(result.label for result in results))
    caption = f"Mean regret, {SETTINGS[results[0].main.setting]}"
    return WordTable(caption, columns, tuple(rows), tuple(range(1, len(columns))))


def by_relative_regret(results: Sequence[Result]) -> list[str]:
    """The policies of all results, those first that lie least behind the best of each, on average."""

    def behind(policy: str) -> float:
        shares = [relative(result, policy) for result in results]
        return sum(share for share in shares if share is not None)

    return sorted(results[0].comparison.spec.policies, key=lambda policy: (behind(policy), policy))


def relative(result: Result, policy: str) -> float | None:
    """By what share a policy's regret lies above the best one's on the main board; 0 for the best itself."""
    each = result.main.find(policy)
    if each.behind is None:
        return 0.0
    return None if each.behind.share is None else each.behind.share[0]


def mark(each: Standing) -> str:
    """★ for the best, ≈ for who can't be told from it."""
    return BEST if each.behind is None else EQUAL if each.among_the_best else ""


def _behind(each: Standing) -> str:
    if each.behind is None:
        return "–"
    if each.behind.share is None:
        return format_interval(each.behind.difference, each.behind.low, each.behind.high, level=None)
    mean, low, high = (format_percent(share) for share in each.behind.share)
    return f"{mean} ({low} to {high})"


def _p(each: Standing) -> str:
    return "–" if each.behind is None else format_p_value(each.behind.holm)


def records(results: Sequence[Result]) -> Table:
    """Everything that was measured of an entry but its regret in each world, which JSON has; no time in it."""
    return Table.of(
        _record(result, board, each) for result in results for board in result.boards for each in board.standings
    )


def _record(result: Result, board: Board, each: Standing) -> dict[str, Any]:
    spec, behind = result.comparison.spec, each.behind
    share = None if behind is None else behind.share
    return {
        "scenario": spec.scenario,
        "settings": json.dumps(spec.settings, ensure_ascii=False) if spec.settings else "",
        "horizon": spec.horizon,
        "arms": spec.arms,
        "setting": board.setting,
        "place": each.place,
        "policy": each.policy,
        "regret": each.mean,
        "low": each.low,
        "high": each.high,
        "difference": None if behind is None else behind.difference,
        "difference_low": None if behind is None else behind.low,
        "difference_high": None if behind is None else behind.high,
        "share": None if share is None else share[0],
        "share_low": None if share is None else share[1],
        "share_high": None if share is None else share[2],
        "p": None if behind is None else behind.p,
        "p_holm": None if behind is None else behind.holm,
        "among_the_best": each.among_the_best,
        "mean_rank": each.mean_rank,
        "trials": each.entry.trials,
        "search_replications": each.entry.search_replications,
        "params": json.dumps(each.entry.params, ensure_ascii=False),
        "replications": spec.replications,
        "seed": spec.seed,
    }
