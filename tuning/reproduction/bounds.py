"""The regret bounds of the paper's theory beside measured regret up to T = 10⁶, and what their proof assumes.

The authors ran nothing of the kind. So published and defined differ in the parameters alone: those of the paper's own
comparison, and ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from environments.world import Floats
from studies.reproduction.document import Outcome
from studies.reproduction.rules import Measured, tail_begins
from studies.reproduction.tables import Table
from tuning.reproduction._bounds_problems import (
    BOUNDS,
    DECADES,
    HORIZON,
    MARKS,
    PLAYERS,
    PROBLEMS,
    Player,
    Problem,
    crossing,
    two_sides,
)
from tuning.reproduction._bounds_verdicts import verdicts
from tuning.reproduction._intervals import measured_mean, measured_share
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import relative_interval

SIGMAS = (0.1, 0.2, 0.3)
"""Standard deviations for which the proof's assumption is looked at."""


def pieces(context: Context) -> list[Piece]:
    """One for each policy in each problem."""
    return [
        Piece(
            f"bounds/{problem.name}/{player.name}",
            0.04 * player.replications,
            partial(_run, problem=problem, player=player),
        )
        for problem in PROBLEMS.values()
        for player in _players(context)
    ]


def _players(context: Context) -> list[Player]:
    return [player for player in PLAYERS.values() if set(player.protocols) & set(context.protocols)]


def _run(context: Context, problem: Problem, player: Player) -> Found:
    played = context.crew.simulate(
        player.policy,
        problem.scenario(),
        horizon=HORIZON,
        arms=problem.arms,
        replications=context.count(player.replications, least=2),
        seed=context.seed,
        params=player.params,
        checkpoints=MARKS,
    )
    assert played.curve is not None
    regret = played.curve.regret
    at_decades = regret[:, [MARKS.index(step) for step in DECADES]]
    return {
        "regret": [_measured(measured_mean(regret[:, i], context.seed)) for i in range(len(MARKS))],
        **_rates(at_decades, problem, context.seed),
        "replications": len(regret),
    }


def _rates(regret: Floats, problem: Problem, seed: int) -> dict[str, Any]:
    """Regret per step in each decade, its ratio to the one before, and who never found the best arm in the last.

    Whoever never pulls the best arm loses at least the smallest gap a step: so lose they who are counted.
    """
    per_step = np.diff(regret, axis=1) / np.diff(DECADES)
    ratios: list[dict[str, float] | None] = [None]
    for i in range(1, per_step.shape[1]):
        now, before = per_step[:, i], per_step[:, i - 1]
        if before.mean() > 0.0:
            value, low, high = relative_interval(now, before, seed)
            ratios.append(_measured(Measured(1.0 + value, 1.0 + low, 1.0 + high)))
        else:
            ratios.append(None)
    lost = int((per_step[:, -1] > problem.smallest_gap * (1.0 - 1e-9)).sum())
    return {
        "rates": [_measured(measured_mean(per_step[:, i], seed)) for i in range(per_step.shape[1])],
        "ratios": ratios,
        "lost": lost,
    }


def _measured(found: Measured) -> dict[str, float]:
    """As plain data; nothing here can be below 0, though an interval from few runs may reach there."""
    return {"value": found.value, "low": max(0.0, found.low), "high": found.high}


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Regret by T, the bounds, the rate of each decade, the tails, and the proof's assumption."""
    regrets, rates, tails = [], [], []
    for problem in PROBLEMS.values():
        for player in _players(context):
            told = found[f"bounds/{problem.name}/{player.name}"]
            who = {"problem": problem.name, "player": player.name, "title": player.title}
            for step, regret in zip(MARKS, told["regret"], strict=True):
                regrets.append({**who, "T": step, "replications": told["replications"], **_named("regret", regret)})
            for i, rate in enumerate(told["rates"]):
                ends = {"from": DECADES[i], "to": DECADES[i + 1]}
                rates.append({**who, **ends, **_named("rate", rate), **_named("ratio", told["ratios"][i])})
            tails.append({**who, **_tail(problem, told)})
    tables = {
        "arms": Table.of(
            {
                "problem": problem.name,
                "problem_title": problem.title,
                "arm": k,
                "mean": mean,
                "variance": variance,
                "gap": gap,
            }
            for problem in PROBLEMS.values()
            for k, (mean, variance, gap) in enumerate(
                zip(problem.means, problem.variances, problem.gaps, strict=True), start=1
            )
        ),
        "regret": Table.of(regrets),
        "bounds": Table.of(
            {"problem": problem.name, "bound": name, "T": step, "value": bound(problem, step)}
            for problem in PROBLEMS.values()
            for name, bound in BOUNDS.items()
            for step in MARKS
        ),
        "rates": Table.of(rates),
        "tails": Table.of(tails),
        "assumption": Table.of(
            {"player": player.name, "title": player.title, "sigma": sigma, "t": step}
            | two_sides(step, player.params, sigma)
            for player in _players(context)
            if player.policy == "raven-ucb"
            for sigma in SIGMAS
            for step in MARKS
        ),
    }
    return Outcome(tables, {"horizon": HORIZON}, verdicts(context, tables))


def _named(name: str, found: Mapping[str, float] | None) -> dict[str, float | None]:
    """A number with its interval in three columns."""
    columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
    return {column: None if found is None else found[key] for key, column in columns.items()}


def _tail(problem: Problem, told: Found) -> dict[str, Any]:
    """Whether and from where the regret grows in a straight line, and where that meets the bounds."""
    ratios = [None if ratio is None else Measured(**ratio) for ratio in told["ratios"]]
    begins = tail_begins(ratios)
    lost = measured_share(told["lost"], told["replications"])
    out: dict[str, Any] = {
        "tail_from": None if begins is None else DECADES[begins],
        "last_rate": told["rates"][-1]["value"],
        **_named("lost", _measured(lost)),
    }
    for name, bound in BOUNDS.items():
        where, how = _meets(partial(bound, problem), told, begins is not None)
        column = name.replace("-", "_")
        out |= {f"meets_{column}": where, f"meets_{column}_how": how}
    return out


def _meets(bound: Any, told: Found, tail: bool) -> tuple[float | None, str]:
    """The T from which the mean regret lies above a bound: measured, or where a tail would lead if it goes on."""
    above = [regret["value"] > bound(step) for step, regret in zip(MARKS, told["regret"], strict=True)]
    if above[-1]:
        first = max((i for i, each in enumerate(above) if not each), default=-1) + 1
        return float(MARKS[first]), "measured"
    if not tail:
        return None, "not met"
    where = crossing(bound, told["regret"][-1]["value"], told["rates"][-1]["value"])
    return where, "not met" if where is None else "extrapolated"
