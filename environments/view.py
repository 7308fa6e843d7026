"""When a scenario changes: the steps that a curve over time marks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from environments.draw import build_draft
from environments.scenario import Scenario
from environments.world import Floats, Ints, Worlds, mean_and_variance_of


def change_steps(scenario: Scenario, horizon: int) -> list[int]:
    """Steps after the first at which something sets in or ends, in order.

    Jumps, blips and their ends, arms that open and close, start and end of a gradual drift. What moves all
    the time (a drift, a season) has no moments. They are the same in every world of a scenario.

    >>> from environments import find_scenario
    >>> change_steps(find_scenario("localized-jump", {"every": "25%"}), 1000)
    [250, 500, 750, 1000]
    >>> change_steps(find_scenario("arm-churn"), 1000)
    [330, 670]
    """
    arms = max(1, min(scenario.arms, horizon - scenario.extra_arms))
    scenario.check(horizon, arms)
    draft = build_draft(scenario, horizon, arms)
    moments = {change.at for change in draft.changes}
    moments |= {change.until for change in draft.changes if change.until is not None}
    moments |= {int(t) for t in (*draft.opens[0], *draft.closes[0])}
    moments |= set(draft.ramp or ())
    return sorted(t for t in moments if 1 < t <= horizon)


EVEN_POINTS = 100
"""Steps that are looked at, evenly apart; segments' first and last steps come on top."""

MAX_POINTS = 220
TOLERANCE = 1e-3
"""A point that a straight line misses by less than this share of the range is left out."""


class View(NamedTuple):
    """Means and variances [steps, K] of all arms at some steps; NaN where an arm is not open."""

    steps: Ints
    means: Floats
    variances: Floats


def view_world(worlds: Worlds) -> View:
    """The first world of a block.

    >>> from environments import find_scenario
    >>> from environments.draw import draw_worlds
    >>> seen = view_world(draw_worlds(find_scenario("blips"), 1000, 3, seed=1))
    >>> bool(np.isin([99, 100, 119, 120], seen.steps).all())
    True
    """
    steps = _steps(worlds)
    arms = worlds.level.shape[2]
    means = np.full((steps.size, arms), np.nan)
    variances = np.full_like(means, np.nan)
    level, motion = worlds.level[0], worlds.motion[0]
    for i, t in enumerate(steps):
        segment = int(np.searchsorted(worlds.starts, t, side="right")) - 1
        row, blip = worlds.row[segment], worlds.blip[segment]
        for k in range(arms):
            if worlds.opens[0, k] <= t < worlds.closes[0, k]:
                law = mean_and_variance_of(worlds.kind, level, motion, worlds.season, worlds.share, row, blip, k, t)
                means[i, k], variances[i, k] = law
    return View(steps, means, variances)


def simplify_line(steps: Ints, values: Floats) -> list[int]:
    """Places of the points that a line needs: those between which it is straight are left out.

    >>> simplify_line(np.arange(5), np.array([0.0, 1.0, 2.0, 3.0, 9.0]))
    [0, 3, 4]
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return []
    reach = TOLERANCE * (float(finite.max() - finite.min()) or 1.0)
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


def thin_view(seen: View) -> View:
    """The same with only those steps that some arm's line needs, or at which the best arm becomes another.

    >>> from environments import find_scenario
    >>> from environments.draw import draw_worlds
    >>> thin_view(view_world(draw_worlds(find_scenario("variance-drift"), 1000, 3, seed=1))).steps.tolist()
    [1, 1000]
    """
    best = np.where(np.isnan(seen.means), -np.inf, seen.means).argmax(axis=1)
    turns = np.flatnonzero(np.diff(best))
    kept = {int(i) for i in (*turns, *(turns + 1))}
    for table in (seen.means, seen.variances):
        for values in table.T:
            kept.update(simplify_line(seen.steps, values))
    places = sorted(kept)
    return View(seen.steps[places], seen.means[places], seen.variances[places])


def _steps(worlds: Worlds) -> Ints:
    """Evenly spaced steps, and both sides of every break unless there are too many."""
    horizon = worlds.noise.shape[1]
    even = np.linspace(1, horizon, min(EVEN_POINTS, horizon)).round().astype(np.int64)
    breaks = np.concatenate([worlds.starts[1:-1], worlds.opens[0], worlds.closes[0]])
    breaks = np.unique(breaks[(breaks > 1) & (breaks <= horizon)])
    if worlds.share.size:
        ramp = np.flatnonzero((worlds.share > 0) & (worlds.share < 1)) + 1
        even = np.concatenate([even, ramp[:1], ramp[-1:]])
    if 2 * breaks.size > MAX_POINTS - EVEN_POINTS:
        return np.unique(np.linspace(1, horizon, min(MAX_POINTS, horizon)).round().astype(np.int64))
    return np.unique(np.concatenate([even, breaks - 1, breaks]))
