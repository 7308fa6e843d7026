"""What an experiment consists of and the settings it runs with."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dashboards.pages.reproduction import ReproductionSection
from environments.checks import check_integer
from environments.errors import InputError
from environments.fingerprint import computation_fingerprint
from environments.text import join_words
from studies.paper.claims import Claim
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.spec.study import StudySpec
from tuning.reproduction import BOTH, PROTOCOLS
from tuning.study_run import StudyRun, run_study
from tuning.workers.local import SERIAL, Workers

DEFAULT_REPLICATIONS = 50
"""Default precision: the paper's number of replications in Table 3. All other counts are proportional to it."""

MAX_REPLICATIONS = 100_000

STUDIES = Path("studies", "studies.sqlite3")
"""Location of the searches in the folder of a reproduction."""

PieceData = Mapping[str, Any]
"""Result of a piece as plain data that JSON preserves exactly."""

_STUDY_LOCKS: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class RunContext:
    """Seed, precision and workers. Results do not depend on `workers` or `url`."""

    seed: int
    replications: int
    protocols: tuple[str, ...]
    workers: Workers
    url: str
    """Storage of the searches."""

    def count(self, default: int, least: int = 2) -> int:
        """Scale a count to the precision, where `default` is the count at the default precision.

        >>> RunContext(0, 25, PROTOCOLS, ALONE, "").count(4000)
        2000
        """
        return max(least, round(default * self.replications / DEFAULT_REPLICATIONS))

    def fingerprint(self) -> str:
        """Identify pieces that can be combined: same seed, precision and code."""
        settings = {"seed": self.seed, "replications": self.replications, "code": computation_fingerprint()}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]

    def search(self, key: str, spec: StudySpec) -> StudyRun:
        """Run or resume a study up to its recommendation."""
        named = spec.model_copy(update={"name": f"{key}~{self.fingerprint()}", "seed": self.seed})
        with _STUDY_LOCKS[named.study_name()]:  # concurrent pieces may need the same study
            return run_study(named, self.url, self.workers)


def make_context(
    folder: Path,
    *,
    protocol: str = BOTH,
    replications: int | None = None,
    seed: int = 0,
    workers: Workers = SERIAL,
) -> RunContext:
    """Check the settings of a reproduction.

    >>> make_context(Path("paper"), protocol="published").protocols
    ('published',)
    """
    if protocol not in (*PROTOCOLS, BOTH):
        raise InputError(f"protocol must be {join_words((*PROTOCOLS, BOTH))} but got {protocol!r}.")
    if replications is None:
        replications = DEFAULT_REPLICATIONS
    return RunContext(
        seed=check_integer("seed", seed, least=0, most=2**63 - 1),
        replications=check_integer("replications", replications, least=2, most=MAX_REPLICATIONS),
        protocols=PROTOCOLS if protocol == BOTH else (protocol,),
        workers=workers,
        url=f"sqlite:///{folder.resolve() / STUDIES}",
    )


@dataclass(frozen=True)
class RunPiece:
    """A part of an experiment that is run as a whole and stored when it is complete."""

    key: str
    """Name of the piece and of its file: words, digits, hyphens and slashes."""
    seconds: float
    """Approximate duration at the default precision on two cores, for the estimate of the remaining time."""
    run: Callable[[RunContext], PieceData]


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper."""

    name: str
    title: str
    pieces: Callable[[RunContext], list[RunPiece]]
    """What is to be computed; experiments may share pieces."""
    evaluate: Callable[[RunContext, Mapping[str, PieceData]], ExperimentResult]
    """Tables, facts and verdicts from the pieces."""
    section: Callable[[ExperimentResult, ReproductionResult], ReproductionSection]
    """Its section of the page."""
    claims: Mapping[str, Claim] = field(default_factory=dict)

    def assemble(self, context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
        """Evaluate the pieces and put the verdicts in the order of the claims."""
        result = self.evaluate(context, pieces)
        order = {key: index for index, key in enumerate(self.claims)}
        ordered = sorted(result.verdicts, key=lambda each: (order[each.claim.key], each.protocol != "published"))
        return replace(result, verdicts=ordered)
