"""Bandit policies, one module per policy; `engine` is shared by all, `published` holds the paper's implementations."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError, unknown_name

if TYPE_CHECKING:
    from ravenlab.policies.engine.base import Policy


@cache
def policy_names() -> tuple[str, ...]:
    """Return the names of all policies, published ones last.

    >>> "raven-ucb" in policy_names()
    True
    """
    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    published = [module.name for module in pkgutil.iter_modules([f"{__path__[0]}/published"])]
    return tuple(module.replace("_", "-") for module in (*sorted(modules), *sorted(published)))


def find_policy(name: str) -> type[Policy]:
    """Return the class of a built-in policy, or of a plugin that has been loaded.

    >>> find_policy("ucb1").__name__
    'UCB1'
    """
    if not isinstance(name, str):
        raise InputError(f"policy must be a name but got {name!r}.")
    if name not in policy_names():
        from ravenlab.policies.engine.plugins import POLICY_PLUGINS

        plugin = POLICY_PLUGINS.get(name)
        if plugin is None:
            raise POLICY_PLUGINS.missing_error(name) or unknown_name("policy", name, policy_names())
        return plugin
    package = "ravenlab.policies.published" if name.startswith("published-") else "ravenlab.policies"
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    policy: type[Policy] = next(item for item in vars(module).values() if getattr(item, "name", None) == name)
    return policy


def __getattr__(attribute: str) -> Any:
    """Import a policy class such as `policies.RavenUCB` on first use."""
    for name in policy_names():
        if name.replace("-", "") == attribute.lower():
            policy = find_policy(name)
            if policy.__name__ == attribute:
                return policy
    raise AttributeError(f"module 'ravenlab.policies' has no attribute {attribute!r}")
