"""Exports of comparisons: tables for people, and files in JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ravenlab.common import latex, markdown
from ravenlab.common.cells import ANCHOR, BEST, NONE, TIED, Cell, Entry, Estimate, Number
from ravenlab.common.documents import Document, ResultList, Table
from ravenlab.common.text import format_count, format_number, format_p_value, format_percent
from ravenlab.studies.results.alternatives import describe_untuned_policies
from ravenlab.studies.results.comparison import ComparisonEntry, ComparisonResult, Leaderboard, Standing
from ravenlab.studies.results.describe_comparison import describe_marks, describe_result, describe_search
from ravenlab.studies.results.overview import describe_overview, untuned_excess
from ravenlab.studies.storage.keys import project_version
from ravenlab.studies.symbols import list_values
from ravenlab.studies.tables import make_table, to_csv

if TYPE_CHECKING:
    from pandas import DataFrame


LATEX_LEGEND = (
    "% bold: lowest mean regret; dagger: statistically indistinguishable from it (paired tests, Holm correction)"
)
TIME = "ns per step"
"""Column of the measured time, which differs between runs, so that files do not contain it."""

TEXT_COLUMNS = ("Policy", "Parameters", "Parameters to set", "Worst case")
"""Columns of text in the tables; all others hold numbers."""


def board_table(result: ComparisonResult, board: Leaderboard) -> Table:
    """Tabulate a leaderboard, the best first, with the measured CPU time per step."""
    untuned = result.board("defaults") if board.setting == "tuned" else None
    spec = result.comparison.spec
    defaults = "At scaled defaults" if spec.defaults == "scaled" else "At defaults"
    rows: list[dict[str, Cell]] = []
    for standing in board.standings:
        entry = standing.entry
        mark = mark_standing(standing)
        row: dict[str, Cell] = {
            "Policy": Entry(standing.policy, standing.place, mark),
            "Regret (95 %)": Estimate(standing.regret, mark=mark),
        }
        if entry.recorded is not None:
            row["Cost per step" if spec.minimize else "Reward per step"] = Number(format_number(entry.recorded.reward))
        row |= {
            "Above the best (95 %)": _difference_cell(standing),
            "p (Holm)": NONE if standing.behind is None else Number(format_p_value(standing.behind.holm)),
            "Mean rank": NONE if standing.anchor else Number(f"{standing.mean_rank:.2f}"),
        }
        if entry.recorded is None:
            row["Failures"] = format_failure_rate(entry)
        if untuned is not None:
            searched = f"{format_count(entry.trials)} × {format_count(entry.search_replications)}"
            row[defaults] = Number(format_number(untuned.find(standing.policy).regret.mean))
            row["Search"] = Number(searched) if entry.trials else NONE
        row[TIME] = NONE if entry.nanoseconds is None else Number(format_number(round(entry.nanoseconds)))
        row["Parameters"] = list_values(entry.shown_params())
        rows.append(row)
    cells = [list(row.values()) for row in rows]
    return Table(list(rows[0]), cells, board_caption(result, board), TEXT_COLUMNS, narrow="cut")


def format_failure_rate(entry: ComparisonEntry) -> str:
    """Format the share of failing worlds; an exclamation mark warns that the interval of the mean is unreliable."""
    if entry.failure_rate is None:
        return NONE
    return f"{format_percent(entry.failure_rate)}{'' if entry.reliable else ' !'}"


def board_caption(result: ComparisonResult, board: Leaderboard) -> str:
    """Describe scenario, horizon, arms, setting and number of worlds."""
    spec = result.comparison.spec
    where = f"{spec.scenario}, T = {format_count(spec.horizon)}, K = {spec.arms}"
    worlds = f"R = {format_count(result.comparison.worlds)} {spec.replications_name}"
    return f"{where}, {board.description}, {worlds}"


def overview_table(results: Sequence[ComparisonResult]) -> Table:
    """Tabulate mean regrets by policy and problem; marks show the best and those indistinguishable from it."""
    rows: list[list[Cell]] = []
    for policy in order_by_relative_regret(results):
        standings = [result.main.find(policy) for result in results]
        means = [Number(format_number(standing.regret.mean), mark_standing(standing)) for standing in standings]
        rows.append([policy, *means])
    caption = f"Mean regret, {results[0].main.description}"
    return Table(["Policy", *(result.label for result in results)], rows, caption, TEXT_COLUMNS)


def no_tuning_table(results: Sequence[ComparisonResult]) -> list[Table]:
    """Tabulate the excess regret of policies that are not tuned; no table if no policy lacks searched parameters."""
    rows: list[list[Cell]] = [
        [
            row.policy,
            "defaults" if row.has_parameters else "none",
            Estimate(row.worst, format_percent),
            row.case,
            format_percent(row.mean),
            NONE if row.failure_rate is None else format_percent(row.failure_rate),
        ]
        for row in untuned_excess(results)
    ]
    columns = ["Policy", "Parameters to set", "Worst excess (95 %)", "Worst case", "Mean excess", "Failures"]
    caption = "No tuning: policies at their defaults, relative to the best tuned policy of each case"
    return [Table(columns, rows, caption, TEXT_COLUMNS)] if rows else []


def describe_overview_of(results: Sequence[ComparisonResult]) -> list[Document]:
    """State which policies are best most often, with all mean regrets; nothing for a single result."""
    return [Document(describe_overview(results), tables=[overview_table(results)])] if len(results) > 1 else []


def describe_boards(result: ComparisonResult) -> Document:
    """State what a comparison shows, with all leaderboards and the search budget."""
    answer, *facts = describe_result(result)
    search = describe_search(result)
    return Document(
        answer,
        facts=facts,
        tables=[board_table(result, board) for board in result.boards],
        details=[] if search is None else [search],
    )


def order_by_relative_regret(results: Sequence[ComparisonResult]) -> list[str]:
    """Order the policies by their relative regret, averaged over the results."""

    def total(policy: str) -> float:
        shares = [relative_regret(result, policy) for result in results]
        return sum(share for share in shares if share is not None)

    return sorted(results[0].comparison.spec.policies, key=lambda policy: (total(policy), policy))


def relative_regret(result: ComparisonResult, policy: str) -> float | None:
    """Return the regret of a policy above the best of the main leaderboard, as a share; 0 for the best itself."""
    behind = result.main.find(policy).behind
    if behind is None:
        return 0.0
    return None if behind.share is None else behind.share.mean


def mark_standing(standing: Standing) -> str:
    """Return ★ for the best policy, ≈ for policies indistinguishable from it, and † for anchors."""
    if standing.anchor:
        return ANCHOR
    if standing.behind is None:
        return BEST
    return TIED if standing.among_the_best else ""


def _difference_cell(standing: Standing) -> Cell:
    behind = standing.behind
    if behind is None:
        return NONE
    return Estimate(behind.difference) if behind.share is None else Estimate(behind.share, format_percent)


def tabulate_entries(results: Sequence[ComparisonResult]) -> DataFrame:
    """Tabulate all entries without their regrets by world, which JSON contains."""
    return make_table(
        _make_record(result, board, standing)
        for result in results
        for board in result.boards
        for standing in board.standings
    )


def _make_record(result: ComparisonResult, board: Leaderboard, standing: Standing) -> dict[str, Any]:
    spec = result.comparison.spec
    entry = standing.entry
    behind = standing.behind
    difference = (None, None, None) if behind is None else behind.difference
    share = (None, None, None) if behind is None or behind.share is None else behind.share
    return {
        "scenario": spec.scenario,
        "settings": json.dumps(spec.settings, ensure_ascii=False) if spec.settings else "",
        "horizon": spec.horizon,
        "arms": spec.arms,
        "setting": board.setting,
        "place": standing.place,
        "policy": standing.policy,
        **standing.regret.as_object("regret"),
        **dict(zip(("difference", "difference_low", "difference_high"), difference, strict=True)),
        **dict(zip(("share", "share_low", "share_high"), share, strict=True)),
        "p": None if behind is None else behind.p,
        "p_holm": None if behind is None else behind.holm,
        "among_the_best": standing.among_the_best,
        "mean_rank": standing.mean_rank,
        **({} if entry.recorded is None else {"reward_per_step": entry.recorded.reward}),
        "trials": entry.trials,
        "search_replications": entry.search_replications,
        "failure_rate": entry.failure_rate,
        "reliable": entry.reliable,
        "params": json.dumps(entry.params, ensure_ascii=False),
        "replications": result.comparison.worlds,
        "seed": spec.seed,
    }


class ComparisonDocument(ResultList[ComparisonResult]):
    """The results of one comparison run, all with the same policies."""

    @property
    def results(self) -> tuple[ComparisonResult, ...]:
        """All results."""
        return tuple(self)

    def to_documents(self) -> list[Document]:
        """Return an overview of several results, each result, and what holds for all of them."""
        facts = describe_untuned_policies(self)
        closing = Document(describe_marks(self), facts=facts, tables=no_tuning_table(self))
        return [*describe_overview_of(self), *map(describe_boards, self), closing]

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return {"version": project_version(), "comparisons": [result.as_object() for result in self.results]}

    def as_json(self) -> str:
        """Write `compare.json`."""
        return json.dumps(self.as_object(), ensure_ascii=False, allow_nan=False) + "\n"

    def as_csv(self) -> str:
        """Write `compare.csv`: one row per entry."""
        return to_csv(tabulate_entries(self.results))

    def as_markdown(self) -> str:
        """Write `compare.md`: an overview if there are several results, then one table per leaderboard."""
        parts: list[str] = []
        for document in [*describe_overview_of(self), *map(describe_boards, self)]:
            sentences = [" ".join([document.answer, *document.facts]), *document.details]
            parts += map(markdown.escape, sentences)
            tables = [table for table in document.tables if isinstance(table, Table)]
            parts += [markdown.to_markdown(table.without(TIME)) for table in tables]
        parts += [*map(markdown.to_markdown, no_tuning_table(self)), describe_marks(self)]
        return "\n\n".join(parts) + "\n"

    def as_latex(self) -> str:
        """Write `compare.tex`: booktabs tables."""
        tables = [overview_table(self)] if len(self) > 1 else []
        tables += [board_table(result, board) for result in self for board in result.boards]
        written = [f"% {table.caption}\n{latex.to_latex(_for_latex(table))}" for table in tables]
        return "\n\n".join([f"{latex.PACKAGES}\n{LATEX_LEGEND}", *written]) + "\n"


def _for_latex(table: Table) -> Table:
    """Return a leaderboard without the columns that a paper does not state."""
    table = table.without(TIME, "At scaled defaults", "At defaults")
    return replace(table, columns=["Trials × worlds" if name == "Search" else name for name in table.columns])
