"""What a worker of a cluster does with a task that came to it."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.errors import InputError
from environments.identity import identity
from policies.own import BROUGHT as POLICIES
from policies.own import bring_policy
from tuning.carrying import Baggage, Carried, Home
from tuning.fanout import Game

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
        self.held: OrderedDict[str, Game] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, carried: Carried) -> Game | None:
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


def _unpacked(payload: bytes) -> Game:
    """Unpickled as all that comes over a cluster is: whoever may send tasks may run anything there."""
    import cloudpickle

    baggage: Baggage = cloudpickle.loads(payload)
    game = baggage.game
    if baggage.file is not None and baggage.code is not None and game.policy not in POLICIES.names():
        assert game.source is not None
        with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder:  # once it has run, nobody reads the file again
            file = Path(folder, baggage.file)
            file.write_bytes(baggage.code)
            bring_policy(f"{file}:{game.source.rpartition(':')[2]}")
    return game
