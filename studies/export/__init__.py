"""Export of recommendations in several formats. Files contain no timestamps, so exports are reproducible."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ravenlab.common.errors import unknown_name

if TYPE_CHECKING:
    from ravenlab.studies.export.comparison import ComparisonDocument
    from ravenlab.studies.results.comparison import ComparisonResult
    from ravenlab.studies.results.expected import Advice


@dataclass(frozen=True)
class Format:
    """A file format of recommendations."""

    meaning: str
    """Description for help and documentation."""
    writer: str
    """Module and function of this package that returns the text; imported only if it is used."""


FORMATS: dict[str, Format] = {
    "json": Format("every field, for programs", "formats.write_json"),
    "toml": Format("every field, as a configuration file", "formats.write_toml"),
    "yaml": Format("every field, as a configuration file", "formats.write_yaml"),
    "csv": Format("one row per recommendation", "csv_table.write"),
    "markdown": Format("a table for a README or an issue", "formats.write_markdown"),
    "latex": Format("a booktabs table for a paper", "formats.write_latex"),
    "python": Format("code that creates the recommended policies", "python_snippet.write"),
}
"""All formats by name. Adding one takes an entry here and a function that writes it."""

DEFAULT_FORMAT = "json"


def export(recommendations: Sequence[Advice], form: str = DEFAULT_FORMAT) -> str:
    """Export recommendations as the text of a file, which ends with a newline.

    Raises:
        InputError: The format is unknown.

    >>> print(export([], "json"), end="")
    {
      "schema": 2,
      "recommendations": []
    }
    """
    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    module, _, function = FORMATS[form].writer.partition(".")
    text: str = getattr(importlib.import_module(f"ravenlab.studies.export.{module}"), function)(recommendations)
    return text


class SingleDocument:
    """Methods of one comparison that write it as the document of several comparisons does."""

    @property
    def results(self) -> tuple[ComparisonResult, ...]:
        """This result alone."""
        return self.document().results

    def document(self) -> ComparisonDocument:
        """Return a document with this result alone."""
        from ravenlab.studies.export.comparison import ComparisonDocument

        return ComparisonDocument([cast("ComparisonResult", self)])

    def as_json(self) -> str:
        """Write `compare.json`."""
        return self.document().as_json()

    def as_csv(self) -> str:
        """Write `compare.csv`: one row per entry."""
        return self.document().as_csv()

    def as_markdown(self) -> str:
        """Write `compare.md`: one table per leaderboard."""
        return self.document().as_markdown()

    def as_latex(self) -> str:
        """Write `compare.tex`: booktabs tables."""
        return self.document().as_latex()
