"""Draw worlds of the scenarios of Table 1 and check them against the table's definitions.

As defined, all seven scenarios with our parameters; as published, the three scenarios of the paper's sensitivity study
as the authors' script implements them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.blocks import split_into_blocks
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.view import change_steps, thin_view, view_world
from ravenlab.environments.world import Floats, world_tables
from ravenlab.studies.paper.numbers import played_scenario, printed_rows
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share

HORIZON = 10_000
ARMS_PLOTTED = 5  # arms of the plotted worlds: few enough to distinguish
ARMS_CHECKED = 10  # arms of the checked worlds: the paper's number
WORLDS = 100
ROUNDING_ERROR = 1e-9


def leaves_line(means: Floats, variances: Floats) -> bool:
    """Whether a mean leaves the straight line μ(0) + δ·t through its first and last step.

    >>> steady = np.linspace(0.3, 0.5, 9)[:, None]
    >>> leaves_line(steady, steady), leaves_line(np.round(steady, 1), steady)
    (False, True)
    """
    steps = np.linspace(0.0, 1.0, len(means))[:, None]
    return bool((np.abs(means[0] + (means[-1] - means[0]) * steps - means) > ROUNDING_ERROR).any())


def falls_below_start(means: Floats, variances: Floats) -> bool:
    """Whether a variance is ever below its first value: g(t) < 0.

    >>> grown = np.array([[0.1], [0.2], [0.1]])
    >>> falls_below_start(grown, grown), falls_below_start(grown, grown - grown**2 * [[0], [0], [1]])
    (False, True)
    """
    return bool((variances < variances[0]).any())


def never_returns(means: Floats, variances: Floats) -> bool:
    """Whether arms that leave their first distribution never return to it.

    >>> blip, jump = np.array([[1.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [2.0]])
    >>> never_returns(blip, blip), never_returns(jump, jump)
    (False, True)
    """
    unchanged = ((means == means[0]) & (variances == variances[0])).all(axis=1)
    return not unchanged.all() and not unchanged[int(np.argmin(unchanged)) :].any()


VIOLATIONS: dict[str, tuple[Callable[[Floats, Floats], bool], str]] = {
    "incremental-drift": (leaves_line, "a mean leaves the straight line"),
    "variance-drift": (falls_below_start, "a variance falls below its first value"),
    "blips": (never_returns, "the arms change and never return"),
}
"""Test for a violation of each definition, and its description."""


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per protocol."""
    return [RunPiece(f"table1/{protocol}", 1.0, partial(_run, protocol=protocol)) for protocol in context.protocols]


def _run(context: RunContext, protocol: str) -> PieceData:
    names = [row["name"] for row in printed_rows("scenarios_table.csv")]
    if protocol == "published":
        names = [name for name in names if name in VIOLATIONS]
    worlds, moments = [], []
    for name in names:
        scenario = find_scenario(played_scenario(protocol, name))
        view = thin_view(view_world(draw_worlds(scenario, HORIZON, ARMS_PLOTTED, context.seed)))
        for step, means, variances in zip(view.steps, view.means, view.variances, strict=True):
            for arm, (mean, variance) in enumerate(zip(means, variances, strict=True), start=1):
                values = {"mean": _round(mean), "variance": _round(variance)}
                worlds.append({"scenario": name, "step": int(step), "arm": arm, **values})
        moments += [{"scenario": name, "step": step} for step in change_steps(scenario, HORIZON)]
    return {"worlds": worlds, "moments": moments, "checks": [_check(context, name, protocol) for name in VIOLATIONS]}


def _round(value: float) -> float | None:
    """Round to six digits; None if the arm is not open."""
    return None if np.isnan(value) else float(f"{value:.6g}")


def _check(context: RunContext, name: str, protocol: str) -> dict[str, Any]:
    """Count the worlds that violate the definition, and the steps at which anything changes."""
    scenario, count = find_scenario(played_scenario(protocol, name)), context.count(WORLDS, least=10)
    is_violated, description = VIOLATIONS[name]
    violations, changing = 0, 0
    for first, size in split_into_blocks(scenario, HORIZON, ARMS_CHECKED, count):
        worlds = draw_worlds(scenario, HORIZON, ARMS_CHECKED, context.seed, first, size)
        for r in range(size):
            means, variances = world_tables(worlds, r)
            violations += is_violated(means, variances)
            changing += int(((np.diff(means, axis=0) != 0) | (np.diff(variances, axis=0) != 0)).any(axis=1).sum())
    return {
        "scenario": name,
        "violation": description,
        "worlds": count,
        "violations": violations,
        **interval_columns("share", measure_share(violations, count)),
        "changing_steps": changing / count,
    }
