"""The table of recommended parameters in the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_ends,
    format_mean,
    format_number,
    format_signed,
    keep_pairs_together,
)
from ravenlab.dashboards.pages.html import slugify
from ravenlab.dashboards.pages.report.lanes import compare_with_logging, state_value
from ravenlab.dashboards.pages.report.summary import Piece
from ravenlab.studies.results.baselines import UNDECIDED, format_change
from ravenlab.studies.results.describe_recommendation import format_failures, list_baselines
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params, format_symbol

MAX_PARAM_COLUMNS = 4  # with more columns for policy, parameters and failures, all parameters share one cell


@dataclass(frozen=True)
class RecommendationRow:
    """Row of the table of recommended parameters. `file` is the name of a saved export without its extension."""

    study: str
    id: str
    link: str
    file: str
    cells: list[Piece]


class Kind(NamedTuple):
    """What the table of a kind of data says: caption, what its baseline columns show, titles of two columns."""

    caption: str
    note: str
    size: str
    value: str


@dataclass(frozen=True)
class RecommendationTable:
    """A table of recommendations whose regret has the same unit; its columns have titles and may be numeric."""

    id: str
    kind: Kind
    columns: list[tuple[str, bool]]
    rows: list[RecommendationRow]
    recommendations: list[Recommendation]


EXCESS = "The baseline columns show the excess regret of the baseline"
KINDS = {
    "scenario": Kind("Recommended parameters", EXCESS, "T", "Regret (95 %)"),
    "trace": Kind("Recommended parameters on traces", EXCESS, "Window", "Regret per window (95 %)"),
    "log": Kind(
        "Recommended parameters on logs, with the gain over the logging policy",
        "The baseline columns show the difference in the mean reward or cost per step",
        "Events",
        "Gain per step (95 %)",
    ),
}


def make_recommendation_tables(
    recommendations: Sequence[Recommendation], ids: Sequence[str], titles: Sequence[str]
) -> list[RecommendationTable]:
    """Make a table for simulated studies, for traces and for logs, whose numbers have different units.

    Args:
        recommendations: The recommendations.
        ids: Ids of the sections of their studies.
        titles: Short titles of their studies.
    """
    tables = []
    for name, kind in KINDS.items():
        places = [place for place, each in enumerate(recommendations) if _find_kind(each) == name]
        if places:
            found = [recommendations[place] for place in places]
            columns, rows = make_recommendation_table(
                found, [ids[place] for place in places], [titles[place] for place in places]
            )
            link = "recommended" if name == "scenario" else f"recommended-{name}"
            tables.append(RecommendationTable(link, kind, columns, rows, found))
    return tables


def _find_kind(recommendation: Recommendation) -> str:
    return "log" if recommendation.log is not None else "scenario" if recommendation.trace is None else "trace"


def make_recommendation_table(
    recommendations: Sequence[Recommendation], ids: Sequence[str], titles: Sequence[str]
) -> tuple[list[tuple[str, bool]], list[RecommendationRow]]:
    """Make the columns and rows of a table of recommended parameters.

    Args:
        recommendations: The recommendations, one per row, all of one kind.
        ids: Ids of the sections of their studies.
        titles: Short titles of their studies.
    """
    names = list(dict.fromkeys(name for each in recommendations for name in each.params))
    several = len({each.policy for each in recommendations}) > 1
    counted = any(each.failures is not None for each in recommendations)
    kind = _find_kind(recommendations[0])
    baselines = list_baselines(recommendations)
    if kind != "scenario":  # tables of recorded data have longer cells
        found = {each.name for recommendation in recommendations for each in recommendation.versus}
        baselines = {name: title for name, title in baselines.items() if name in found}
    separate = len(names) + several + counted + ("as constructed" in baselines) <= MAX_PARAM_COLUMNS
    columns = [("Study", False), *([("Policy", False)] if several else []), (KINDS[kind].size, True), ("K", True)]
    columns += [(format_symbol(name), True) for name in names] if separate else [("Parameters", False)]
    columns += [(KINDS[kind].value, True), *([("Failures", True)] if counted else [])]
    columns += [(capitalize_first(title), True) for title in baselines.values()]
    rows = []
    for each, link, title in zip(recommendations, ids, titles, strict=True):
        cells = [Piece(title, title), *([Piece(each.policy, each.policy, "policy")] if several else [])]
        size = each.horizon if each.log is None else each.log.events
        cells.append(Piece(format_count(size), size, "horizon"))
        cells.append(Piece(format_count(each.arms), each.arms, "arms"))
        if separate:
            cells += [_param_cell(each, name) for name in names]
        else:
            params = format_params(each.params)
            cells.append(Piece(keep_pairs_together(params), params))
        cells.append(_value_cell(each))
        if counted:
            cells.append(_failure_cell(each))
        cells += [_baseline_cell(each, name) for name in baselines]
        rows.append(RecommendationRow(each.study, f"row-{link}", link, slugify(each.study), cells))
    return columns, rows


def _value_cell(recommendation: Recommendation) -> Piece:
    """Format the regret, or the gain over the logging policy, with its interval."""
    value: Interval = recommendation.regret
    if recommendation.log is not None:
        value = compare_with_logging(recommendation).difference
        share = state_value(value, recommendation.log)
        return Piece(
            format_mean(value, format_signed), value.mean, "gain", f"({format_ends(value, format_signed)}; {share})"
        )
    return Piece(format_mean(value), value.mean, "regret.mean", f"({format_ends(value)})")


def _failure_cell(recommendation: Recommendation) -> Piece:
    failures = recommendation.failures
    if failures is None:
        return Piece("–", "")
    return Piece(format_failures(failures.rate, failures.reliable), failures.rate, "failures.rate")


def _param_cell(recommendation: Recommendation, name: str) -> Piece:
    value = recommendation.params.get(name)
    return Piece("–", "") if value is None else Piece(format_number(value), value, f"params.{name}")


def _baseline_cell(recommendation: Recommendation, name: str) -> Piece:
    """Format the excess regret of a baseline; ≈ marks differences that are not significant."""
    comparison = next((each for each in recommendation.comparisons if each.name == name), None)
    if comparison is None:
        return Piece("–", "")
    shown = format_change(comparison)
    if comparison.relation == "same":
        return Piece(shown, 0.0)
    mark = "≈" if comparison.relation in UNDECIDED else ""
    value = comparison.difference.mean if comparison.share is None else 100.0 * comparison.share.mean
    return Piece(shown, value, detail=mark)
