"""All scenarios by name: built-in, published, combined from effects, and from plugins."""

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ravenlab.common.errors import InputError, unknown_name
from ravenlab.common.plugins import PluginRegistry, describe_failure
from ravenlab.environments import published
from ravenlab.environments.base import BaseDraw, Effect
from ravenlab.environments.effects.arm_churn import ArmChurn
from ravenlab.environments.effects.blips import Blips
from ravenlab.environments.effects.delayed import Delayed
from ravenlab.environments.effects.gradual_drift import GradualDrift
from ravenlab.environments.effects.incremental_drift import IncrementalDrift
from ravenlab.environments.effects.localized_jump import LocalizedJump
from ravenlab.environments.effects.periodic import Periodic
from ravenlab.environments.effects.random_walk import RandomWalk
from ravenlab.environments.effects.variance_drift import VarianceDrift
from ravenlab.environments.scenario import Scenario

SCENARIO_PLUGINS: PluginRegistry[Scenario] = PluginRegistry("scenario", "ravenlab.scenarios")

_EFFECTS = (
    IncrementalDrift,
    VarianceDrift,
    GradualDrift,
    LocalizedJump,
    Periodic,
    Blips,
    ArmChurn,
    RandomWalk,
    Delayed,
)
EFFECTS: dict[str, type[Effect]] = {effect.name: effect for effect in _EFFECTS}

EFFECT_ATTRIBUTES = ("name", "category", "meaning", "order")  # attributes that an effect must define


@lru_cache(maxsize=1)
def scenarios() -> dict[str, Scenario]:
    """Return all named scenarios: the control, the kinds of change, then the published ones.

    >>> "variance-drift" in scenarios()
    True
    """
    named = [Scenario("stationary", "nothing changes (control)")]
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
            "a third of 100 warehouses is redrawn every 5,000 orders",
            (LocalizedJump(every=5000),),
            arms=100,
            horizon=50_000,
        )
    )
    named += published.published_scenarios()
    return {scenario.name: scenario for scenario in named}


def find_scenario(name: str, settings: dict[str, Any] | None = None) -> Scenario:
    """Return the scenario of a name, of a loaded plugin, or of effects joined by "+", with settings.

    >>> find_scenario("periodic+blips").category
    'PC+TF'
    """
    if not isinstance(name, str):
        raise InputError(f"scenario must be a name but got {name!r}.")
    known = scenarios()
    plugin = SCENARIO_PLUGINS.get(name)
    if name in known:
        scenario = known[name]
    elif plugin is not None:
        scenario = plugin
    elif "+" in name:
        scenario = combine([part.strip() for part in name.split("+")])
    else:
        raise SCENARIO_PLUGINS.missing_error(name) or unknown_name("scenario", name, known)
    return scenario.with_settings(settings or {})


def combine(effects: Sequence[str]) -> Scenario:
    """Combine several effects with their default parameters on the base world.

    >>> combine(["blips", "arm-churn"]).extra_arms
    1
    """
    for name in effects:
        if not isinstance(name, str) or name not in EFFECTS:
            raise unknown_name("effect", name, EFFECTS)
        if list(effects).count(name) > 1:
            raise InputError(f"effects must be distinct but {name} occurs twice.")
    chosen = tuple(EFFECTS[name]() for name in effects)
    return Scenario("+".join(effects), "; ".join(effect.meaning for effect in chosen), chosen)


def load_scenario_plugin(text: str) -> str:
    """Load `./file.py:name` or an entry point of an installed package and return the name of the scenario.

    The object may be a `Scenario`, an `Effect`, or a function without arguments that returns one. Any other name is
    returned unchanged.

    >>> load_scenario_plugin("blips")
    'blips'
    """
    return SCENARIO_PLUGINS.load(text, scenarios(), _to_scenario)


def _to_scenario(value: Any, name: str) -> Scenario:
    """Convert the object of a plugin to a scenario; a single effect changes the base world."""
    try:
        if callable(value) and not isinstance(value, type):
            value = value()
        if isinstance(value, type) and issubclass(value, Effect):
            value = value()
    except Exception as error:
        raise InputError(f"scenario {name!r} cannot be created: {describe_failure(error)}.") from None
    effects = (value,) if isinstance(value, Effect) else value.effects if isinstance(value, Scenario) else ()
    for effect in effects:
        for attribute in EFFECT_ATTRIBUTES:
            if not hasattr(effect, attribute):
                raise InputError(f"scenario {name!r}: effect {type(effect).__name__} must define {attribute}.")
    if isinstance(value, Effect):
        value = Scenario(name, value.meaning, (value,))
    if not isinstance(value, Scenario):
        raise InputError(f"scenario {name!r} must be a Scenario, an Effect or a function that returns one.")
    return dataclasses.replace(value, name=name)
