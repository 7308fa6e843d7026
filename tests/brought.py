"""Policies and scenarios of a user's own that a test brought."""

from __future__ import annotations

from environments import own_scenarios
from policies import own


def forget_brought() -> None:
    """As in a new process, where nothing has been brought yet."""
    own.BROUGHT._held.clear()
    own_scenarios.BROUGHT._held.clear()
