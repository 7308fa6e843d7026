"""What travels to a worker: a game as bytes, or where these are many only their hash, until the worker asks for them.

A scenario is a few hundred bytes, but a trace or a log is the user's whole file. Workers keep the last few, so it goes
over the network once a worker rather than once a task.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.errors import InputError
from environments.fingerprint import identity
from environments.plugins import is_plugin, register_for_pickling
from policies.engine.plugins import POLICY_PLUGINS as POLICIES
from policies.engine.plugins import load_policy_plugin
from tuning.workers.problem import Problem

SMALL_BYTES = 16_000
"""What is sent with every task."""

COMPARED = ("python", "numpy", "numba", "llvmlite", "scipy", "machine")
"""What the last digits of a result may hang on."""


@dataclass(frozen=True)
class Carried:
    """A game on its way; `payload` is None where the worker is thought to have it."""

    key: str
    payload: bytes | None


@dataclass(frozen=True)
class Home:
    """The machine that asks, for a worker to compare itself with."""

    sources: str
    versions: tuple[tuple[str, str], ...]

    @staticmethod
    def here() -> Home:
        """This one."""
        found = identity()
        return Home(found["sources"], tuple((name, found[name]) for name in COMPARED))


@dataclass(frozen=True)
class Baggage:
    """A game with the file that its policy comes from, where that is the user's own."""

    problem: Problem
    file: str | None
    code: bytes | None

    @staticmethod
    def of(problem: Problem) -> Baggage:
        """The file is read here: workers need not have it."""
        if problem.source is None or not is_plugin(problem.source):
            return Baggage(problem, None, None)
        path = Path(problem.source.rpartition(":")[0]).expanduser()
        return Baggage(problem, path.name, path.read_bytes())


class Packer:
    """Packs games, each once."""

    def __init__(self) -> None:
        self.packed: dict[Problem, Carried] = {}

    def pack(self, call: tuple[Any, ...], whole: bool = False) -> tuple[Any, ...]:
        """A call as it travels; `whole` where a worker said that it does not have the game."""
        if not call or not isinstance(call[0], Problem):
            return call
        carried = self._packed(call[0])
        if not whole and carried.payload is not None and len(carried.payload) > SMALL_BYTES:
            carried = Carried(carried.key, None)
        return (carried, *call[1:])

    def _packed(self, problem: Problem) -> Carried:
        if problem not in self.packed:
            import cloudpickle

            register_for_pickling()
            payload = cloudpickle.dumps(Baggage.of(problem))
            self.packed[problem] = Carried(hashlib.sha256(payload).hexdigest(), payload)
        return self.packed[problem]


KEPT_GAMES = 16
"""Games that a worker holds, the least recently used going first."""


@dataclass(frozen=True)
class Done:
    """An answer, how long it took, and in which versions this worker differs from the one who asked ("" for none)."""

    value: Any
    seconds: float
    differs: str


class NotHere:
    """In the place of an answer: the worker does not have the game, send it along."""


class _Games:
    def __init__(self) -> None:
        self.held: OrderedDict[str, Problem] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, carried: Carried) -> Problem | None:
        """The game that a task is about, unpacked once."""
        with self.lock:
            if carried.key in self.held:
                self.held.move_to_end(carried.key)
            elif carried.payload is None:
                return None
            else:
                self.held[carried.key] = _unpacked(carried.payload)
                while len(self.held) > KEPT_GAMES:
                    self.held.popitem(last=False)
            return self.held[carried.key]


_GAMES = _Games()


def do_task(task: Callable[..., Any], call: tuple[Any, ...], home: Home) -> Done | NotHere:
    """Do one task, and say how long it took."""
    here = Home.here()
    if here.sources != home.sources:
        raise InputError(
            "a worker of the cluster runs other sources of ravenlab than this machine "
            f"({identity()['ravenlab']}, {here.sources}), so results would not fit together; install the same."
        )
    begin = time.perf_counter()
    if call and isinstance(call[0], Carried):
        game = _GAMES.get(call[0])
        if game is None:
            return NotHere()
        call = (game, *call[1:])
    value = task(*call)
    return Done(value, time.perf_counter() - begin, _difference(dict(here.versions), dict(home.versions)))


def _difference(there: dict[str, str], here: dict[str, str]) -> str:
    """In the words of the one who asked.

    >>> _difference({"numpy": "2.4.5"}, {"numpy": "2.4.6"})
    'numpy 2.4.5 there and 2.4.6 here'
    """
    return ", ".join(f"{name} {there[name]} there and {here[name]} here" for name in here if there[name] != here[name])


def _unpacked(payload: bytes) -> Problem:
    """Unpickled as all that comes over a cluster is: whoever may send tasks may run anything there."""
    import cloudpickle

    baggage: Baggage = cloudpickle.loads(payload)
    game = baggage.problem
    if baggage.file is not None and baggage.code is not None and game.policy not in POLICIES.names():
        assert game.source is not None
        with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder:  # once it has run, nobody reads the file again
            file = Path(folder, baggage.file)
            file.write_bytes(baggage.code)
            load_policy_plugin(f"{file}:{game.source.rpartition(':')[2]}")
    return game
