"""Payloads of tasks on a cluster: pickled problems, sent in full only when a worker lacks them.

A simulated problem has a few hundred bytes, but a trace or log contains the whole file. Workers cache the last few, so
a large problem is sent once per worker instead of once per task.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.fingerprint import identity
from ravenlab.common.paths import private_temporary_folder
from ravenlab.common.plugins import is_plugin, register_for_pickling
from ravenlab.policies.engine.plugins import POLICY_PLUGINS as POLICIES
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.tuning.workers.problem import Problem

SMALL_BYTES = 16_000  # largest payload that is sent with every task
COMPARED = ("sources", "python", "numpy", "numba", "llvmlite", "scipy", "machine")
"""The sources, and versions that may affect the last digits of results."""

CACHED_PROBLEMS = 16  # problems in the cache of a worker


@dataclass(frozen=True)
class ProblemPayload:
    """A pickled problem and its hash; `data` is None if the worker is expected to have it."""

    key: str
    data: bytes | None


def machine_identity() -> dict[str, str]:
    """Return sources and versions of this machine, to compare a worker with the driver."""
    current = identity()
    return {name: current[name] for name in COMPARED}


@dataclass(frozen=True)
class PolicyFile:
    """The source file of a policy plugin, and the name of the policy in it."""

    file: str
    code: bytes
    name: str

    @staticmethod
    def read(problem: Problem) -> PolicyFile | None:
        """Read the file if the policy is a plugin, so that workers do not need it."""
        if problem.source is None or not is_plugin(problem.source):
            return None
        file, _, name = problem.source.rpartition(":")
        path = Path(file).expanduser()
        return PolicyFile(path.name, path.read_bytes(), name)


class Packer:
    """Replaces the problem in a call by its payload; each problem is pickled once."""

    def __init__(self) -> None:
        self.payloads: dict[Problem, ProblemPayload] = {}

    def pack(self, call: tuple[Any, ...], full: bool = False) -> tuple[Any, ...]:
        """Return a call to send; `full` if the worker lacks the problem."""
        if not call or not isinstance(call[0], Problem):
            return call
        payload = self._payload(call[0])
        if not full and payload.data is not None and len(payload.data) > SMALL_BYTES:
            payload = ProblemPayload(payload.key, None)
        return (payload, *call[1:])

    def _payload(self, problem: Problem) -> ProblemPayload:
        if problem not in self.payloads:
            import cloudpickle

            register_for_pickling()
            data = cloudpickle.dumps((problem, PolicyFile.read(problem)))
            self.payloads[problem] = ProblemPayload(hashlib.sha256(data).hexdigest(), data)
        return self.payloads[problem]


def unpack(data: bytes) -> Problem:
    """Unpickle a problem and load its policy. As with any task of a cluster, the sender is trusted."""
    import cloudpickle

    problem: Problem
    plugin: PolicyFile | None
    problem, plugin = cloudpickle.loads(data)
    if plugin is not None and problem.policy not in POLICIES.names():
        with private_temporary_folder() as folder:  # the file is not read again
            file = Path(folder, plugin.file)
            file.write_bytes(plugin.code)
            load_policy_plugin(f"{file}:{plugin.name}")
    return problem


@dataclass(frozen=True)
class TaskResult:
    """A result, its duration, and the versions in which the worker differs from the driver ("" if none)."""

    value: Any
    seconds: float
    differences: str


class PayloadMissing:
    """Returned instead of a result if the worker lacks the problem."""


class _ProblemCache:
    """Least recently used cache of problems."""

    def __init__(self) -> None:
        self.problems: OrderedDict[str, Problem] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, payload: ProblemPayload) -> Problem | None:
        """Return the problem of a payload, or None if the payload has no data and the cache lacks it."""
        with self.lock:
            if payload.key in self.problems:
                self.problems.move_to_end(payload.key)
            elif payload.data is None:
                return None
            else:
                self.problems[payload.key] = unpack(payload.data)
                while len(self.problems) > CACHED_PROBLEMS:
                    self.problems.popitem(last=False)
            return self.problems[payload.key]


_PROBLEMS = _ProblemCache()


def run_task(task: Callable[..., Any], call: tuple[Any, ...], driver: Mapping[str, str]) -> TaskResult | PayloadMissing:
    """Run one task on a worker.

    Raises:
        InputError: The worker has other sources of ravenlab than the driver.
    """
    worker = machine_identity()
    if worker["sources"] != driver["sources"]:
        raise InputError(
            f"a worker of the cluster has other sources of ravenlab than this machine ({identity()['ravenlab']}, "
            f"{worker['sources']}), so results would be inconsistent; install the same version."
        )
    begin = time.perf_counter()
    if call and isinstance(call[0], ProblemPayload):
        problem = _PROBLEMS.get(call[0])
        if problem is None:
            return PayloadMissing()
        call = (problem, *call[1:])
    value = task(*call)
    return TaskResult(value, time.perf_counter() - begin, _describe_differences(worker, driver))


def _describe_differences(worker: Mapping[str, str], driver: Mapping[str, str]) -> str:
    """Describe the versions that differ.

    >>> _describe_differences({"numpy": "2.4.5"}, {"numpy": "2.4.6"})
    'numpy 2.4.5 there and 2.4.6 here'
    """
    names = [name for name in driver if worker[name] != driver[name]]
    return ", ".join(f"{name} {worker[name]} there and {driver[name]} here" for name in names)
