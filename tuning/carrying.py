"""What travels to a worker: a game as bytes, or where these are many only their hash, until the worker asks for them.

A scenario is a few hundred bytes, but a trace or a log is the user's whole file. Workers keep the last few, so it goes
over the network once a worker rather than once a task.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.identity import identity
from environments.own import is_own, travel_whole
from tuning.fanout import Game

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

    game: Game
    file: str | None
    code: bytes | None

    @staticmethod
    def of(game: Game) -> Baggage:
        """The file is read here: workers need not have it."""
        if game.source is None or not is_own(game.source):
            return Baggage(game, None, None)
        path = Path(game.source.rpartition(":")[0]).expanduser()
        return Baggage(game, path.name, path.read_bytes())


class Carrier:
    """Packs games, each once."""

    def __init__(self) -> None:
        self.packed: dict[Game, Carried] = {}

    def pack(self, call: tuple[Any, ...], whole: bool = False) -> tuple[Any, ...]:
        """A call as it travels; `whole` where a worker said that it does not have the game."""
        if not call or not isinstance(call[0], Game):
            return call
        carried = self._packed(call[0])
        if not whole and carried.payload is not None and len(carried.payload) > SMALL_BYTES:
            carried = Carried(carried.key, None)
        return (carried, *call[1:])

    def _packed(self, game: Game) -> Carried:
        if game not in self.packed:
            import cloudpickle

            travel_whole()
            payload = cloudpickle.dumps(Baggage.of(game))
            self.packed[game] = Carried(hashlib.sha256(payload).hexdigest(), payload)
        return self.packed[game]
