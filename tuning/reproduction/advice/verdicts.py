"""Claims of Section 5 and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ravenlab.common.text import capitalize_first, format_number
from ravenlab.studies.paper.advice import EPSILON
from ravenlab.studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from ravenlab.studies.paper.criteria import judge_costs
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.symbols import format_params
from ravenlab.studies.tables import make_table
from ravenlab.tuning.reproduction.advice.run import (
    HELD_OUT,
    MIN_TRIALS,
    REPLICATIONS,
    SELECTION,
    TRIALS,
    AdviceCase,
    list_cases,
)
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.measurements import format_measurement, interval_columns, to_percent

TEXTS = {
    "advice-1-long": "In high-variance environments with long horizons, use α₀ = 1, β₀ = 5.",
    "advice-2-long": "For gradual changes in the long term, use α₀ = 1, β₀ = 5.",
    "advice-2-short": "For gradual changes in the short term, use α₀ = 0.5, β₀ = 10.",
    "advice-3-long": "For rare events and outliers, use α₀ = 5, β₀ = 1.",
}
"""By key; the number in the key is that of the advice in the paper."""

CLAIMS = index_claims(
    [Claim(key, f"Section 5, advice ({key.split('-')[1]})", text, unit="%") for key, text in TEXTS.items()]
)


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The excess regret of each recommendation of the paper."""
    cases = list_cases(context.protocols)
    return ExperimentResult(
        tables={"costs": make_table(_make_row(case, pieces[case.piece_key]) for case in cases)},
        facts={
            "trials": context.count(TRIALS, least=MIN_TRIALS),
            "replications": context.count(REPLICATIONS, least=4),
            "selection": {term: context.count(worlds, least=20) for term, worlds in SELECTION.items()},
            "held_out": {term: context.count(worlds, least=40) for term, worlds in HELD_OUT.items()},
        },
        verdicts=list(_judge(cases, pieces)),
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
        "verdict": judge_costs([Measurement(*data["cost"])]),
    }


def _judge(cases: Sequence[AdviceCase], pieces: Mapping[str, PieceData]) -> Iterator[ClaimResult]:
    """One verdict per claim and protocol; the number shown is the largest cost over the scenarios."""
    for key, protocol in dict.fromkeys((case.claim_key, case.protocol) for case in cases):
        data = {case: pieces[case.piece_key] for case in cases if (case.claim_key, case.protocol) == (key, protocol)}
        costs = [Measurement(*piece["cost"]) for piece in data.values()]
        largest = max(costs, key=lambda cost: cost.value)
        reason = "; ".join(_describe(case, piece) for case, piece in data.items())
        verdict = judge_costs(costs)
        yield ClaimResult(CLAIMS[key], protocol, to_percent(largest), verdict, "cost", f"{capitalize_first(reason)}.")


def _describe(case: AdviceCase, data: PieceData) -> str:
    where = f"in {case.played_scenario}, T = {case.horizon:,}"
    cost = to_percent(data["cost"])
    if cost.value == cost.low == cost.high == 0.0:
        return f"{where}, the search recommends the same parameters"
    return (
        f"{where}, its regret is {format_measurement(cost)} higher than that of "
        f"{format_params(data['params'])}: {format_number(data['advice'][0])} versus "
        f"{format_number(data['recommended'][0])}"
    )
