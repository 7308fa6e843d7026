"""Reward processes: scenarios, effects, worlds, traces and logs. Names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from environments.errors import InputError

if TYPE_CHECKING:
    from environments.catalog import combine, find_scenario, scenarios
    from environments.scenario import Scenario


__all__ = ["InputError", "Scenario", "combine", "find_scenario", "scenarios"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'environments' has no attribute {name!r}")

    from environments import catalog

    return getattr(catalog, name)
