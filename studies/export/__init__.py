"""Export of recommendations, one module per format. Files contain no timestamps, so exports are reproducible."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from environments.errors import unknown_name

if TYPE_CHECKING:
    from studies.results.recommendation import Recommendation
    from studies.results.robust import RobustRecommendation


@dataclass(frozen=True)
class Format:
    """A file format of recommendations."""

    meaning: str
    """Description for help and documentation."""
    module: str
    """Module of this package with a function `write` that returns the text."""


FORMATS: dict[str, Format] = {
    "json": Format("every field, for programs", "json_file"),
    "toml": Format("every field, as a configuration file", "toml_file"),
    "yaml": Format("every field, as a configuration file", "yaml_file"),
    "csv": Format("one row per recommendation", "csv_table"),
    "markdown": Format("a table for a README or an issue", "markdown_table"),
    "latex": Format("a booktabs table for a paper", "latex_table"),
    "python": Format("code that creates the recommended policies", "python_snippet"),
}
"""All formats by name. Adding one takes an entry here and a module with a function `write`."""

DEFAULT_FORMAT = "json"


def export(recommendations: Sequence[Recommendation | RobustRecommendation], form: str = DEFAULT_FORMAT) -> str:
    """Export recommendations as the text of a file, which ends with a newline.

    Raises:
        InputError: The format is unknown.

    >>> print(export([], "json"), end="")
    {
      "schema": 1,
      "recommendations": []
    }
    """
    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    module = importlib.import_module(f"studies.export.{FORMATS[form].module}")
    text: str = module.write(recommendations)
    return text
