"""Counts over the studies of a report: decisions, which are also filters, and relations to the baselines.

The page counts again when a filter changes, so counts are data here, never part of a sentence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ravenlab.studies.results.baselines import TITLES, Relation
from ravenlab.studies.results.describe_recommendation import name_defaults
from ravenlab.studies.results.documents import SUMMARIES
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation

MISSING = "without a recommendation"
EDGE = "at the edge of the search range"
DECISIONS = [*dict.fromkeys(words for _, words in SUMMARIES.values()), MISSING, EDGE]
"""Labels of the chips. A study at the edge of its search range is also counted under its decision."""

RELATIONS: dict[Relation, str] = {
    "worse": "better",
    "tied": "tied",
    "inconclusive": "inconclusive",
    "better": "worse",
    "same": "identical",
}
"""What the recommended parameters have compared with a baseline of this relation."""


@dataclass(frozen=True)
class Count:
    """A number of studies with its label; `key` is the decision or relation that is counted."""

    key: str
    label: str
    number: int


@dataclass(frozen=True)
class Tally:
    """Relations of a baseline to the recommendations of all studies that have it."""

    baseline: str
    title: str
    counts: list[Count]

    @property
    def studies(self) -> int:
        """Number of studies with this baseline."""
        return sum(count.number for count in self.counts)


def list_decisions(recommendation: Recommendation | RobustRecommendation | None) -> list[str]:
    """List the keys of the chips that show a study.

    >>> list_decisions(None)
    ['without-a-recommendation']
    """
    if recommendation is None:
        return [_key(MISSING)]
    _, words = SUMMARIES[recommendation.verdict.decision]
    return [_key(words), *([_key(EDGE)] if recommendation.edge else [])]


def count_decisions(filters: Iterable[Mapping[str, Sequence[str]]]) -> list[Count]:
    """Count the studies of each decision; decisions without a study are left out.

    >>> [(count.number, count.label) for count in count_decisions([{"decision": ["keep-the-defaults"]}])]
    [(1, 'keep the defaults')]
    """
    found = [key for values in filters for key in values["decision"]]
    counts = [Count(_key(label), label, found.count(_key(label))) for label in DECISIONS]
    return [count for count in counts if count.number]


def count_relations(recommendations: Sequence[Recommendation]) -> list[Tally]:
    """Count how the recommended parameters compare with each baseline.

    >>> count_relations([])
    []
    """
    titles = TITLES | {"defaults": f"the {name_defaults(*recommendations)}"}
    tallies = []
    for name in TITLES:
        found = [each.relation for result in recommendations for each in result.comparisons if each.name == name]
        counts = [Count(key, label, found.count(key)) for key, label in RELATIONS.items() if key in found]
        if counts:
            tallies.append(Tally(name, titles[name], counts))
    return tallies


def _key(label: str) -> str:
    """Return the key of a chip, for the address and the style sheet."""
    return label.replace(" ", "-")
