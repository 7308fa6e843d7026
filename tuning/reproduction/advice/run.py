"""Compare the parameters recommended in Section 5 with a validated recommendation.

"Long" and "short" are the two horizons of Section 4.2. Each recommendation of ours comes from a search; it, the paper's
advice and the defaults are then played on held-out worlds not used for selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ravenlab.environments.streams import Stream
from ravenlab.studies.paper.advice import CONTEXTS, EPSILON, SHORT_HORIZON
from ravenlab.studies.paper.numbers import played_scenario, printed_rows, read_optima
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import mean_interval, relative_interval
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.workers.problem import Evaluator

TRIALS, REPLICATIONS, CANDIDATES = 64, 200, 8
MIN_TRIALS = 32  # fewer trials would be only a few random batches, too weak a competitor for the advice
SELECTION = {"long": 2000, "short": 6000}
HELD_OUT = {"long": 8000, "short": 20000}
"""Worlds for selection and for comparison; worlds with short horizons are cheap."""


@dataclass(frozen=True)
class AdviceCase:
    """One recommendation of the paper in one scenario it applies to, under one protocol."""

    number: str
    context: str
    term: str
    """long or short."""
    horizon: int
    alpha0: float
    beta0: float
    protocol: str
    scenario: str

    @property
    def claim_key(self) -> str:
        """Key of its claim."""
        return f"advice-{self.number}-{self.term}"

    @property
    def played_scenario(self) -> str:
        """The scenario that is played."""
        return played_scenario(self.protocol, self.scenario)

    @property
    def piece_key(self) -> str:
        """Key of its piece."""
        return f"advice/{self.number}-{self.term}/{self.played_scenario}-T{self.horizon}"


def list_cases(protocols: Sequence[str]) -> list[AdviceCase]:
    """List all cases; as published only those in scenarios that the authors ran."""
    published = {optimum.scenario for optimum in read_optima()}
    horizons = {"short" if optimum.horizon < SHORT_HORIZON else "long": optimum.horizon for optimum in read_optima()}
    return [
        AdviceCase(
            number=row["advice"],
            context=row["context"],
            term=row["horizon"],
            horizon=horizons[row["horizon"]],
            alpha0=float(row["alpha0"]),
            beta0=float(row["beta0"]),
            protocol=protocol,
            scenario=scenario,
        )
        for protocol in protocols
        for row in printed_rows("recommended_parameters.csv")
        for scenario in CONTEXTS[row["context"]]
        if protocol == "defined" or scenario in published
    ]


def make_pieces(context: RunContext) -> list[RunPiece]:
    """A search and a comparison per case."""
    return [
        RunPiece(case.piece_key, 6.5 if case.term == "long" else 4.0, partial(_compare, case=case))
        for case in list_cases(context.protocols)
    ]


def make_spec(context: RunContext, case: AdviceCase) -> StudySpec:
    """The search for better parameters than the advice."""
    return StudySpec(
        scenario=case.played_scenario,
        horizon=case.horizon,
        trials=context.count(TRIALS, least=MIN_TRIALS),
        replications=context.count(REPLICATIONS, least=4),
        candidates=CANDIDATES,
        selection=context.count(SELECTION[case.term], least=20),
        report=context.count(200, least=20),
        seed=context.seed,
    )


def _compare(context: RunContext, case: AdviceCase) -> PieceData:
    """Search, then play the recommendation, the advice and the defaults on the same held-out worlds."""
    worlds = context.count(HELD_OUT[case.term], least=40)
    spec = make_spec(context, case)
    recommendation = context.search(case.piece_key, spec)
    params: list[dict[str, float]] = [
        {name: float(value) for name, value in recommendation.params.items()},
        {"alpha0": case.alpha0, "beta0": case.beta0, "epsilon": EPSILON},
        {},
    ]
    evaluator = Evaluator(spec, context.workers)
    candidates = [spec.resolve_params(setting) for setting in params]
    regrets = evaluator.play(candidates, Stream.REPORT, 0, worlds).regret
    names = ("recommended", "advice", "defaults")
    return {
        "params": params[0],
        "worlds": worlds,
        **{name: list(mean_interval(sample, context.seed)) for name, sample in zip(names, regrets, strict=True)},
        "cost": list(relative_interval(regrets[1], regrets[0], context.seed)),
        "defaults_cost": list(relative_interval(regrets[2], regrets[0], context.seed)),
    }
