"""Logs: one row per event, with the arm that was pulled, its reward and, if known, the propensity of that pull.

They are read as traces are: in bounded memory, and every mistake is reported in one line that says where it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from environments.checks import LARGEST_NUMBER
from environments.errors import InputError
from environments.recorded.table_file import NO_ROWS, Chunk, ParquetTable, Table, check_growing, open_table
from environments.world import Floats

Arms = np.ndarray[Any, np.dtype[np.int32]]

MAX_EVENTS = 2_000_000
"""A longer log is refused while it is being read; replaying it hundreds of times would take days."""

MAX_ARMS = 1000

REQUIRED_COLUMNS = ("step", "arm", "reward")
COLUMNS = (*REQUIRED_COLUMNS, "propensity")

ARROW_FLOATS = ("double", "float", "halffloat")
"""Arrow's names of types that cannot name arms."""


@dataclass(frozen=True)
class Log:
    """The contents of a log file. Two logs are equal if their events are, whatever the files.

    >>> log = Log.from_columns(["b", "a", "b"], [1.0, 0.0, 0.5])
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
    def from_columns(
        arm: Sequence[str] | Arms,
        reward: Sequence[float] | Floats,
        propensity: Sequence[float] | Floats | None = None,
        step: Sequence[float] | Floats | None = None,
    ) -> Log:
        """A log of columns, checked."""
        written = [str(name) for name in arm]
        known = {name: place for place, name in enumerate(dict.fromkeys(written))}
        codes = np.array([known[name] for name in written], dtype=np.int32)
        return build_log(list(known), codes, reward, propensity, step)

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
    """Read a .csv or .parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ads.csv").write_text("step,arm,reward\\n1,red,0\\n2,blue,1\\n3,red,1\\n")
    ...     read_log(Path(folder, "ads.csv")).names
    ('blue', 'red')

    Raises:
        InputError: The file cannot be read or is no log; the message begins with its name.
    """
    with open_table(Path(path), "log", must=f"name the columns {', '.join(REQUIRED_COLUMNS)}") as table:
        return _log_of(table)


def _log_of(table: Table) -> Log:
    places = _places_of(table.names)
    numeric = {name: place for name, place in places.items() if name != "arm"}
    for name, place in numeric.items():
        if kind := table.wrong_kind(place):
            raise InputError(f"{name} must hold numbers but holds {kind}.")
    if isinstance(table, ParquetTable):
        kind = str(table.file.schema_arrow.field(table.names[places["arm"]]).type)
        if kind in ARROW_FLOATS:
            raise InputError(f"arm must hold text or whole numbers but holds {kind}.")
    parts: dict[str, list[Any]] = {name: [] for name in (*numeric, "arm", "number")}
    codes: dict[str, int] = {}
    word = ""
    for chunk in table.chunks(list(places.values()), check_size, MAX_EVENTS):
        word = chunk.word
        columns = {name: chunk.floats(place, name) for name, place in numeric.items()}
        _check_values(columns, chunk.where, partial(_written, chunk, places))
        for name, column in columns.items():
            parts[name].append(column)
        arms = [_code_of(codes, name, row, chunk.where) for row, name in enumerate(chunk.texts(places["arm"]))]
        parts["arm"].append(np.array(arms, dtype=np.int32))
        parts["number"].append(chunk.numbers)
    if not parts["arm"]:
        raise InputError(NO_ROWS)
    whole = {name: np.concatenate(columns) for name, columns in parts.items()}
    propensity, numbers = whole.get("propensity"), whole["number"]
    return build_log(
        list(codes), whole["arm"], whole["reward"], propensity, whole["step"], lambda row: f"{word} {numbers[row]}"
    )


def build_log(
    names: list[str],
    codes: Arms,
    reward: Any,
    propensity: Any,
    step: Any,
    where: Callable[[int], str] = lambda row: f"event {row + 1}",
) -> Log:
    """A log of columns, checked and copied, whose arms are indices into `names`, in the order of their occurrence.

    `where` names a row in messages.
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
    columns = {"reward": reward, "step": step} | ({} if propensity is None else {"propensity": propensity})
    _check_values(columns, where, lambda name, row, value: f"{value:g}")
    check_growing("step", step, where)
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


def _written(chunk: Chunk, places: Mapping[str, int], name: str, row: int, value: float) -> str:
    return chunk.shown(places[name], row, value)


def _check_values(
    columns: Mapping[str, Floats], where: Callable[[int], str], shown: Callable[[str, int, float], str]
) -> None:
    """Raise InputError for a value that is not allowed; `where` and `shown` write its row and the value."""
    for name, values in columns.items():
        must, right = "be a finite number", np.abs(values) <= LARGEST_NUMBER
        if name == "propensity" and right.all():
            must, right = "be above 0 and at most 1", (values > 0.0) & (values <= 1.0)
        for row in np.flatnonzero(~right)[:1]:
            raise InputError(f"{where(row)}: {name} must {must} but got {shown(name, int(row), values[row])}.")


def _places_of(header: Sequence[str]) -> dict[str, int]:
    """The places of the columns of a log among all columns; others are ignored."""
    lowered = [name.strip().lower() for name in header]
    lacking = [name for name in REQUIRED_COLUMNS if name not in lowered]
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
    if events > MAX_EVENTS:
        raise InputError(f"it has more than {MAX_EVENTS:,} events, the most that are read; cut it.")


def _code_of(codes: dict[str, int], name: str, row: int, where: Callable[[int], str]) -> int:
    """The index of an arm, a new one at its first occurrence."""
    if name not in codes:
        if not name:
            raise InputError(f"{where(row)}: arm must not be empty.")
        if len(codes) == MAX_ARMS:
            raise InputError(f"{where(row)}: it has more than {MAX_ARMS:,} arms, the most that are read.")
        codes[name] = len(codes)
    return codes[name]
