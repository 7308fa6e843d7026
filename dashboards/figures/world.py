"""Means and variances of the arms of one world over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ravenlab.common.text import format_number, plural
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.view import View, change_steps, simplify_line, view_world
from ravenlab.environments.world import Floats, Ints

ARMS = (style.SKY, style.ORANGE, style.GREEN, style.PINK, style.BLUE)
MOST_ARMS = 8


def arm_style(place: int) -> dict[str, Any]:
    """Return the color and dash of an arm; the first thirty combinations are distinct."""
    return {"color": ARMS[place % len(ARMS)], "dash": style.DASHES[place % len(style.DASHES)], "width": 1.2}


def arm_line(x: Floats, values: Floats, name: str, place: int, where: str = "row") -> PlotlyTrace:
    """Make the line of a recorded arm, with gaps where it has no value."""
    hover = f"{style.escape_text(name, 40)}<br>{where} %{{x}}<br>%{{y}}<extra></extra>"
    look = {"connectgaps": False, "line": arm_style(place)}
    return style.make_scatter(x, values, "lines", style.escape_text(name, 24), hovertemplate=hover, **look)


def arms_to_draw(time: Any, means: Floats) -> list[int]:
    """Choose the arms to draw: all of a few; of many, those that are best for the longest time.

    >>> arms_to_draw(np.array([0, 5, 5]), np.array([[0.1, 0.2, 0.3]]))
    [0, 1, 2]
    >>> arms_to_draw(np.array([9, *[0] * 19]), np.arange(20.0)[None])
    [0, 13, 14, 15, 16, 17, 18, 19]
    """
    if time.size <= MOST_ARMS + 4:
        return list(range(time.size))
    average = np.nan_to_num(np.nanmean(means, axis=0))
    return sorted(int(k) for k in np.lexsort((-average, -time))[:MOST_ARMS])


def plot_world(scenario: Scenario, horizon: int, arms: int, seed: int = 0, replication: int = 0) -> Figure:
    """Plot means and variances of the arms of one world; the currently best arm is bold.

    >>> from ravenlab.environments import find_scenario
    >>> figure = plot_world(find_scenario("stationary"), 500, 3)
    >>> [len(trace.x) for trace in figure.data if trace.name == "currently best arm"]
    [2, 2]
    """
    return plot_world_view(
        view_world(draw_worlds(scenario, horizon, arms, seed, first=replication)),
        name=scenario.name,
        meaning=scenario.meaning,
        horizon=horizon,
        arms=arms,
        changes=change_steps(scenario, horizon),
        which=f"replication {replication}, seed {seed}",
    )


def plot_world_view(
    view: View,
    *,
    name: str,
    meaning: str,
    horizon: int,
    arms: int,
    changes: Sequence[int],
    which: str,
    title: str = "Arms of one world over time",
    height: int = 560,
) -> Figure:
    """Plot a world from its view, such as one that was read from a table."""
    steps, means, variances = view
    best = np.where(np.isnan(means), -np.inf, means).argmax(axis=1)
    total = means.shape[1]
    shown = arms_to_draw(np.bincount(best, minlength=total), means)
    panels = []
    for what, table, axis in (
        ("mean", means, style.make_axis("mean reward μ")),
        ("variance", variances, style.make_axis("variance σ²", rangemode="tozero")),
    ):
        spread = [_spread(steps, np.nanmin(table, axis=1), np.nanmax(table, axis=1))] if len(shown) < total else []
        arms_shown = [_arm(steps, table[:, k], what, k, place) for place, k in enumerate(shown)]
        values = table[np.arange(steps.size), best]
        panels.append(([*spread, *arms_shown, _best(steps, values, best, what, joined=what == "mean")], axis))
    entry, shapes = style.make_change_lines(changes)
    context = [style.escape_text(name), *style.format_sizes(horizon, arms), f"R = 1 world ({which})"]
    if len(shown) < total:
        context.append(f"{len(shown)} of {total} arms drawn")
    return style.make_stacked_figure(
        panels,
        style.make_step_axis(horizon),
        style.format_title(style.escape_text(title), *context),
        _alt(name, meaning, horizon, view, best, len(changes)),
        entries=entry,
        height=height,
        shapes=shapes,
    )


def _arm(steps: Ints, values: Floats, what: str, k: int, place: int) -> PlotlyTrace:
    kept = simplify_line(steps, values)
    hover = f"arm {k + 1}<br>t = %{{x}}<br>{what} %{{y}}<extra></extra>"
    return style.make_scatter(steps[kept], values[kept], "lines", "arm", line=arm_style(place), hovertemplate=hover)


def _best(steps: Ints, values: Floats, best: Any, what: str, joined: bool) -> PlotlyTrace:
    """Draw the currently best arm; unless joined, the line ends where another arm is best, or is a row of dots."""
    kept = set(simplify_line(steps, values))
    turns = np.flatnonzero(np.diff(best))
    few = turns.size < 40
    if few:
        kept |= {int(i) for turn in turns for i in (turn, turn + 1)}
    places = sorted(kept)
    x = steps[places].astype(float)
    y = values[places]
    arms = [int(best[i]) + 1 for i in places]
    if few and not joined:
        gaps = np.flatnonzero(np.diff(best[places])) + 1
        x, y = (np.insert(each, gaps, np.nan) for each in (x, y))
        arms = np.insert(arms, gaps, 0).tolist()
    return style.make_scatter(
        x,
        y,
        "lines" if few or joined else "markers",
        "currently best arm",
        line={"color": style.VERMILION, "width": 4},
        marker={"color": style.VERMILION, "size": 4},
        opacity=0.85,
        customdata=arms,
        hovertemplate=f"currently best: arm %{{customdata}}<br>t = %{{x}}<br>{what} %{{y}}<extra></extra>",
    )


def _spread(steps: Ints, low: Floats, high: Floats) -> PlotlyTrace:
    kept = sorted({*simplify_line(steps, low), *simplify_line(steps, high)})
    more = {"name": "range of all arms", "showlegend": True, "fillcolor": style.fade(style.GREY, 0.25)}
    return style.make_band(steps[kept].tolist(), low[kept].tolist(), high[kept].tolist(), style.GREY, **more)


def _alt(name: str, meaning: str, horizon: int, view: View, best: Any, changes: int) -> str:
    number = len(set(best.tolist()))
    low = format_number(float(np.nanmin(view.means)))
    high = format_number(float(np.nanmax(view.means)))
    least = format_number(float(np.nanmin(view.variances)))
    most = format_number(float(np.nanmax(view.variances)))
    return (
        f"Means and variances of {view.means.shape[1]} arms over {horizon:,} steps in one world of {name}: {meaning}."
        f" Means range from {low} to {high}, variances from {least} to {most};"
        f" {plural(number, 'arm is', 'arms are')} best at some step; {plural(changes, 'change')}."
    )
