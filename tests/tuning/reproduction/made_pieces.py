"""What the tests of the reproduction share: a small context, pieces run by hand, and made-up regrets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from studies.paper.results import ExperimentResult, ReproductionResult
from tuning.reproduction import PROTOCOLS, find_experiment
from tuning.reproduction.bounds.run import CHECKPOINTS, DECADES
from tuning.reproduction.context import PieceData, RunContext
from tuning.workers.local import LocalCrew


def small(protocols: tuple[str, ...] = PROTOCOLS, replications: int = 2, jobs: int = 1) -> RunContext:
    """As little as can be run."""
    return RunContext(0, replications, protocols, LocalCrew(jobs), "")


def run(name: str, context: RunContext) -> ExperimentResult:
    """An experiment without a folder."""
    experiment = find_experiment(name)
    return experiment.assemble(context, {piece.key: piece.run(context) for piece in experiment.pieces(context)})


def document(context: RunContext, name: str, outcome: ExperimentResult) -> ReproductionResult:
    """A page of one experiment."""
    return ReproductionResult(context.seed, context.replications, context.protocols, {name: outcome})


def made_bounds(context: RunContext, *, tail: bool) -> ExperimentResult:
    """The bounds from regrets that grow like ln T, or in a straight line for RAVEN-UCB."""
    experiment = find_experiment("bounds")
    return experiment.assemble(
        context, {piece.key: _made(tail and "raven" in piece.key) for piece in experiment.pieces(context)}
    )


def _made(tail: bool) -> PieceData:
    def near(value: float) -> list[float]:
        return [value, 0.9 * value, 1.1 * value]

    widths = [end - start for start, end in pairwise(DECADES)]
    rates = [0.02 if tail else 5.0 / width for width in widths]
    ratios: list[Any] = [None, *[near(now / before) for before, now in pairwise(rates)]]
    regret = [near(0.02 * step if tail else 1.0 + step.bit_length()) for step in CHECKPOINTS]
    return {
        "regret": regret,
        "rates": [near(rate) for rate in rates],
        "ratios": ratios,
        "lost": 10 if tail else 0,
        "replications": 50,
    }
