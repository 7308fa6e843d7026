"""Tables of plain numbers and words: what figures are drawn from, and what goes into JSON and CSV unchanged."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Cell = float | int | str | bool | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns.

    >>> table = Table.of([{"policy": "ucb1", "regret": 2.5}, {"policy": "ccb", "regret": 1.0}])
    >>> table.column("regret")
    [2.5, 1.0]
    >>> table.where(policy="ccb").rows
    (('ccb', 1.0),)
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @staticmethod
    def of(records: Iterable[Mapping[str, Any]]) -> Table:
        """From records that all have the same keys in the same order; NumPy numbers become plain ones."""
        listed = list(records)
        columns = tuple(listed[0]) if listed else ()
        for record in listed:
            if tuple(record) != columns:
                raise ValueError(f"a row has {', '.join(record)} where the first has {', '.join(columns)}")
        return Table(columns, tuple(tuple(_plain(record[name]) for name in columns) for record in listed))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row as a record."""
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """The cells of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def where(self, **cells: Cell) -> Table:
        """The rows whose cells are these."""
        places = {self.columns.index(name): value for name, value in cells.items()}
        return Table(self.columns, tuple(r for r in self.rows if all(r[i] == value for i, value in places.items())))

    def one(self, **cells: Cell) -> dict[str, Any]:
        """The only row whose cells are these."""
        (row,) = self.where(**cells)
        return row

    def distinct(self, name: str) -> list[Any]:
        """The different cells of a column in the order of their first row."""
        return list(dict.fromkeys(self.column(name)))

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}

    def as_csv(self) -> str:
        """The text of a CSV file; what is missing is an empty cell.

        >>> Table.of([{"a": 1, "b": None}]).as_csv()
        'a,b\\n1,\\n'
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


def _plain(value: Any) -> Cell:
    """A NumPy number as Python's own; what is not a number is None, since JSON has no word for it."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, float | int | str | bool):
        return value
    raise TypeError(f"a cell must be a number, a word or None but got {value!r}")
