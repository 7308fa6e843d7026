"""Who pulls the arms: one file a policy. The folder is the list of them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any

from environments.errors import InputError, unknown

if TYPE_CHECKING:
    from policies.base import Policy

HELPERS = {"base", "own", "playing", "replay", "simulation"}
"""Modules in this folder that hold no policy; those with a leading underscore don't either."""


@cache
def policy_names() -> tuple[str, ...]:
    """All policies by name, what was published last.

    >>> "raven-ucb" in policy_names()
    True
    """
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    names = [name.replace("_", "-") for name in modules if name not in HELPERS and not name.startswith("_")]
    return tuple(sorted(names, key=lambda name: (name.startswith("published-"), name)))


def find_policy(name: str) -> type[Policy]:
    """The class of a policy: ours, or one that was brought in this process.

    >>> find_policy("ucb1").__name__
    'UCB1'
    """
    if not isinstance(name, str):
        raise InputError(f"policy must be a name but got {name!r}.")
    if name not in policy_names():
        from policies.own import BROUGHT

        brought = BROUGHT.get(name)
        if brought is None:
            raise BROUGHT.missing(name) or unknown("policy", name, policy_names())
        return brought
    module = importlib.import_module(f"policies.{name.replace('-', '_')}")
    policy: type[Policy] = module.POLICY
    return policy


def __getattr__(attribute: str) -> Any:
    """Give `policies.RavenUCB` and its like without importing the others' files before they are asked for."""
    for name in policy_names():
        if name.replace("-", "") == attribute.lower():
            found = find_policy(name)
            if found.__name__ == attribute:
                return found
    raise AttributeError(f"module 'policies' has no attribute {attribute!r}")
