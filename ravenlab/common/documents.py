"""Documents: what a result says to people, as data, and its renderings as short text, HTML and Markdown.

A result states its answer first. HTML inherits colors and fonts from the notebook, so it is readable on light and dark
backgrounds, and refers to no other file.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ravenlab.common.cells import Cell
from ravenlab.common.interval import Interval
from ravenlab.common.text import escape_unprintable, format_interval, format_percent

if TYPE_CHECKING:
    from pandas import DataFrame

STYLE = (
    "<style>"
    ".ravenlab-card{max-width:60rem;line-height:1.45;margin:.25em 0}"
    ".ravenlab-card p{margin:.3em 0}"
    ".ravenlab-card .answer{font-size:1.1em;font-weight:600}"
    ".ravenlab-card .warning{border-left:.25em solid #c77700;padding-left:.5em}"
    ".ravenlab-card .label{font-size:.85em;opacity:.8;overflow-wrap:anywhere}"
    ".ravenlab-card .wide{overflow-x:auto;margin:.6em 0}"
    ".ravenlab-card table{border-collapse:collapse;margin:0;border:0;background:none;font-variant-numeric:tabular-nums}"
    ".ravenlab-card caption{caption-side:top;text-align:left;color:inherit;opacity:.8;padding:0 0 .2em}"
    ".ravenlab-card tr{background:none}"
    ".ravenlab-card th,.ravenlab-card td{padding:.2em .8em .2em 0;text-align:right;vertical-align:top;color:inherit;"
    "border:0;border-bottom:1px solid rgba(128,128,128,.35);background:none;white-space:nowrap}"
    ".ravenlab-card th.text,.ravenlab-card td.text{text-align:left}"
    ".ravenlab-card td.long{white-space:normal;min-width:20em}"
    ".ravenlab-card .map td{text-align:center;padding:.2em .5em;border:1px solid transparent}"
    ".ravenlab-card .map td.tied{border:2px solid currentColor;font-weight:600}"
    ".ravenlab-card .map th{border:0;padding:.2em .5em}"
    ".ravenlab-card summary{cursor:pointer}"
    ".ravenlab-card ul{margin:.3em 0;padding-left:1.4em}"
    "</style>"
)

MAX_LISTED = 50  # results of a list that are shown in a notebook
MAX_MAP_CELLS = 150  # of a map in a notebook or note
FULL_SHADE = 50.0  # percent from which cells of a map have the darkest shade

NUMERIC_CELL = re.compile(r"(?:[<≈]\s?)?[+−-]?\d|[–-]?$")
PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class Table:
    """A table of a document.

    >>> Table(["arm", "events", "share"], [["paris", "1,200", "30 %"]], text=None).numeric
    [False, True, True]
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    text: Sequence[str] | None = ("",)
    """Columns that are left-aligned; all others hold numbers. If it is None, the cells decide."""
    narrow: Literal["wrap", "stack", "list", "cut"] = "wrap"
    """What happens on a terminal that is too narrow: cells are wrapped ("wrap"), each row becomes a block with one line
    per cell ("stack") or with all cells on one line ("list"), or the last columns are left out ("cut"), so that rows
    stay comparable."""
    kept: int = 2
    """Columns that are never left out."""
    ruled: bool = False
    """Whether lines separate the rows on a terminal."""
    folded: bool = False
    """Whether readers of a page open the table."""

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers, which are right-aligned."""
        if self.text is not None:
            return [name not in self.text for name in self.columns]
        return [all(map(NUMERIC_CELL.match, column)) for column in zip(*self.cells, strict=True)]

    @property
    def cells(self) -> list[list[str]]:
        """The texts of all cells, row by row."""
        return [list(map(str, row)) for row in self.rows]

    def select(self, *names: str) -> Table:
        """Return the table with some of its columns, in the given order; names that it does not have are ignored."""
        kept = [self.columns.index(name) for name in names if name in self.columns]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)

    def without(self, *names: str) -> Table:
        """Return the table without some columns; names that it does not have are ignored.

        >>> Table(["", "n", "p"], [["a", "5", "1"]]).without("n", "q").rows
        [['a', '1']]
        """
        return self.select(*(name for name in self.columns if name not in names))

    def to_html(self) -> str:
        """Write the table.

        >>> Table(["", "n"], [["<a>", "5"]]).to_html().count("&lt;a&gt;")
        1
        """
        align = ['scope="col"' if numeric else 'scope="col" class="text"' for numeric in self.numeric]
        head = "".join(f"<th {kind}>{escape(name)}</th>" for kind, name in zip(align, self.columns, strict=True))
        body = "".join(f"<tr>{''.join(self._html_cells(row))}</tr>" for row in self.cells)
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def to_markdown(self) -> list[str]:
        """Write the lines of the table.

        >>> Table(["", "n"], [["a|b", "5"]]).to_markdown()[-2]
        '| a\\\\|b&emsp;| 5&emsp;|'
        """
        return _markdown_table(self.columns, [list(map(escape_markdown, row)) for row in self.cells], self.caption)

    def _html_cells(self, row: Sequence[str]) -> list[str]:
        kinds = [
            "" if numeric else ' class="text long"' if len(cell) > 60 else ' class="text"'
            for numeric, cell in zip(self.numeric, row, strict=True)
        ]
        return [f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)]


@dataclass(frozen=True)
class Shade:
    """A cell of a map: its percentage, whether it is outlined, and whether it is the best."""

    percent: float
    outlined: bool = False
    best: bool = False

    @property
    def text(self) -> str:
        """The percentage with two digits, without its unit."""
        return format_percent(self.percent / 100.0, unit="")


@dataclass(frozen=True)
class Map:
    """Percentages as shaded cells with a name per row and column; darker is larger."""

    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[Shade]]
    caption: str
    corner: str
    """Names of the rows and of the columns, such as "β₀ ↓ α₀ →"."""
    listing: Table
    """The best cells, where the map is too large."""
    mark: str = "best"
    """What the marked cell is."""

    @property
    def is_large(self) -> bool:
        """Whether a page or note lists the best cells instead."""
        return len(self.rows) * len(self.columns) > MAX_MAP_CELLS

    def to_markdown(self) -> list[str]:
        """Write the lines of the map as a table; outlined cells are bold."""
        if self.is_large:
            return self.listing.to_markdown()
        rows = [
            [f"**{escape_markdown(name)}**", *(f"**{cell.text}**" if cell.outlined else cell.text for cell in cells)]
            for name, cells in zip(self.rows, self.cells, strict=True)
        ]
        return _markdown_table([self.corner, *self.columns], rows, self.caption.replace("outlined", "bold"))

    def to_html(self) -> str:
        """Write the map as a table."""
        if self.is_large:
            return self.listing.to_html()
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_shade_cell, cells))}</tr>'
            for name, cells in zip(self.rows, self.cells, strict=True)
        )
        return (
            f'<div class="wide"><table class="map"><caption>{escape(self.caption)}</caption>'
            f"<thead><tr><th>{escape(self.corner)}</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def _shade_cell(shade: Shade) -> str:
    tied = ' class="tied"' if shade.outlined else ""
    return (
        f'<td{tied} style="background:rgba(213,94,0,{0.5 * min(max(shade.percent / FULL_SHADE, 0.0), 1.0):.2f})">'
        f"{escape(shade.text)}</td>"
    )


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> list[str]:
    """Write a table of escaped cells, and its caption below it."""
    lines = [columns, ["---"] * len(columns), *rows]
    gap = "&emsp;|"  # the dashboard puts no space between cells
    table = [
        f"| {f'{gap} '.join(cells)}{gap}" if cells is not lines[1] else f"| {' | '.join(cells)} |" for cells in lines
    ]
    return [*table, "", *([escape_markdown(caption), ""] if caption else [])]


class IntervalRow(NamedTuple):
    """A mean with its interval; `label` is the row, `hover` its description, `kind` what its mark means in figures."""

    label: str
    interval: Interval
    hover: str
    kind: str = ""

    @staticmethod
    def of(label: str, interval: Interval) -> IntervalRow:
        """Return a row whose description is its label with the interval."""
        return IntervalRow(label, interval, hover=f"{label}: {format_interval(interval)}")


@dataclass(frozen=True)
class Card:
    """The answer of a result in large type, with its parameters and an interval plot of what it is compared with."""

    context: str
    """What the study is about."""
    headline: str
    explanation: str
    params: Mapping[str, float | str]
    rows: Sequence[IntervalRow]
    """The answer first."""
    axis: str
    """What the rows show."""
    sure: bool = True
    hint: str = ""
    """A line that the reader must not miss, such as a better policy."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """A word about a parameter, such as "default"."""


@dataclass(frozen=True)
class Document:
    """The parts of a result that people read, most important first."""

    answer: str
    """One or a few sentences; empty if others give the answer."""
    label: str = ""
    """The kind of result, and the study it belongs to."""
    facts: Sequence[str] = ()
    """Further sentences of the short text."""
    tables: Sequence[Table | Map] = field(default=(), repr=False)
    details: Sequence[str] = field(default=(), repr=False)
    """Sentences that are folded in notebooks and not part of the short text."""
    problem: str = ""
    """Policy, scenario and sizes, in one line."""
    card: Card | None = field(default=None, repr=False)
    """The picture of the result in the dashboard."""
    headline: str = ""
    """The decision: the first words of the answer, the rest of which is the reason."""
    warnings: Sequence[str] = ()
    """Sentences that a reader must not miss."""

    @property
    def sentences(self) -> list[str]:
        """All sentences in their order."""
        return [*self.leading, *self.details]

    @property
    def leading(self) -> list[str]:
        """The sentences of the short text."""
        return [self.answer, *self.warnings, *self.facts]

    def to_markdown(self) -> str:
        """Write everything as Markdown, with the answer as title; names in it are never markup.

        >>> print(Document("Keep *it*.", "Result", ["Regret 5."], problem="raven-ucb in blips").to_markdown())
        # Keep \\*it\\*
        <BLANKLINE>
        `raven-ucb in blips`
        <BLANKLINE>
        - Regret 5.
        <BLANKLINE>
        """
        title, *sentences = map(escape_markdown, self.sentences)
        lines = [f"# {title.removesuffix('.')}", "", *([format_code(self.problem), ""] if self.problem else [])]
        lines += [*(f"- {sentence}" for sentence in sentences), ""]
        return "\n".join([*lines, *(line for table in self.tables for line in table.to_markdown())])

    def to_text(self) -> str:
        """Write the short text.

        >>> print(Document("Keep the defaults.", "Recommendation of a study", ["Mean regret 5."]).to_text())
        Keep the defaults.
        Mean regret 5.
        <Recommendation of a study>
        """
        return "\n".join(map(escape_unprintable, [*self.leading, f"<{self.label}>"]))

    def to_html(self) -> str:
        """Write the card; all texts are escaped."""
        parts = [f'<p class="answer">{escape(self.answer)}</p>']
        parts += [f'<p class="warning">{escape(warning)}</p>' for warning in self.warnings]
        parts += [f"<p>{escape(fact)}</p>" for fact in self.facts]
        parts += [table.to_html() for table in self.tables]
        if self.details:
            items = "".join(f"<li>{escape(line)}</li>" for line in self.details)
            parts.append(f"<details><summary>Details</summary><ul>{items}</ul></details>")
        parts.append(f'<p class="label">{escape(self.label)}</p>')
        return f'{STYLE}<div class="ravenlab-card">{"".join(parts)}</div>'


def format_code(text: str) -> str:
    r"""Format a name as Markdown code, so that nothing in it is interpreted as markup, link or HTML.

    >>> format_code("a`b")
    '``a`b``'
    """
    clean = UNPRINTABLE.sub(" ", text) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", clean)), default=0) + 1)
    edge = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{fence}{edge}{clean}{edge}{fence}"


def escape_markdown(text: str) -> str:
    r"""Escape text for Markdown and put it on one line.

    >>> escape_markdown("a*b\n<c>")
    'a\\*b \\<c\\>'
    """
    return PUNCTUATION.sub(r"\\\1", UNPRINTABLE.sub(" ", text))


def escape(text: object) -> str:
    """Escape text for HTML; control characters are written as escape sequences.

    >>> escape("<b>\\x1b")
    '&lt;b&gt;\\\\x1b'
    """
    return html.escape(escape_unprintable(str(text)))


def make_frame(records: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Make a pandas table with the usual types of columns; missing numbers are NaN."""
    from pandas import DataFrame

    return DataFrame(list(records))


class Result(ABC):
    """A result with a short text, an HTML card for notebooks, and a pandas table."""

    @abstractmethod
    def to_document(self) -> Document:
        """Return the answer and its evidence, which every surface renders."""

    def to_documents(self) -> list[Document]:
        """Return everything, for surfaces with room for it."""
        return [self.to_document()]

    @abstractmethod
    def to_frame(self) -> DataFrame:
        """Return the numbers as a pandas table."""

    def _identity(self) -> dict[str, Any]:
        """Return columns that distinguish the rows of this result from those of others, unless the table has them."""
        return {}

    def __repr__(self) -> str:
        return self.to_document().to_text()

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self.to_document().to_html()


R = TypeVar("R", bound=Result)


class ResultList(list[R]):
    """Several results: a list that is shown as a table in notebooks."""

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self)) or "[]"

    def _repr_html_(self) -> str:
        cards = [result.to_document() for result in self[:MAX_LISTED]]
        rows = [[card.label, " ".join(card.leading)] for card in cards]
        more = f", of which {MAX_LISTED} are shown" if len(self) > MAX_LISTED else ""
        table = Table(["", "Result"], rows, text=("", "Result"))
        count = "1 result" if len(self) == 1 else f"{len(self):,} results"
        return f'{STYLE}<div class="ravenlab-card"><p class="answer">{count}{more}</p>{table.to_html()}</div>'

    def to_frame(self) -> DataFrame:
        """Return the tables of all results as one."""
        from pandas import DataFrame, concat

        frames = []
        for result in self:
            frame = result.to_frame()
            for place, (name, value) in enumerate(result._identity().items()):
                frame.insert(place, name, value)
            frames.append(frame)
        return concat(frames, ignore_index=True) if frames else DataFrame()
