"""Policies in forked processes.

A forked process has one thread only: a lock that another thread held would never be released. All policies are
therefore locked while the process is forked, which also keeps their arrays consistent. In the child, random policies
continue with a generator seeded from their own and the number of forks so far, so that processes draw different numbers
and a seed still determines all of them.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ravenlab.policies.engine.base import Policy


LOCK_SECONDS = 0.1  # to wait for one policy, which a call keeps for microseconds


class _Instances:
    """All policies of this process, and those that are locked during a fork."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal handler may fork while this thread holds it
        self.policies: weakref.WeakSet[Policy] = weakref.WeakSet()
        self.locked: list[Policy] = []
        self.forks = 0

    def add(self, policy: Policy) -> None:
        with self.lock:
            self.policies.add(policy)

    def before_fork(self) -> None:
        while not self._lock_all():
            pass
        self.forks += 1

    def _lock_all(self) -> bool:
        """Lock all policies, or none if another thread keeps one: it may be waiting for one that is locked here."""
        self.lock.acquire()
        for policy in list(self.policies):
            if not policy._lock.acquire(timeout=LOCK_SECONDS):
                self.after_fork()
                return False
            self.locked.append(policy)
        return True

    def after_fork(self) -> None:
        for policy in self.locked:
            policy._lock.release()
        self.locked = []
        self.lock.release()

    def after_fork_in_child(self) -> None:
        for policy in self.locked:
            policy._lock = threading.RLock()
            if policy.random:
                state = policy._rng.bit_generator.state["state"]
                policy._rng = np.random.Generator(np.random.PCG64([state["state"], state["inc"], self.forks]))
        self.locked = []
        self.lock = threading.RLock()


_INSTANCES = _Instances()


register_policy = _INSTANCES.add
"""Prepare a new policy for forks of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_INSTANCES.before_fork,
        after_in_parent=_INSTANCES.after_fork,
        after_in_child=_INSTANCES.after_fork_in_child,
    )
