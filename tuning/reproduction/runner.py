"""Run the missing pieces of a reproduction, assemble its result and write it to a folder.

Each piece is stored in a JSON file in the subfolder `pieces`, so an interrupted run loses only the pieces in progress.
Pieces with another seed, precision or version of the code are run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError
from ravenlab.common.paths import hold_lock_file
from ravenlab.studies.paper.results import ReproductionResult
from ravenlab.studies.tables import to_csv
from ravenlab.tuning.files import atomic_write, check_folder, make_folder
from ravenlab.tuning.reproduction import find_experiment, select_experiments
from ravenlab.tuning.reproduction.context import STUDIES, PieceData, RunContext, RunPiece, make_context
from ravenlab.tuning.workers.local import Workers, run_concurrently

if TYPE_CHECKING:
    from ravenlab.tuning.reproduction.progress import ReproductionReporter

CSV_FOLDER = "csv"


@dataclass(frozen=True)
class ReproductionListener:
    """Callbacks for progress: at the start (all pieces, stored pieces), and before and after each piece."""

    begin: Callable[[list[RunPiece], list[RunPiece]], None] = lambda pieces, stored: None
    start_piece: Callable[[RunPiece], None] = lambda piece: None
    finish_piece: Callable[[RunPiece], None] = lambda piece: None


SILENT = ReproductionListener()


def reproduce_paper(
    names: Sequence[str],
    folder: Path,
    pool: AbstractContextManager[Workers],
    screen: AbstractContextManager[ReproductionReporter | None],
    **settings: Any,
) -> tuple[ReproductionResult, list[Path]]:
    """Run experiments and write their files: what the command and the Python function do.

    Args:
        names: Names of experiments; none selects all.
        folder: The folder, which holds completed pieces from the start.
        pool: The workers to open.
        screen: What shows the progress.
        settings: Arguments of `make_context`.

    Returns:
        The result and the paths of the files.
    """
    selected = select_experiments(names)
    context = make_context(folder, **settings)
    check_folder(folder)
    make_folder(folder)
    with pool as workers, screen as reporter:
        listener = SILENT if reporter is None else reporter.listener()
        result = reproduce(selected, replace(context, workers=workers), folder, listener)
    return result, write_reproduction(result, folder)


def reproduce(
    names: list[str], context: RunContext, folder: Path, listener: ReproductionListener = SILENT
) -> ReproductionResult:
    """Run experiments; pieces stored in the folder by an earlier run are not run again."""
    from filelock import Timeout

    (folder / STUDIES).parent.mkdir(parents=True, exist_ok=True)
    try:
        with hold_lock_file(folder / ".lock"):
            data = _run_pieces(names, context, folder / "pieces", listener)
    except Timeout:
        raise InputError(
            f"{folder} is in use by another reproduction; wait for it to finish or choose another output folder.",
            field="output",
        ) from None
    results = {name: find_experiment(name).assemble(context, data) for name in names}
    return ReproductionResult(context.seed, context.replications, context.protocols, results)


def write_reproduction(result: ReproductionResult, folder: Path) -> list[Path]:
    """Write the page, the JSON file and one CSV file per table; remove CSV files of earlier runs."""
    from ravenlab.dashboards.pages.reproduction import render_reproduction

    sections = {
        name: find_experiment(name).section(experiment, result) for name, experiment in result.experiments.items()
    }
    csv_files = {
        f"{name}-{key}.csv": to_csv(table)
        for name, experiment in result.experiments.items()
        for key, table in experiment.tables.items()
    }
    texts = {
        folder / "reproduction.json": result.as_json(),
        **{folder / CSV_FOLDER / name: text for name, text in csv_files.items()},
        folder / "reproduction.html": render_reproduction(result, sections),
    }
    (folder / CSV_FOLDER).mkdir(exist_ok=True)
    for path in (folder / CSV_FOLDER).glob("*.csv"):
        if path.name not in csv_files:
            path.unlink()
    for path, text in texts.items():
        with atomic_write(path) as file:
            file.write(text)
    return list(texts)


def _run_pieces(
    names: list[str], context: RunContext, folder: Path, listener: ReproductionListener
) -> dict[str, PieceData]:
    pieces = {piece.key: piece for name in names for piece in find_experiment(name).pieces(context)}
    stored = {key: _read_piece(_piece_file(folder, key), context) for key in pieces}
    data = {key: piece_data for key, piece_data in stored.items() if piece_data is not None}
    listener.begin(list(pieces.values()), [pieces[key] for key in data])
    missing = [piece for key, piece in pieces.items() if key not in data]
    computed = run_concurrently(
        context.workers, [partial(_run_piece, piece, context, folder, listener) for piece in missing]
    )
    data |= {piece.key: piece_data for piece, piece_data in zip(missing, computed, strict=True)}
    return {key: data[key] for key in pieces}  # in a fixed order, whichever pieces were stored before


def _run_piece(piece: RunPiece, context: RunContext, folder: Path, listener: ReproductionListener) -> PieceData:
    """Run one piece and store it."""
    listener.start_piece(piece)
    text = json.dumps({"fingerprint": context.fingerprint(), "data": piece.run(context)}, allow_nan=False)
    path = _piece_file(folder, piece.key)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text)
    listener.finish_piece(piece)
    data: PieceData = json.loads(text)["data"]  # read back, so that a resumed run uses exactly the same numbers
    return data


def _piece_file(folder: Path, key: str) -> Path:
    return folder / f"{key}.json"


def _read_piece(path: Path, context: RunContext) -> PieceData | None:
    """Read a stored piece; None if it is missing, damaged or has another fingerprint."""
    try:
        stored: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    matches = isinstance(stored, dict) and stored.get("fingerprint") == context.fingerprint()
    return stored["data"] if matches and isinstance(stored.get("data"), dict) else None
