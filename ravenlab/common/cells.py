"""Cells of tables that renderers set in their own way. `str` gives the text of a cell everywhere else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval, format_number

BEST = "★"
TIED = "≈"
ANCHOR = "†"
NONE = "–"


@dataclass(frozen=True)
class Number:
    """A formatted number, or several with signs between them, with a mark such as ★ after it.

    >>> str(Number("41.5", BEST)), str(Number("5 × 100"))
    ('41.5 ★', '5 × 100')
    """

    text: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.mark}".strip()


@dataclass(frozen=True)
class Entry:
    """The name of a ranked row with its place and its mark; place 0 is not shown.

    >>> str(Entry("ucb1", 1, BEST)), str(Entry("oracle-ucb1", 0, ANCHOR))
    ('1. ucb1 ★', 'oracle-ucb1 †')
    """

    name: str
    place: int
    mark: str

    def __str__(self) -> str:
        place = f"{self.place}. " if self.place else ""
        return f"{place}{self.name} {self.mark}".strip()


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval. Its mark is that of the row, which text states beside the name.

    >>> str(Estimate(Interval(41.5, 40.25, 42.75), unit=" per step"))
    '41.5 (40.2 to 42.8) per step'
    """

    interval: Interval
    format_value: Callable[[float], str] = format_number
    unit: str = ""
    mark: str = ""

    def __str__(self) -> str:
        return f"{format_interval(self.interval, '', self.format_value)}{self.unit}"


@dataclass(frozen=True)
class Values:
    """Values by symbol.

    >>> str(Values({"α₀": 1.5, "variance": "welford"}))
    'α₀ 1.5, variance welford'
    """

    values: Mapping[str, float | str]

    def __str__(self) -> str:
        return ", ".join(f"{name} {format_number(value)}" for name, value in self.values.items()) or "no parameters"


Cell = str | Number | Entry | Estimate | Values
