"""Tables of Figure 4, from the runs of Table 3."""

from __future__ import annotations

from collections.abc import Mapping

from studies.paper.results import ExperimentResult
from studies.tables import make_table
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.logistics import (
    describe_size,
    list_comparisons,
    played_by_policy,
    printed_by_policy,
)
from tuning.reproduction.measurements import Z95


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Mean and 95 % band of each curve at every checkpoint, and the final values that the paper prints."""
    curves = [
        {
            "comparison": comparison,
            "measure": measure,
            "policy": name,
            "step": step,
            "mean": mean,
            "low": mean - Z95 * error,
            "high": mean + Z95 * error,
        }
        for comparison in list_comparisons(context)
        for name, each in played_by_policy(pieces, comparison).items()
        for measure, curve in each["curves"].items()
        for step, mean, error in zip(each["steps"], curve["mean"], curve["error"], strict=True)
    ]
    tables = {"curves": make_table(curves)}
    if "published" in context.protocols:
        tables["printed"] = make_table(
            {"measure": measure, "policy": name, "paper": value}
            for measure in ("regret_constant", "reward")
            for name, value in printed_by_policy(measure).items()
        )
    return ExperimentResult(tables, describe_size(context))
