"""Scenarios that a user brings: a `Scenario`, an `Effect`, or a function that gives one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from environments import published
from environments.base import BaseDraw, Effect
from environments.effects.arm_churn import ArmChurn
from environments.effects.blips import Blips
from environments.effects.delayed import Delayed
from environments.effects.gradual_drift import GradualDrift
from environments.effects.incremental_drift import IncrementalDrift
from environments.effects.localized_jump import LocalizedJump
from environments.effects.periodic import Periodic
from environments.effects.variance_drift import VarianceDrift
from environments.errors import InputError, unknown_name
from environments.plugins import PluginRegistry, describe_failure
from environments.scenario import Scenario

SCENARIO_PLUGINS: PluginRegistry[Scenario] = PluginRegistry("scenario", "ravenlab.scenarios")

SAID = ("name", "category", "meaning", "order")
"""What every effect says of its kind."""


def load_scenario_plugin(text: str) -> str:
    """Load `./file.py:name`, or what an installed package offers under a name, and give the name that it goes by.

    Any other name is given back as it is.

    >>> load_scenario_plugin("blips")
    'blips'
    """

    return SCENARIO_PLUGINS.load(text, scenarios(), _adapted)


def _adapted(found: Any, name: str) -> Scenario:
    """The scenario under its name; an effect stands on the base world."""
    try:
        if callable(found) and not isinstance(found, type):
            found = found()
        if isinstance(found, type) and issubclass(found, Effect):
            found = found()
    except Exception as error:
        raise InputError(f"scenario {name!r} can't be made: {describe_failure(error)}.") from None
    effects = (found,) if isinstance(found, Effect) else found.effects if isinstance(found, Scenario) else ()
    for effect in effects:
        for said in SAID:
            if not hasattr(effect, said):
                raise InputError(f"scenario {name!r}: effect {type(effect).__name__} must say its {said}.")
    if isinstance(found, Effect):
        found = Scenario(name, found.meaning, (found,))
    if not isinstance(found, Scenario):
        raise InputError(f"scenario {name!r} must be a Scenario, an Effect or a function that gives one.")
    return dataclasses.replace(found, name=name)


EFFECTS: dict[str, type[Effect]] = {
    effect.name: effect
    for effect in (
        IncrementalDrift,
        VarianceDrift,
        GradualDrift,
        LocalizedJump,
        Periodic,
        Blips,
        ArmChurn,
        Delayed,
    )
}


@lru_cache(maxsize=1)
def scenarios() -> dict[str, Scenario]:
    """All named scenarios, controls and the paper's seven first, what was published last.

    >>> "variance-drift" in scenarios()
    True
    """
    named = [Scenario("stationary", "nothing changes: the control")]
    named += [Scenario(effect.name, effect.meaning, (effect(),)) for effect in EFFECTS.values()]
    named.append(
        Scenario(
            "bernoulli",
            "stationary Bernoulli arms, θ ~ U(0.8, 0.95), as in the paper's Figure 2",
            base=BaseDraw(mean_low=0.8, mean_high=0.95),
            noise="bernoulli",
        )
    )
    named.append(
        Scenario(
            "logistics",
            "a third of 100 warehouses is drawn anew every 5000 orders",
            (LocalizedJump(every=5000),),
            arms=100,
            horizon=50_000,
        )
    )
    named += published.published_scenarios()
    return {scenario.name: scenario for scenario in named}


def find_scenario(name: str, settings: dict[str, Any] | None = None) -> Scenario:
    """The scenario of a name, one that was brought, or effects joined by "+", with settings.

    >>> find_scenario("periodic+blips").category
    'PC+TF'
    """
    if not isinstance(name, str):
        raise InputError(f"scenario must be a name but got {name!r}.")
    known = scenarios()
    brought = SCENARIO_PLUGINS.get(name)
    if name in known:
        scenario = known[name]
    elif brought is not None:
        scenario = brought
    elif "+" in name:
        scenario = combine([part.strip() for part in name.split("+")])
    else:
        raise SCENARIO_PLUGINS.missing_error(name) or unknown_name("scenario", name, known)
    return scenario.with_settings(settings or {})


def combine(effects: Sequence[str]) -> Scenario:
    """The base world with several effects at their defaults.

    >>> combine(["blips", "arm-churn"]).extra_arms
    1
    """
    for name in effects:
        if not isinstance(name, str) or name not in EFFECTS:
            raise unknown_name("effect", name, EFFECTS)
        if list(effects).count(name) > 1:
            raise InputError(f"effects must differ but {name} was given twice.")
    chosen = tuple(EFFECTS[name]() for name in effects)
    return Scenario("+".join(effects), "; ".join(effect.meaning for effect in chosen), chosen)
