"""Figure 5: how regret, reward and suboptimal pulls spread over the worlds, from the games of Table 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from environments.world import Floats
from studies.reproduction.document import Outcome
from studies.reproduction.tables import Table
from tuning.reproduction._intervals import in_columns
from tuning.reproduction._logistics import facts, kinds, logistics_pieces, measures, played, printed, worlds_of
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import mean_interval

QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}
"""What a box shows: whiskers, quartiles and the median."""


def pieces(context: Context) -> list[Piece]:
    """Those of Table 3."""
    return logistics_pieces(context)


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """A box for every policy and number, and the worlds that it is made of."""
    boxes = [
        _box(kind, measure, name, values, context.seed)
        for kind in kinds(context)
        for measure in measures(kind)
        for name, values in worlds_of(found, kind, measure).items()
    ]
    return Outcome({"boxes": Table.of(boxes), "worlds": Table.of(_worlds(context, found))}, facts(context))


def _box(kind: str, measure: str, name: str, values: Floats, seed: int) -> dict[str, Any]:
    quantiles = dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())), strict=True))
    named = {"comparison": kind, "measure": measure, "policy": name}
    paper = printed(measure).get(name) if kind == "published" else None
    return {**named, **quantiles, **in_columns("mean", mean_interval(values, seed)), "paper": paper}


def _worlds(context: Context, found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """One row a world: regret against the constant is empty where there is no such thing."""
    out = []
    for kind in kinds(context):
        for name, each in played(found, kind).items():
            numbers = {m: each["worlds"].get(m) for m in measures("published")}
            for world in range(len(each["worlds"]["regret"])):
                row = {m: None if values is None else values[world] for m, values in numbers.items()}
                out.append({"comparison": kind, "policy": name, "world": world, **row})
    return out
