"""Who pulls the arms: one file a policy. The folder is the list of them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any

from environments.errors import InputError, unknown_name

if TYPE_CHECKING:
    from policies.engine.base import Policy


@cache
def policy_names() -> tuple[str, ...]:
    """All policies by name, what was published last.

    >>> "raven-ucb" in policy_names()
    True
    """
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    published = [module.name for module in pkgutil.iter_modules([f"{__path__[0]}/published"])]
    return tuple(name.replace("_", "-") for name in (*sorted(names), *sorted(published)))


def find_policy(name: str) -> type[Policy]:
    """The class of a policy: ours, or one that was brought in this process.

    >>> find_policy("ucb1").__name__
    'UCB1'
    """
    if not isinstance(name, str):
        raise InputError(f"policy must be a name but got {name!r}.")
    if name not in policy_names():
        from policies.engine.plugins import POLICY_PLUGINS

        brought = POLICY_PLUGINS.get(name)
        if brought is None:
            raise POLICY_PLUGINS.missing_error(name) or unknown_name("policy", name, policy_names())
        return brought
    folder = "policies.published" if name.startswith("published-") else "policies"
    module = importlib.import_module(f"{folder}.{name.replace('-', '_')}")
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
