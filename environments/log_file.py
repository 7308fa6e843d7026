"""Logs: one row an event, with the arm that was pulled, what it paid and, if known, how likely that pull was.

Read as traces are: row by row, bounded, and whatever is wrong is one line that says where.
"""

from __future__ import annotations

import csv
import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from environments.checks import LARGEST
from environments.errors import InputError
from environments.own_file import NO_ROWS, check_cells, check_growing, header_of, lines_of, reading
from environments.world import Floats

Arms = np.ndarray[Any, np.dtype[np.int32]]

MOST_EVENTS = 2_000_000
"""A longer log is refused while it is being read; replaying it hundreds of times would take days."""

MOST_ARMS = 1000

NEEDED = ("step", "arm", "reward")
COLUMNS = (*NEEDED, "propensity")


@dataclass(frozen=True)
class Log:
    """What a file holds. Two logs are the same when their events are, wherever they came from.

    >>> log = Log.of(["b", "a", "b"], [1.0, 0.0, 0.5])
    >>> log.names, log.arm.tolist(), log.events
    (('a', 'b'), [1, 0, 1], 3)
    """

    names: tuple[str, ...]
    """Of all arms that occur: numbers in their order, text in that of the alphabet."""
    arm: Arms = field(compare=False, repr=False)
    """[N] which of the names was pulled."""
    reward: Floats = field(compare=False, repr=False)
    """[N]."""
    propensity: Floats | None = field(compare=False, repr=False)
    """[N] how likely the pull was, where the file says so."""
    step: Floats = field(compare=False, repr=False)
    """[N], growing."""
    digest: str
    """SHA-256 of all that."""

    @staticmethod
    def of(
        arm: Sequence[str] | Arms,
        reward: Sequence[float] | Floats,
        propensity: Sequence[float] | Floats | None = None,
        step: Sequence[float] | Floats | None = None,
    ) -> Log:
        """A log of columns, checked."""
        written = [str(name) for name in arm]
        known = {name: place for place, name in enumerate(dict.fromkeys(written))}
        codes = np.array([known[name] for name in written], dtype=np.int32)
        return log_of_codes(list(known), codes, reward, propensity, step)

    @property
    def events(self) -> int:
        """How many events N."""
        return int(self.reward.size)

    @property
    def arms(self) -> int:
        """Arms K."""
        return len(self.names)

    @property
    def counts(self) -> tuple[int, ...]:
        """Events of each arm."""
        return tuple(int(count) for count in np.bincount(self.arm, minlength=self.arms))


def read_log(path: str | Path) -> Log:
    """Read a .csv or .parquet file; anything wrong is one line that begins with the file's name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ads.csv").write_text("step,arm,reward\\n1,red,0\\n2,blue,1\\n3,red,1\\n")
    ...     read_log(Path(folder, "ads.csv")).names
    ('blue', 'red')
    """
    path = Path(path)
    with reading(path, "log") as kind:
        if kind == ".parquet":
            from environments.log_parquet import read_parquet

            return read_parquet(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read_csv(file)


def log_of_codes(names: list[str], codes: Arms, reward: Any, propensity: Any, step: Any, rows: str = "event") -> Log:
    """A log of columns, checked and copied, whose arms are numbers of names in the order in which they were met.

    `rows` is what a row is called where one is wrong.
    """
    reward = np.array(reward, dtype=np.float64)
    step = np.arange(1.0, reward.size + 1.0) if step is None else np.array(step, dtype=np.float64)
    if propensity is not None:
        propensity = np.array(propensity, dtype=np.float64)
    if not reward.size:
        raise InputError(NO_ROWS)
    for column in (codes, step, *([] if propensity is None else [propensity])):
        if column.shape != reward.shape or reward.ndim != 1:
            raise InputError(f"all columns of a log must be of one length but got {reward.shape} and {column.shape}.")
    _refuse(rows, "reward must be a finite number", reward, ~(np.abs(reward) <= LARGEST))
    _refuse(rows, "step must be a finite number", step, ~(np.abs(step) <= LARGEST))
    if propensity is not None:
        _refuse(rows, "propensity must be above 0 and at most 1", propensity, ~((propensity > 0) & (propensity <= 1)))
    for place in np.flatnonzero(np.diff(step) <= 0.0)[:1]:
        check_growing("step", float(step[place]), float(step[place + 1]), f"{rows} {place + 2}")
    if len(names) < 2:
        raise InputError(f"it must have at least 2 arms but all its events are of {names[0][:60]!r}.")
    numbers = all(name.isdecimal() and len(name) < 19 for name in names)
    order = sorted(range(len(names)), key=lambda k: (int(names[k]), names[k]) if numbers else (0, names[k]))
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    arm = rank[codes]
    digest = hashlib.sha256("\x1f".join(names[k] for k in order).encode("utf-8", "surrogatepass"))
    for column in (arm, reward, step, *([] if propensity is None else [propensity])):
        digest.update((column + column.dtype.type(0)).tobytes())  # one zero is as good as another
        column.flags.writeable = False
    return Log(tuple(names[k] for k in order), arm, reward, propensity, step, digest.hexdigest())


def _refuse(rows: str, must: str, values: Floats, wrong: Any) -> None:
    for place in np.flatnonzero(wrong)[:1]:
        raise InputError(f"{rows} {place + 1}: {must} but got {values[place]:g}.")


def places_of(header: Sequence[str]) -> dict[str, int]:
    """Where each column that counts is; others are left alone."""
    lowered = [name.strip().lower() for name in header]
    lacking = [name for name in NEEDED if name not in lowered]
    if lacking:
        found = ", ".join(name[:30] for name in header[:8]) + (", …" if len(header) > 8 else "")
        columns = "columns" if len(lacking) > 1 else "column"
        raise InputError(f"it has no {columns} {' and '.join(lacking)}; a log has {', '.join(COLUMNS)}; got {found}.")
    for name in COLUMNS:
        if lowered.count(name) > 1:
            raise InputError(f"column {name} is there twice.")
    return {name: lowered.index(name) for name in COLUMNS if name in lowered}


def check_size(events: int) -> None:
    """Raise InputError for more events than are read."""
    if events > MOST_EVENTS:
        raise InputError(f"it has more than {MOST_EVENTS:,} events, the most that are read; cut it.")


def code_of(codes: dict[str, int], name: str, where: str) -> int:
    """The number of an arm, a new one if it was not met before."""
    if name not in codes:
        if not name:
            raise InputError(f"{where}: arm must not be empty.")
        if len(codes) == MOST_ARMS:
            raise InputError(f"{where}: it has more than {MOST_ARMS:,} arms, the most that are read.")
        codes[name] = len(codes)
    return codes[name]


def _read_csv(file: TextIO) -> Log:
    reader = csv.reader(lines_of(file), strict=True)
    header = header_of(reader, f"name the columns {', '.join(NEEDED)}")
    places = places_of(header)
    columns = {name: array("d") for name in places if name != "arm"}
    codes: dict[str, int] = {}
    arms, before = array("i"), -math.inf
    for row in reader:
        if not row:
            continue
        where = f"line {reader.line_num}"
        check_cells(row, header, where)
        arms.append(code_of(codes, row[places["arm"]].strip(), where))
        for name, column in columns.items():
            column.append(_number(row[places[name]], name, where))
        now = columns["step"][-1]
        check_growing("step", before, now, where)
        before = now
        check_size(len(arms))
    arrays = {name: np.frombuffer(column, dtype=np.float64) for name, column in columns.items()}
    arm = np.array(arms, dtype=np.int32)
    return log_of_codes(list(codes), arm, arrays["reward"], arrays.get("propensity"), arrays["step"])


def _number(cell: str, name: str, where: str) -> float:
    """A cell of a column that counts: none may be missing."""
    try:
        found = float(cell)
    except ValueError:
        raise InputError(f"{where}: {name} must be a number but got {cell[:60]!r}.") from None
    if not abs(found) <= LARGEST:
        raise InputError(f"{where}: {name} must be a finite number but got {cell[:60]!r}.")
    if name == "propensity" and not 0.0 < found <= 1.0:
        raise InputError(f"{where}: propensity must be above 0 and at most 1 but got {cell[:60]!r}.")
    return found
