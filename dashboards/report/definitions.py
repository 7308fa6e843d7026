"""What a scenario is, in words: taken from the effects themselves, which say it once."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from environments import Scenario
from environments.base import Effect
from environments.errors import InputError
from environments.text import format_value
from environments.times import steps


@dataclass(frozen=True)
class Definition:
    """A scenario for people."""

    meaning: str
    plain: list[str]
    """A sentence an effect."""
    formulas: list[str]
    parameters: list[tuple[str, str]]
    category: str


CATEGORIES = {"DPC": "distribution parameters change", "PC": "periodic change", "TF": "temporary fluctuation"}


def define(scenario: Scenario, horizon: int) -> Definition:
    """Meaning, formula and parameters; times that are shares of the horizon are also given in steps.

    >>> from environments import find_scenario
    >>> define(find_scenario("blips"), 1000).parameters[0]
    ('every', '10% (100 steps at T = 1,000)')
    """
    base = scenario.base
    shown = [(key, _value(key, value, horizon)) for key, value in scenario.parameters().items()]
    formulas = [_formula(effect) for effect in scenario.effects]
    formulas.append(
        f"At the start μ ~ U({base.mean_low:g}, {base.mean_high:g}) and σ² ~ U({base.variance_low:g},"
        f" {base.variance_high:g}), independently for each arm; the noise is {scenario.noise}."
    )
    kinds = [CATEGORIES.get(word, "") for word in scenario.category.split("+")]
    return Definition(
        meaning=scenario.meaning,
        plain=[" ".join((type(effect).__doc__ or "").split("\n\n")[0].split()) for effect in scenario.effects],
        formulas=formulas,
        parameters=[*shown, ("noise", scenario.noise)],
        category=", ".join(kind for kind in kinds if kind),
    )


def _formula(effect: Effect) -> str:
    """The first words of an effect's own file; where one file has several effects, of its class."""
    name = type(effect).__module__
    own = name.startswith("environments.effects.")
    text = (sys.modules[name].__doc__ if own else type(effect).__doc__) or ""
    return " ".join(text.split())


def _value(key: str, value: int | float | str, horizon: int) -> str:
    if isinstance(value, str) and value.endswith("%") and not key.endswith("fraction"):
        try:
            return f"{value} ({steps(key, value, horizon)} steps at T = {horizon:,})"
        except InputError:
            return value
    return format_value(value)
