"""Claims of the paper's theory and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ravenlab.common.text import format_approximate, format_number, format_range
from ravenlab.studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from ravenlab.studies.paper.criteria import find_tail, is_still_falling, judge_all_above, judge_equation, judge_order
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import make_table, select, select_row, to_records
from ravenlab.tuning.reproduction.bounds.run import (
    BOUNDS,
    CHECKPOINTS,
    DECADES,
    HORIZON,
    PROBLEMS,
    FixedProblem,
    assumption_sides,
    find_crossing,
    list_settings,
)
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share, read_measurement, subtract

if TYPE_CHECKING:
    from pandas import DataFrame

CLAIMS = index_claims(
    [
        Claim(
            "bounds-assumption",
            "Appendix, proof of the bounds",
            "α₀·sqrt(ln t) + β₀·σ equals 2·σ·sqrt(ln t), so the confidence radius is sqrt(4·σ²·ln t / N).",
            unit="ratio of played to required value",
        ),
        Claim(
            "bounds-gap-dependent",
            "Table 2, Section 3.4",
            "The regret is O(K·σ²max·log T / Δ): it grows like ln T and stays below the sum of 16·σ²·ln T / Δ over the "
            "arms.",
            unit="ratio to the bound at T = 10⁶",
        ),
        Claim(
            "bounds-gap-independent",
            "Table 2, Section 3.4",
            "The regret is O(sqrt(K·T·log T)) for all gaps.",
            unit="ratio to the bound at T = 10⁶",
        ),
        Claim(
            "bounds-tighter",
            "Abstract, Table 2",
            "RAVEN-UCB's regret bound is tighter than that of UCB1.",
            unit="UCB1's regret per step minus RAVEN-UCB's",
        ),
    ]
)

SIGMAS = (0.1, 0.2, 0.3)  # standard deviations for which the proof's assumption is evaluated

Tables = Mapping[str, "DataFrame"]


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Regret by T, the bounds, the rate of each decade, linear tails, and the proof's assumption."""
    regrets, rates, tails = [], [], []
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
    tail = find_tail([None if ratio is None else Measurement(*ratio) for ratio in data["ratios"]])
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
    rows = to_records(select(tables["assumption"], setting=f"raven-{protocol}"))
    ratios = {(row["sigma"], row["t"]): row["played"] / row["required"] for row in rows}
    low, high = min(ratios, key=lambda at: ratios[at]), max(ratios, key=lambda at: ratios[at])
    written = [row["written"] / row["required"] for row in rows]
    reason = (
        f"The played value is {format_number(ratios[high])} times the required one at t = {high[1]} (σ = {high[0]:g})"
        f" and falls to {format_number(ratios[low])} times at t = {format_approximate(low[1])} (σ = {low[0]:g})."
        " α_t·sqrt(ln t) tends to 0, so no fixed β₀ can correct this. With α₀ instead of α_t, as written in the proof,"
        f" the ratio ranges from {format_range(written)}."
    )
    smallest = Measurement(ratios[low], ratios[low], ratios[low])
    verdict = judge_equation(list(ratios.values()))
    return ClaimResult(CLAIMS["bounds-assumption"], protocol, smallest, verdict, "equation", reason)


def _judge_order(tables: Tables, protocol: str, bound: str, with_constant: bool) -> ClaimResult:
    """Judge a bound in all problems; `with_constant` if its constant is claimed too, not only its order."""
    setting, column = f"raven-{protocol}", f"crosses_{bound.replace('-', '_')}"
    tails, falling, above, ends = [], [], [], {}
    for name in PROBLEMS:
        rates = to_records(select(tables["rates"], problem=name, setting=setting))
        tails.append(select_row(tables["tails"], problem=name, setting=setting)["tail_from"] is not None)
        ratios = [None if row["ratio"] is None else read_measurement(row, "ratio") for row in rates]
        falling.append(is_still_falling(ratios))
        regrets = to_records(select(tables["regret"], problem=name, setting=setting))
        values = select(tables["bounds"], problem=name, bound=bound)["value"].tolist()
        is_above = any(row["regret_low"] > value for row, value in zip(regrets, values, strict=True))
        above.append(with_constant and is_above)
        end, last = regrets[-1], values[-1]
        ends[name] = Measurement(end["regret"] / last, end["regret_low"] / last, end["regret_high"] / last)
    worst = max(ends, key=lambda name: ends[name].value)
    tail = select_row(tables["tails"], problem=worst, setting=setting)
    crossing = start = ""
    if tail[column] is not None:
        crossing = f", which it crosses at T ≈ {format_approximate(tail[column])} ({tail[f'{column}_how']})"
    if tail["tail_from"] is not None:
        start = f" from T = {format_approximate(tail['tail_from'])}"
    reason = (
        f"The regret has a linear tail in {sum(tails)} of {len(tails)} problems. The worst is"
        f" {PROBLEMS[worst].title}{start}: {tail['lost']:.0%} of the runs have lost the best arm permanently, and the"
        f" regret at T = {format_approximate(HORIZON)} is {format_number(ends[worst].value)} times the bound{crossing}."
    )
    verdict = judge_order(tails, falling, above)
    return ClaimResult(CLAIMS[f"bounds-{bound}"], protocol, ends[worst], verdict, "order", reason)


def _judge_tighter(tables: Tables, protocol: str) -> ClaimResult:
    """A policy that loses more per step in the long run cannot have a tighter bound."""
    setting, last = f"raven-{protocol}", max(tables["rates"]["to"])
    saved, rates = {}, {}
    for name in PROBLEMS:
        ucb1, raven = (
            read_measurement(select_row(tables["rates"], problem=name, setting=policy, to=last), "rate")
            for policy in ("ucb1", setting)
        )
        saved[name], rates[name] = subtract(ucb1, raven), (ucb1.value, raven.value)
    worst = min(saved, key=lambda name: saved[name].value)
    claimed, proven = (
        select_row(tables["bounds"], problem=worst, bound=bound, T=HORIZON)["value"]
        for bound in ("gap-dependent", "ucb1")
    )
    end = select_row(tables["regret"], problem=worst, setting=setting, T=HORIZON)["regret"]
    reason = (
        f"With {PROBLEMS[worst].title}, RAVEN-UCB loses {rates[worst][1]:.2g} per step in the last decade and UCB1"
        f" {rates[worst][0]:.2g}. The claimed bound is smaller ({format_number(claimed)} versus"
        f" {format_number(proven)} for UCB1 at T = {format_approximate(HORIZON)}), but RAVEN-UCB's regret is"
        f" {format_number(end)}."
    )
    verdict = judge_all_above(0.0, list(saved.values()))
    return ClaimResult(CLAIMS["bounds-tighter"], protocol, saved[worst], verdict, "all above", reason)
