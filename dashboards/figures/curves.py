"""Cumulative regret and reward over time, with the moments of change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.style import Trace, axis, change_lines, counts, heading, line_in_band, make, nothing, safe
from environments.text import format_number
from environments.view import moments_of_change
from environments.world import Floats
from policies.engine.simulation import Simulation
from studies.results.comparison import SETTINGS, ComparisonResult, Leaderboard, Standing
from studies.symbols import format_params

if TYPE_CHECKING:
    import plotly.graph_objects as go


POINTS = 160
"""Points on all lines of a panel together, shared among them."""


def plot_curves(
    results: Sequence[Simulation],
    changes: Sequence[int] = (),
    names: Sequence[str] = (),
    *,
    costs: bool = False,
    bands: bool = True,
) -> go.Figure:
    """Mean cumulative regret (above) and reward (below) of some simulations with 95 % bands.

    Rewards of all but the worst policies lie on top of each other; so where several simulations played the same
    worlds, what is drawn of a reward is by how much it differs from that of the first, world by world.

    Args:
        results: Simulations that kept their curves (`checkpoints`).
        changes: Steps to mark, such as `environments.view` gives.
        names: What to call each; policy and parameters if absent.
        costs: Rewards are costs with their sign turned, and are shown as what they were.
        bands: Draw 95 % intervals; windows of a trace overlap, so theirs would be too narrow.

    >>> from policies.engine.simulation import simulate
    >>> result = simulate("ucb1", "blips", horizon=100, arms=3, replications=4, checkpoints=10)
    >>> figure = curves([result], changes=[50])
    >>> figure.layout.xaxis.title.text
    'step t'
    """
    drawn = [
        (name, each, each.curve)
        for name, each in zip(_names(results, names), results, strict=True)
        if each.curve is not None
    ]
    if not drawn:
        title = heading("Regret and reward over time", *_context(results))
        return nothing(title, "No curve was kept.", "Nothing to draw: the simulations kept no curve.")
    unit = "cost" if costs else "reward"
    sign = -1.0 if costs else 1.0
    beside, first, base = drawn[0]
    paired = len(drawn) > 1 and all(_same_worlds(first, each) for _, each, _ in drawn)
    below = f"{unit} minus that of {safe(beside, 44)}" if paired else unit
    traces: list[Trace] = []
    parts = []
    points = max(24, POINTS // len(drawn))
    for place, (name, each, curve) in enumerate(drawn):
        steps = curve.steps
        kept = np.unique(np.linspace(0, steps.size - 1, min(points, steps.size)).round().astype(int))
        paid = sign * (curve.reward - base.reward if paired else curve.reward)
        for what, values, y in (("regret", curve.regret, "y"), (below, paid, "y2")):
            traces += _line(each, name, what, values[:, kept], steps[kept], place, y, bands)
        final = sign * float(curve.reward[:, -1].mean())
        parts.append(f"{name}: regret {format_number(float(each.regret.mean()))}, {unit} {format_number(final)}")
    entry, shapes = change_lines(changes)
    title, against, measured = f"Regret and {unit} over time", "", f"cumulative {unit}"
    if paired:
        title = f"Regret and difference in {unit} over time"
        against = f", the latter minus that of {beside},"
        measured += f",<br>minus that of {safe(beside, 24)}"
    marked = f" {len(changes)} moments of change are marked." if changes else ""
    return make(
        [*traces, *entry],
        heading(title, *_context([each for _, each, _ in drawn])),
        f"Mean cumulative regret and {unit}{against} over {first.horizon:,} steps in {first.scenario},"
        f" K = {first.arms}, R = {first.replications:,}{', with 95 % bands' if bands else ''}. At the end:"
        f" {'; '.join(parts)}.{marked}",
        height=600,
        shapes=shapes,
        xaxis=axis("step t", anchor="y2", range=[0, max(each.horizon for _, each, _ in drawn)]),
        yaxis=axis("cumulative regret", domain=[0.53, 1], rangemode="tozero"),
        yaxis2=axis(measured, domain=[0, 0.47], rangemode="tozero"),
    )


def _names(results: Sequence[Simulation], given: Sequence[str]) -> list[str]:
    """What each is called: as was said, else its parameters, with the policy where there are several."""
    several = len({each.policy for each in results if each.curve is not None}) > 1
    names = list(given[: len(results)])
    for each in results[len(names) :]:
        told = format_params({key: value for key, value in each.params.items() if not isinstance(value, str)})
        names.append(f"{each.policy} ({told})" if several else told)
    return names


def _same_worlds(one: Simulation, other: Simulation) -> bool:
    """Whether the replications of both are pairs, seen at the same steps."""
    keys = ("scenario", "settings", "horizon", "arms", "replications", "seed")
    return (
        all(getattr(one, key) == getattr(other, key) for key in keys)
        and one.curve is not None
        and other.curve is not None
        and np.array_equal(one.curve.steps, other.curve.steps)
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
        hovertext=f"<b>{safe(name, 100)}</b><br>{safe(each.policy)}: {safe(format_params(each.params), 120)}",
        hovertemplate=(
            f"%{{hovertext}}<br>t = %{{x}}, R = {count:,} worlds<br>"
            f"mean {what} %{{y}} ± %{{customdata}} (standard error)<extra></extra>"
        ),
    )
    return [around, line] if bands and stderr.any() and steps.size > 1 else [line]


SHOWN = 7
"""Lines in sight at first; the others are a click on the legend away."""


def plot_regret_curves(result: ComparisonResult, board: Leaderboard, order: Sequence[str]) -> go.Figure:
    """Mean cumulative regret with 95 % bands, the best policies first; `order` settles colours and dashes."""
    spec = result.comparison.spec
    changes = moments_of_change(spec.open_scenario(), spec.horizon)
    entry, shapes = change_lines(changes)
    traces = [trace for each in board.standings for trace in _regret_curves_line(each, order.index(each.policy))]
    hidden = max(0, len(board.standings) - SHOWN)
    more = f" The other {hidden} are shown by a click on their name." if hidden else ""
    said = ", ".join(f"{each.policy} {format_number(each.mean)}" for each in board.standings)
    rows = -(-len(board.standings) // 3)
    return make(
        [*traces, *entry],
        heading(
            "Regret over time",
            safe(spec.scenario),
            SETTINGS[board.setting],
            *counts(spec.horizon, spec.arms, spec.replications),
        ),
        f"Mean cumulative regret over {spec.horizon:,} steps in {spec.scenario}, {SETTINGS[board.setting]}, with 95 %"
        " bands."
        f" At the end: {said}.{more}",
        height=420 + 20 * rows,
        margin={"t": 60, "r": 16, "b": 64 + 20 * rows, "l": 60},
        shapes=shapes,
        xaxis=axis("step t", range=[0, spec.horizon]),
        yaxis=axis("cumulative regret", rangemode="tozero"),
    )


def _regret_curves_line(each: Standing, look: int) -> list[Trace]:
    curve = each.entry.curve
    return line_in_band(
        curve.steps,
        curve.mean,
        curve.stderr,
        look,
        both={"visible": True if each.place <= SHOWN else "legendonly"},
        name=safe(each.policy, 30),
        hovertemplate=(
            f"<b>{safe(each.policy)}</b><br>t = %{{x}}<br>mean regret %{{y}} ± %{{customdata}}"
            " (standard error)<extra></extra>"
        ),
    )
