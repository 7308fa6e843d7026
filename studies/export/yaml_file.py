"""YAML: the JSON document, one key a line."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from studies.export.json_file import document
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation

NEVER = 10**9
"""A line is not broken before this width: a broken name is hard to find."""


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """The document; safe_dump writes plain data only."""
    text: str = yaml.safe_dump(document(recommendations), sort_keys=False, allow_unicode=True, width=NEVER)
    return text
