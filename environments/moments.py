"""When a scenario changes: the steps that a curve over time marks."""

from __future__ import annotations

from environments.draw import draft_of
from environments.scenario import Scenario


def moments_of_change(scenario: Scenario, horizon: int) -> list[int]:
    """Steps after the first at which something sets in or ends, in order.

    Jumps, blips and their ends, arms that open and close, start and end of a gradual drift. What moves all
    the time (a drift, a season) has no moments. They are the same in every world of a scenario.

    >>> from environments import find_scenario
    >>> moments_of_change(find_scenario("localized-jump", {"every": "25%"}), 1000)
    [250, 500, 750, 1000]
    >>> moments_of_change(find_scenario("arm-churn"), 1000)
    [330, 670]
    """
    arms = max(1, min(scenario.arms, horizon - scenario.extra_arms))
    scenario.check(horizon, arms)
    draft = draft_of(scenario, horizon, arms)
    moments = {change.at for change in draft.changes}
    moments |= {change.until for change in draft.changes if change.until is not None}
    moments |= {int(t) for t in (*draft.opens[0], *draft.closes[0])}
    moments |= set(draft.ramp or ())
    return sorted(t for t in moments if 1 < t <= horizon)
