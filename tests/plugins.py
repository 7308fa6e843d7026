"""Plugins loaded by a test."""

from __future__ import annotations

from environments import catalog
from policies.engine import plugins


def unload_plugins() -> None:
    """Unload all plugins."""
    plugins.POLICY_PLUGINS._plugins.clear()
    catalog.SCENARIO_PLUGINS._plugins.clear()
