"""What the arms pay: the base world, effects, named scenarios."""

from environments.catalogue import combine, find_scenario, scenarios
from environments.errors import InputError
from environments.scenario import Scenario

__all__ = ["InputError", "Scenario", "combine", "find_scenario", "scenarios"]
