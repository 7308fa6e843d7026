"""Claims of the paper's theory and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from environments.text import format_approximate
from studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from studies.paper.results import ExperimentResult
from studies.paper.rules import find_tail, is_still_falling, judge_all_above, judge_equation, judge_order
from studies.tables import make_table, select, select_row, to_records
from tuning.reproduction.bounds.run import (
    BOUNDS,
    CHECKPOINTS,
    DECADES,
    HORIZON,
    PROBLEMS,
    FixedProblem,
    assumption_sides,
    find_crossing,
    list_players,
    to_object,
)
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.measurements import measure_share, subtract

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

SIGMAS = (0.1, 0.2, 0.3)
"""Standard deviations for which the proof's assumption is evaluated."""

Tables = Mapping[str, "DataFrame"]


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Regret by T, the bounds, the rate of each decade, linear tails, and the proof's assumption."""
    regrets, rates, tails = [], [], []
    for problem in PROBLEMS.values():
        for player in list_players(context):
            data = pieces[f"bounds/{problem.name}/{player.name}"]
            key = {"problem": problem.name, "player": player.name, "title": player.title}
            for step, regret in zip(CHECKPOINTS, data["regret"], strict=True):
                regrets.append({**key, "T": step, "replications": data["replications"], **_columns("regret", regret)})
            for i, rate in enumerate(data["rates"]):
                decade = {"from": DECADES[i], "to": DECADES[i + 1]}
                rates.append({**key, **decade, **_columns("rate", rate), **_columns("ratio", data["ratios"][i])})
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
            {"player": player.name, "title": player.title, "sigma": sigma, "t": step}
            | assumption_sides(step, player.params, sigma)
            for player in list_players(context)
            if player.policy == "raven-ucb"
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
    return [
        {
            "problem": problem.name,
            "problem_title": problem.title,
            "arm": arm,
            "mean": mean,
            "variance": variance,
            "gap": gap,
        }
        for arm, (mean, variance, gap) in enumerate(values, start=1)
    ]


def _columns(name: str, measurement: Mapping[str, float] | None) -> dict[str, float | None]:
    """Put a stored measurement in three columns."""
    columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
    return {column: None if measurement is None else measurement[key] for key, column in columns.items()}


def _tail_columns(problem: FixedProblem, data: PieceData) -> dict[str, Any]:
    """The start of a linear tail, the share of runs that lost the best arm, and the crossings with the bounds."""
    tail = find_tail([None if ratio is None else Measurement(**ratio) for ratio in data["ratios"]])
    lost = measure_share(data["lost"], data["replications"])
    out: dict[str, Any] = {
        "tail_from": None if tail is None else DECADES[tail],
        "last_rate": data["rates"][-1]["value"],
        **_columns("lost", to_object(lost)),
    }
    for name, bound in BOUNDS.items():
        where, how = _find_crossing(partial(bound, problem), data, tail is not None)
        column = f"meets_{name.replace('-', '_')}"
        out |= {column: where, f"{column}_how": how}
    return out


def _find_crossing(bound: Callable[[float], float], data: PieceData, has_tail: bool) -> tuple[float | None, str]:
    """The T from which the mean regret is above a bound: measured, or extrapolated from a linear tail."""
    above = [regret["value"] > bound(step) for step, regret in zip(CHECKPOINTS, data["regret"], strict=True)]
    if above[-1]:
        first = max((i for i, each in enumerate(above) if not each), default=-1) + 1
        return float(CHECKPOINTS[first]), "measured"
    if not has_tail:
        return None, "not met"
    where = find_crossing(bound, data["regret"][-1]["value"], data["rates"][-1]["value"])
    return where, "not met" if where is None else "extrapolated"


def _read(row: Mapping[str, Any], name: str) -> Measurement | None:
    return None if row[name] is None else Measurement(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _judge_assumption(tables: Tables, protocol: str) -> ClaimResult:
    rows = to_records(select(tables["assumption"], player=f"raven-{protocol}"))
    ratios = {(row["sigma"], row["t"]): row["played"] / row["needed"] for row in rows}
    low, high = min(ratios, key=lambda at: ratios[at]), max(ratios, key=lambda at: ratios[at])
    written = [row["written"] / row["needed"] for row in rows]
    reason = (
        f"The played value is {ratios[high]:.3g} times the required one at t = {high[1]} (σ = {high[0]:g}) and falls to"
        f" {ratios[low]:.3g} times at t = {format_approximate(low[1])} (σ = {low[0]:g}), because α_t·sqrt(ln t) "
        "tends to 0. With α₀"
        f" instead of α_t, as written in the proof, the ratio ranges from {min(written):.3g} to {max(written):.3g}."
    )
    smallest = Measurement(ratios[low], ratios[low], ratios[low])
    verdict = judge_equation(list(ratios.values()))
    return ClaimResult(CLAIMS["bounds-assumption"], protocol, smallest, verdict, "equation", reason)


def _judge_order(tables: Tables, protocol: str, bound: str, with_constant: bool) -> ClaimResult:
    """Judge a bound in all problems; `with_constant` if its constant is claimed too, not only its order."""
    player, column = f"raven-{protocol}", f"meets_{bound.replace('-', '_')}"
    tails, falling, above, ends = [], [], [], {}
    for name in PROBLEMS:
        rates = to_records(select(tables["rates"], problem=name, player=player))
        tails.append(select_row(tables["tails"], problem=name, player=player)["tail_from"] is not None)
        falling.append(is_still_falling([_read(row, "ratio") for row in rates]))
        regrets = to_records(select(tables["regret"], problem=name, player=player))
        values = select(tables["bounds"], problem=name, bound=bound)["value"].tolist()
        is_above = any(row["regret_low"] > value for row, value in zip(regrets, values, strict=True))
        above.append(with_constant and is_above)
        end, last = regrets[-1], values[-1]
        ends[name] = Measurement(end["regret"] / last, end["regret_low"] / last, end["regret_high"] / last)
    worst = max(ends, key=lambda name: ends[name].value)
    tail = select_row(tables["tails"], problem=worst, player=player)
    crossing = (
        ""
        if tail[column] is None
        else f", which it crosses at T ≈ {format_approximate(tail[column])} ({tail[f'{column}_how']})"
    )
    start = "" if tail["tail_from"] is None else f" from T = {format_approximate(tail['tail_from'])}"
    reason = (
        f"The regret has a linear tail in {sum(tails)} of {len(tails)} problems. The worst is"
        f" {PROBLEMS[worst].title}{start}: {tail['lost']:.0%} of the runs have lost the best arm permanently, and the"
        f" regret at T = {format_approximate(HORIZON)} is {ends[worst].value:.3g} times the bound{crossing}."
    )
    verdict = judge_order(tails, falling, above)
    return ClaimResult(CLAIMS[f"bounds-{bound}"], protocol, ends[worst], verdict, "order", reason)


def _judge_tighter(tables: Tables, protocol: str) -> ClaimResult:
    """A policy that loses more per step in the long run cannot have a tighter bound."""
    player, last = f"raven-{protocol}", max(tables["rates"]["to"])
    saved, rates = {}, {}
    for name in PROBLEMS:
        rows = [select_row(tables["rates"], problem=name, player=each, to=last) for each in ("ucb1", player)]
        ucb1, raven = (Measurement(row["rate"], row["rate_low"], row["rate_high"]) for row in rows)
        saved[name], rates[name] = subtract(ucb1, raven), (ucb1.value, raven.value)
    worst = min(saved, key=lambda name: saved[name].value)
    claimed, proven = (
        select_row(tables["bounds"], problem=worst, bound=bound, T=HORIZON)["value"]
        for bound in ("gap-dependent", "ucb1")
    )
    end = select_row(tables["regret"], problem=worst, player=player, T=HORIZON)["regret"]
    reason = (
        f"With {PROBLEMS[worst].title}, RAVEN-UCB loses {rates[worst][1]:.2g} per step in the last decade and UCB1"
        f" {rates[worst][0]:.2g}. The claimed bound is smaller ({claimed:,.0f} versus {proven:,.0f} for UCB1 at"
        f" T = {format_approximate(HORIZON)}), but RAVEN-UCB's regret is {end:,.0f}."
    )
    verdict = judge_all_above(0.0, list(saved.values()))
    return ClaimResult(CLAIMS["bounds-tighter"], protocol, saved[worst], verdict, "all above", reason)
