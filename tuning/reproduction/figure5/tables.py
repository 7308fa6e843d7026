"""Tables of Figure 5, from the runs of Table 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from environments.world import Floats
from studies.paper.results import ExperimentResult
from studies.statistics.intervals import mean_interval
from studies.tables import make_table
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.logistics import (
    describe_size,
    list_comparisons,
    list_measures,
    played_by_policy,
    printed_by_policy,
    samples_by_policy,
)
from tuning.reproduction.measurements import interval_columns

QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}
"""Whiskers, quartiles and median of a box plot."""


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The statistics of a box plot per policy and measure, and the numbers of every world."""
    boxes = [
        _box_row(comparison, measure, name, values, context.seed)
        for comparison in list_comparisons(context)
        for measure in list_measures(comparison)
        for name, values in samples_by_policy(pieces, comparison, measure).items()
    ]
    tables = {"boxes": make_table(boxes), "worlds": make_table(_world_rows(context, pieces))}
    return ExperimentResult(tables, describe_size(context))


def _box_row(comparison: str, measure: str, name: str, values: Floats, seed: int) -> dict[str, Any]:
    return {
        "comparison": comparison,
        "measure": measure,
        "policy": name,
        **dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())), strict=True)),
        **interval_columns("mean", mean_interval(values, seed)),
        "paper": printed_by_policy(measure).get(name) if comparison == "published" else None,
    }


def _world_rows(context: RunContext, pieces: Mapping[str, PieceData]) -> Iterator[dict[str, Any]]:
    """One row per world; regret relative to the constant is missing where it was not measured."""
    for comparison in list_comparisons(context):
        for name, each in played_by_policy(pieces, comparison).items():
            columns = {measure: each["worlds"].get(measure) for measure in list_measures("published")}
            for world in range(len(each["worlds"]["regret"])):
                values = {measure: column and column[world] for measure, column in columns.items()}
                yield {"comparison": comparison, "policy": name, "world": world, **values}
