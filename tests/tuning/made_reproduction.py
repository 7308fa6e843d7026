"""What the tests of the reproduction share: a small context, pieces run by hand, and made-up regrets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from studies.reproduction.document import Document, Outcome
from tuning.reproduction._bounds_problems import DECADES, MARKS
from tuning.reproduction.experiments import experiment

from tuning.crew import LocalCrew
from tuning.reproduction import bounds
from tuning.reproduction.context import PROTOCOLS, Context, Found


def small(protocols: tuple[str, ...] = PROTOCOLS, replications: int = 2, jobs: int = 1) -> Context:
    """As little as can be run."""
    return Context(0, replications, protocols, LocalCrew(jobs), "")


def run(name: str, context: Context) -> Outcome:
    """An experiment without a folder."""
    module = experiment(name)
    return module.assemble(context, {piece.key: piece.run(context) for piece in module.pieces(context)})


def document(context: Context, name: str, outcome: Outcome) -> Document:
    """A page of one experiment."""
    return Document(context.seed, context.replications, context.protocols, {name: outcome})


def made_bounds(context: Context, *, tail: bool) -> Outcome:
    """The bounds from regrets that grow like ln T, or in a straight line for RAVEN-UCB."""
    found = {piece.key: _made(tail and "raven" in piece.key) for piece in bounds.pieces(context)}
    return bounds.assemble(context, found)


def _made(tail: bool) -> Found:
    def near(value: float) -> dict[str, float]:
        return {"value": value, "low": 0.9 * value, "high": 1.1 * value}

    widths = [end - start for start, end in pairwise(DECADES)]
    rates = [0.02 if tail else 5.0 / width for width in widths]
    ratios: list[Any] = [None, *[near(now / before) for before, now in pairwise(rates)]]
    regret = [near(0.02 * step if tail else 1.0 + step.bit_length()) for step in MARKS]
    return {
        "regret": regret,
        "rates": [near(rate) for rate in rates],
        "ratios": ratios,
        "lost": 10 if tail else 0,
        "replications": 50,
    }
