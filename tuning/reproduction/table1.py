"""Table 1: worlds of the seven kinds of change, checked against the table's definitions.

As defined, all seven scenarios with our parameters; as published, the three scenarios of the paper's sensitivity study
as the authors' script implements them.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ravenlab.dashboards.figures.style import Figure
from ravenlab.dashboards.figures.world import plot_world_view
from ravenlab.environments import find_scenario
from ravenlab.environments.blocks import split_into_blocks
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.view import View, change_steps, thin_view, view_world
from ravenlab.environments.world import Floats, world_tables
from ravenlab.studies.paper.numbers import played_scenario, printed_rows
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import make_table, select, to_records, unique
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece, tables_by_protocol
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share, read_measurement
from ravenlab.tuning.reproduction.texts import Words, judge, read_claims

CLAIMS = read_claims("table1")

HORIZON = 10_000
ARMS_PLOTTED = 5  # arms of the plotted worlds: few enough to distinguish
ARMS_CHECKED = 10  # arms of the checked worlds: the paper's number
WORLDS = 100
ROUNDING_ERROR = 1e-9
EXTENSIONS = ("direction", "common", "affected", "size")  # settings that the paper's scenarios do not have


def leaves_line(means: Floats, variances: Floats) -> bool:
    """Whether a mean leaves the straight line μ(0) + δ·t through its first and last step.

    >>> steady = np.linspace(0.3, 0.5, 9)[:, None]
    >>> leaves_line(steady, steady), leaves_line(np.round(steady, 1), steady)
    (False, True)
    """
    steps = np.linspace(0.0, 1.0, len(means))[:, None]
    return bool((np.abs(means[0] + (means[-1] - means[0]) * steps - means) > ROUNDING_ERROR).any())


def falls_below_start(means: Floats, variances: Floats) -> bool:
    """Whether a variance is ever below its first value: g(t) < 0.

    >>> grown = np.array([[0.1], [0.2], [0.1]])
    >>> falls_below_start(grown, grown), falls_below_start(grown, grown - grown**2 * [[0], [0], [1]])
    (False, True)
    """
    return bool((variances < variances[0]).any())


def never_returns(means: Floats, variances: Floats) -> bool:
    """Whether arms that leave their first distribution never return to it.

    >>> blip, jump = np.array([[1.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [2.0]])
    >>> never_returns(blip, blip), never_returns(jump, jump)
    (False, True)
    """
    unchanged = ((means == means[0]) & (variances == variances[0])).all(axis=1)
    return not unchanged.all() and not unchanged[int(np.argmin(unchanged)) :].any()


VIOLATIONS: dict[str, tuple[Callable[[Floats, Floats], bool], str]] = {
    "incremental-drift": (leaves_line, "a mean leaves the straight line"),
    "variance-drift": (falls_below_start, "a variance falls below its first value"),
    "blips": (never_returns, "the arms change and never return"),
}
"""Test for a violation of each definition, and its description."""


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per protocol."""
    return [RunPiece(f"table1/{protocol}", 1.0, partial(_run, protocol=protocol)) for protocol in context.protocols]


def _run(context: RunContext, protocol: str) -> PieceData:
    names = [row["name"] for row in printed_rows("scenarios_table.csv")]
    if protocol == "published":
        names = [name for name in names if name in VIOLATIONS]
    worlds = []
    moments = []
    for name in names:
        scenario = find_scenario(played_scenario(protocol, name))
        view = thin_view(view_world(draw_worlds(scenario, HORIZON, ARMS_PLOTTED, context.seed)))
        for step, means, variances in zip(view.steps, view.means, view.variances, strict=True):
            for arm, (mean, variance) in enumerate(zip(means, variances, strict=True), start=1):
                values = {"mean": _round(mean), "variance": _round(variance)}
                worlds.append({"scenario": name, "step": int(step), "arm": arm, **values})
        moments += [{"scenario": name, "step": step} for step in change_steps(scenario, HORIZON)]
    return {"worlds": worlds, "moments": moments, "checks": [_check(context, name, protocol) for name in VIOLATIONS]}


def _round(value: float) -> float | None:
    """Round to six digits; None if the arm is not open."""
    return None if np.isnan(value) else float(f"{value:.6g}")


def _check(context: RunContext, name: str, protocol: str) -> dict[str, Any]:
    """Count the worlds that violate the definition, and the steps at which anything changes."""
    scenario = find_scenario(played_scenario(protocol, name))
    count = context.count(WORLDS, least=10)
    is_violated, description = VIOLATIONS[name]
    violations = 0
    changing = 0
    for first, size in split_into_blocks(scenario, HORIZON, ARMS_CHECKED, count):
        worlds = draw_worlds(scenario, HORIZON, ARMS_CHECKED, context.seed, first, size)
        for r in range(size):
            means, variances = world_tables(worlds, r)
            violations += is_violated(means, variances)
            changing += int(((np.diff(means, axis=0) != 0) | (np.diff(variances, axis=0) != 0)).any(axis=1).sum())
    return {
        "scenario": name,
        "violation": description,
        "worlds": count,
        "violations": violations,
        **interval_columns("share", measure_share(violations, count)),
        "changing_steps": changing / count,
    }


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The paper's table, the plotted worlds, and the shares of worlds that violate their definition."""
    tables = tables_by_protocol("table1", context, pieces, ("worlds", "moments", "checks"))
    scenarios = []
    for row in printed_rows("scenarios_table.csv"):
        (effect,) = find_scenario(row["name"]).effects
        parameters = ", ".join(f"{key} {value}" for key, value in vars(effect).items() if key not in EXTENSIONS)
        scenarios.append({**row, "meaning": effect.meaning, "parameters": parameters})
    verdicts = [
        judge(
            CLAIMS[f"table1-{check['scenario']}"],
            check["protocol"],
            read_measurement(check, "share").scaled(100.0),
            check["share"],
            check=check,
            horizon=HORIZON,
        )
        for check in to_records(tables["checks"])
    ]
    facts = {"horizon": HORIZON, "arms": ARMS_PLOTTED, "arms_checked": ARMS_CHECKED, "seed": context.seed}
    return ExperimentResult({"scenarios": make_table(scenarios), **tables}, facts, verdicts)


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """One world of each scenario and protocol that has one."""
    worlds = result.tables["worlds"]
    return [
        (f"table1-{row['name']}-{protocol}", _plot_world(result, row, protocol))
        for row in to_records(result.tables["scenarios"])
        for protocol in reversed(protocols)
        if len(select(worlds, scenario=row["name"], protocol=protocol))
    ]


def _plot_world(result: ExperimentResult, row: dict[str, str], protocol: str) -> Figure:
    key = {"scenario": row["name"], "protocol": protocol}
    points = select(result.tables["worlds"], **key)
    steps = np.array(unique(points, "step"), dtype=np.int64)
    shape = (steps.size, len(unique(points, "arm")))
    means, variances = (
        points[name].to_numpy(dtype=float, na_value=np.nan).reshape(shape) for name in ("mean", "variance")
    )
    implemented = f"{row['scenario']} as implemented by the authors' script"
    return plot_world_view(
        View(steps, means, variances),
        name=row["name"],
        meaning=row["meaning"] if protocol == "defined" else implemented,
        horizon=result.facts["horizon"],
        arms=result.facts["arms"],
        changes=select(result.tables["moments"], **key)["step"].tolist(),
        which=f"seed {result.facts['seed']}",
        title=f"{row['scenario']}, as {protocol}",
        height=440,
    )


EXPERIMENT = Experiment("table1", make_pieces, evaluate, plot_figures, claims=CLAIMS)
