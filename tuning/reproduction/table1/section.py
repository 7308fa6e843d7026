"""The section of Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ravenlab.common.text import format_number
from ravenlab.dashboards.figures.world import plot_world_view
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.environments.view import View
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.tables import select, to_records, unique
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figures import show_table

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


CATEGORIES = {"DPC": "distributional parameter change", "PC": "periodic change", "TF": "temporary fluctuation"}


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the table, and a plot of one world per scenario."""
    scenarios, checks, worlds = (result.tables[name] for name in ("scenarios", "checks", "worlds"))
    categories = "; ".join(f"{key}: {text}" for key, text in CATEGORIES.items())
    figures = [
        (f"table1-{row['name']}-{protocol}", _plot_world(result, row, protocol))
        for row in to_records(scenarios)
        for protocol in reversed(reproduction.protocols)
        if len(select(worlds, scenario=row["name"], protocol=protocol))
    ]
    return ReproductionSection(
        title="Table 1: seven kinds of change",
        claims=[
            f"The paper defines seven kinds of change in three categories ({categories}), each with an example but "
            "without parameters. It runs three of them: incremental drift, variance drift and blips.",
        ],
        methods=[
            "We chose parameters for every scenario of the table. One world of "
            f"{result.facts['horizon']:,} steps is plotted for each: means above, variances below. The three scenarios "
            "that the paper runs are plotted as defined and as the authors' script implements them.",
            f"For these three, {checks['worlds'].iloc[0]} worlds of {result.facts['arms_checked']} arms were checked "
            "against the table's definition at every step.",
        ],
        results=list_reasons(result),
        figures=figures,
        tables=[_scenario_table(scenarios), _check_table(checks)],
    )


def _plot_world(result: ExperimentResult, row: dict[str, str], protocol: str) -> go.Figure:
    key = {"scenario": row["name"], "protocol": protocol}
    points = select(result.tables["worlds"], **key)
    steps = np.array(unique(points, "step"), dtype=np.int64)
    shape = (steps.size, len(unique(points, "arm")))
    means, variances = (
        points[name].to_numpy(dtype=float, na_value=np.nan).reshape(shape) for name in ("mean", "variance")
    )
    implemented = f"{row['scenario']} as implemented by the authors' script"
    return plot_world_view(
        View(steps, means, variances),
        name=row["name"],
        meaning=row["meaning"] if protocol == "defined" else implemented,
        horizon=result.facts["horizon"],
        arms=result.facts["arms"],
        changes=select(result.tables["moments"], **key)["step"].tolist(),
        which=f"seed {result.facts['seed']}",
        title=f"{row['scenario']}, as {protocol}",
        height=440,
    )


def _scenario_table(scenarios: DataFrame) -> PageTable:
    titles = {
        "scenario": "scenario",
        "category": "category",
        "definition": "the paper's definition",
        "example": "the paper's example",
        "meaning": "meaning here",
        "parameters": "our parameters",
    }
    rows = to_records(scenarios[list(titles)].rename(columns=titles))
    return show_table("The seven scenarios of Table 1 and our parameters", rows)


def _check_table(checks: DataFrame) -> PageTable:
    rows = [
        {
            "scenario": row["scenario"],
            "protocol": f"as {row['protocol']}",
            "violation": row["violation"],
            "worlds": str(row["worlds"]),
            "violated": f"{row['share']:.0%}",
            "95 %": f"{row['share_low']:.0%} to {row['share_high']:.0%}",
            "steps with a change": format_number(row["changing_steps"]),
        }
        for row in to_records(checks)
    ]
    return show_table("Worlds checked against their definition", rows)
