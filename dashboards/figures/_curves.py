"""Cumulative regret and reward over time, with the moments of change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures._parts import change_lines, line_in_band
from dashboards.figures._scales import axis
from dashboards.figures._style import Trace, make, nothing
from dashboards.figures._titles import counts, heading, safe
from environments.world import Floats
from policies.simulation import Simulation
from studies.words import params_in_words, short

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 160
"""Points on all lines of a panel together, shared among them."""


def curves(
    results: Sequence[Simulation],
    changes: Sequence[int] = (),
    names: Sequence[str] = (),
    *,
    costs: bool = False,
    bands: bool = True,
) -> go.Figure:
    """Mean cumulative regret (above) and reward (below) of some simulations with 95 % bands.

    Args:
        results: Simulations that kept their curves (`checkpoints`).
        changes: Steps to mark, such as `environments.moments` gives.
        names: What to call each; policy and parameters if absent.
        costs: Rewards are costs with their sign turned, and are shown as what they were.
        bands: Draw 95 % intervals; windows of a trace overlap, so theirs would be too narrow.

    >>> from policies.simulation import simulate
    >>> result = simulate("ucb1", "blips", horizon=100, arms=3, replications=4, checkpoints=10)
    >>> figure = curves([result], changes=[50])
    >>> figure.layout.xaxis.title.text
    'step t'
    """
    drawn = [(i, each) for i, each in enumerate(results) if each.curve is not None]
    if not drawn:
        title = heading("Regret and reward over time", *_context(results))
        return nothing(title, "No curve was kept.", "Nothing to draw: the simulations kept no curve.")
    unit = "cost" if costs else "reward"
    policies = {each.policy for _, each in drawn}
    traces: list[Trace] = []
    parts = []
    points = max(24, POINTS // len(drawn))
    for place, (i, each) in enumerate(drawn):
        assert each.curve is not None
        told = {key: value for key, value in each.params.items() if not isinstance(value, str)}
        given = names[i] if i < len(names) else params_in_words(told)
        name = given if i < len(names) or len(policies) == 1 else f"{each.policy} ({given})"
        steps = each.curve.steps
        kept = np.unique(np.linspace(0, steps.size - 1, min(points, steps.size)).round().astype(int))
        paid = -each.curve.reward if costs else each.curve.reward
        for what, values, y in (("regret", each.curve.regret, "y"), (unit, paid, "y2")):
            traces += _line(each, name, what, values[:, kept], steps[kept], place, y, bands)
        parts.append(f"{name}: regret {short(float(each.regret.mean()))}, {unit} {short(float(paid[:, -1].mean()))}")
    entry, shapes = change_lines(changes)
    first = drawn[0][1]
    marked = f" {len(changes)} moments of change are marked." if changes else ""
    return make(
        [*traces, *entry],
        heading(f"Regret and {unit} over time", *(_context([each for _, each in drawn]))),
        f"Mean cumulative regret and {unit} over {first.horizon} steps in {first.scenario}, K = {first.arms},"
        f" R = {first.replications}{', with 95 % bands' if bands else ''}. At the end: {'; '.join(parts)}.{marked}",
        height=600,
        shapes=shapes,
        xaxis=axis("step t", anchor="y2", range=[0, max(each.horizon for _, each in drawn)]),
        yaxis=axis("cumulative regret", domain=[0.53, 1], rangemode="tozero"),
        yaxis2=axis(f"cumulative {unit}", domain=[0, 0.47], rangemode="tozero"),
    )


def _context(results: Sequence[Simulation]) -> list[str]:
    if not results:
        return []
    first = results[0]
    policies = list(dict.fromkeys(safe(each.policy) for each in results))
    return [
        ", ".join(policies) if len(policies) < 3 else f"{len(policies)} policies",
        safe(first.scenario),
        *counts(first.horizon, first.arms, first.replications),
    ]


def _line(
    each: Simulation,
    name: str,
    what: str,
    values: Floats,
    steps: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    place: int,
    y: str,
    bands: bool,
) -> list[Trace]:
    """One line with its band; one world has no interval."""
    mean = values.mean(axis=0)
    count = values.shape[0]
    stderr = values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(mean)
    around, line = line_in_band(
        steps.tolist(),
        mean.tolist(),
        stderr.tolist(),
        place,
        both={"yaxis": y},
        mode="lines" if steps.size > 1 else "markers",
        name=safe(name, 44),
        showlegend=what == "regret",
        hovertext=f"<b>{safe(name, 100)}</b><br>{safe(each.policy)}: {safe(params_in_words(each.params), 120)}",
        hovertemplate=(
            f"%{{hovertext}}<br>t = %{{x}}, R = {count} worlds<br>"
            f"mean {what} %{{y}} ± %{{customdata}} (standard error)<extra></extra>"
        ),
    )
    return [around, line] if bands and count > 1 and steps.size > 1 else [line]
