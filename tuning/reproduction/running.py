"""Run the pieces that are missing, keep each when it is done, and put them together.

A piece is a JSON file of its own in the folder's `pieces`, so that a kill costs one of them at most. Those of another
seed, precision or version are done anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from environments.errors import InputError
from studies.reproduction.document import Document
from tuning.files import replacing
from tuning.reproduction.asking import STUDIES
from tuning.reproduction.context import Context, Found, Piece
from tuning.reproduction.experiments import experiment
from tuning.side_by_side import side_by_side


@dataclass(frozen=True)
class ReproductionListener:
    """Who wants to know: the start (with all pieces, and those found done), and each piece before and after."""

    begin: Callable[[list[Piece], list[Piece]], None]
    piece: Callable[[Piece], None]
    done: Callable[[Piece], None]


def reproduce(
    names: list[str], context: Context, folder: Path, listener: ReproductionListener | None = None
) -> Document:
    """Everything that the experiments found; what an earlier run in the same folder did is not done again."""
    from filelock import FileLock, Timeout

    (folder / STUDIES).parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            found = _run(names, context, folder / "pieces", listener)
    except Timeout:
        raise InputError(
            f"{folder} is being written by another reproduction; wait, or choose another output folder.", field="output"
        ) from None
    outcomes = {name: experiment(name).assemble(context, found) for name in names}
    return Document(context.seed, context.replications, context.protocols, outcomes)


def _run(names: list[str], context: Context, folder: Path, listener: ReproductionListener | None) -> dict[str, Found]:
    wanted = {piece.key: piece for name in names for piece in experiment(name).pieces(context)}
    kept = {key: _read(_file(folder, key), context) for key in wanted}
    found = {key: each for key, each in kept.items() if each is not None}
    if listener is not None:
        listener.begin(list(wanted.values()), [wanted[key] for key in found])
    missing = [piece for key, piece in wanted.items() if key not in found]
    fresh = side_by_side(context.crew, [partial(_run_one, piece, context, folder, listener) for piece in missing])
    found |= {piece.key: each for piece, each in zip(missing, fresh, strict=True)}
    return {key: found[key] for key in wanted}  # in one order, whichever were done before


def _run_one(piece: Piece, context: Context, folder: Path, listener: ReproductionListener | None) -> Found:
    """Do one piece and keep it."""
    if listener is not None:
        listener.piece(piece)
    text = json.dumps({"made": context.fingerprint(), "found": piece.run(context)}, allow_nan=False)
    path = _file(folder, piece.key)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text)
    if listener is not None:
        listener.done(piece)
    read: Found = json.loads(text)["found"]  # read back, so that a rerun works on the very same numbers
    return read


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.json"


def _read(path: Path, context: Context) -> Found | None:
    """What was kept of a piece; None where there is none, or one that does not fit."""
    try:
        kept: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = isinstance(kept, dict) and kept.get("made") == context.fingerprint()
    return kept["found"] if fits and isinstance(kept.get("found"), dict) else None
