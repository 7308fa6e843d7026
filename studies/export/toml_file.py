"""TOML: the JSON document without null values, which TOML cannot represent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tomli_w

from ravenlab.common.text import escape_in_strings
from ravenlab.studies.export.json_file import make_document
from ravenlab.studies.results.expected import Advice


def write(recommendations: Sequence[Advice]) -> str:
    """Write the document as `[[recommendations]]` tables."""
    return escape_in_strings(tomli_w.dumps(_without_none(make_document(recommendations))))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
