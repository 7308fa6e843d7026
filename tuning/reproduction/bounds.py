"""The regret bounds of the paper's theory, compared with the regret of stationary problems up to T = 10⁶.

A bound on the expected regret applies to one problem, so the arms are the same in every replication and only the noise
differs. The authors ran no such experiment; as published and as defined differ only in the parameters.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.criteria import find_tail, is_still_falling
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.intervals import level_interval, relative_interval
from ravenlab.studies.tables import DataFrame, make_table, select, select_row, to_records
from ravenlab.tuning.reproduction.bounds_figures import SETTING_NAMES, plot_figures
from ravenlab.tuning.reproduction.bounds_problems import (
    BOUNDS,
    CHECKPOINTS,
    DECADES,
    HORIZON,
    PROBLEMS,
    SETTINGS,
    FixedProblem,
    PolicySetting,
    assumption_sides,
    find_crossing,
)
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share, read_measurement, subtract
from ravenlab.tuning.reproduction.texts import judge, read_claims


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per problem and policy."""
    return [
        RunPiece(
            f"bounds/{problem.name}/{setting.name}",
            0.04 * setting.replications,
            partial(_run, problem=problem, setting=setting),
        )
        for problem in PROBLEMS.values()
        for setting in list_settings(context)
    ]


def list_settings(context: RunContext) -> list[PolicySetting]:
    """The policies of the requested protocols."""
    return [setting for setting in SETTINGS.values() if set(setting.protocols) & set(context.protocols)]


def _run(context: RunContext, problem: FixedProblem, setting: PolicySetting) -> PieceData:
    regret = context.simulate_regret(
        setting.policy,
        problem.scenario(),
        horizon=HORIZON,
        arms=problem.arms,
        replications=context.count(setting.replications, least=2),
        params=setting.params,
        checkpoints=CHECKPOINTS,
    )
    at_decades = regret[:, [CHECKPOINTS.index(step) for step in DECADES]]
    return {
        "regret": [list(level_interval(sample, context.seed)) for sample in regret.T],
        **_measure_rates(at_decades, problem, context.seed),
        "replications": len(regret),
    }


def _measure_rates(regret: Floats, problem: FixedProblem, seed: int) -> dict[str, Any]:
    """Regret per step in each decade, its ratio to the preceding decade, and the runs that lost the best arm.

    A run that never pulls the best arm in the last decade loses at least the smallest gap per step.
    """
    per_step = (np.diff(regret, axis=1) / np.diff(DECADES)).T
    ratios: list[list[float] | None] = [None]
    for before, now in pairwise(per_step):
        if before.mean() > 0.0:
            value, low, high = relative_interval(now, before, seed)
            ratios.append([1.0 + value, max(0.0, 1.0 + low), 1.0 + high])
        else:
            ratios.append(None)
    return {
        "rates": [list(level_interval(sample, seed)) for sample in per_step],
        "ratios": ratios,
        "lost": int((per_step[-1] > problem.smallest_gap * (1.0 - 1e-9)).sum()),
    }


CLAIMS = read_claims("bounds")

SIGMAS = (0.1, 0.2, 0.3)  # standard deviations for which the proof's assumption is evaluated

Tables = Mapping[str, DataFrame]


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Regret by T, the bounds, the rate of each decade, linear tails, and the proof's assumption."""
    regrets = []
    rates = []
    tails = []
    for problem in PROBLEMS.values():
        for setting in list_settings(context):
            data = pieces[f"bounds/{problem.name}/{setting.name}"]
            key = {"problem": problem.name, "setting": setting.name, "title": setting.title}
            for step, regret in zip(CHECKPOINTS, data["regret"], strict=True):
                regrets.append(
                    {**key, "T": step, "replications": data["replications"], **interval_columns("regret", regret)}
                )
            for (start, end), rate, ratio in zip(pairwise(DECADES), data["rates"], data["ratios"], strict=True):
                intervals = interval_columns("rate", rate) | interval_columns("ratio", ratio or [None] * 3)
                rates.append({**key, "from": start, "to": end, **intervals})
            tails.append({**key, **_tail_columns(problem, data)})
    tables = {
        "arms": make_table(row for problem in PROBLEMS.values() for row in _arm_rows(problem)),
        "regret": make_table(regrets),
        "bounds": make_table(
            {"problem": problem.name, "bound": name, "T": step, "value": bound(problem, step)}
            for problem in PROBLEMS.values()
            for name, bound in BOUNDS.items()
            for step in CHECKPOINTS
        ),
        "rates": make_table(rates),
        "tails": make_table(tails),
        "assumption": make_table(
            {"setting": setting.name, "title": setting.title, "sigma": sigma, "t": step}
            | assumption_sides(step, setting.params, sigma)
            for setting in list_settings(context)
            if setting.policy == "raven-ucb"
            for sigma in SIGMAS
            for step in CHECKPOINTS
        ),
    }
    verdicts = [
        verdict
        for protocol in context.protocols
        for verdict in (
            _judge_assumption(tables, protocol),
            _judge_order(tables, protocol, "gap-dependent", with_constant=True),
            _judge_order(tables, protocol, "gap-independent", with_constant=False),
            _judge_tighter(tables, protocol),
        )
    ]
    return ExperimentResult(tables, {"horizon": HORIZON}, verdicts)


def _arm_rows(problem: FixedProblem) -> list[dict[str, Any]]:
    values = zip(problem.means, problem.variances, problem.gaps, strict=True)
    key = {"problem": problem.name, "problem_title": problem.title}
    return [
        {**key, "arm": arm, "mean": mean, "variance": variance, "gap": gap}
        for arm, (mean, variance, gap) in enumerate(values, start=1)
    ]


def _tail_columns(problem: FixedProblem, data: PieceData) -> dict[str, Any]:
    """The start of a linear tail, the share of runs that lost the best arm, and the crossings with the bounds."""
    tail = find_tail([None if ratio is None else Interval(*ratio) for ratio in data["ratios"]])
    out: dict[str, Any] = {
        "tail_from": None if tail is None else DECADES[tail],
        "last_rate": data["rates"][-1][0],
        **interval_columns("lost", measure_share(data["lost"], data["replications"])),
    }
    for name, bound in BOUNDS.items():
        where, how = _find_crossing(partial(bound, problem), data, tail is not None)
        column = f"crosses_{name.replace('-', '_')}"
        out |= {column: where, f"{column}_how": how}
    return out


def _find_crossing(bound: Callable[[float], float], data: PieceData, has_tail: bool) -> tuple[float | None, str]:
    """The T from which the mean regret is above a bound: measured, or extrapolated from a linear tail."""
    above = [mean > bound(step) for step, (mean, _, _) in zip(CHECKPOINTS, data["regret"], strict=True)]
    if above[-1]:
        first = max((i for i, is_above in enumerate(above) if not is_above), default=-1) + 1
        return float(CHECKPOINTS[first]), "measured"
    if not has_tail:
        return None, "not crossed"
    where = find_crossing(bound, data["regret"][-1][0], data["rates"][-1][0])
    return where, "not crossed" if where is None else "extrapolated"


def _judge_assumption(tables: Tables, protocol: str) -> ClaimResult:
    rows = [
        {**row, "ratio": row["played"] / row["required"]}
        for row in to_records(select(tables["assumption"], setting=f"raven-{protocol}"))
    ]
    low, high = (choose(rows, key=lambda row: row["ratio"]) for choose in (min, max))
    return judge(
        CLAIMS["bounds-assumption"],
        protocol,
        Interval(low["ratio"], low["ratio"], low["ratio"]),
        [row["ratio"] for row in rows],
        low=low,
        high=high,
        written=[row["written"] / row["required"] for row in rows],
    )


def _judge_order(tables: Tables, protocol: str, bound: str, with_constant: bool) -> ClaimResult:
    """Judge a bound in all problems; `with_constant` if its constant is claimed too, not only its order."""
    setting = f"raven-{protocol}"
    column = f"crosses_{bound.replace('-', '_')}"
    tails = to_records(select(tables["tails"], setting=setting))
    falling = []
    above = []
    ends = {}
    for name in PROBLEMS:
        rates = to_records(select(tables["rates"], problem=name, setting=setting))
        ratios = [None if row["ratio"] is None else read_measurement(row, "ratio") for row in rates]
        falling.append(is_still_falling(ratios))
        regrets = [
            read_measurement(row, "regret")
            for row in to_records(select(tables["regret"], problem=name, setting=setting))
        ]
        values = select(tables["bounds"], problem=name, bound=bound)["value"].tolist()
        is_above = any(regret.low > value for regret, value in zip(regrets, values, strict=True))
        above.append(with_constant and is_above)
        ends[name] = Interval(*(limit / values[-1] for limit in regrets[-1]))
    worst = max(ends, key=lambda name: ends[name].mean)
    tail = next(row for row in tails if row["problem"] == worst)
    has_tail = [row["tail_from"] is not None for row in tails]
    return judge(
        CLAIMS[f"bounds-{bound}"],
        protocol,
        ends[worst],
        has_tail,
        falling,
        above,
        tails=sum(has_tail),
        problems=len(tails),
        title=PROBLEMS[worst].title,
        tail=tail,
        horizon=HORIZON,
        crossing=tail[column],
        how=tail[f"{column}_how"],
    )


def _judge_tighter(tables: Tables, protocol: str) -> ClaimResult:
    """A policy that loses more per step in the long run cannot have a tighter bound."""
    last = select(tables["rates"], to=HORIZON)
    raven, ucb1 = (
        {row["problem"]: row for row in to_records(select(last, setting=setting))}
        for setting in (f"raven-{protocol}", "ucb1")
    )
    saved = {
        name: subtract(read_measurement(ucb1[name], "rate"), read_measurement(raven[name], "rate")) for name in raven
    }
    worst = min(saved, key=lambda name: saved[name].mean)
    bounds = select(tables["bounds"], problem=worst, T=HORIZON)
    return judge(
        CLAIMS["bounds-tighter"],
        protocol,
        saved[worst],
        0.0,
        list(saved.values()),
        title=PROBLEMS[worst].title,
        raven=raven[worst],
        ucb1=ucb1[worst],
        claimed=select_row(bounds, bound="gap-dependent")["value"],
        proven=select_row(bounds, bound="ucb1")["value"],
        regret=select_row(tables["regret"], problem=worst, setting=f"raven-{protocol}", T=HORIZON)["regret"],
    )


CONSTANTS = {
    "names": SETTING_NAMES,
    "problems": list(PROBLEMS.values()),
    "titles": {name: problem.title for name, problem in PROBLEMS.items()},
}

EXPERIMENT = Experiment("bounds", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
