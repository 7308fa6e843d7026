"""JSON, for programs; its JSON Schema is shipped."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studies.export.document import document
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """The document, indented, letters as they are."""
    return json.dumps(document(recommendations), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
