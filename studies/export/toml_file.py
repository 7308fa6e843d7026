"""TOML: the JSON document, but what is none is left out, since TOML has no word for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tomli_w

from studies.export.json_file import document
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """The document as `[[recommendations]]` tables."""
    return tomli_w.dumps(_without_none(document(recommendations)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_none(each) for each in value]
    return value
