"""What a reproduction found: tables, facts and verdicts by experiment, to and from JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from studies.keys import project_version
from studies.reproduction.claims import claims
from studies.reproduction.rule_words import RULES
from studies.reproduction.rules import Verdict
from studies.reproduction.tables import Table

Facts = Mapping[str, Any]
"""Plain numbers and words that a section mentions beside its tables."""


@dataclass(frozen=True)
class Outcome:
    """What came of one experiment."""

    tables: dict[str, Table]
    """Every number that is drawn or shown; a CSV file each."""
    facts: Facts = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A whole reproduction."""

    seed: int
    replications: int
    protocols: tuple[str, ...]
    outcomes: dict[str, Outcome]
    """By experiment, in the order of the page."""

    def verdicts(self) -> list[Verdict]:
        """All of them, in the order of the claims."""
        order = {key: place for place, key in enumerate(claims())}
        found = [verdict for outcome in self.outcomes.values() for verdict in outcome.verdicts]
        return sorted(found, key=lambda verdict: (order[verdict.claim], verdict.protocol != "published"))

    def as_json(self) -> str:
        """The text of `reproduction.json`: the same bytes for the same seed, replications and version."""
        return json.dumps(self.as_object(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def as_object(self) -> dict[str, Any]:
        """The whole as plain data."""
        return {
            "version": project_version(),
            "seed": self.seed,
            "replications": self.replications,
            "protocols": list(self.protocols),
            "rules": RULES,
            "verdicts": [_verdict(verdict) for verdict in self.verdicts()],
            "experiments": {
                name: {
                    "facts": dict(outcome.facts),
                    "tables": {key: table.as_object() for key, table in outcome.tables.items()},
                }
                for name, outcome in self.outcomes.items()
            },
        }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    claim = claims()[verdict.claim]
    return {
        "claim": claim.key,
        "text": claim.text,
        "place": claim.place,
        "printed": claim.printed,
        "unit": claim.unit,
        "protocol": verdict.protocol,
        "ours": None if verdict.ours is None else asdict(verdict.ours),
        "verdict": verdict.word,
        "rule": verdict.rule,
        "reason": verdict.reason,
    }
