"""Policy plugins: a class with compiled rules, or a plain class with `select` and `update`.

A plain class is created for every world with ``arms``, its parameters and, if its constructor takes them, ``seed`` and
``horizon``. Then ``select()`` returns an arm and ``update(arm, reward)`` receives its reward. If arms open and close it
also needs ``open(arm)`` and ``close(arm)``. It runs as Python code, about 100 times slower than compiled rules.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.plugins import PluginRegistry
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Param, Value

POLICY_PLUGINS: PluginRegistry[type[Policy]] = PluginRegistry("policy", "ravenlab.policies")

OPTIONAL_ARGUMENTS = ("seed", "horizon")  # constructor arguments that a plain class receives if it takes them


class PlainPolicy(Policy):
    """Adapter of a plain class for simulations."""

    plain: type[Any]
    takes: frozenset[str]
    """Those of `OPTIONAL_ARGUMENTS` that its constructor takes."""

    @classmethod
    def make(cls, arms: int, horizon: int, values: Mapping[str, Value], seed: int) -> Any:
        """Create an instance for one world."""
        optional = {"seed": seed, "horizon": horizon}
        return cls.plain(arms, **values, **{name: optional[name] for name in cls.takes})

    def __init__(self, *_: Any, **__: Any) -> None:
        raise InputError(f"{self.name} is a plain class; create it directly for online use.")


def resolve_policy(policy: str | type[Policy]) -> type[Policy]:
    """Return the class of a policy given by name or as a class."""
    return policy if isinstance(policy, type) and issubclass(policy, Policy) else find_policy(policy)


def load_policy_plugin(text: str) -> str:
    """Load `./file.py:Name` or the entry point of an installed package, and return the name of the policy.

    Other names are returned unchanged.

    >>> load_policy_plugin("ucb1")
    'ucb1'
    """
    return POLICY_PLUGINS.load(text, policy_names(), _adapt)


def _adapt(plugin: Any, name: str) -> type[Policy]:
    """Return the subclass of `Policy` that simulations run for a plugin."""
    if not isinstance(plugin, type):
        raise InputError(f"policy {name!r} must be a class but is {plugin!r}.")
    attributes: dict[str, Any] = {"name": name, "__module__": plugin.__module__, "__doc__": plugin.__doc__}
    if issubclass(plugin, Policy):
        for rule in ("choose", "learn"):
            if not hasattr(plugin, rule):
                raise InputError(f"policy {name!r} must have the compiled rules choose and learn; {rule} is missing.")
        return type(plugin.__name__, (plugin,), attributes)
    for method in ("select", "update"):
        if not callable(getattr(plugin, method, None)):
            raise InputError(f"policy {name!r} must have select() and update(arm, reward); {method} is missing.")
    attributes |= {
        "plain": plugin,
        "parameters": _check_parameters(plugin, name),
        "takes": frozenset(OPTIONAL_ARGUMENTS) & _argument_names(plugin.__init__),
        "random": True,
        "scalable": False,
    }
    return type(plugin.__name__, (PlainPolicy,), attributes)


def _check_parameters(plugin: type[Any], name: str) -> tuple[Param, ...]:
    """Return the parameters of a plain class; its constructor must take them by name."""
    parameters = tuple(getattr(plugin, "parameters", ()))
    accepted = _argument_names(plugin.__init__)
    for param in parameters:
        if not isinstance(param, Param):
            raise InputError(f"parameters of policy {name!r} must be ravenlab.Param(…) but got {param!r}.")
        if param.name not in accepted:
            raise InputError(f"policy {name!r} must take its parameter {param.name} as an argument of __init__.")
    return parameters


def _argument_names(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
