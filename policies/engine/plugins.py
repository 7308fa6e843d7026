"""Policies that a user brings: a class with compiled rules like ours, or a plain one with `select` and `update`.

A plain class is made anew for every world with ``arms``, its parameters and, where it asks for them, ``seed`` and
``horizon``; then ``select()`` is asked for an arm and ``update(arm, reward)`` told what it paid. Where arms come and go
it needs ``open(arm)`` and ``close(arm)`` too. It runs as it is, in Python, so it is a hundred times slower.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from environments.errors import InputError
from environments.plugins import PluginRegistry
from policies.engine.base import Param, Policy, Sizes, Value

POLICY_PLUGINS: PluginRegistry[type[Policy]] = PluginRegistry("policy", "ravenlab.policies")

GIVEN = ("seed", "horizon")
"""What a plain class may ask for beside its parameters."""


class PlainPolicy(Policy):
    """What the simulation sees of a plain class."""

    plain: type[Any]
    asks: frozenset[str]
    """Which of `GIVEN` its constructor takes."""

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes()

    @classmethod
    def make(cls, arms: int, horizon: int, values: Mapping[str, Value], seed: int) -> Any:
        """A fresh one for one world."""
        given = {"seed": seed, "horizon": horizon}
        return cls.plain(arms, **values, **{name: given[name] for name in cls.asks})

    def __init__(self, *_: Any, **__: Any) -> None:
        raise InputError(f"{self.name} is a plain class: use it itself, online.")


def load_policy_plugin(text: str) -> str:
    """Load `./file.py:Name`, or what an installed package offers under a name, and give the name that it goes by.

    Any other name is given back as it is.

    >>> bring_policy("ucb1")
    'ucb1'
    """
    from policies import policy_names

    return POLICY_PLUGINS.load(text, policy_names(), _adapted)


def _adapted(found: Any, name: str) -> type[Policy]:
    """The class as the simulation runs it, under its name."""
    if not isinstance(found, type):
        raise InputError(f"policy {name!r} must be a class but is {found!r}.")
    own: dict[str, Any] = {"name": name, "__module__": found.__module__, "__doc__": found.__doc__}
    if issubclass(found, Policy):
        for rule in ("choose", "learn"):
            if not hasattr(found, rule):
                raise InputError(f"policy {name!r} must have the compiled rules choose and learn; {rule} is missing.")
        return type(found.__name__, (found,), own)
    for method in ("select", "update"):
        if not callable(getattr(found, method, None)):
            raise InputError(f"policy {name!r} must have select() and update(arm, reward); {method} is missing.")
    parameters = _parameters(found, name)
    asks = frozenset(GIVEN) & _accepted(found.__init__)
    own |= {"plain": found, "parameters": parameters, "random": True, "asks": asks, "scalable": False}
    return type(found.__name__, (PlainPolicy,), own)


def _parameters(found: type[Any], name: str) -> tuple[Param, ...]:
    """Its parameters, which its constructor must take by name."""
    parameters = tuple(getattr(found, "parameters", ()))
    accepted = _accepted(found.__init__)
    for param in parameters:
        if not isinstance(param, Param):
            raise InputError(f"parameters of policy {name!r} must be ravenlab.Param(…) but got {param!r}.")
        if param.name not in accepted:
            raise InputError(f"policy {name!r} must take its parameter {param.name} in __init__ by name.")
    return parameters


def _accepted(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
