"""Texts of the experiments: their claims, the reasons of the verdicts, and their sections of the page.

Each experiment has a file `<name>.toml`. Its strings are Jinja templates, which read the tables of the result as lists
of rows, `facts`, `protocols`, the experiment's constants, and the filters below. They give plain text, which the page
escapes. Line breaks within a paragraph are spaces; an empty line separates paragraphs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ravenlab.common import text
from ravenlab.common.documents import Table
from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures.style import Figure, format_title
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper import criteria
from ravenlab.studies.paper.claims import Claim, ClaimResult
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.symbols import format_params, format_symbol
from ravenlab.studies.tables import to_records
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement

if TYPE_CHECKING:
    import jinja2

FOLDER = Path(__file__).parent

Row = Mapping[str, Any]
Words = Callable[..., tuple[str, str]]
PlotFigures = Callable[[ExperimentResult, tuple[str, ...], Words], list[tuple[str, Figure]]]


def where(rows: Sequence[Row], **cells: Any) -> list[Row]:
    """Select the rows with these values.

    >>> where([{"n": 5, "mean": 0.1}, {"n": 10, "mean": 0.2}], n=10)
    [{'n': 10, 'mean': 0.2}]
    """
    return [row for row in rows if all(row[name] == value for name, value in cells.items())]


def without(rows: Sequence[Row], **cells: Any) -> list[Row]:
    """Select the rows that do not have all of these values.

    >>> without([{"n": 5, "mean": 0.1}, {"n": 10, "mean": 0.2}], n=10)
    [{'n': 5, 'mean': 0.1}]
    """
    return [row for row in rows if any(row[name] != value for name, value in cells.items())]


def unique_by(rows: Sequence[Row], *names: str) -> list[Row]:
    """Select the first row of each combination of values.

    >>> unique_by([{"n": 5, "mean": 0.1}, {"n": 5, "mean": 0.2}], "n")
    [{'n': 5, 'mean': 0.1}]
    """
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault(tuple(row[name] for name in names), row)
    return list(first.values())


def divide(rows: Sequence[Row], column: str, other: str) -> list[float]:
    """Divide one column by another.

    >>> divide([{"ours": 6.0, "printed": 3.0}], "ours", "printed")
    [2.0]
    """
    return [row[column] / row[other] for row in rows]


def by_width(rows: Sequence[Row], low: str, high: str) -> list[Row]:
    """Sort rows by the difference of two columns.

    >>> by_width([{"low": 1, "high": 5}, {"low": 2, "high": 4}], "low", "high")
    [{'low': 2, 'high': 4}, {'low': 1, 'high': 5}]
    """
    return sorted(rows, key=lambda row: float(row[high]) - float(row[low]))


def count_ordered(rows: Sequence[Row], *columns: str | float) -> int:
    """Count the rows in which the values of some columns, or constants, increase strictly.

    >>> count_ordered([{"low": 1.0, "high": 2.0}, {"low": -1.0, "high": 3.0}], 0, "low", "high")
    1
    """
    values = [[row[column] if isinstance(column, str) else column for column in columns] for row in rows]
    return sum(all(first < second for first, second in pairwise(numbers)) for numbers in values)


def count_inside(rows: Sequence[Row], low: str, column: str, high: str) -> int:
    """Count the rows in which the value of a column is between those of two others.

    >>> count_inside([{"low": 1.0, "x": 1.0, "high": 2.0}, {"low": 1.0, "x": 3.0, "high": 2.0}], "low", "x", "high")
    1
    """
    return sum(row[low] <= row[column] <= row[high] for row in rows)


def format_as(value: float, template: str) -> str:
    """Format a number as Python does, with a space before a percent sign.

    >>> format_as(0.125, ".1%"), format_as(2000, ",")
    ('12.5 %', '2,000')
    """
    return format(value, template).replace("%", " %")


def format_between(row: Row, name: str, template: str) -> str:
    """Format the interval of a measurement without its value.

    >>> format_between({"cost_low": 0.125, "cost_high": 0.5}, "cost", ".0%")
    '12 % to 50 %'
    """
    return f"{format_as(row[f'{name}_low'], template)} to {format_as(row[f'{name}_high'], template)}"


def format_columns(row: Row, name: str) -> str:
    """Format a measurement with its interval.

    >>> format_columns({"regret": 2.0, "regret_low": 1.0, "regret_high": 3.0}, "regret")
    '2.0 (1.0 to 3.0)'
    """
    return text.format_interval(read_measurement(row, name), name="")


def format_signed_columns(row: Row, name: str) -> str:
    """Format a difference with its interval and signs.

    >>> format_signed_columns({"cost": 2.0, "cost_low": -1.0, "cost_high": 3.0}, "cost")
    '+2.0 (−1.0 to +3.0)'
    """
    return text.format_interval(read_measurement(row, name), name="", format_value=text.format_signed)


def format_score(row: Row) -> str:
    """Format a mean with its standard error and its interval.

    >>> format_score({"mean": 2000.0, "error": 50.0, "mean_low": 1900.0, "mean_high": 2100.0})
    '2,000 ± 50 (1,900 to 2,100)'
    """
    return f"{row['mean']:,.0f} ± {row['error']:,.0f} ({format_between(row, 'mean', ',.0f')})"


def format_row_params(row: Row, *names: str) -> str:
    """Format parameters from the columns of a row.

    >>> format_row_params({"alpha0": 1.0, "regret": 5.0}, "alpha0")
    'α₀ 1'
    """
    return format_params({name: row[name] for name in names})


FILTERS = {
    "approximate": text.format_approximate,
    "between": format_between,
    "by_width": by_width,
    "capitalize_first": text.capitalize_first,
    "count_inside": count_inside,
    "count_ordered": count_ordered,
    "divide": divide,
    "fmt": format_as,
    "interval": format_columns,
    "keep_pairs_together": text.keep_pairs_together,
    "measure": read_measurement,
    "measurement": format_measurement,
    "number": text.format_number,
    "p_value": text.format_p_value,
    "params": format_row_params,
    "percent": lambda interval: interval.scaled(100.0),
    "range": text.format_range,
    "records": to_records,
    "score": format_score,
    "signed": format_signed_columns,
    "symbol": format_symbol,
    "unique_by": unique_by,
    "where": where,
    "without": without,
    "words": text.join_words,
}


@cache
def read_texts(name: str) -> dict[str, Any]:
    """Read the file of an experiment.

    >>> sorted(read_texts("figure1"))
    ['claims', 'figures', 'reasons', 'section', 'tables']
    """
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def read_claims(name: str) -> dict[str, Claim]:
    """Read the claims of an experiment by key; claims can share a reason by its name.

    >>> read_claims("figure1")["figure1-means-settle"].rule
    'growth'
    """
    texts = read_texts(name)
    reasons = texts.get("reasons", {})
    return {
        key: Claim(key, **fields | {"reason": reasons.get(fields["reason"], fields["reason"])})
        for key, fields in texts["claims"].items()
    }


def judge(
    claim: Claim,
    protocol: str,
    measurement: Interval | None,
    *evidence: Any,
    rule: str | None = None,
    **values: Any,
) -> ClaimResult:
    """Judge a claim and state the reason.

    Args:
        claim: The claim.
        protocol: published or defined.
        measurement: The number that is shown.
        evidence: Arguments of the rule; the measurement by default.
        rule: A rule other than that of the claim.
        values: Values that the reason mentions.
    """
    rule = rule or claim.rule
    verdict = criteria.JUDGES[rule](*(evidence or (measurement,)))
    (reason,) = render(claim.reason, claim=claim, protocol=protocol, ours=measurement, **values)
    return ClaimResult(claim, protocol, measurement, verdict, rule, reason)


def make_section(
    name: str,
    plot: PlotFigures,
    constants: Mapping[str, Any],
    result: ExperimentResult,
    reproduction: ReproductionResult,
) -> ReproductionSection:
    """Render the section of an experiment; reasons of groups of similar claims are left to the tables.

    Args:
        name: Name of the experiment.
        plot: The function that draws its figures, given the result, the protocols and a function that returns title and
            description of a figure by its name, rendered with additional values.
        constants: Values that its texts read, besides the result.
        result: Its result.
        reproduction: The results of all experiments.
    """
    texts = read_texts(name)
    reasons = [f"As {verdict.protocol}: {verdict.reason}" for verdict in result.verdicts if not verdict.claim.group]
    values = {
        "facts": result.facts,
        "protocols": reproduction.protocols,
        "experiments": reproduction.experiments,
        "reasons": "\n\n".join(reasons),
        **constants,
        **{key: to_records(table) for key, table in result.tables.items()},
    }

    def describe(key: str, **more: Any) -> tuple[str, str]:
        title, *context = (part for line in texts["figures"][key]["title"] for part in render(line, **values | more))
        return format_title(title, *context), " ".join(render(texts["figures"][key]["alt"], **values | more))

    paragraphs = {part: render(template, **values) for part, template in texts["section"].items()}
    tables = [table for template in texts.get("tables", []) for table in _make_tables(template, values)]
    (title,) = paragraphs.pop("title")
    return ReproductionSection(
        title, **paragraphs, figures=plot(result, reproduction.protocols, describe), tables=tables
    )


def render(template: str, **values: Any) -> list[str]:
    """Render a template to paragraphs.

    >>> render("The mean is {{ mean | number }}.", mean=0.25)
    ['The mean is 0.25.']
    """
    lines = re.split(r"\n\s*\n", text.set_minus(_environment().from_string(template).render(values)))
    return [paragraph for line in lines if (paragraph := re.sub(r"[ \n]+", " ", line).strip(" "))]


def _make_tables(template: Row, values: Mapping[str, Any]) -> Iterator[Table]:
    """Make a table, or one per protocol; columns without any text and tables without rows are left out."""
    environment = _environment()
    cells = {title: environment.from_string(cell) for title, cell in template["columns"].items()}
    select = environment.compile_expression(template["rows"])
    for protocol in values["protocols"] if template.get("by_protocol") else [None]:
        shown = {**values, "protocol": protocol}
        rows = [
            {title: text.set_minus(cell.render(shown, row=row)) for title, cell in cells.items()}
            for row in select(shown) or []
        ]
        used = [title for title in cells if any(row[title] for row in rows)]
        if rows:
            (caption,) = render(template["caption"], **shown)
            shown_cells = [[row[title] for title in used] for row in rows]
            yield Table(used, shown_cells, caption, text=None, folded=template.get("folded", False))


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    """Jinja for plain text; undefined variables are errors."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(FILTERS)
    environment.globals["criteria"] = criteria
    return environment
