"""The parameters recommended in Section 5, compared with a validated recommendation.

"Long" and "short" are the two horizons of Section 4.2. Each recommendation of ours comes from a search; it, the paper's
advice and the defaults are then played on held-out worlds not used for selection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures.style import GREEN, GREY, ORANGE, VERMILION, Figure, fade, make_axis, make_shading
from ravenlab.environments.streams import Stream
from ravenlab.studies.paper.advice import CONTEXTS, EPSILON, SHORT_HORIZON
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.criteria import MAX_COST, judge_costs
from ravenlab.studies.paper.numbers import played_scenario, printed_rows, read_optima
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import level_interval, relative_interval
from ravenlab.studies.tables import make_table, to_records
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.figures import DotSeries, format_worlds, make_guide_line, plot_dots
from ravenlab.tuning.reproduction.measurements import interval_columns, read_measurement
from ravenlab.tuning.reproduction.texts import Words, judge, read_claims, unique_by, where
from ravenlab.tuning.workers.problem import Evaluator

CLAIMS = read_claims("advice")

TRIALS = 64
REPLICATIONS = 200
CANDIDATES = 8
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
        **{name: list(level_interval(sample, context.seed)) for name, sample in zip(names, regrets, strict=True)},
        "cost": list(relative_interval(regrets[1], regrets[0], context.seed)),
        "defaults_cost": list(relative_interval(regrets[2], regrets[0], context.seed)),
    }


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The excess regret of each recommendation of the paper."""
    costs = make_table(_make_row(case, pieces[case.piece_key]) for case in list_cases(context.protocols))
    rows = to_records(costs)
    return ExperimentResult(
        tables={"costs": costs},
        facts={
            "trials": context.count(TRIALS, least=MIN_TRIALS),
            "replications": context.count(REPLICATIONS, least=4),
            "selection": {term: context.count(worlds, least=20) for term, worlds in SELECTION.items()},
            "held_out": {term: context.count(worlds, least=40) for term, worlds in HELD_OUT.items()},
        },
        verdicts=[_judge(rows, first) for first in unique_by(rows, "advice", "term", "protocol")],
    )


def _make_row(case: AdviceCase, data: PieceData) -> dict[str, Any]:
    return {
        "advice": case.number,
        "context": case.context,
        "term": case.term,
        "protocol": case.protocol,
        "scenario": case.scenario,
        "world": case.played_scenario,
        "horizon": case.horizon,
        "worlds": data["worlds"],
        "advised_alpha0": case.alpha0,
        "advised_beta0": case.beta0,
        "advised_epsilon": EPSILON,
        **data["params"],
        **interval_columns("recommended_regret", data["recommended"]),
        **interval_columns("advised_regret", data["advice"]),
        **interval_columns("defaults_regret", data["defaults"]),
        **interval_columns("cost", data["cost"]),
        **interval_columns("defaults_cost", data["defaults_cost"]),
        "verdict": judge_costs([Interval(*data["cost"])]),
    }


def _judge(rows: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> ClaimResult:
    """Judge a recommendation under a protocol; the number shown is the largest cost over the scenarios."""
    judged = where(rows, advice=first["advice"], term=first["term"], protocol=first["protocol"])
    costs = [read_measurement(row, "cost") for row in judged]
    largest = max(costs, key=lambda cost: cost.mean)
    claim = CLAIMS[f"advice-{first['advice']}-{first['term']}"]
    return judge(claim, first["protocol"], largest.scaled(100.0), costs, rows=judged)


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Excess regret of the advice and of the defaults over the recommendation, with 95 % intervals."""
    rows = to_records(result.tables["costs"])
    limit = 100 * MAX_COST
    y = [-0.5, len(rows) - 0.5]
    label = f"{limit:g} %: limit for advice"
    figure = plot_dots(
        [f"({row['advice']}) {row['scenario']}<br>T = {row['horizon']:,}, as {row['protocol']}" for row in rows],
        [
            DotSeries.from_rows("the paper's advice", rows, "cost", {"symbol": "square", "color": ORANGE}, 100.0),
            DotSeries.from_rows("the defaults", rows, "defaults_cost", {"symbol": "diamond", "color": GREY}, 100.0),
        ],
        "Excess regret of the advice",
        ["over our recommendation", "raven-ucb", "K = 10 arms", format_worlds(rows)],
        make_axis("excess regret (%)"),
        extra_traces=[make_guide_line([limit, limit], y, label, "dash", VERMILION)],
        shapes=[make_shading(0, limit, fade(GREEN, 0.15))],
    )
    return [("advice-costs", figure)]


EXPERIMENT = Experiment("advice", make_pieces, evaluate, plot_figures, claims=CLAIMS)
