"""Claims about Table 1 and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from environments import find_scenario
from studies.paper.claims import Claim, ClaimResult, index_claims
from studies.paper.numbers import printed_rows
from studies.paper.results import ExperimentResult
from studies.paper.rules import judge_definition
from studies.tables import make_table, to_records
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.measurements import to_percent
from tuning.reproduction.table1.run import ARMS_CHECKED, ARMS_PLOTTED, HORIZON

CLAIMS = index_claims(
    [
        Claim(
            "table1-incremental-drift",
            "Table 1",
            "In the experiments' incremental drift, each mean moves linearly with time.",
            unit="%",
        ),
        Claim(
            "table1-variance-drift",
            "Table 1",
            "In the experiments' variance drift, variances only grow: none falls below its first value.",
            unit="%",
        ),
        Claim(
            "table1-blips",
            "Table 1",
            "In the experiments' blips, the arms deviate briefly and then return to their previous distributions.",
            unit="%",
        ),
    ]
)


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The paper's table, the plotted worlds, and the shares of worlds that violate their definition."""
    data = {protocol: pieces[f"table1/{protocol}"] for protocol in context.protocols}
    tables = {
        name: make_table({"protocol": protocol, **row} for protocol, each in data.items() for row in each[name])
        for name in ("worlds", "moments", "held")
    }
    scenarios = []
    for row in printed_rows("scenarios_table.csv"):
        (effect,) = find_scenario(row["name"]).effects
        parameters = ", ".join(f"{key} {value}" for key, value in vars(effect).items())
        scenarios.append({**row, "meaning": effect.meaning, "parameters": parameters})
    facts = {"horizon": HORIZON, "arms": ARMS_PLOTTED, "arms_held": ARMS_CHECKED, "seed": context.seed}
    verdicts = [_judge(row) for row in to_records(tables["held"])]
    return ExperimentResult({"scenarios": make_table(scenarios), **tables}, facts, verdicts)


def _judge(row: dict[str, Any]) -> ClaimResult:
    share = to_percent(row["share"], row["low"], row["high"])
    reason = (
        f"In {row['broken']} of {row['worlds']} worlds of {HORIZON:,} steps {row['broken_when']}; on average something"
        f" changes at {row['changing_steps']:.4g} steps of a world."
    )
    verdict = judge_definition(row["share"])
    return ClaimResult(CLAIMS[f"table1-{row['scenario']}"], row["protocol"], share, verdict, "definition", reason)
