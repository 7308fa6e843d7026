"""Figure 4: cumulative regret and reward of the nine policies over time, from the games of Table 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.reproduction.document import Outcome
from studies.reproduction.tables import Table
from tuning.reproduction._intervals import Z95
from tuning.reproduction._logistics import facts, kinds, logistics_pieces, played, printed
from tuning.reproduction.context import Context, Found, Piece


def pieces(context: Context) -> list[Piece]:
    """Those of Table 3."""
    return logistics_pieces(context)


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Each curve's mean and 95 % band at every mark."""
    rows = [row for kind in kinds(context) for row in _curves(kind, played(found, kind))]
    tables = {"curves": Table.of(rows)}
    if "published" in context.protocols:
        tables["printed"] = Table.of(_printed())
    return Outcome(tables, facts(context))


def _printed() -> list[dict[str, Any]]:
    """Where the paper's own curves end, by its Table 3."""
    return [
        {"measure": measure, "policy": name, "paper": value}
        for measure in ("regret_constant", "reward")
        for name, value in printed(measure).items()
    ]


def _curves(kind: str, by_policy: Mapping[str, Found]) -> list[dict[str, Any]]:
    return [
        {
            "comparison": kind,
            "measure": measure,
            "policy": name,
            "step": step,
            "mean": mean,
            "low": mean - Z95 * error,
            "high": mean + Z95 * error,
        }
        for name, each in by_policy.items()
        for measure, curve in each["curves"].items()
        for step, mean, error in zip(each["steps"], curve["mean"], curve["error"], strict=True)
    ]
