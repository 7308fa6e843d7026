"""Files of comparisons in JSON, CSV, Markdown and LaTeX."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ravenlab.common import latex, markdown
from ravenlab.common.documents import Document, ResultList, Table
from ravenlab.studies.results.alternatives import describe_untuned_policies
from ravenlab.studies.results.comparison import ComparisonResult, Leaderboard, Standing
from ravenlab.studies.results.describe_comparison import (
    TIME,
    board_table,
    describe_boards,
    describe_marks,
    describe_overview,
    no_tuning_table,
    overview_table,
)
from ravenlab.studies.storage.keys import project_version
from ravenlab.studies.tables import DataFrame, make_table, to_csv

LATEX_LEGEND = (
    "% bold: lowest mean regret; dagger: statistically indistinguishable from it (paired tests, Holm correction)"
)
COPIED = (
    *("p", "p_holm", "among_the_best", "mean_rank", "reward_per_step"),
    *("trials", "search_replications", "failure_rate", "reliable"),
)
"""Columns of CSV files that are those of JSON files."""


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
    fields = standing.as_object()
    intervals: dict[str, Any] = {}
    for name in ("difference", "share"):
        ends = (name, f"{name}_low", f"{name}_high")
        intervals |= zip(ends, fields[name] or (None, None, None), strict=True)
    return {
        "scenario": spec.scenario,
        "settings": json.dumps(spec.settings, ensure_ascii=False) if spec.settings else "",
        "horizon": spec.horizon,
        "arms": spec.arms,
        "setting": board.setting,
        "place": standing.place,
        "policy": standing.policy,
        **standing.regret.as_object("regret"),
        **intervals,
        **{name: fields[name] for name in COPIED if name in fields},
        "params": json.dumps(fields["params"], ensure_ascii=False),
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
        facts = [describe_marks(self), *describe_untuned_policies(self)]
        closing = Document("", facts=facts, tables=no_tuning_table(self))
        return [*self._overview(), *map(describe_boards, self), closing]

    def _overview(self) -> list[Document]:
        """State which policies are best most often, with all mean regrets; nothing for a single result."""
        return [Document(describe_overview(self), tables=[overview_table(self)])] if len(self) > 1 else []

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
        for document in [*self._overview(), *map(describe_boards, self)]:
            sentences = [" ".join(document.leading), *document.details]
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
