"""Logs: one row per event, with the arm that was pulled, its reward and, if known, the propensity of that pull."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.arrays import Floats
from ravenlab.common.checks import LARGEST_NUMBER, number_rule
from ravenlab.common.errors import InputError
from ravenlab.common.text import join_words
from ravenlab.environments.recorded.order import note_rows, read_times, sort_rows
from ravenlab.environments.recorded.table_file import (
    NO_ROWS,
    Converter,
    ParquetTable,
    RowName,
    Table,
    open_table,
    to_cells,
    to_floats,
    to_texts,
)

Arms = np.ndarray[Any, np.dtype[np.int32]]

MISSING = ("", "-", "na", "n/a", "#n/a", "nan", "null", "none")
"""Spellings of a missing cell, in any case."""

MAX_EVENTS = 2_000_000  # replaying a longer log hundreds of times would take days
MAX_ARMS = 1000

COLUMNS = ("step", "arm", "reward", "propensity")
OTHER_NAMES = {
    "step": ("t", "time", "timestamp", "datetime", "date", "ts", "event_time", "created_at", "hour", "day"),
    "arm": (
        "action",
        "variant",
        "choice",
        "option",
        "treatment",
        "item",
        "carrier",
        "banner",
        "headline",
        "ad",
        "server",
    ),
    "reward": ("value", "cost", "payoff", "click", "clicked", "conversion", "converted", "revenue", "outcome", "y"),
    "propensity": ("prob", "probability", "pscore", "propensity_score"),
}
"""Names by which the columns of a log are recognized if they have others."""
COARSE_TIMES = ("date", "hour", "day")  # which may be beside the time

Columns = Mapping[str, str]
"""Names of the columns step, arm, reward and propensity in a file."""


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
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was recognized, sorted, dropped or ignored while reading."""

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


def read_log(path: str | Path, columns: Columns | None = None) -> Log:
    """Read a .csv or .parquet file, whose columns may have other names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ads.csv").write_text("step,arm,reward\\n1,red,0\\n2,blue,1\\n3,red,1\\n")
    ...     read_log(Path(folder, "ads.csv")).names
    ('blue', 'red')

    Raises:
        InputError: The file cannot be read or is not a log; the message begins with its name.
    """
    with open_table(Path(path), "log", must=f"name the columns {', '.join(COLUMNS[:3])}") as table:
        return _read_table(table, {} if columns is None else columns)


def looks_like_log(header: Sequence[str]) -> bool:
    """Whether the names of columns are those of a log: an arm and a reward.

    >>> looks_like_log(["timestamp", "carrier", "cost"]), looks_like_log(["step", "ant", "bee"])
    (True, False)
    """
    lowered = {name.strip().lower() for name in header}
    return all(lowered & {role, *OTHER_NAMES[role]} for role in ("arm", "reward"))


def parse_columns(text: str) -> dict[str, str]:
    """Parse `step=timestamp,arm=carrier`.

    >>> parse_columns("step=timestamp, arm=carrier")
    {'step': 'timestamp', 'arm': 'carrier'}
    """
    items = [item.partition("=") for item in text.split(",")]
    columns = {role.strip(): name.strip() for role, _, name in items}
    if len(columns) < len(items) or not all(columns.values()):
        raise InputError(
            f"columns must have the form step=timestamp,arm=carrier but got {text[:60]!r}.", field="columns"
        )
    return check_columns(columns)


def check_columns(columns: Columns) -> dict[str, str]:
    """Return names of columns; raise InputError if a log has no such column.

    >>> check_columns({"arm": "carrier"})
    {'arm': 'carrier'}
    """
    for role in columns:
        if role not in COLUMNS:
            raise InputError(f"columns must be {', '.join(COLUMNS)} but got {str(role)[:60]!r}.", field="columns")
    return dict(columns)


def _read_table(table: Table, columns: Columns) -> Log:
    positions, notes = _find_columns(table, columns)
    notes = [*table.notes, *notes]
    arm = positions["arm"]
    step = positions.get("step")
    numeric = {positions[name]: name for name in ("reward", "propensity") if name in positions}
    for position, name in numeric.items():
        if kind := table.non_numeric_type(position):
            raise InputError(f"{name} must contain numbers but contains {kind}.")
    if isinstance(table, ParquetTable) and (kind := table.column_type(arm)) and not _can_name_arms(kind):
        raise InputError(f"arm must contain text or whole numbers but contains {kind}.")
    codes: dict[str, int] = {}
    converters: dict[int, Converter] = {arm: partial(_encode_arms, codes)}
    converters.update({position: partial(to_floats, label=name, missing=MISSING) for position, name in numeric.items()})
    texts = [arm]
    if step is not None:
        converters[step] = to_cells
        texts.append(step)
    too_long = f"it has more than {MAX_EVENTS:,} events, the maximum; shorten it."
    read, row_name = table.read(converters, MAX_EVENTS, too_long, texts=texts, missing=MISSING)
    reward = read[positions["reward"]]
    propensity = read.get(positions.get("propensity", -1))
    rows = np.arange(len(reward))
    times = None
    if step is not None:
        times = read_times(table.names[step], read[step], row_name)
        if times is None:
            raise InputError(f"{row_name(0)}: step must be a number or a time but got {str(read[step][0])[:60]!r}.")
        order, sorting = sort_rows(table.names[step], times, read[step], row_name=row_name, repeated=True)
        notes += sorting
        rows = rows if order is None else order
    rows = rows[~np.isnan(reward[rows])]
    if not rows.size:
        raise InputError("no event has a reward.")
    notes += note_rows(len(reward) - rows.size, "without a reward dropped")
    if propensity is not None:
        notes += note_rows(int(np.isnan(propensity[rows]).sum()), "without a propensity, which is ignored")
        propensity = propensity[rows]
    log = build_log(
        list(codes),
        read[arm][rows],
        reward[rows],
        propensity,
        None if times is None else times[rows],
        lambda row: row_name(int(rows[row])),
    )
    return replace(log, notes=tuple(notes))


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
    for row in np.flatnonzero(np.diff(step) < 0.0)[:1] + 1:
        raise InputError(f"{row_name(row)}: step {step[row]:g} follows {step[row - 1]:g}; steps must increase.")
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
        if name == "propensity" and (valid | np.isnan(values)).all():
            rule = "be above 0 and at most 1"
            valid = np.isnan(values) | ((values > 0.0) & (values <= 1.0))
        for row in np.flatnonzero(~valid)[:1]:
            rule = rule or number_rule(float(values[row]))
            raise InputError(f"{row_name(row)}: {name} must {rule} but got {values[row]:g}.")


def _find_columns(table: Table, columns: Columns) -> tuple[dict[str, int], list[str]]:
    """Return the positions of the columns of a log, and a note on those that were guessed; others are ignored.

    A column that is not given is the one of that name, or the only one with another usual name, or, for arm and reward,
    the only one that is left.
    """
    lowered = [name.strip().lower() for name in table.names]
    positions: dict[str, int] = {}
    for role, name in columns.items():
        if name.strip().lower() not in lowered:
            raise InputError(f"it has no column {name[:60]!r}; got {_list_names(table.names)}.", field="columns")
        positions[role] = lowered.index(name.strip().lower())
    for role in COLUMNS:
        if role not in positions:
            if lowered.count(role) > 1:
                raise InputError(f"column {role} occurs twice.")
            usual = [i for i, name in enumerate(lowered) if name in OTHER_NAMES[role] and i not in positions.values()]
            exact = [i for i in usual if lowered[i] not in COARSE_TIMES]
            usual = exact if len(usual) > 1 else usual
            if role in lowered:
                positions[role] = lowered.index(role)
            elif len(usual) == 1:
                positions[role] = usual[0]
            elif len(usual) > 1:
                names = join_words([repr(table.names[i]) for i in usual])
                raise InputError(f"{role} may be column {names}; say which with columns, such as {role}=NAME.")
    left = [i for i, name in enumerate(lowered) if i not in positions.values() and name not in ("", "index")]
    lacking = [role for role in ("arm", "reward") if role not in positions]
    if len(lacking) == len(left) == 1:
        positions[lacking[0]] = left[0]
    elif lacking:
        columns_word = "columns" if len(lacking) > 1 else "column"
        raise InputError(
            f"it has no {columns_word} {' and '.join(lacking)}; a log has {', '.join(COLUMNS)}, or other names that"
            f" columns states (step=timestamp,arm=carrier); got {_list_names(table.names)}."
        )
    guessed = [
        f"{role}={table.names[i]}" for role, i in positions.items() if lowered[i] != role and role not in columns
    ]
    notes = [f"columns are read as {','.join(guessed)}"] if guessed else []
    if "step" not in positions:
        notes.append("without a column step, events are in the order of the file")
    return positions, notes


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(name[:30] for name in names[:8]) + (", …" if len(names) > 8 else "")


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
