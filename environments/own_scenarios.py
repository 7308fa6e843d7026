"""Scenarios that a user brings: a `Scenario`, an `Effect`, or a function that gives one."""

from __future__ import annotations

import dataclasses
from typing import Any

from environments.base import Effect
from environments.errors import InputError
from environments.own import Brought
from environments.scenario import Scenario

BROUGHT: Brought[Scenario] = Brought("scenario", "ravenlab.scenarios")


def bring_scenario(text: str) -> str:
    """Load `./file.py:name`, or what an installed package offers under a name, and give the name that it goes by.

    Any other name is given back as it is.

    >>> bring_scenario("blips")
    'blips'
    """
    from environments.catalogue import scenarios

    loaded = BROUGHT.load(text, scenarios())
    if loaded is None:
        return text
    found, name = loaded
    BROUGHT.hold(name, _adapted(found, name), text)
    return name


def _adapted(found: Any, name: str) -> Scenario:
    """The scenario under its name; an effect stands on the base world."""
    if callable(found) and not isinstance(found, type):
        try:
            found = found()
        except Exception as error:
            raise InputError(f"scenario {name!r} can't be made: {type(error).__name__}: {error}") from None
    if isinstance(found, type) and issubclass(found, Effect):
        found = found()
    if isinstance(found, Effect):
        found = Scenario(name, found.meaning, (found,))
    if not isinstance(found, Scenario):
        raise InputError(f"scenario {name!r} must be a Scenario, an Effect or a function that gives one.")
    return dataclasses.replace(found, name=name)
