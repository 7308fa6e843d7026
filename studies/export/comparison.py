"""Exports of comparisons: tables for people, and files in JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ravenlab.common.documents import ResultList
from ravenlab.common.text import format_count, format_interval, format_number, format_p_value, format_percent
from ravenlab.studies.export import latex_table, markdown_table
from ravenlab.studies.results.comparison import ComparisonEntry, ComparisonResult, Leaderboard, Standing
from ravenlab.studies.results.describe_comparison import describe_marks, describe_result, describe_search
from ravenlab.studies.results.overview import describe_overview, untuned_excess
from ravenlab.studies.storage.keys import project_version
from ravenlab.studies.symbols import format_params
from ravenlab.studies.tables import make_table, to_csv

if TYPE_CHECKING:
    from pandas import DataFrame


BEST = "★"
EQUAL = "≈"
ANCHOR = "†"
LATEX_LEGEND = (
    "% bold: lowest mean regret; dagger: statistically indistinguishable from it (paired tests, Holm correction)"
)


# Columns of text in the tables for people; all others hold numbers.
TEXT_COLUMNS = ("Policy", "Parameters", "Parameters to set", "Worst case")


def board_table(result: ComparisonResult, board: Leaderboard, *, timed: bool = False) -> DataFrame:
    """Format a leaderboard as a table, the best first; `timed` adds the measured CPU time per step."""
    untuned = result.board("defaults") if board.setting == "tuned" else None
    defaults = "At scaled defaults" if result.comparison.spec.defaults == "scaled" else "At defaults"
    rows = []
    for standing in board.standings:
        entry = standing.entry
        place = "" if standing.anchor else f"{standing.place}. "
        row = {
            "Policy": f"{place}{standing.policy} {mark_standing(standing)}".strip(),
            "Regret (95 %)": format_interval(standing.regret, name=""),
            **({} if entry.recorded is None else {_reward_title(result): format_number(entry.recorded.reward)}),
            "Above the best (95 %)": _format_difference(standing),
            "p (Holm)": "–" if standing.behind is None else format_p_value(standing.behind.holm),
            "Mean rank": "–" if standing.anchor else f"{standing.mean_rank:.2f}",
            **({"Failures": format_failure_rate(entry)} if entry.recorded is None else {}),
        }
        if untuned is not None:
            row[defaults] = format_number(untuned.find(standing.policy).regret.mean)
            searched = f"{format_count(entry.trials)} × {format_count(entry.search_replications)}"
            row["Search"] = searched if entry.trials else "–"
        if timed:
            row["ns per step"] = "–" if entry.nanoseconds is None else format_number(round(entry.nanoseconds))
        row["Parameters"] = format_params(entry.shown_params())
        rows.append(row)
    return make_table(rows)


def format_failure_rate(entry: ComparisonEntry) -> str:
    """Format the share of failing worlds; an exclamation mark warns that the interval of the mean is unreliable."""
    if entry.failure_rate is None:
        return "–"
    return f"{format_percent(entry.failure_rate)}{'' if entry.reliable else ' !'}"


def _reward_title(result: ComparisonResult) -> str:
    return "Cost per step" if result.comparison.spec.minimize else "Reward per step"


def board_caption(result: ComparisonResult, board: Leaderboard) -> str:
    """Describe scenario, horizon, arms, setting and number of worlds."""
    spec = result.comparison.spec
    where = f"{spec.scenario}, T = {format_count(spec.horizon)}, K = {spec.arms}"
    worlds = f"R = {format_count(result.comparison.worlds)} {spec.replications_name}"
    return f"{where}, {board.description}, {worlds}"


def overview_table(results: Sequence[ComparisonResult]) -> DataFrame:
    """Format mean regrets by policy and problem; marks show the best and those indistinguishable from it."""
    from pandas import DataFrame

    rows = []
    for policy in order_by_relative_regret(results):
        standings = [result.main.find(policy) for result in results]
        rows.append(
            [
                policy,
                *(f"{format_number(standing.regret.mean)} {mark_standing(standing)}".strip() for standing in standings),
            ]
        )
    return DataFrame(rows, columns=["Policy", *(result.label for result in results)])


def overview_caption(results: Sequence[ComparisonResult]) -> str:
    """Describe the content of the overview."""
    return f"Mean regret, {results[0].main.description}"


NO_TUNING_CAPTION = "No tuning: policies at their defaults, relative to the best tuned policy of each case"


def no_tuning_table(results: Sequence[ComparisonResult]) -> DataFrame | None:
    """Format the excess regret of policies that are not tuned; None if no policy lacks searched parameters."""
    rows = []
    for row in untuned_excess(results):
        rows.append(
            {
                "Policy": row.policy,
                "Parameters to set": "defaults" if row.has_parameters else "none",
                "Worst excess (95 %)": format_interval(row.worst, name="", format_value=format_percent),
                "Worst case": row.case,
                "Mean excess": format_percent(row.mean),
                "Failures": "–" if row.failure_rate is None else format_percent(row.failure_rate),
            }
        )
    return make_table(rows) if rows else None


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
    return EQUAL if standing.among_the_best else ""


def _format_difference(standing: Standing) -> str:
    behind = standing.behind
    if behind is None:
        return "–"
    if behind.share is None:
        return format_interval(behind.difference, name="")
    return format_interval(behind.share, name="", format_value=format_percent)


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
        parts = []
        if len(self.results) > 1:
            parts.append(markdown_table.escape(describe_overview(self.results)))
            parts.append(_to_markdown(overview_caption(self.results), overview_table(self.results)))
        for result in self.results:
            sentences = [" ".join(describe_result(result)), describe_search(result)]
            parts += [markdown_table.escape(sentence) for sentence in sentences if sentence]
            for board in result.boards:
                parts.append(_to_markdown(board_caption(result, board), board_table(result, board)))
        untuned = no_tuning_table(self.results)
        parts += [] if untuned is None else [_to_markdown(NO_TUNING_CAPTION, untuned)]
        return "\n\n".join([*parts, describe_marks(self.results)]) + "\n"

    def as_latex(self) -> str:
        """Write `compare.tex`: booktabs tables."""
        tables = [_latex_overview(self.results)] if len(self.results) > 1 else []
        tables += [_latex_board(result, board) for result in self.results for board in result.boards]
        return "\n\n".join([f"{latex_table.PACKAGES}\n{LATEX_LEGEND}", *tables]) + "\n"


def _to_markdown(caption: str, table: DataFrame) -> str:
    alignment = ["---" if column in TEXT_COLUMNS else "---:" for column in table]
    rows = [[markdown_table.escape(cell) for cell in row] for row in table.to_numpy()]
    lines = markdown_table.format_rows([list(table), alignment, *rows])
    return f"**{markdown_table.escape(caption)}**\n\n{lines}"


def _latex_board(result: ComparisonResult, board: Leaderboard) -> str:
    tuned = board.setting == "tuned"
    recorded = result.comparison.spec.is_recorded
    titles = ["Policy", r"Regret (95\,\%)", *([_reward_title(result)] if recorded else [])]
    titles += [r"Above the best (95\,\%)", "$p$ (Holm)", "Mean rank", *([] if recorded else ["Failures"])]
    titles += [r"Trials $\times$ worlds"] if tuned else []
    rows = []
    for standing in board.standings:
        entry = standing.entry
        interval = f"$[{latex_table.number(standing.regret.low)}, {latex_table.number(standing.regret.high)}]$"
        cells = [
            latex_table.escape(f"{standing.policy} (oracle)" if standing.anchor else standing.policy),
            f"{_latex_mean(standing)} {interval}",
            *([] if entry.recorded is None else [f"${latex_table.number(entry.recorded.reward)}$"]),
            *_latex_difference(standing),
            f"${standing.mean_rank:.2f}$",
            *([latex_table.escape(format_failure_rate(entry))] if entry.recorded is None else []),
        ]
        if tuned:
            cells.append(rf"${entry.trials} \times {entry.search_replications}$")
        rows.append([*cells, latex_table.parameters(entry.shown_params())])
    alignment = "l" + "r" * (len(titles) - 1) + "l"
    table = latex_table.format_tabular(alignment, [*titles, "Parameters"], rows)
    return f"% {board_caption(result, board)}\n{table}"


def _latex_overview(results: tuple[ComparisonResult, ...]) -> str:
    titles = ["Policy", *(latex_table.escape(result.label) for result in results)]
    rows = [
        [latex_table.escape(policy), *(_latex_mean(result.main.find(policy)) for result in results)]
        for policy in order_by_relative_regret(results)
    ]
    return f"% {overview_caption(results)}\n{latex_table.format_tabular('l' + 'r' * len(results), titles, rows)}"


def _latex_mean(standing: Standing) -> str:
    """Format a mean: bold for the best policy, with a dagger if indistinguishable from it."""
    number = latex_table.number(standing.regret.mean)
    if standing.behind is None:
        return rf"$\mathbf{{{number}}}$"
    return rf"${number}^{{\dagger}}$" if standing.among_the_best else f"${number}$"


def _latex_difference(standing: Standing) -> tuple[str, str]:
    """Format the difference from the best policy and its p-value."""
    behind = standing.behind
    if behind is None:
        return "", ""
    p = f"${format_p_value(behind.holm)}$"
    if behind.share is None:
        mean, low, high = map(latex_table.number, behind.difference)
        return f"${mean}$ $[{low}, {high}]$", p
    mean, low, high = (latex_table.math(format_percent(share, unit="")) for share in behind.share)
    return rf"${mean}\,\%$ $[{low}, {high}]$", p
