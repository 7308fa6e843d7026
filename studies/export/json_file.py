"""The document that JSON, TOML and YAML hold, and its JSON Schema.

`python -m studies.export.json_file` writes the schema anew after the model has changed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation
from studies.spec.fields import FrozenModel

SCHEMA_FILE = Path(__file__).resolve().parent.parent / "spec" / "schemas" / "recommendations.json"


class RecommendationsDocument(FrozenModel):
    """Recommendations of ravenlab."""

    number: Literal[1] = Field(default=1, alias="schema", description="The version of this format.")
    recommendations: list[Recommendation]
    robust: list[RobustRecommendation] = Field(
        default_factory=list, description="Settings for several scenarios at once; absent where there are none."
    )


def document(recommendations: Sequence[Recommendation | RobustRecommendation]) -> dict[str, Any]:
    """Plain data, keys in their order.

    >>> document([])
    {'schema': 1, 'recommendations': []}
    """
    several = [each.as_object() for each in recommendations if isinstance(each, RobustRecommendation)]
    one = [each.as_object() for each in recommendations if not isinstance(each, RobustRecommendation)]
    return {"schema": 1, "recommendations": one, **({"robust": several} if several else {})}


def json_schema() -> str:
    """The text of the shipped JSON Schema."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RecommendationsDocument.model_json_schema(by_alias=True, mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json_schema(), encoding="utf-8")


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """The document, indented, letters as they are."""
    return json.dumps(document(recommendations), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
