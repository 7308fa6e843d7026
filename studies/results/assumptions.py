"""What recommended parameters hold for: how late rewards are known, and when the policy starts from nothing."""

from collections.abc import Iterable

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count
from ravenlab.environments import Scenario, find_scenario

IMMEDIATE = "Holds for immediate rewards: each one is known before the next choice."
DELAYED = "Holds for rewards that arrive as late as in the scenario."


def describe_feedback(scenarios: Iterable[str]) -> str:
    """State how late rewards may be known.

    >>> describe_feedback(["blips+delayed"]) == DELAYED, describe_feedback(["log:ads"]) == IMMEDIATE
    (True, True)
    """
    loaded = map(find_loaded, scenarios)
    return DELAYED if any(scenario is not None and scenario.delayed for scenario in loaded) else IMMEDIATE


def find_loaded(scenario: str) -> Scenario | None:
    """Find a scenario; None for a recording, and for a plugin that is not loaded."""
    try:
        return find_scenario(scenario)
    except InputError:
        return None


KEEP_STATE = "For one that keeps running, state --horizon N --keep-state."


def describe_windows(window: int) -> str:
    """State that windows of a trace start from nothing.

    >>> describe_windows(250)
    'Each window of 250 rows starts from nothing, as a policy that is restarted after as many steps.'
    """
    return (
        f"Each window of {format_count(window)} rows starts from nothing, as a policy that is restarted after as many"
        " steps."
    )
