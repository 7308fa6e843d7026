"""Recommendations as files, one module a format. The same ones give the same bytes: no time of day in them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from environments.errors import unknown
from studies.recommendation import Recommendation
from studies.robust_recommendation import RobustRecommendation

FORMATS = {
    "json": "json_file",
    "toml": "toml_file",
    "yaml": "yaml_file",
    "csv": "csv_table",
    "markdown": "markdown_table",
    "latex": "latex_table",
    "python": "python_snippet",
}
"""Formats, and the module of each."""


def export(recommendations: Sequence[Recommendation | RobustRecommendation], form: str = "json") -> str:
    """The text of a file in one of the formats; it ends with a newline.

    >>> print(export([], "json"), end="")
    {
      "schema": 1,
      "recommendations": []
    }
    """
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    module = importlib.import_module(f"studies.export.{FORMATS[form]}")
    text: str = module.write(recommendations)
    return text
