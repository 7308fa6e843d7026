"""Helpers for tests of online use: policies with a history, and a random test policy."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import CLOSED, WAITING, Policy, Sizes
from ravenlab.policies.engine.parameters import Param, Value

NAMES = ["raven-ucb", "ucb1"]
MEAN = 1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Return the arm with the largest random draw among those that do not wait for a reward, or −1."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and open_[k] != WAITING:
            score = rng.random()
            if score > best:
                best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Store the last reward, and its step in a ring buffer of 4."""
    arms[MEAN, k] = x
    memory[int(cells[0])] = t
    cells[0] = (cells[0] + 1.0) % 4.0


class Lottery(Policy):
    """Selects at random, keeps a ring buffer, and skips arms that wait for a reward."""

    name = "lottery"
    family = "sampling"
    random = True
    parameters = (Param("horizon", lambda s: s.number("horizon"), least=1),)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=2, cells=1, memory=4)


def make(name: str, arms: int, **params: Any) -> Policy:
    return find_policy(name)(arms, **params)


def restore_from_json(policy: Policy) -> Policy:
    return Policy.from_state(json.loads(json.dumps(policy.state(), allow_nan=False)))


def make_trained(name: str = "raven-ucb", arms: int = 4, steps: int = 30) -> Policy:
    """Create a policy and update it with some rewards."""
    policy, rng = make(name, arms), np.random.default_rng(1)
    for _ in range(steps):
        policy.update(policy.select(), rng.normal())
    return policy
