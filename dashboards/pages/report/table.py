"""The table of recommended parameters in the report."""

from collections.abc import Sequence
from dataclasses import dataclass

from ravenlab.common.text import capitalize_first, format_count, format_ends, format_number, keep_pairs_together
from ravenlab.dashboards.pages.html import slugify
from ravenlab.dashboards.pages.report.studies import make_filters
from ravenlab.dashboards.pages.report.summary import Piece
from ravenlab.dashboards.pages.report.tally import list_decisions
from ravenlab.studies.results.baselines import UNDECIDED, format_change
from ravenlab.studies.results.describe import format_failures, list_baselines
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
    filters: dict[str, list[str]]


def make_recommendation_table(
    recommendations: Sequence[Recommendation], ids: Sequence[str], titles: Sequence[str]
) -> tuple[list[tuple[str, bool]], list[RecommendationRow]]:
    """Make the table of recommended parameters.

    Args:
        recommendations: The recommendations, one per row.
        ids: Ids of the sections of their studies.
        titles: Short titles of their studies.
    """
    names = list(dict.fromkeys(name for each in recommendations for name in each.params))
    several = len({each.policy for each in recommendations}) > 1
    counted = any(each.failures is not None for each in recommendations)
    baselines = list_baselines(recommendations)
    separate = len(names) + several + counted + ("as constructed" in baselines) <= MAX_PARAM_COLUMNS
    columns = [("Study", False), *([("Policy", False)] if several else []), ("T", True), ("K", True)]
    columns += [(format_symbol(name), True) for name in names] if separate else [("Parameters", False)]
    columns += [("Regret (95 %)", True), *([("Failures", True)] if counted else [])]
    columns += [(capitalize_first(title), True) for title in baselines.values()]
    rows = []
    for each, link, title in zip(recommendations, ids, titles, strict=True):
        cells = [Piece(title, title), *([Piece(each.policy, each.policy, "policy")] if several else [])]
        cells.append(Piece(format_count(each.horizon), each.horizon, "horizon"))
        cells.append(Piece(format_count(each.arms), each.arms, "arms"))
        if separate:
            cells += [_param_cell(each, name) for name in names]
        else:
            params = format_params(each.params)
            cells.append(Piece(keep_pairs_together(params), params))
        regret = each.regret
        interval = f"({format_ends(regret)})"
        cells.append(Piece(format_number(regret.mean), regret.mean, "regret.mean", interval))
        if counted:
            cells.append(_failure_cell(each))
        cells += [_baseline_cell(each, name) for name in baselines]
        filters = make_filters([each.scenario], each.horizon, each.policy, list_decisions(each))
        rows.append(RecommendationRow(each.study, f"row-{link}", link, slugify(each.study), cells, filters))
    return columns, rows


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
