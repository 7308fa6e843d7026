"""The order of the rows of a file: its times are read, rows are sorted by them, and what was done is noted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ravenlab.common.arrays import Floats, Ints
from ravenlab.common.errors import InputError
from ravenlab.common.text import plural
from ravenlab.environments.recorded.table_file import RowName

DATE_FORMATS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%b %d %Y", "%d %B %Y", "%B %d, %Y"),
)
CLOCK_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
REGULAR = 0.9  # share of equal steps from which longer ones are gaps
MIN_ROWS = 20  # rows from which a column can look like something other than rewards
CALENDAR = (
    *("weekday", "dow", "day_of_week", "dayofweek", "hour", "hour_of_day", "minute", "day", "month", "week", "year"),
    *("id", "row", "row_id", "seq", "no", "nr", "n", "number", "count", "counter"),
)
"""Names of columns that are hardly those of arms."""
UNSORTED = "numbers the rows, which are in another order"


def read_times(name: str, cells: Any, row_name: RowName) -> Floats | None:
    """Return times as numbers; None if the cells are labels, none of which is a time.

    >>> read_times("day", np.array(["2026-01-01", "2026-01-02"]), "line {}".format).tolist()
    [1767225600.0, 1767312000.0]
    >>> read_times("day", np.array(["Mon", "Tue"]), "line {}".format)

    Raises:
        InputError: Some cells are not times, or days and months cannot be told apart.
    """
    import pandas

    if cells.dtype.kind == "M":
        times = _to_seconds(pandas.Series(cells))
    elif cells.dtype.kind in "biuf":
        times = cells.astype(np.float64)
    else:
        try:
            times = np.array([float(cell) if "_" not in cell else np.nan for cell in cells])
        except ValueError:
            found = _read_dates(name, pandas.Series(cells, dtype=object))
            if found is None:
                return None
            times = found
    for row in np.flatnonzero(~np.isfinite(times))[:1]:
        cell = str(cells[row])[:60]
        problem = "is missing" if cell in ("", "nan", "NaT") else f"must be a number or a time but got {cell!r}"
        raise InputError(f"{row_name(int(row))}: {name or 'the time'} {problem}.")
    return times


def _read_dates(name: str, cells: Any) -> Floats | None:
    """Read dates and times in ISO 8601 or another common format; NaN where a cell is not a time."""
    import pandas

    iso = pandas.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    if iso.notna().any():
        return _to_seconds(iso)
    readings: dict[bytes, Floats] = {}
    for date, clock in product(DATE_FORMATS, CLOCK_FORMATS):
        try:
            times = _to_seconds(pandas.to_datetime(cells, format=date + clock, utc=True))
        except (ValueError, OverflowError):
            continue
        readings[times.tobytes()] = times
    if not readings:
        return None
    in_order = [times for times in readings.values() if _is_sorted(times) or _is_sorted(-times)]
    chosen = list(readings.values()) if len(readings) == 1 else in_order
    if not chosen:
        raise InputError(
            f"column {name!r}: days and months can't be told apart, as in {cells.iloc[0]!r}; write times as 2026-01-31."
        )
    return min(chosen, key=lambda times: float(np.abs(np.diff(times)).max(initial=0.0)))


def _to_seconds(times: Any) -> Floats:
    import pandas

    if times.dt.tz is not None:
        times = times.dt.tz_convert(None)
    seconds = times.astype("datetime64[us]").astype("int64").to_numpy() / 1e6
    return np.where(pandas.isna(times), np.nan, seconds)


def _is_sorted(times: Floats) -> bool:
    return bool((np.diff(times) >= 0).all())


def sort_rows(
    name: str, times: Floats, cells: Any, *, row_name: RowName, repeated: bool
) -> tuple[Ints | None, list[str]]:
    """Return the order of the rows, None if they are in order, and what there is to note.

    Args:
        name: Name of the column.
        times: Times of the rows.
        cells: The same as in the file.
        row_name: Names rows in messages.
        repeated: Whether several rows may have the same time: events, but not steps.

    >>> times = np.array([3.0, 2.0, 1.0])
    >>> order, notes = sort_rows("t", times, times, row_name="line {}".format, repeated=False)
    >>> order.tolist(), notes
    ([2, 1, 0], ["rows were newest first; they are sorted by 't'"])
    """
    notes = []
    order = None
    label = repr(name) if name else "the first column"
    if not _is_sorted(times):
        newest_first = _is_sorted(-times)
        order = np.arange(times.size)[::-1] if newest_first else np.argsort(times, kind="stable")
        notes.append(f"rows were {'newest first' if newest_first else 'not in order'}; they are sorted by {label}")
        times = times[order]
    steps = np.diff(times)
    same = np.flatnonzero(steps == 0.0) + 1
    if same.size and not repeated:
        rows = same if order is None else order[same]
        more = f" ({plural(same.size, 'row')} in all)" if same.size > 1 else ""
        what = f"{name.strip()} {str(cells[rows[0]])[:60]}" if name else "the time"
        raise InputError(f"{row_name(int(rows[0]))}: {what} is repeated{more}; steps must increase, with one row each.")
    if same.size:
        notes.append(f"{plural(same.size, 'event')} with the {label} of the one before; the order of the file is kept")
    elif steps.size:
        typical = float(np.median(steps))
        longer = steps > 1.5 * typical
        if longer.any() and (np.abs(steps - typical) <= 0.01 * typical).mean() >= REGULAR:
            lacking = plural(round(float((steps[longer] / typical - 1.0).sum())), "step")
            gaps = plural(int(longer.sum()), "gap")
            notes.append(f"{label} has {gaps}, {lacking} in all; rows around a gap are neighbors")
    return order, notes


def find_arms(names: Sequence[str], values: Floats) -> tuple[list[int], list[str]]:
    """Return which columns [N, K] are arms, and a note on each that does not look like rewards.

    Such a column is left out if it has whole numbers and either a name of the calendar or of a counter, or the arms
    have decimals. It is kept if its name begins with "arm", or if fewer than two arms would remain.

    >>> rewards = np.random.default_rng(1).normal(size=(40, 2))
    >>> find_arms(("a", "b", "weekday"), np.column_stack([rewards, np.arange(40) // 2 % 7]))
    ([0, 1], ["column 'weekday' repeats whole numbers in turn and is left out; call it 'arm weekday' if it is an arm"])

    Raises:
        InputError: A column numbers the rows in another order, so it may be that of their times.
    """
    odd = {k: what for k, column in enumerate(values.T) if (what := _find_oddity(column[~np.isnan(column)]))}
    plain = [k for k in range(len(names)) if k not in odd]
    decimals = not any(_is_whole(values[:, k]) for k in plain)
    left_out = {
        k
        for k in odd
        if _is_whole(values[:, k])
        and (decimals or names[k].strip().lower() in CALENDAR)
        and not names[k].strip().lower().startswith("arm")
    }
    if len(names) - len(left_out) < 2:
        left_out = set()
    notes = []
    for k, what in odd.items():
        name = names[k][:60]
        if k in left_out and what == UNSORTED:
            raise InputError(f"column {name!r} {what}; to sort by it, make it the first column and call it step.")
        advice = (
            f"is left out; call it {f'arm {name}'!r} if it is an arm"
            if k in left_out
            else "does not look like rewards; leave it out unless it is an arm"
        )
        notes.append(f"column {name!r} {what} and {advice}")
    return [k for k in range(len(names)) if k not in left_out], notes


def _find_oddity(column: Floats) -> str | None:
    """Say why values, of which none is missing, do not look like rewards."""
    if column.size < MIN_ROWS:
        return None
    steps = np.diff(column)
    runs = column[np.concatenate([[True], steps != 0.0])]
    kinds = np.unique(runs).size if _is_whole(column) else 0
    if not steps.any():
        return "is constant"
    if kinds == column.size == np.ptp(column) + 1:
        return "numbers the rows" if (steps > 0).all() else UNSORTED
    if (steps >= 0).all() or (steps <= 0).all():
        return "only increases or only decreases"
    if 3 <= kinds <= runs.size - 3 and (runs[kinds:] == runs[:-kinds]).all():
        return "repeats whole numbers in turn"
    return None


def _is_whole(column: Floats) -> bool:
    """Whether all values that are not missing are whole numbers."""
    return bool((column[np.isfinite(column)] % 1 == 0).all())


def note_rows(count: int, what: str) -> list[str]:
    """Return a note about a number of rows, if there are any.

    >>> note_rows(2, "without a reward dropped"), note_rows(0, "dropped")
    (['2 rows without a reward dropped'], [])
    """
    return [f"{plural(count, 'row')} {what}"] if count else []
