"""The section of Table 1: the seven scenarios, drawn, and whether the experiments ran what they define."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures._world import world_figure
from dashboards.report.sections import ShownTable
from dashboards.reproduction.section import Section
from environments.text import format_number
from environments.view import View
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

CATEGORIES = {"DPC": "distributional parameter change", "PC": "periodic change", "TF": "temporary fluctuation"}
"""As the paper calls them."""


def section(outcome: Outcome, document: Document) -> Section:
    """Words, the table, and a picture of every scenario that is drawn."""
    listed, held, worlds = (outcome.tables[name] for name in ("scenarios", "held", "worlds"))
    horizon, arms = outcome.facts["horizon"], outcome.facts["arms_held"]
    categories = "; ".join(f"{key}: {text}" for key, text in CATEGORIES.items())
    number = held.column("worlds")[0]
    figures = [
        (f"table1-{row['name']}-{protocol}", _picture(outcome, row, protocol))
        for row in listed
        for protocol in reversed(document.protocols)
        if len(worlds.where(scenario=row["name"], protocol=protocol))
    ]
    return Section(
        title="Table 1: seven ways in which a world changes",
        claimed=[
            f"The paper names seven kinds of change, of three categories ({categories}), each with a definition and an "
            "example, and leaves their numbers open. It then runs three of them: incremental drift, variance drift and "
            "blips.",
        ],
        did=[
            f"Every scenario of the table was given numbers and is drawn as one world of {horizon} steps: the mean of "
            "each arm above, its variance below. The three that the paper runs are drawn twice where both protocols "
            "were asked for: as defined, and as the authors' script made them.",
            f"Then {number} worlds of {arms} arms of each of the three were held to the table's own definition, step "
            "by step.",
        ],
        found=[_found(held, protocol) for protocol in document.protocols],
        figures=figures,
        tables=[_scenarios(listed), _held(held)],
    )


def _found(held: Table, protocol: str) -> str:
    rows = held.where(protocol=protocol)
    parts = [
        f"{row['scenario']}: in {row['broken']} of {row['worlds']} worlds {row['broken_when']}, and something changes "
        f"at {format_number(row['changing_steps'])} of the steps"
        for row in rows
    ]
    return f"As {protocol}, {'; '.join(parts)}."


def _picture(outcome: Outcome, row: dict[str, str], protocol: str) -> go.Figure:
    """The world that the table of drawn worlds holds."""
    which = {"scenario": row["name"], "protocol": protocol}
    points = outcome.tables["worlds"].where(**which)
    steps = np.array(points.distinct("step"), dtype=np.int64)
    shape = (steps.size, len(points.distinct("arm")))
    means, variances = (
        np.array([np.nan if value is None else value for value in points.column(name)], dtype=float).reshape(shape)
        for name in ("mean", "variance")
    )
    return world_figure(
        View(steps, means, variances),
        name=row["name"],
        meaning=row["meaning"] if protocol == "defined" else f"what the authors' script made of {row['scenario']}",
        horizon=outcome.facts["horizon"],
        arms=outcome.facts["arms"],
        changes=outcome.tables["moments"].where(**which).column("step"),
        which=f"seed {outcome.facts['seed']}",
        title=f"{row['scenario']}, as {protocol}",
        height=440,
    )


def _scenarios(listed: Table) -> ShownTable:
    columns = ["scenario", "category", "the paper's definition", "the paper's example", "here", "our numbers"]
    names = ("scenario", "category", "definition", "example", "meaning", "parameters")
    rows = [[row[name] for name in names] for row in listed]
    return ShownTable("The seven scenarios of Table 1, and the numbers that we gave them", columns, rows)


def _held(held: Table) -> ShownTable:
    columns = ["scenario", "protocol", "broken when", "worlds", "broken", "95 %", "steps with a change"]
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
        for row in held
    ]
    return ShownTable("Worlds held to their definition", columns, rows, (3, 4, 5, 6))
