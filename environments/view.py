"""Steps at which a scenario changes, and the means and variances of a world for plots."""

from typing import NamedTuple

import numpy as np

from ravenlab.environments.draw import build_draft
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.world import Floats, Ints, Worlds, moments_at


def change_steps(scenario: Scenario, horizon: int) -> list[int]:
    """Return the steps after the first at which a change starts or ends, in order.

    These are jumps, starts and ends of blips, arms that open or close, and start and end of a gradual drift; continuous
    changes (linear drifts, oscillations, random walks) have none. The steps are the same in all worlds of a scenario:
    changes at random times are left out.

    >>> from ravenlab.environments import find_scenario
    >>> change_steps(find_scenario("localized-jump", {"every": "25%"}), 1000)
    [250, 500, 750, 1000]
    >>> change_steps(find_scenario("arm-churn"), 1000)
    [330, 670]
    """
    arms = max(1, min(scenario.arms, horizon - scenario.extra_arms))
    scenario.check(horizon, arms)
    draft = build_draft(scenario, horizon, arms)
    fixed = [change for change in draft.changes if not change.is_random]
    steps = {int(time) for change in fixed for time in (change.at, change.until) if time is not None}
    steps |= {int(t) for t in (*draft.opens[0], *draft.closes[0])}
    steps |= set(draft.ramp or ())
    if draft.shifts is not None:
        steps |= {int(t) for t in draft.shifts[0]}
    return sorted(t for t in steps if 1 < t <= horizon)


EVEN_POINTS = 100  # evenly spaced steps, in addition to first and last steps of segments
MAX_POINTS = 220
TOLERANCE = 1e-3  # points closer to a straight line than this share of the range are left out


class View(NamedTuple):
    """Means and variances [steps, K] of all arms at selected steps; NaN where an arm is closed."""

    steps: Ints
    means: Floats
    variances: Floats


def view_world(worlds: Worlds) -> View:
    """Return means and variances of the first world of a block.

    >>> from ravenlab.environments import find_scenario
    >>> from ravenlab.environments.draw import draw_worlds
    >>> view = view_world(draw_worlds(find_scenario("blips"), 1000, 3, seed=1))
    >>> bool(np.isin([99, 100, 119, 120], view.steps).all())
    True
    """
    steps = _steps(worlds)
    means = np.empty((steps.size, worlds.level.shape[2]))
    variances = np.empty_like(means)
    for i, t in enumerate(steps):
        is_open = (worlds.opens[0] <= t) & (t < worlds.closes[0])
        means[i], variances[i] = np.where(is_open, moments_at(worlds, 0, t), np.nan)
    return View(steps, means, variances)


def simplify_line(steps: Ints, values: Floats) -> list[int]:
    """Return the indices of the points that a line needs; points between which it is straight are left out.

    >>> simplify_line(np.arange(5), np.array([0.0, 1.0, 2.0, 3.0, 9.0]))
    [0, 3, 4]
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return []
    tolerance = TOLERANCE * (float(finite.max() - finite.min()) or 1.0)
    kept = [0]
    for i in range(1, values.size - 1):
        a = kept[-1]
        b = i + 1
        span = values[a : b + 1]
        gaps = np.isnan(span)
        if gaps.all():
            continue
        line = values[a] + (values[b] - values[a]) * (steps[a : b + 1] - steps[a]) / (steps[b] - steps[a])
        if gaps.any() or np.abs(line - span).max() > tolerance:
            kept.append(i)
    return kept if values.size == 1 else [*kept, values.size - 1]


def thin_view(view: View) -> View:
    """Keep only the steps that the line of some arm needs, or at which the best arm changes.

    >>> from ravenlab.environments import find_scenario
    >>> from ravenlab.environments.draw import draw_worlds
    >>> thin_view(view_world(draw_worlds(find_scenario("variance-drift"), 1000, 3, seed=1))).steps.tolist()
    [1, 1000]
    """
    best = np.where(np.isnan(view.means), -np.inf, view.means).argmax(axis=1)
    changes = np.flatnonzero(np.diff(best))
    kept = {int(i) for i in (*changes, *(changes + 1))}
    for table in (view.means, view.variances):
        for values in table.T:
            kept.update(simplify_line(view.steps, values))
    indices = sorted(kept)
    return View(view.steps[indices], view.means[indices], view.variances[indices])


def _steps(worlds: Worlds) -> Ints:
    """Return evenly spaced steps, and both sides of every break unless there are too many."""
    horizon = worlds.noise.shape[1]
    even = np.linspace(1, horizon, min(EVEN_POINTS, horizon)).round().astype(np.int64)
    breaks = np.concatenate([worlds.starts[0, 1:-1], worlds.opens[0], worlds.closes[0]])
    breaks = np.unique(breaks[(breaks > 1) & (breaks <= horizon)])
    if worlds.share.size:
        ramp = np.flatnonzero((worlds.share > 0) & (worlds.share < 1)) + 1
        even = np.concatenate([even, ramp[:1], ramp[-1:]])
    if 2 * breaks.size > MAX_POINTS - EVEN_POINTS:
        return np.unique(np.linspace(1, horizon, min(MAX_POINTS, horizon)).round().astype(np.int64))
    return np.unique(np.concatenate([even, breaks - 1, breaks]))
