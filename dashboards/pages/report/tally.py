"""Counts over the studies of a report: decisions, which are also filters, and relations to the baselines.

The page counts again when a filter changes, so counts are data here, never part of a sentence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ravenlab.studies.results.baselines import TITLES, Relation
from ravenlab.studies.results.describe import name_defaults
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation

DECISIONS = {
    "better": "better than the defaults",
    "keep": "keep the defaults",
    "other": "better without this policy",
    "inconclusive": "inconclusive",
    "none": "without a recommendation",
    "edge": "at the edge of the range",
}
"""Labels of the chips. A study at the edge of its search range is also counted under its decision."""

GROUPS = {
    "set one parameter": "better",
    "use these values": "better",
    "keep the defaults": "keep",
    "inconclusive": "inconclusive",
}
"""Chip of each decision; the remaining decisions are against the tuned policy."""

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
    """List the chips that show a study.

    >>> list_decisions(None)
    ['none']
    """
    if recommendation is None:
        return ["none"]
    return [GROUPS.get(recommendation.verdict.decision, "other"), *(["edge"] if recommendation.edge else [])]


def count_decisions(filters: Iterable[Mapping[str, Sequence[str]]]) -> list[Count]:
    """Count the studies of each decision; decisions without a study are left out.

    >>> [(count.number, count.label) for count in count_decisions([{"decision": ["keep", "edge"]}])]
    [(1, 'keep the defaults'), (1, 'at the edge of the range')]
    """
    found = [key for values in filters for key in values["decision"]]
    return [Count(key, label, found.count(key)) for key, label in DECISIONS.items() if key in found]


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
