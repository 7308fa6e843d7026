"""The world itself: means and variances of the arms over time, so that one sees what a scenario is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures._style import (
    BLUE,
    DASHES,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    Trace,
    axis,
    band,
    change_lines,
    counts,
    faded,
    heading,
    make,
    rounded,
    safe,
)
from dashboards.figures.changes import moments_of_change
from environments.draw import draw_worlds
from environments.scenario import Scenario
from environments.world import Floats, Worlds, law_of
from studies.words import short

if TYPE_CHECKING:
    import plotly.graph_objects as go

EVEN = 100
"""Steps that are looked at, evenly apart; segments' first and last steps come on top."""

ARMS = (SKY, ORANGE, GREEN, PINK, BLUE)
MOST_STEPS = 220
MOST_ARMS = 8
SAME = 1e-3
"""A point that a straight line misses by less than this share of the range is left out."""

Steps = np.ndarray[Any, np.dtype[np.int64]]


def world(scenario: Scenario, horizon: int, arms: int, seed: int = 0, replication: int = 0) -> go.Figure:
    """Means (above) and variances (below) of all arms of one world, the best arm of the moment in bold.

    >>> from environments import find_scenario
    >>> figure = world(find_scenario("stationary"), 500, 3)
    >>> [len(trace.x) for trace in figure.data if trace.name == "best arm of the moment"]
    [2, 2]
    """
    worlds = draw_worlds(scenario, horizon, arms, seed, first=replication)
    steps = _steps(worlds, horizon)
    means, variances = _laws(worlds, steps)
    best = np.where(np.isnan(means), -np.inf, means).argmax(axis=1)
    total = means.shape[1]
    shown = _shown(means, best)
    traces: list[Trace] = []
    for what, table, y in (("mean", means, "y"), ("variance", variances, "y2")):
        if len(shown) < total:
            spread = "range of all arms"
            low, high = np.nanmin(table, axis=1), np.nanmax(table, axis=1)
            traces.append(_spread(steps, low, high, spread, y))
        for place, k in enumerate(shown):
            traces.append(_arm(steps, table[:, k], what, k, place, y))
        of_best = table[np.arange(steps.size), best]
        traces.append(_best(steps, of_best, best, what, y))
    changes = moments_of_change(scenario, horizon)
    entry, shapes = change_lines(changes)
    context = [safe(scenario.name), *counts(horizon, arms), f"R = 1 world (no. {replication}, seed {seed})"]
    if len(shown) < total:
        context.append(f"{len(shown)} of {total} arms drawn")
    return make(
        [*traces, *entry],
        heading("One world: the arms over time", *context),
        _alt(scenario, horizon, means, variances, best, changes),
        height=560,
        shapes=shapes,
        xaxis=axis("step t", anchor="y2", range=[0, horizon + 1]),
        yaxis=axis("mean reward μ", domain=[0.53, 1]),
        yaxis2=axis("variance σ²", domain=[0, 0.47], rangemode="tozero"),
    )


def _steps(worlds: Worlds, horizon: int) -> Steps:
    """Evenly spaced steps, and both sides of every break unless there are too many."""
    even = np.linspace(1, horizon, min(EVEN, horizon)).round().astype(np.int64)
    breaks = np.concatenate([worlds.starts[1:-1], worlds.opens[0], worlds.closes[0]])
    breaks = np.unique(breaks[(breaks > 1) & (breaks <= horizon)])
    if worlds.share.size:
        ramp = np.flatnonzero((worlds.share > 0) & (worlds.share < 1)) + 1
        even = np.concatenate([even, ramp[:1], ramp[-1:]])
    if 2 * breaks.size > MOST_STEPS - EVEN:
        return np.unique(np.linspace(1, horizon, min(MOST_STEPS, horizon)).round().astype(np.int64))
    return np.unique(np.concatenate([even, breaks - 1, breaks]))


def _laws(worlds: Worlds, steps: Steps) -> tuple[Floats, Floats]:
    """Means and variances [steps, K] of the first world; NaN where an arm is not open."""
    arms = worlds.level.shape[2]
    means = np.full((steps.size, arms), np.nan)
    variances = np.full_like(means, np.nan)
    level, motion = worlds.level[0], worlds.motion[0]
    for i, t in enumerate(steps):
        segment = int(np.searchsorted(worlds.starts, t, side="right")) - 1
        row, blip = worlds.row[segment], worlds.blip[segment]
        for k in range(arms):
            if worlds.opens[0, k] <= t < worlds.closes[0, k]:
                law = law_of(worlds.kind, level, motion, worlds.season, worlds.share, row, blip, k, t)
                means[i, k], variances[i, k] = law
    return means, variances


def _shown(means: Floats, best: Any) -> list[int]:
    """The arms to draw: all of a few; of many those that are best the longest, then the best on average."""
    total = means.shape[1]
    if total <= MOST_ARMS + 4:
        return list(range(total))
    time = np.bincount(best, minlength=total)
    average = np.nan_to_num(np.nanmean(means, axis=0))
    return sorted(int(k) for k in np.lexsort((-average, -time))[:MOST_ARMS])


def _straight(steps: Steps, values: Floats) -> list[int]:
    """Places of the points that a line needs: those between which it is straight are left out."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return []
    reach = SAME * (float(finite.max() - finite.min()) or 1.0)
    kept = [0]
    for i in range(1, values.size - 1):
        a, b = kept[-1], i + 1
        span = values[a : b + 1]
        gaps = np.isnan(span)
        if gaps.all():
            continue
        line = values[a] + (values[b] - values[a]) * (steps[a : b + 1] - steps[a]) / (steps[b] - steps[a])
        if gaps.any() or np.abs(line - span).max() > reach:
            kept.append(i)
    return kept if values.size == 1 else [*kept, values.size - 1]


def _arm(steps: Steps, values: Floats, what: str, k: int, place: int, y: str) -> Trace:
    kept = _straight(steps, values)
    return {
        "type": "scatter",
        "x": [int(steps[i]) for i in kept],
        "y": [rounded(values[i]) for i in kept],
        "yaxis": y,
        "mode": "lines",
        "line": {"color": ARMS[place % len(ARMS)], "dash": DASHES[place % len(DASHES)], "width": 1.2},
        "name": "an arm",
        "legendgroup": "arms",
        "showlegend": what == "mean" and place == 0,
        "hovertemplate": f"arm {k + 1}<br>t = %{{x}}<br>{what} %{{y}}<extra></extra>",
    }


def _best(steps: Steps, values: Floats, best: Any, what: str, y: str) -> Trace:
    kept = set(_straight(steps, values))
    turns = np.flatnonzero(np.diff(best))
    if turns.size < 40:
        kept |= {int(i) for turn in turns for i in (turn, turn + 1)}
    places = sorted(kept)
    return {
        "type": "scatter",
        "x": [int(steps[i]) for i in places],
        "y": [rounded(values[i]) for i in places],
        "yaxis": y,
        "mode": "lines",
        "line": {"color": VERMILION, "width": 4},
        "opacity": 0.85,
        "name": "best arm of the moment",
        "legendgroup": "best",
        "showlegend": what == "mean",
        "customdata": [int(best[i]) + 1 for i in places],
        "hovertemplate": f"best arm: arm %{{customdata}}<br>t = %{{x}}<br>{what} %{{y}}<extra></extra>",
    }


def _spread(steps: Steps, low: Floats, high: Floats, name: str, y: str) -> Trace:
    more = {"yaxis": y, "name": name, "legendgroup": "spread", "showlegend": y == "y", "fillcolor": faded(GREY, 0.25)}
    below, above = _straight(steps, low), _straight(steps, high)
    kept = sorted({*below, *above})
    return band([float(steps[i]) for i in kept], [low[i] for i in kept], [high[i] for i in kept], BLUE, **more)


def _alt(scenario: Scenario, horizon: int, means: Floats, variances: Floats, best: Any, changes: list[int]) -> str:
    number = len(set(best.tolist()))
    return (
        f"Means and variances of {means.shape[1]} arms over {horizon} steps in one world of {scenario.name}:"
        f" {scenario.meaning}. Means from {short(float(np.nanmin(means)))} to {short(float(np.nanmax(means)))},"
        f" variances from {short(float(np.nanmin(variances)))} to {short(float(np.nanmax(variances)))};"
        f" {number} {'arm is' if number == 1 else 'arms are'} the best at some time;"
        f" {len(changes)} moments of change."
    )
