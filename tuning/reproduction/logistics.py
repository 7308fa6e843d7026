"""The logistics case of Table 3 and Figures 4 and 5: nine policies, 100 arms, 50,000 steps.

There are three comparisons; the policies of each play the same worlds:

- published: the policies of the authors' script, on its worlds;
- defaults: the policies as their own papers define them, on the worlds that Table 1 defines;
- tuned: the same after a search with the same budget for each policy, on worlds used by neither search nor selection.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures.style import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.paper.numbers import POLICIES as PAPER_POLICIES
from ravenlab.studies.paper.numbers import PUBLISHED, printed_rows
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import level_interval
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece

POLICIES = tuple(PAPER_POLICIES.values())  # in the order of the paper's table; RAVEN-UCB first
NAMES = {ours: theirs for theirs, ours in PAPER_POLICIES.items()}  # the paper's names of the policies
RAVEN = "raven-ucb"
UCB = "ucb1"
CCB = "ccb"
COMPARISONS = {"published": ("published",), "defined": ("defaults", "tuned")}  # the comparisons of each protocol

WORLDS = {
    "published": ("published-logistics", Stream.SIMULATE),
    "defaults": ("logistics", Stream.REPORT),
    "tuned": ("logistics", Stream.REPORT),
}
"""Scenario and stream of each comparison; defaults and tuned play the same worlds."""

HORIZON = 50_000
ARMS = 100
PAPER_WORLDS = 50
CHECKPOINTS = range(500, HORIZON + 1, 500)

TRIALS = 20
SEARCH_WORLDS = 10
CANDIDATES = 4
SELECTION_WORLDS = 20
BATCH = 5
"""The search of a policy at the default precision."""

SECONDS_PER_WORLD = {"thompson": 0.25, "f-dsw-ts": 0.29, "wls-optimistic-ts": 0.15}
"""Approximate duration of one world on one core; the other policies take less than `FAST`."""

FAST = 0.02

PRINTED_COLUMNS = {
    "regret_constant": "cumulative_regret",
    "reward": "cumulative_reward",
    "suboptimal_pulls": "suboptimal_pulls",
}
"""Our measures and the columns of the paper's table."""

COMPARISON_TITLES = {
    "published": "as published",
    "defaults": "as defined, all policies at their defaults",
    "tuned": "as defined, all policies tuned",
}

MEASURE_TITLES = {
    "regret_constant": "regret relative to the constant 0.8",
    "regret": "regret relative to the best arm at each step",
    "reward": "reward",
    "suboptimal_pulls": "suboptimal pulls",
}

AXIS_TITLES = {
    "regret_constant": "regret (constant 0.8)",
    "regret": "regret (best arm)",
    "reward": "reward",
    "suboptimal_pulls": "suboptimal pulls",
}
"""The same, short enough for an axis on a phone."""

LINE_STYLES: dict[str, dict[str, Any]] = {
    "raven-ucb": {"color": BLUE, "dash": "solid", "width": 3},
    "ucb1": {"color": GREY, "dash": "dash", "width": 2},
    "ucb-v": {"color": ORANGE, "dash": "dot", "width": 2},
    "epsilon-greedy": {"color": ORANGE, "dash": "longdash", "width": 2},
    "thompson": {"color": GREEN, "dash": "dashdot", "width": 2},
    "f-dsw-ts": {"color": SKY, "dash": "solid", "width": 2},
    "wls-optimistic-ts": {"color": PINK, "dash": "dot", "width": 2},
    "ccb": {"color": VERMILION, "dash": "dash", "width": 2},
    "ucb-imp": {"color": GREY, "dash": "solid", "width": 2},
}
"""No two policies share both color and dash; RAVEN-UCB has the thick line."""

PRINTED_MARK = {"symbol": "x-thin", "size": 10, "color": VERMILION, "line": {"color": VERMILION, "width": 2.5}}
"""Mark of the paper's printed numbers."""


def list_comparisons(context: RunContext) -> list[str]:
    """List the comparisons of the requested protocols."""
    return [comparison for protocol in context.protocols for comparison in COMPARISONS[protocol]]


def describe_size(context: RunContext) -> dict[str, Any]:
    """Facts that the sections of all three experiments mention."""
    return {"horizon": HORIZON, "arms": ARMS, "worlds": context.count(PAPER_WORLDS)}


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per comparison and policy; searches are separate pieces that precede the tuned comparison."""
    out = []
    for comparison in list_comparisons(context):
        if comparison == "tuned":
            worlds = TRIALS * SEARCH_WORLDS + (CANDIDATES + 1) * SELECTION_WORLDS
            out += [
                RunPiece(_piece_key("search", name), _seconds(name, worlds), partial(_search, name))
                for name in POLICIES
            ]
        out += [
            RunPiece(_piece_key(comparison, name), _seconds(name, PAPER_WORLDS), partial(_play, comparison, name))
            for name in POLICIES
        ]
    return out


def pieces_by_policy(pieces: Mapping[str, PieceData], kind: str) -> dict[str, PieceData]:
    """The pieces of a comparison, or those of the searches (`kind` search), by policy."""
    return {name: pieces[_piece_key(kind, name)] for name in POLICIES}


def samples_by_policy(pieces: Mapping[str, PieceData], comparison: str, measure: str) -> dict[str, Floats]:
    """One number per world [R] by policy."""
    played = pieces_by_policy(pieces, comparison)
    return {name: np.array(piece["worlds"][measure]) for name, piece in played.items()}


def estimate_mean(values: Floats, measure: str, seed: int) -> Interval:
    """Estimate the mean of a measure over worlds; there are at most as many pulls as steps."""
    return level_interval(values, seed, HORIZON if measure == "suboptimal_pulls" else math.inf)


def list_measures(comparison: str) -> list[str]:
    """The measures of a comparison; only the authors' script measured regret relative to a constant."""
    constant = ["regret_constant"] if comparison == "published" else []
    return [*constant, "regret", "reward", "suboptimal_pulls"]


def printed_by_policy(measure: str) -> dict[str, float]:
    """The paper's numbers by policy; empty for a measure that it does not print."""
    if measure not in PRINTED_COLUMNS:
        return {}
    column = PRINTED_COLUMNS[measure]
    return {PAPER_POLICIES[row["policy"]]: float(row[column]) for row in printed_rows("logistics_table.csv")}


def search_budget(context: RunContext) -> dict[str, int]:
    """The budget of each search. Above the default precision worlds are added, but no trials."""
    trials = min(TRIALS, context.count(TRIALS))
    return {
        "trials": trials,
        "replications": context.count(SEARCH_WORLDS),
        "candidates": min(CANDIDATES, trials),
        "selection": context.count(SELECTION_WORLDS),
    }


def play(
    context: RunContext,
    comparison: str,
    policy: str,
    params: Mapping[str, Value],
    checkpoints: range | None = None,
    worlds: int = PAPER_WORLDS,
) -> PieceData:
    """Play a policy on the worlds of a comparison; `worlds` is their number at the default precision.

    The result has the measures of every world and, with checkpoints, mean and standard error of the curves.
    """
    scenario, stream = WORLDS[comparison]
    simulation = context.workers.simulate(
        policy,
        scenario,
        replications=context.count(worlds),
        seed=context.seed,
        params=params,
        checkpoints=checkpoints,
        stream=stream,
    )
    out: dict[str, Any] = {
        "params": dict(simulation.params),
        "worlds": {measure: values.tolist() for measure, values in simulation.measures().items()},
    }
    curve = simulation.curve
    if curve is not None:
        curves = {measure: getattr(curve, measure) for measure in ("regret_constant", "regret", "reward")}
        out["steps"] = curve.steps.tolist()
        out["curves"] = {
            measure: {
                "mean": values.mean(axis=0).tolist(),
                "error": (values.std(axis=0, ddof=1) / values.shape[0] ** 0.5).tolist(),
            }
            for measure, values in curves.items()
            if values is not None
        }
    return out


def _play(comparison: str, name: str, context: RunContext) -> PieceData:
    policy = f"{PUBLISHED}{name}" if comparison == "published" else name
    params = _search(name, context)["params"] if comparison == "tuned" else {}
    return play(context, comparison, policy, params, CHECKPOINTS)


def _search(name: str, context: RunContext) -> PieceData:
    """Tune one policy; a second call reads the result of the first.

    The study's own report is minimal because the comparison evaluates all policies on the report worlds.
    """
    scenario, _ = WORLDS["tuned"]
    budget = search_budget(context)
    spec = StudySpec(policy=name, scenario=scenario, batch=BATCH, report=2, **budget)  # type: ignore[arg-type]
    recommendation = context.search(_piece_key("search", name), spec)
    space = {param: list(distribution.bounds()) for param, distribution in spec.space.items()}
    return {"params": dict(recommendation.params), "space": space}


def _piece_key(kind: str, name: str) -> str:
    return f"logistics/{kind}/{name}"


def _seconds(name: str, worlds: int) -> float:
    return worlds * SECONDS_PER_WORLD.get(name, FAST) / 2
