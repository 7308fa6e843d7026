"""What a command compared: one result or many, as JSON, CSV, Markdown and LaTeX, the same bytes for the same spec."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from environments.text import format_p_value, format_percent
from studies.comparison.boards import Board, Result, Standing
from studies.comparison.summary import LEGEND, describe_overview, describe_result, describe_search
from studies.comparison.tables import WordTable, board_caption, board_table, by_relative_regret, overview_table, records
from studies.export import latex_table, markdown_table
from studies.keys import project_version


@dataclass(frozen=True)
class Document:
    """All results of one call; the same policies in each."""

    results: tuple[Result, ...]

    def as_object(self) -> dict[str, Any]:
        """Plain data."""
        return {"version": project_version(), "comparisons": [result.as_object() for result in self.results]}

    def as_json(self) -> str:
        """The text of `compare.json`."""
        return json.dumps(self.as_object(), ensure_ascii=False, allow_nan=False) + "\n"

    def as_csv(self) -> str:
        """The text of `compare.csv`: one row an entry."""
        return records(self.results).as_csv()

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


def _markdown(table: WordTable) -> str:
    lines = [list(table.columns), ["---:" if i in table.numbers else "---" for i in range(len(table.columns))]]
    lines += [[markdown_table.escape(cell) for cell in row] for row in table.rows]
    rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"**{markdown_table.escape(table.caption)}**\n\n{rows}"


def _latex_board(result: Result, board: Board) -> str:
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


def _latex_overview(results: tuple[Result, ...]) -> str:
    rows = []
    for policy in by_relative_regret(results):
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
