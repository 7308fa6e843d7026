"""Experiments, their pieces, and the settings they run with."""

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ravenlab.common.checks import check_integer
from ravenlab.common.errors import InputError
from ravenlab.common.fingerprint import computation_fingerprint
from ravenlab.common.text import join_words
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import Claim
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.tables import DataFrame, make_table
from ravenlab.tuning.reproduction import BOTH, PROTOCOLS
from ravenlab.tuning.reproduction.texts import PlotFigures, make_section
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.local import SERIAL, Workers

DEFAULT_REPLICATIONS = 50
"""Default precision: the paper's number of replications in Table 3. All other counts are proportional to it."""

MAX_REPLICATIONS = 100_000
STUDIES = Path("studies", "studies.sqlite3")  # location of the searches in the folder of a reproduction

PieceData = Mapping[str, Any]  # result of a piece as plain data that JSON preserves exactly

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
        """Scale a count to the precision, where `default` is the count at the default precision."""
        return max(least, round(default * self.replications / DEFAULT_REPLICATIONS))

    def fingerprint(self) -> str:
        """Identify pieces that can be combined: same seed, precision and code."""
        settings = {"seed": self.seed, "replications": self.replications, "code": computation_fingerprint()}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]

    def search(self, key: str, spec: StudySpec) -> Recommendation:
        """Run or resume a study up to its recommendation; all policies are tuned alike, without a law."""
        named = spec.model_copy(update={"name": f"{key}~{self.fingerprint()}", "seed": self.seed, "map": False})
        with _STUDY_LOCKS[named.study_name()]:  # concurrent pieces may need the same study
            recommendation = run_study(named, self.url, self.workers, standalone=False).result
        if recommendation is None:
            raise RuntimeError(f"study {named.study_name()!r} ended without a recommendation")
        return recommendation

    def simulate_regret(self, policy: str, scenario: str | Scenario, **options: Any) -> Floats:
        """Simulate a policy and return its cumulative regret [R, checkpoints]."""
        curve = self.workers.simulate(policy, scenario, seed=self.seed, **options).curve
        if curve is None:
            raise ValueError("the regret over time needs checkpoints")
        return curve.regret


def make_context(
    folder: Path,
    *,
    protocol: str = BOTH,
    replications: int | None = None,
    seed: int = 0,
    workers: Workers = SERIAL,
) -> RunContext:
    """Check the settings of a reproduction."""
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
    """A part of an experiment that is run at once and stored when it is complete."""

    key: str
    """Name of the piece and of its file: words, digits, hyphens and slashes."""
    seconds: float
    """Approximate duration at the default precision on two cores, for the estimate of the remaining time."""
    run: Callable[[RunContext], PieceData]


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper."""

    name: str
    pieces: Callable[[RunContext], list[RunPiece]]
    """All computations; experiments may share pieces."""
    evaluate: Callable[[RunContext, Mapping[str, PieceData]], ExperimentResult]
    """Tables, facts and verdicts from the pieces."""
    plot: PlotFigures
    """Its figures."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Values that its texts read, besides the result."""
    claims: Mapping[str, Claim] = field(default_factory=dict)
    """By key, in the order of the page."""

    def assemble(self, context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
        """Evaluate the pieces and put the verdicts in the order of the claims."""
        result = self.evaluate(context, pieces)
        order = {key: index for index, key in enumerate(self.claims)}
        ordered = sorted(
            result.verdicts, key=lambda verdict: (order[verdict.claim.key], verdict.protocol != "published")
        )
        return replace(result, verdicts=ordered)

    def section(self, result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
        """Render its section of the page, given the results of all experiments."""
        return make_section(self.name, self.plot, self.constants, result, reproduction)


def tables_by_protocol(
    name: str, context: RunContext, pieces: Mapping[str, PieceData], tables: Sequence[str]
) -> dict[str, DataFrame]:
    """Combine the rows that an experiment's pieces store by protocol, with the protocol as the first column."""
    data = {protocol: pieces[f"{name}/{protocol}"] for protocol in context.protocols}
    return {
        table: make_table({"protocol": protocol, **row} for protocol, piece in data.items() for row in piece[table])
        for table in tables
    }
