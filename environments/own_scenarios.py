"""Scenarios that a user brings: a `Scenario`, an `Effect`, or a function that gives one."""

from __future__ import annotations

import dataclasses
from typing import Any

from environments.base import Effect
from environments.errors import InputError
from environments.own import Brought, where_it_broke
from environments.scenario import Scenario

BROUGHT: Brought[Scenario] = Brought("scenario", "ravenlab.scenarios")

SAID = ("name", "category", "meaning", "order")
"""What every effect says of its kind."""


def bring_scenario(text: str) -> str:
    """Load `./file.py:name`, or what an installed package offers under a name, and give the name that it goes by.

    Any other name is given back as it is.

    >>> bring_scenario("blips")
    'blips'
    """
    from environments.catalogue import scenarios

    return BROUGHT.bring(text, scenarios(), _adapted)


def _adapted(found: Any, name: str) -> Scenario:
    """The scenario under its name; an effect stands on the base world."""
    try:
        if callable(found) and not isinstance(found, type):
            found = found()
        if isinstance(found, type) and issubclass(found, Effect):
            found = found()
    except Exception as error:
        raise InputError(f"scenario {name!r} can't be made: {where_it_broke(error)}.") from None
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
