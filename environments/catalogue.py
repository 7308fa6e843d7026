"""The named scenarios, and combinations of effects by their names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from environments import own_scenarios, published
from environments.base import BaseDraw, Effect
from environments.effects.arm_churn import ArmChurn
from environments.effects.blips import Blips
from environments.effects.delayed import Delayed
from environments.effects.gradual_drift import GradualDrift
from environments.effects.incremental_drift import IncrementalDrift
from environments.effects.localized_jump import LocalizedJump
from environments.effects.periodic import Periodic
from environments.effects.variance_drift import VarianceDrift
from environments.errors import InputError, unknown
from environments.scenario import Scenario

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
    named += published.scenarios()
    return {scenario.name: scenario for scenario in named}


def find_scenario(name: str, settings: dict[str, Any] | None = None) -> Scenario:
    """The scenario of a name, one that was brought, or effects joined by "+", with settings.

    >>> find_scenario("periodic+blips").category
    'PC+TF'
    """
    if not isinstance(name, str):
        raise InputError(f"scenario must be a name but got {name!r}.")
    known = scenarios()
    brought = own_scenarios.BROUGHT.get(name)
    if name in known:
        scenario = known[name]
    elif brought is not None:
        scenario = brought
    elif "+" in name:
        scenario = combine([part.strip() for part in name.split("+")])
    else:
        raise own_scenarios.BROUGHT.missing(name) or unknown("scenario", name, known)
    return scenario.with_settings(settings or {})


def combine(effects: Sequence[str]) -> Scenario:
    """The base world with several effects at their defaults.

    >>> combine(["blips", "arm-churn"]).extra_arms
    1
    """
    for name in effects:
        if not isinstance(name, str) or name not in EFFECTS:
            raise unknown("effect", name, EFFECTS)
        if list(effects).count(name) > 1:
            raise InputError(f"effects must differ but {name} was given twice.")
    chosen = tuple(EFFECTS[name]() for name in effects)
    return Scenario("+".join(effects), "; ".join(effect.meaning for effect in chosen), chosen)
