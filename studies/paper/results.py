"""Results of a reproduction: tables, facts and verdicts by experiment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ravenlab.common.documents import Document, Result, Table, make_frame
from ravenlab.common.text import join_words, plural
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.criteria import read_rules
from ravenlab.studies.storage.keys import project_version
from ravenlab.studies.tables import DataFrame, to_json_object

Facts = Mapping[str, Any]  # plain numbers and strings that a section mentions in addition to its tables


@dataclass(frozen=True)
class ExperimentResult:
    """The result of one experiment."""

    tables: dict[str, DataFrame]
    """All numbers that are plotted or shown; each table is written to a CSV file."""
    facts: Facts = field(default_factory=dict)
    verdicts: list[ClaimResult] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class ReproductionResult(Result):
    """The result of a reproduction."""

    seed: int
    replications: int
    protocols: tuple[str, ...]
    experiments: dict[str, ExperimentResult]
    """By name, in the order of the page."""

    def verdicts(self) -> list[ClaimResult]:
        """List all verdicts, grouped by claim."""
        return [verdict for experiment in self.experiments.values() for verdict in experiment.verdicts]

    def as_json(self) -> str:
        """Write `reproduction.json`; the text is identical for the same seed, replications and version."""
        return json.dumps(self.as_object(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def as_object(self) -> dict[str, Any]:
        """Convert to plain data."""
        return {
            "version": project_version(),
            "seed": self.seed,
            "replications": self.replications,
            "protocols": list(self.protocols),
            "rules": read_rules(),
            "verdicts": [_to_object(verdict) for verdict in self.verdicts()],
            "experiments": {
                name: {
                    "facts": dict(experiment.facts),
                    "tables": {key: to_json_object(table) for key, table in experiment.tables.items()},
                }
                for name, experiment in self.experiments.items()
            },
        }

    def to_frame(self) -> DataFrame:
        """Tabulate the verdicts in pandas, one row each."""
        return make_frame(
            {
                "claim": verdict.claim.key,
                "text": verdict.claim.text,
                "place": verdict.claim.place,
                "printed": verdict.claim.printed,
                "protocol": verdict.protocol,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
            }
            for verdict in self.verdicts()
        )

    def to_document(self) -> Document:
        verdicts = [verdict.verdict for verdict in self.verdicts()]
        counts = [f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts)]
        claims = len({verdict.claim.key for verdict in self.verdicts()})
        rows = [
            [verdict.claim.place, verdict.claim.text, verdict.protocol, verdict.verdict] for verdict in self.verdicts()
        ]
        columns = ["Place", "Claim", "Protocol", "Verdict"]
        return Document(
            answer=f"{plural(claims, 'claim')} of the paper, {plural(len(verdicts), 'verdict')}:"
            f" {join_words(counts, 'and') or 'none'}.",
            label=f"Reproduction of {', '.join(self.experiments)}, seed {self.seed}",
            tables=[Table(columns, rows, text=columns)],
        )


def _to_object(verdict: ClaimResult) -> dict[str, Any]:
    claim = verdict.claim
    return {
        "claim": claim.key,
        "text": claim.text,
        "place": claim.place,
        "printed": claim.printed,
        "unit": claim.unit,
        "protocol": verdict.protocol,
        "measurement": None if verdict.measurement is None else verdict.measurement.as_object("value"),
        "verdict": verdict.verdict,
        "rule": verdict.rule,
        "reason": verdict.reason,
    }
