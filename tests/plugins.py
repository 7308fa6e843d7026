"""Policies and scenarios of a user's own that a test brought."""

from __future__ import annotations

from environments import catalog
from policies.engine import plugins


def forget_brought() -> None:
    """As in a new process, where nothing has been brought yet."""
    plugins.POLICY_PLUGINS._held.clear()
    catalog.SCENARIO_PLUGINS._held.clear()
