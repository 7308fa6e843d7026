"""Tables of results: pandas data frames whose cells are plain Python values.

Columns have the dtype `object`, so that integers stay integers beside missing values and numbers are written to JSON
and CSV with every digit.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"  # pandas is imported by the functions that make one

Cell = float | int | str | bool | None

FORMULA_STARTS = ("=", "+", "-", "@")  # of texts that spreadsheets run as formulas


def make_table(records: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Make a table from records with the same keys in the same order.

    >>> table = make_table([{"policy": "ucb1", "regret": 2.5}, {"policy": "ccb", "regret": None}])
    >>> table["regret"].tolist()
    [2.5, None]
    """
    import pandas

    rows = list(records)
    names = list(rows[0]) if rows else []
    for row in rows:
        if list(row) != names:
            raise ValueError(f"a row has the columns {', '.join(row)}, but the first row has {', '.join(names)}")
    cells = [[_to_plain(row[name]) for name in names] for row in rows]
    return pandas.DataFrame(cells, columns=names, dtype=object)


def select(table: DataFrame, **cells: Cell) -> DataFrame:
    """Select the rows with these values.

    >>> table = make_table([{"policy": "ucb1", "regret": 2.5}, {"policy": "ccb", "regret": 1.0}])
    >>> select(table, policy="ccb").to_dict("records")
    [{'policy': 'ccb', 'regret': 1.0}]
    """
    for name, value in cells.items():
        table = table[table[name] == value]
    return table


def select_row(table: DataFrame, **cells: Cell) -> dict[str, Any]:
    """Select the only row with these values, as a record."""
    rows = to_records(select(table, **cells))
    if len(rows) != 1:
        raise ValueError(f"expected one row with {cells} but found {len(rows)}")
    return rows[0]


def to_records(table: DataFrame) -> list[dict[str, Any]]:
    """Convert a table to one dictionary per row."""
    records: list[dict[str, Any]] = table.to_dict("records")
    return records


def unique(table: DataFrame, column: str) -> list[Any]:
    """List the distinct values of a column in the order of their first row."""
    return list(dict.fromkeys(table[column]))


def to_json_object(table: DataFrame) -> dict[str, Any]:
    """Convert a table to plain data for JSON.

    >>> to_json_object(make_table([{"a": 1, "b": None}]))
    {'columns': ['a', 'b'], 'rows': [[1, None]]}
    """
    return {"columns": list(table.columns), "rows": table.to_numpy().tolist()}


def to_csv(table: DataFrame) -> str:
    """Write a table as CSV; missing values are empty cells.

    >>> to_csv(make_table([{"a": 1, "b": None}]))
    'a,b\\n1,\\n'
    """
    from pandas import DataFrame

    cells = [[to_csv_cell(cell) for cell in row] for row in table.to_numpy().tolist()]
    text: str = DataFrame(cells, columns=table.columns, dtype=object).to_csv(index=False, lineterminator="\n")
    return text


def to_csv_cell(value: Any) -> Any:
    """Return a cell for a CSV file. Text that a spreadsheet would run as a formula begins with an apostrophe.

    Control characters other than line breaks and tabs, which a terminal may execute, are written as escape sequences.
    Numbers are unchanged.

    >>> to_csv_cell("=1+1"), to_csv_cell("-1.5"), to_csv_cell(-1.5)
    ("'=1+1", '-1.5', -1.5)
    """
    if not isinstance(value, str):
        return value
    text = "".join(
        ascii(letter)[1:-1] if unicodedata.category(letter) == "Cc" and letter not in "\n\r\t" else letter
        for letter in value
    )
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _to_plain(value: Any) -> Cell:
    """Convert a NumPy scalar to Python; NaN and infinities become None, which JSON can represent."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, float | int | str | bool):
        return value
    raise TypeError(f"a cell must be a number, a string or None but got {value!r}")
