"""A comparison as tables: rows of words for people, records for CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from environments.text import format_count, format_interval, format_number, format_p_value, format_percent
from studies.export import latex_table, markdown_table
from studies.results.comparison import (
    LEGEND,
    SETTINGS,
    ComparisonResult,
    Leaderboard,
    Standing,
    describe_overview,
    describe_result,
    describe_search,
)
from studies.storage.keys import project_version
from studies.symbols import format_params
from studies.tables import make_table, to_csv

if TYPE_CHECKING:
    from pandas import DataFrame


BEST, EQUAL = "★", "≈"


@dataclass(frozen=True)
class TextTable:
    """Cells are words already; `numbers` says which columns are set flush right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]


def board_table(result: ComparisonResult, board: Leaderboard, *, timed: bool = False) -> TextTable:
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
            f"{each.place}. {each.policy} {mark_standing(each)}".strip(),
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
    return TextTable(board_caption(result, board), tuple(columns), tuple(rows), tuple(numbers))


def board_caption(result: ComparisonResult, board: Leaderboard) -> str:
    """Where it was, who met, and in how many worlds."""
    spec = result.comparison.spec
    where = f"{spec.scenario}, T = {spec.horizon:,}, K = {spec.arms}"
    return f"{where}, {SETTINGS[board.setting]}, R = {format_count(spec.replications)} worlds"


def overview_table(results: Sequence[ComparisonResult]) -> TextTable:
    """Policies × scenarios and horizons: mean regret, the best of each column marked, and who can't be told from it."""
    rows = []
    for policy in order_by_relative_regret(results):
        standings = [result.main.find(policy) for result in results]
        rows.append((policy, *(f"{format_number(each.mean)} {mark_standing(each)}".strip() for each in standings)))
    columns = ("Policy", *(result.label for result in results))
    caption = f"Mean regret, {SETTINGS[results[0].main.setting]}"
    return TextTable(caption, columns, tuple(rows), tuple(range(1, len(columns))))


def order_by_relative_regret(results: Sequence[ComparisonResult]) -> list[str]:
    """The policies of all results, those first that lie least behind the best of each, on average."""

    def behind(policy: str) -> float:
        shares = [relative_regret(result, policy) for result in results]
        return sum(share for share in shares if share is not None)

    return sorted(results[0].comparison.spec.policies, key=lambda policy: (behind(policy), policy))


def relative_regret(result: ComparisonResult, policy: str) -> float | None:
    """By what share a policy's regret lies above the best one's on the main board; 0 for the best itself."""
    each = result.main.find(policy)
    if each.behind is None:
        return 0.0
    return None if each.behind.share is None else each.behind.share[0]


def mark_standing(each: Standing) -> str:
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


def records(results: Sequence[ComparisonResult]) -> DataFrame:
    """Everything that was measured of an entry but its regret in each world, which JSON has; no time in it."""
    return make_table(
        _record(result, board, each) for result in results for board in result.boards for each in board.standings
    )


def _record(result: ComparisonResult, board: Leaderboard, each: Standing) -> dict[str, Any]:
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


@dataclass(frozen=True)
class ComparisonDocument:
    """All results of one call; the same policies in each."""

    results: tuple[ComparisonResult, ...]

    def as_object(self) -> dict[str, Any]:
        """Plain data."""
        return {"version": project_version(), "comparisons": [result.as_object() for result in self.results]}

    def as_json(self) -> str:
        """The text of `compare.json`."""
        return json.dumps(self.as_object(), ensure_ascii=False, allow_nan=False) + "\n"

    def as_csv(self) -> str:
        """The text of `compare.csv`: one row an entry."""
        return to_csv(records(self.results))

    def as_markdown(self) -> str:
        """The text of `compare.md`: a table over all worlds where there are several, then one a board."""
        parts = []
        if len(self.results) > 1:
            parts += [markdown_table.escape(describe_overview(self.results)), _markdown(overview_table(self.results))]
        for result in self.results:
            parts += [
                markdown_table.escape(line)
                for line in (" ".join(describe_result(result)), describe_search(result))
                if line
            ]
            parts += [_markdown(board_table(result, board)) for board in result.boards]
        parts.append(LEGEND)
        return "\n\n".join(parts) + "\n"

    def as_latex(self) -> str:
        """The text of `compare.tex`: tabulars with booktabs' rules."""
        tables = [_latex_overview(self.results)] if len(self.results) > 1 else []
        tables += [_latex_board(result, board) for result in self.results for board in result.boards]
        head = r"% \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}"
        foot = (
            "% bold: lowest mean regret; dagger: statistically indistinguishable from it (paired t-tests, Holm"
            " correction)"
        )
        return "\n\n".join([f"{head}\n{foot}", *tables]) + "\n"


def _markdown(table: TextTable) -> str:
    lines = [list(table.columns), ["---:" if i in table.numbers else "---" for i in range(len(table.columns))]]
    lines += [[markdown_table.escape(cell) for cell in row] for row in table.rows]
    rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"**{markdown_table.escape(table.caption)}**\n\n{rows}"


def _latex_board(result: ComparisonResult, board: Leaderboard) -> str:
    tuned = board.setting == "tuned"
    titles = ["Policy", r"Regret (95\,\%)", r"Behind (95\,\%)", "$p$ (Holm)", "Rank"]
    titles += [r"Trials $\times$ worlds"] if tuned else []
    rows = []
    for each in board.standings:
        cells = [latex_table.escape(each.policy), _latex_regret(each), *_latex_behind(each), f"${each.mean_rank:.2f}$"]
        if tuned:
            cells.append(rf"${each.entry.trials} \times {each.entry.search_replications}$")
        rows.append([*cells, latex_table.parameters(each.entry.shown_params())])
    return _tabular(board_caption(result, board), [*titles, "Parameters"], rows, "l" + "r" * (len(titles) - 1) + "l")


def _latex_overview(results: tuple[ComparisonResult, ...]) -> str:
    rows = []
    for policy in order_by_relative_regret(results):
        cells = [_latex_mean(result.main.find(policy)) for result in results]
        rows.append([latex_table.escape(policy), *cells])
    table = overview_table(results)
    titles = [latex_table.escape(title) for title in table.columns]
    return _tabular(table.caption, titles, rows, "l" + "r" * len(results))


def _latex_mean(each: Standing) -> str:
    number = rf"\mathbf{{{latex_table.number(each.mean)}}}" if each.behind is None else latex_table.number(each.mean)
    return f"${number}{_dagger(each)}$"


def _latex_regret(each: Standing) -> str:
    return f"{_latex_mean(each)} $[{latex_table.number(each.low)}, {latex_table.number(each.high)}]$"


def _dagger(each: Standing) -> str:
    return r"^{\dagger}" if each.behind is not None and each.among_the_best else ""


def _latex_behind(each: Standing) -> tuple[str, str]:
    behind = each.behind
    if behind is None:
        return "", ""
    p = f"${format_p_value(behind.holm)}$"
    if behind.share is None:
        return (
            f"${latex_table.number(behind.difference)}$ $[{latex_table.number(behind.low)},"
            f" {latex_table.number(behind.high)}]$",
            p,
        )
    mean, low, high = (latex_table.math(format_percent(share, unit="")) for share in behind.share)
    return rf"${mean}\,\%$ $[{low}, {high}]$", p


def _tabular(caption: str, titles: list[str], rows: list[list[str]], columns: str) -> str:
    lines = [
        f"% {caption}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(titles) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)
