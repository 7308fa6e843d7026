"""YAML: the JSON document, one key per line."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from ravenlab.studies.export.json_file import make_document
from ravenlab.studies.results.expected import Advice

NO_LIMIT = 10**9  # line width; wrapped names would be hard to find


def write(recommendations: Sequence[Advice]) -> str:
    """Write the document as YAML."""
    text: str = yaml.safe_dump(make_document(recommendations), sort_keys=False, allow_unicode=True, width=NO_LIMIT)
    return text
