"""Claims about Table 1 and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ravenlab.common.text import format_number
from ravenlab.environments import find_scenario
from ravenlab.studies.paper.claims import Claim, ClaimResult, index_claims
from ravenlab.studies.paper.criteria import judge_definition
from ravenlab.studies.paper.numbers import printed_rows
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import make_table, to_records
from ravenlab.tuning.reproduction.context import PieceData, RunContext, tables_by_protocol
from ravenlab.tuning.reproduction.measurements import read_measurement, to_percent
from ravenlab.tuning.reproduction.table1.run import ARMS_CHECKED, ARMS_PLOTTED, HORIZON

TEXTS = {
    "incremental-drift": "In the experiments' incremental drift, each mean moves linearly with time.",
    "variance-drift": "In the experiments' variance drift, variances only grow: none falls below its first value.",
    "blips": "In the experiments' blips, the arms deviate briefly and then return to their previous distributions.",
}
"""By scenario."""

CLAIMS = index_claims([Claim(f"table1-{name}", "Table 1", text, unit="%") for name, text in TEXTS.items()])


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The paper's table, the plotted worlds, and the shares of worlds that violate their definition."""
    tables = tables_by_protocol("table1", context, pieces, ("worlds", "moments", "checks"))
    scenarios = []
    for row in printed_rows("scenarios_table.csv"):
        (effect,) = find_scenario(row["name"]).effects
        parameters = ", ".join(f"{key} {value}" for key, value in vars(effect).items())
        scenarios.append({**row, "meaning": effect.meaning, "parameters": parameters})
    facts = {"horizon": HORIZON, "arms": ARMS_PLOTTED, "arms_checked": ARMS_CHECKED, "seed": context.seed}
    verdicts = [_judge(row) for row in to_records(tables["checks"])]
    return ExperimentResult({"scenarios": make_table(scenarios), **tables}, facts, verdicts)


def _judge(row: dict[str, Any]) -> ClaimResult:
    reason = (
        f"In {row['violations']} of {row['worlds']} worlds of {HORIZON:,} steps {row['violation']}; a world"
        f" changes at {format_number(row['changing_steps'])} steps on average."
    )
    claim, share = CLAIMS[f"table1-{row['scenario']}"], to_percent(read_measurement(row, "share"))
    return ClaimResult(claim, row["protocol"], share, judge_definition(row["share"]), "definition", reason)
