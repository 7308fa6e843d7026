"""Recommendations as JSON with its schema, TOML and YAML, and as tables in Markdown and LaTeX.

`python -m ravenlab.studies.export.formats` writes the shipped schema again after the models have changed. What only one
format needs is imported in its function.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ravenlab.common.text import escape_in_strings
from ravenlab.policies.engine.loading import SCHEMA
from ravenlab.studies.results.expected import Advice, Deployment, ExpectedParameters, describe_deployment
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.fields import FrozenModel

SCHEMA_FILE = Path(__file__).resolve().parent.parent / "spec" / "schemas" / "recommendations.json"

_ITEM = r"(?:-?\d[\d.e+-]*+|true|false)"
ROW = re.compile(rf"(?<=\[)\n *{_ITEM}(?:,\n *{_ITEM}){{2,}}\n *(?=\])")
"""Rows of at least three numbers, such as those of a sensitivity map, which are written in one line of JSON."""

NO_LIMIT = 10**9  # line width of YAML; wrapped names would be hard to find


class ExportedRecommendation(Deployment, Recommendation):
    """A recommendation with the fields that a loaded policy needs."""


class ExportedRobustRecommendation(Deployment, RobustRecommendation):
    """A robust recommendation with the fields that a loaded policy needs."""


class ExportedParameters(Deployment, ExpectedParameters):
    """Parameters with an expected regret, with the fields that a loaded policy needs."""


class RecommendationsDocument(FrozenModel):
    """Recommendations of ravenlab."""

    number: Literal[2] = Field(default=2, alias="schema", description="Version of this format.")
    recommendations: list[ExportedRecommendation]
    robust: list[ExportedRobustRecommendation] = Field(
        default_factory=list, description="Settings for several scenarios; absent if there are none."
    )
    expected: list[ExportedParameters] = Field(
        default_factory=list,
        description="Parameters of laws, and policies without any, with an expected regret; absent if there are none.",
    )


def write_json(recommendations: Sequence[Advice]) -> str:
    """Write the document as indented JSON."""
    document = json.dumps(make_document(recommendations), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{escape_in_strings(ROW.sub(lambda row: ' '.join(row[0].split()), document))}\n"


def write_toml(recommendations: Sequence[Advice]) -> str:
    """Write the document as `[[recommendations]]` tables, without null values, which TOML cannot represent."""
    import tomli_w

    return escape_in_strings(tomli_w.dumps(_without_none(make_document(recommendations))))


def write_yaml(recommendations: Sequence[Advice]) -> str:
    """Write the document as YAML, one key per line."""
    import yaml

    text: str = yaml.safe_dump(make_document(recommendations), sort_keys=False, allow_unicode=True, width=NO_LIMIT)
    return text


def write_markdown(recommendations: Sequence[Advice]) -> str:
    """Write a table with one row per recommendation; the last columns are the extra regret of the baselines."""
    from ravenlab.common.markdown import to_markdown
    from ravenlab.studies.results.documents import tabulate_recommendations

    return f"{to_markdown(tabulate_recommendations(recommendations))}\n"


def write_latex(recommendations: Sequence[Advice]) -> str:
    """Write a tabular with one row per recommendation, without the baselines."""
    from ravenlab.common.latex import PACKAGES, to_latex
    from ravenlab.studies.results.documents import RECOMMENDATION_COLUMNS, tabulate_recommendations

    table = tabulate_recommendations(recommendations)
    return f"{PACKAGES}\n{to_latex(table.select(*RECOMMENDATION_COLUMNS))}\n"


def make_document(recommendations: Sequence[Advice]) -> dict[str, Any]:
    """Convert recommendations to the plain data of JSON, TOML and YAML files.

    >>> make_document([])
    {'schema': 2, 'recommendations': []}
    """
    document: dict[str, Any] = {"schema": SCHEMA, "recommendations": []}
    for key in ("recommendations", "robust", "expected"):
        entries = [_make_entry(result) for result in recommendations if result.export_key == key]
        document |= {key: entries} if entries else {}
    return document


def _make_entry(recommendation: Advice) -> dict[str, Any]:
    """Convert a recommendation to plain data, with the fields of its deployment after the number of arms."""
    entry: dict[str, Any] = {}
    for name, value in recommendation.as_object().items():
        entry[name] = value
        if name == "arms":
            entry |= describe_deployment(recommendation).as_object()
    return entry


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def json_schema() -> str:
    """Return the text of the shipped JSON Schema."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RecommendationsDocument.model_json_schema(by_alias=True, mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json_schema(), encoding="utf-8")
