"""The section of Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from dashboards.figures.world import plot_world_view
from dashboards.pages.html import PageTable
from dashboards.pages.reproduction import ReproductionSection
from environments.text import format_number
from environments.view import View
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.tables import select, to_records, unique

if TYPE_CHECKING:
    import plotly.graph_objects as go


TITLE = "Table 1: seven kinds of change"
CATEGORIES = {"DPC": "distributional parameter change", "PC": "periodic change", "TF": "temporary fluctuation"}


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the table, and a plot of one world per scenario."""
    scenarios, checks, worlds = (result.tables[name] for name in ("scenarios", "held", "worlds"))
    categories = "; ".join(f"{key}: {text}" for key, text in CATEGORIES.items())
    figures = [
        (f"table1-{row['name']}-{protocol}", _plot_world(result, row, protocol))
        for row in to_records(scenarios)
        for protocol in reversed(reproduction.protocols)
        if len(select(worlds, scenario=row["name"], protocol=protocol))
    ]
    return ReproductionSection(
        title=TITLE,
        claims=[
            f"The paper defines seven kinds of change in three categories ({categories}), each with an example but "
            "without parameters. It runs three of them: incremental drift, variance drift and blips.",
        ],
        methods=[
            "We chose parameters for every scenario of the table. One world of "
            f"{result.facts['horizon']:,} steps is plotted for each: means above, variances below. The three scenarios "
            "that the paper runs are plotted as defined and as the authors' script implements them.",
            f"For these three, {checks['worlds'].iloc[0]} worlds of {result.facts['arms_held']} arms were checked "
            "against the table's definition at every step.",
        ],
        results=[_describe_checks(checks, protocol) for protocol in reproduction.protocols],
        figures=figures,
        tables=[_scenario_table(scenarios), _check_table(checks)],
    )


def _describe_checks(checks: DataFrame, protocol: str) -> str:
    parts = [
        f"{row['scenario']}: in {row['broken']} of {row['worlds']} worlds {row['broken_when']}, and something changes "
        f"at {format_number(row['changing_steps'])} steps on average"
        for row in to_records(select(checks, protocol=protocol))
    ]
    return f"As {protocol}, {'; '.join(parts)}."


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
    columns = ["scenario", "category", "the paper's definition", "the paper's example", "here", "our parameters"]
    names = ["scenario", "category", "definition", "example", "meaning", "parameters"]
    rows = scenarios[names].to_numpy().tolist()
    return PageTable("The seven scenarios of Table 1 and our parameters", DataFrame(rows, columns=columns))


def _check_table(checks: DataFrame) -> PageTable:
    columns = ["scenario", "protocol", "violation", "worlds", "violated", "95 %", "steps with a change"]
    rows = [
        [
            row["scenario"],
            f"as {row['protocol']}",
            row["broken_when"],
            str(row["worlds"]),
            f"{row['share']:.0%}",
            f"{row['low']:.0%} to {row['high']:.0%}",
            format_number(row["changing_steps"]),
        ]
        for row in to_records(checks)
    ]
    return PageTable("Worlds checked against their definition", DataFrame(rows, columns=columns))
