"""Reward processes: scenarios, effects, worlds, traces and logs. Names are imported on first use."""

from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError

if TYPE_CHECKING:
    from ravenlab.environments.catalog import combine, find_scenario, scenarios
    from ravenlab.environments.scenario import Scenario


__all__ = ["InputError", "Scenario", "combine", "find_scenario", "scenarios"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ravenlab.environments' has no attribute {name!r}")

    from ravenlab.environments import catalog

    return getattr(catalog, name)
