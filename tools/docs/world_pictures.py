"""Picture of one world of a scenario: means above, variances below, the currently best arm in bold.

The report shows the same figure with Plotly (`dashboards/figures/world.py`).
"""

from collections.abc import Callable

import numpy as np

from ravenlab.common.text import format_count, format_number
from ravenlab.dashboards.figures.style import BLUE, GREEN, ORANGE, PINK, SKY, VERMILION
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.view import View, change_steps, simplify_line, view_world
from ravenlab.environments.world import Floats, Ints
from tools.docs.svg import RULE, SOFT, area, card, path, rect, text

COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY)
DASHES = ("", "6 3", "2 3", "8 3 2 3", "12 4")
WIDTH = 720
LEFT = 62
RIGHT = 20
PANELS = ((62, 130), (226, 58))
"""Top and height of the panels of means and variances."""
HEIGHT = 326
CHANGE = "#8c959f"
BAND = "#e3e8ec"
SEED = 4
ARMS = 6
MOST_ARMS = 8


def world_picture(scenario: Scenario, horizon: int, arms: int) -> tuple[str, str]:
    """Return the SVG of a scenario's first world, and its alt text."""
    view = view_world(draw_worlds(scenario, horizon, arms, SEED))
    best = np.where(np.isnan(view.means), -np.inf, view.means).argmax(axis=1)
    drawn_arms = _choose_arms(view.means, best)
    note = f", {len(drawn_arms)} of the arms drawn" if len(drawn_arms) < view.means.shape[1] else ""
    x_scale = _scale(1, horizon, LEFT, WIDTH - RIGHT)
    parts = [
        text(LEFT, 28, scenario.name, font_size=16, font_weight=600),
        text(LEFT, 46, f"One world: T = {format_count(horizon)}, K = {arms}, seed {SEED}{note}", fill=SOFT),
        *_legend(len(drawn_arms) < view.means.shape[1], bool(change_steps(scenario, horizon))),
    ]
    for table, name, (top, height) in zip((view.means, view.variances), ("mean μ", "variance σ²"), PANELS, strict=True):
        low, high = _range(table, from_zero=name != "mean μ")
        y_scale = _scale(low, high, top + height, top)
        parts += _frame(name, low, high, top, height)
        for step in change_steps(scenario, horizon):
            x = x_scale(step)
            parts.append(path([(x, top), (x, top + height)], stroke=CHANGE, stroke_dasharray="2 2"))
        if len(drawn_arms) < table.shape[1]:
            parts.append(_band(view.steps, table, x_scale, y_scale))
        for index, k in enumerate(drawn_arms):
            colour = COLOURS[index % 5]
            dashes = DASHES[index // 5 % 5]
            parts += _line(
                view.steps, table[:, k], x_scale, y_scale, stroke=colour, stroke_width=1.4, stroke_dasharray=dashes
            )
        steps = view.steps
        best_values = table[np.arange(view.steps.size), best]
        if name != "mean μ":
            steps, best_values = _end_at_switches(steps, best_values, best)
        parts += _line(steps, best_values, x_scale, y_scale, stroke=VERMILION, stroke_width=3.2, stroke_opacity=0.85)
    parts += _time_axis(horizon, x_scale)
    alt = _alt(scenario, horizon, view, len(set(best.tolist())))
    return card(WIDTH, HEIGHT, alt, parts), alt


def _choose_arms(means: Floats, best: Ints) -> list[int]:
    """Return all arms if there are few, otherwise those that are best for the longest time."""
    total = means.shape[1]
    if total <= ARMS + 2:
        return list(range(total))
    longest = np.argsort(-np.bincount(best, minlength=total), kind="stable")[:MOST_ARMS]
    return sorted(int(k) for k in longest)


def _end_at_switches(steps: Ints, values: Floats, best: Ints) -> tuple[Ints, Floats]:
    """Return the line of the best arm with a gap where another arm becomes the best, whose variance is another one."""
    switches = np.flatnonzero(np.diff(best)) + 1
    ends = np.stack([values[switches - 1], np.full(switches.size, np.nan)], axis=1).ravel()
    places = np.repeat(switches, 2)
    return np.insert(steps, places, steps[places]), np.insert(values, places, ends)


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    return lambda value: first + (value - low) / (high - low) * (last - first)


def _range(table: Floats, from_zero: bool) -> tuple[float, float]:
    low = float(np.nanmin(table))
    high = float(np.nanmax(table))
    low = 0.0 if from_zero else low
    margin = 0.06 * (high - low or 1.0)
    return (low if from_zero else low - margin), high + margin


def _frame(name: str, low: float, high: float, top: float, height: float) -> list[str]:
    """Return the panel with its name and grid lines at round values."""
    parts = [rect(LEFT, top, WIDTH - LEFT - RIGHT, height, fill="none", stroke=RULE)]
    y_scale = _scale(low, high, top + height, top)
    for tick in _round_values(low, high, 4 if height > 100 else 2):
        y = y_scale(tick)
        parts.append(path([(LEFT, y), (WIDTH - RIGHT, y)], stroke=RULE, stroke_width=1))
        parts.append(text(LEFT - 6, y + 4, format_number(tick), text_anchor="end", fill=SOFT, font_size=11))
    middle = top + height / 2
    rotation = f"rotate(-90 18 {middle:g})"
    return [*parts, text(18, middle, name, text_anchor="middle", fill=SOFT, transform=rotation)]


def _round_values(low: float, high: float, most: int) -> list[float]:
    """Return round values (multiples of 1, 2 or 5 times a power of ten) between two bounds."""
    power = 10.0 ** np.floor(np.log10((high - low) / most))
    steps = [power * factor for factor in (1, 2, 5, 10, 20)]
    for step in steps:
        values = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        if len(values) <= most:
            return [float(f"{value:.6g}") for value in values]
    raise AssertionError("one of the steps is wide enough")


def _time_axis(horizon: int, x_scale: Callable[[float], float]) -> list[str]:
    top, height = PANELS[-1]
    parts = []
    for fifth in range(6):
        t = max(1, horizon * fifth // 5)
        anchor = "start" if fifth == 0 else "end" if fifth == 5 else "middle"
        parts.append(text(x_scale(t), top + height + 16, format_count(t), text_anchor=anchor, fill=SOFT, font_size=11))
    return [*parts, text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "step t", text_anchor="middle", fill=SOFT)]


def _legend(band: bool, changes: bool) -> list[str]:
    """Return the right-aligned legend."""
    entries = [("best arm of the moment", VERMILION, 3.2, "")]
    entries += [("change", CHANGE, 1.0, "2 2")] if changes else []
    entries += [("range of all arms", BAND, 9.0, "")] if band else []
    parts = []
    x = float(WIDTH - RIGHT)
    for label, colour, width, dashes in entries:
        parts.append(text(x, 28, label, text_anchor="end", fill=SOFT))
        x -= 6.6 * len(label) + 8
        parts.append(path([(x - 22, 24), (x, 24)], stroke=colour, stroke_width=width, stroke_dasharray=dashes))
        x -= 42
    return parts


def _line(
    steps: Ints,
    values: Floats,
    x_scale: Callable[[float], float],
    y_scale: Callable[[float], float],
    **style: str | float,
) -> list[str]:
    """Return the line of an arm, interrupted where it is unavailable."""
    segments: list[list[tuple[float, float]]] = [[]]
    with np.errstate(invalid="ignore"):  # a gap has the step of the points beside it
        places = simplify_line(steps, values)
    for i in places:
        if np.isnan(values[i]):
            segments.append([])
        else:
            segments[-1].append((x_scale(float(steps[i])), y_scale(float(values[i]))))
    return [path(segment, **style) for segment in segments if len(segment) > 1]


def _band(steps: Ints, table: Floats, x_scale: Callable[[float], float], y_scale: Callable[[float], float]) -> str:
    low = np.nanmin(table, axis=1)
    high = np.nanmax(table, axis=1)
    indices = sorted({*simplify_line(steps, low), *simplify_line(steps, high)})
    above = [(x_scale(float(steps[i])), y_scale(float(high[i]))) for i in indices]
    below = [(x_scale(float(steps[i])), y_scale(float(low[i]))) for i in reversed(indices)]
    return area([*above, *below], BAND)


def _alt(scenario: Scenario, horizon: int, view: View, count: int) -> str:
    low = format_number(float(np.nanmin(view.means)))
    high = format_number(float(np.nanmax(view.means)))
    least = format_number(float(np.nanmin(view.variances)))
    most = format_number(float(np.nanmax(view.variances)))
    return (
        f"{scenario.name}: {scenario.meaning}. {view.means.shape[1]} arms over {horizon} steps, means from {low} to"
        f" {high}, variances from {least} to {most}; {count} {'arm is' if count == 1 else 'arms are'} the best at"
        " some time."
    )
