"""Logs: one row per event, with the arm that was pulled, its reward and, if known, the propensity of that pull."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.checks import LARGEST_NUMBER, number_rule
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.table_file import (
    NO_ROWS,
    Converter,
    ParquetTable,
    RowName,
    Table,
    check_increasing,
    open_table,
    to_floats,
    to_texts,
)
from ravenlab.environments.world import Floats

Arms = np.ndarray[Any, np.dtype[np.int32]]

MAX_EVENTS = 2_000_000  # replaying a longer log hundreds of times would take days
MAX_ARMS = 1000

REQUIRED_COLUMNS = ("step", "arm", "reward")
COLUMNS = (*REQUIRED_COLUMNS, "propensity")


@dataclass(frozen=True)
class Log:
    """The contents of a log file. Two logs are equal if their events are.

    >>> log = Log.from_columns(["b", "a", "b"], [1.0, 0.0, 0.5])
    >>> log.names, log.arm.tolist(), log.events
    (('a', 'b'), [1, 0, 1], 3)
    """

    names: tuple[str, ...]
    """Arms that occur, in numerical order if all are numbers, else in alphabetical order."""
    arm: Arms = field(compare=False, repr=False)
    """[N] index of the pulled arm."""
    reward: Floats = field(compare=False, repr=False)
    """[N]."""
    propensity: Floats | None = field(compare=False, repr=False)
    """[N] probability of the pull, if the file has this column."""
    step: Floats = field(compare=False, repr=False)
    """[N], increasing."""
    digest: str
    """SHA-256 of all columns."""

    @staticmethod
    def from_columns(
        arm: Sequence[str] | Arms,
        reward: Sequence[float] | Floats,
        propensity: Sequence[float] | Floats | None = None,
        step: Sequence[float] | Floats | None = None,
    ) -> Log:
        """Check and copy columns; without steps, events are numbered from 1."""
        texts = [str(name) for name in arm]
        codes = {name: code for code, name in enumerate(dict.fromkeys(texts))}
        return build_log(list(codes), np.array([codes[name] for name in texts], np.int32), reward, propensity, step)

    @property
    def events(self) -> int:
        """Number of events N."""
        return int(self.reward.size)

    @property
    def arms(self) -> int:
        """Number of arms K."""
        return len(self.names)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of events of each arm."""
        return tuple(int(count) for count in np.bincount(self.arm, minlength=self.arms))


def read_log(path: str | Path) -> Log:
    """Read a .csv or .parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ads.csv").write_text("step,arm,reward\\n1,red,0\\n2,blue,1\\n3,red,1\\n")
    ...     read_log(Path(folder, "ads.csv")).names
    ('blue', 'red')

    Raises:
        InputError: The file cannot be read or is not a log; the message begins with its name.
    """
    with open_table(Path(path), "log", must=f"name the columns {', '.join(REQUIRED_COLUMNS)}") as table:
        return _read_table(table)


def _read_table(table: Table) -> Log:
    positions = _find_columns(table.names)
    arm = positions["arm"]
    numeric = {position: name for name, position in positions.items() if name != "arm"}
    for position, name in numeric.items():
        if kind := table.non_numeric_type(position):
            raise InputError(f"{name} must contain numbers but contains {kind}.")
    if isinstance(table, ParquetTable) and (kind := table.column_type(arm)) and not _can_name_arms(kind):
        raise InputError(f"arm must contain text or whole numbers but contains {kind}.")
    codes: dict[str, int] = {}
    converters: dict[int, Converter] = {arm: partial(_encode_arms, codes)}
    converters.update({position: partial(to_floats, label=name) for position, name in numeric.items()})
    too_long = f"it has more than {MAX_EVENTS:,} events, the maximum; shorten it."
    columns, row_name = table.read(converters, MAX_EVENTS, too_long, texts=(arm,))
    reward, propensity, step = (columns.get(positions.get(name, -1)) for name in ("reward", "propensity", "step"))
    return build_log(list(codes), columns[arm], reward, propensity, step, row_name)


def _can_name_arms(kind: Any) -> bool:
    """Return whether a column of this Arrow type can contain arms."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return not any(test(kind) for test in (types.is_floating, types.is_nested, types.is_temporal))


def build_log(
    names: list[str],
    codes: Arms,
    reward: Any,
    propensity: Any,
    step: Any,
    row_name: RowName = lambda row: f"event {row + 1}",
) -> Log:
    """Check and copy columns whose arms are indices into `names`, in the order of their first occurrence."""
    reward = np.array(reward, dtype=np.float64)
    step = np.arange(1.0, reward.size + 1.0) if step is None else np.array(step, dtype=np.float64)
    columns = {"reward": reward, "step": step}
    if propensity is not None:
        columns["propensity"] = propensity = np.array(propensity, dtype=np.float64)
    if not reward.size:
        raise InputError(NO_ROWS)
    for column in (codes, *columns.values()):
        if column.shape != reward.shape or reward.ndim != 1:
            raise InputError(
                f"all columns of a log must have the same length but got {reward.shape} and {column.shape}."
            )
    _check_values(columns, row_name)
    check_increasing("step", step, row_name)
    if len(names) < 2:
        raise InputError(f"it must have at least 2 arms but all events are of arm {names[0][:60]!r}.")
    numbers = all(name.isdecimal() and len(name) < 19 for name in names)
    order = sorted(range(len(names)), key=lambda k: (int(names[k]), names[k]) if numbers else (0, names[k]))
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    arm = rank[codes]
    digest = hashlib.sha256("\x1f".join(names[k] for k in order).encode("utf-8", "surrogatepass"))
    for column in (arm, *columns.values()):
        digest.update((column + column.dtype.type(0)).tobytes())  # −0 counts as 0
        column.flags.writeable = False
    return Log(tuple(names[k] for k in order), arm, reward, propensity, step, digest.hexdigest())


def _check_values(columns: Mapping[str, Floats], row_name: RowName) -> None:
    """Raise InputError for a value that is not allowed."""
    for name, values in columns.items():
        rule = None
        valid = np.abs(values) <= LARGEST_NUMBER
        if name == "propensity" and valid.all():
            rule = "be above 0 and at most 1"
            valid = (values > 0.0) & (values <= 1.0)
        for row in np.flatnonzero(~valid)[:1]:
            rule = rule or number_rule(float(values[row]))
            raise InputError(f"{row_name(row)}: {name} must {rule} but got {values[row]:g}.")


def _find_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the positions of the columns of a log; other columns are ignored."""
    lowered = [name.strip().lower() for name in header]
    lacking = [name for name in REQUIRED_COLUMNS if name not in lowered]
    if lacking:
        found = ", ".join(name[:30] for name in header[:8]) + (", …" if len(header) > 8 else "")
        columns = "columns" if len(lacking) > 1 else "column"
        raise InputError(f"it has no {columns} {' and '.join(lacking)}; a log has {', '.join(COLUMNS)}; got {found}.")
    for name in COLUMNS:
        if lowered.count(name) > 1:
            raise InputError(f"column {name} occurs twice.")
    return {name: lowered.index(name) for name in COLUMNS if name in lowered}


def _encode_arms(codes: dict[str, int], column: Any, row_name: RowName) -> Arms:
    """Convert names of arms to indices, new ones at their first occurrence."""
    names = to_texts(column)
    for row, name in enumerate(names):
        if name not in codes:
            if not name:
                raise InputError(f"{row_name(row)}: arm must not be empty.")
            if len(codes) == MAX_ARMS:
                raise InputError(f"{row_name(row)}: it has more than {MAX_ARMS:,} arms, the maximum.")
            codes[name] = len(codes)
    return np.array([codes[name] for name in names], dtype=np.int32)
