"""Compiled loops: a template with a policy's rules in it, and how it plays a block of worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from environments.compiled import specialised
from environments.streams import generator
from policies import _loop

if TYPE_CHECKING:
    from environments.any_world import AnyWorlds
    from policies.base import Policy, Value

Loop = Callable[..., None]

_KERNELS: dict[tuple[type[Policy], Loop], Loop] = {}


def kernel(policy: type[Policy], template: Loop = _loop.play) -> Loop:
    """A loop with a policy's rules in it, made when it is first needed; the general one if nothing else is said."""
    if (policy, template) not in _KERNELS:
        rules = {"start": policy.start, "select": policy.choose, "update": policy.learn, "PEEKS": policy.peeks}
        _KERNELS[policy, template] = specialised(template, policy.name.replace("-", "_"), **rules)
    return _KERNELS[policy, template]


def run_loop(
    template: Loop,
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    size: tuple[int, int],
    seeds: tuple[int, int, int],
    into: tuple[Any, ...],
    more_room: tuple[Any, ...] = (),
) -> None:
    """Play all replications of a block. `size` is (R, K), `seeds` is (seed, first replication, stream).

    A policy that draws gets a generator of its own for each replication, so that blocks may be cut anyhow.
    """
    (replications, arms), (seed, first, stream) = size, seeds
    sizes, p, loop = policy.sizes(arms, values), policy.vector(values), kernel(policy, template)
    room = (
        np.empty(arms, dtype=np.int64),
        np.empty((sizes.rows, arms)),
        np.empty(sizes.cells),
        np.empty(sizes.memory),
        *more_room,
    )
    if not policy.random:
        loop(worlds, 0, replications, p, *room, np.random.default_rng(0), *into)
        return
    for r in range(replications):
        loop(worlds, r, r + 1, p, *room, generator(seed, stream, first + r, "policy"), *into)
