"""The table of recommended parameters: its columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dashboards.report.slugs import slug
from dashboards.report.summary import judge_baseline, relative_difference
from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_settings,
    format_signed,
    keep_pairs_together,
)
from studies.recommendation import Recommendation
from studies.symbols import format_params, format_symbol

MOST_COLUMNS = 4
"""With more columns of policies and parameters than these, which would not fit, parameters share one cell."""


@dataclass(frozen=True)
class Column:
    """A column; numbers stand to the right."""

    title: str
    number: bool = False


@dataclass(frozen=True)
class Cell:
    """What is shown, and what is sorted by."""

    text: str
    value: float | str
    number: bool = False
    more: str = ""
    field: str = ""


@dataclass(frozen=True)
class Row:
    """One recommendation."""

    study: str
    id: str
    link: str
    file: str
    cells: list[Cell] = field(default_factory=list)


def table(found: Sequence[Recommendation], ids: Sequence[str]) -> tuple[list[Column], list[Row]]:
    """Columns and rows; `ids` are the slugs of the recommendations' studies on this page."""
    names = list(dict.fromkeys(name for each in found for name in each.params))
    policies = len({each.policy for each in found}) > 1
    apart = len(names) + policies <= MOST_COLUMNS
    columns = [Column("Scenario"), *([Column("Policy")] if policies else [])]
    columns += [Column("T", True), Column("K", True)]
    columns += [Column(format_symbol(name), True) for name in names] if apart else [Column("Parameters")]
    columns += [Column("Regret (95 %)", True), Column("Paper's advice", True), Column("Defaults", True)]
    rows = []
    for each, here in zip(found, ids, strict=True):
        title = f"{each.scenario} ({format_settings(each.settings)})" if each.settings else each.scenario
        cells = [Cell(title, title), *([Cell(each.policy, each.policy, field="policy")] if policies else [])]
        cells += [_number(each.horizon, "horizon"), _number(each.arms, "arms")]
        if apart:
            cells += [_param(each, name) for name in names]
        else:
            said = format_params(each.params)
            cells.append(Cell(keep_pairs_together(said), said))
        regret = each.regret
        interval = f"({format_number(regret.low)} to {format_number(regret.high)})"
        cells.append(Cell(format_number(regret.mean), regret.mean, True, interval, "regret.mean"))
        cells += [_rival(each, name) for name in ("paper", "defaults")]
        rows.append(Row(each.study, f"row-{here}", f"search-{here}", slug(each.study), cells))
    return columns, rows


def _number(value: int, name: str) -> Cell:
    return Cell(format_count(value), value, number=True, field=name)


def _param(each: Recommendation, name: str) -> Cell:
    value = each.params.get(name)
    if value is None:
        return Cell("–", "", number=True)
    return Cell(format_number(value), value, number=True, field=f"params.{name}")


def _rival(each: Recommendation, name: str) -> Cell:
    """Format the extra regret of a baseline; ≈ marks differences within sampling noise."""
    rival = next((rival for rival in each.versus if rival.name == name), None)
    if rival is None:
        return Cell("–", "", number=True)
    verdict, share = judge_baseline(each, rival), relative_difference(each, rival.difference)
    if verdict == "same":
        return Cell("identical", 0.0, number=True)
    more = "≈" if verdict == "unclear" else ""
    if share is None:
        return Cell(format_signed(rival.difference), rival.difference, number=True, more=more)
    return Cell(format_percent(share, signed=True), 100.0 * share, number=True, more=more)
