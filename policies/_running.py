"""Run a compiled loop over a block: the room that a policy's rules need, and the random numbers that they draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from environments.streams import generator

if TYPE_CHECKING:
    from environments.any_world import AnyWorlds
    from policies.base import Policy, Value


def run_loop(
    loop: Callable[..., None],
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    size: tuple[int, int],
    seeds: tuple[int, int, int],
    into: tuple[Any, ...],
    more_room: tuple[Any, ...] = (),
) -> None:
    """Play all replications of a block. `size` is (R, K), `seeds` (seed, first replication, stream).

    A policy that draws gets a generator of its own for each replication, so that blocks may be cut anyhow.
    """
    (replications, arms), (seed, first, stream) = size, seeds
    sizes, p = policy.sizes(arms, values), policy.vector(values)
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
