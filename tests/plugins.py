"""Plugins loaded by a test."""

from ravenlab.environments import catalog
from ravenlab.policies.engine import plugins


def unload_plugins() -> None:
    plugins.POLICY_PLUGINS._plugins.clear()
    catalog.SCENARIO_PLUGINS._plugins.clear()
