"""Small contexts, and synthetic pieces from which results and sections are computed without simulations."""

from itertools import pairwise
from typing import Any

import numpy as np

from ravenlab.environments.streams import generator
from ravenlab.policies import find_policy
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.reproduction import PROTOCOLS, figure2, find_experiment
from ravenlab.tuning.reproduction.bounds_problems import CHECKPOINTS as BOUNDS_CHECKPOINTS
from ravenlab.tuning.reproduction.bounds_problems import DECADES
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.logistics import ARMS, CHECKPOINTS, HORIZON, POLICIES, list_comparisons, list_measures
from ravenlab.tuning.reproduction.table3 import RECURSION, VARIANTS, run_recursions
from ravenlab.tuning.workers.local import LocalWorkers

POLICY_REGRETS = {
    name: 1000.0 * (place + 1) for place, name in enumerate(("raven-ucb", "ccb", *POLICIES[1:7], "ucb-imp"))
}
"""Mean regrets that agree with the paper's claims: RAVEN-UCB first, CCB second."""


def small_context(
    protocols: tuple[str, ...] = PROTOCOLS, replications: int = 2, jobs: int = 1, seed: int = 0, url: str = ""
) -> RunContext:
    """By default the smallest precision that can be run."""
    return RunContext(seed, replications, protocols, LocalWorkers(jobs), url)


def run_experiment(name: str, context: RunContext) -> ExperimentResult:
    experiment = find_experiment(name)
    return experiment.assemble(context, {piece.key: piece.run(context) for piece in experiment.pieces(context)})


def to_reproduction(context: RunContext, name: str, result: ExperimentResult) -> ReproductionResult:
    return ReproductionResult(context.seed, context.replications, context.protocols, {name: result})


def make_bounds_result(context: RunContext, *, tail: bool) -> ExperimentResult:
    """The bounds from regrets that grow like ln T, or linearly for RAVEN-UCB."""
    experiment = find_experiment("bounds")
    return experiment.assemble(
        context, {piece.key: _make_bounds_piece(tail and "raven" in piece.key) for piece in experiment.pieces(context)}
    )


def _make_bounds_piece(tail: bool) -> PieceData:
    def near(value: float) -> list[float]:
        return [value, 0.9 * value, 1.1 * value]

    widths = [end - start for start, end in pairwise(DECADES)]
    rates = [0.02 if tail else 5.0 / width for width in widths]
    ratios: list[Any] = [None, *[near(now / before) for before, now in pairwise(rates)]]
    regret = [near(0.02 * step if tail else 1.0 + step.bit_length()) for step in BOUNDS_CHECKPOINTS]
    return {
        "regret": regret,
        "rates": [near(rate) for rate in rates],
        "ratios": ratios,
        "lost": 10 if tail else 0,
        "replications": 50,
    }


def make_figure2_pieces(context: RunContext) -> dict[str, Any]:
    """Pieces of Figure 2 with reductions that grow from 20 to 90 %."""
    rng = np.random.default_rng(1)
    horizons, repeats = list(figure2.load_studies()), figure2.count_repeats(context)
    baseline = [[1.0] * repeats for _ in horizons]
    pieces: dict[str, Any] = {"figure2/published/ucb1": {"selection": baseline, "held_out": baseline}}
    level = dict(zip([*horizons, *figure2.LONGER_HORIZONS], np.linspace(0.8, 0.1, 27), strict=True))
    for horizon in horizons:
        selection = level[horizon] + 0.01 * rng.normal(size=repeats)
        samples = {"selection": selection.tolist(), "held_out": (selection + 0.02).tolist()}
        pieces[f"figure2/published/T{horizon}"] = {**samples, "winners": []}
    for group in figure2.group_horizons():
        worlds = figure2.count_held_out(context, group[-1])
        ones = np.ones((len(group), worlds)).tolist()
        pieces[f"figure2/defined/ucb1-to-T{group[-1]}"] = {"regrets": ones}
        for horizon in group:
            raven = level[horizon] + 0.1 * rng.normal(size=worlds)
            pieces[f"figure2/defined/T{horizon}"] = {
                "raven-ucb": {"params": {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}, "regrets": raven.tolist()},
                "ucb1": {"params": {"c": 0.1}, "regrets": (raven + 0.05).tolist()},
            }
    return pieces


def logistics_context(
    protocols: tuple[str, ...] = ("published", "defined"), worlds: int = 20, url: str = ""
) -> RunContext:
    return small_context(protocols, worlds, seed=1, url=url)


def make_logistics_pieces(
    context: RunContext, means: dict[str, float] | None = None, spread: float = 100.0
) -> dict[str, PieceData]:
    """Pieces whose regrets have these means and this standard deviation in every comparison."""
    rng = np.random.default_rng(3)
    worlds, steps = context.count(50), np.array(CHECKPOINTS)
    pieces: dict[str, Any] = {}
    for comparison in list_comparisons(context):
        for name in POLICIES:
            regret = (POLICY_REGRETS | (means or {}))[name] + spread * rng.normal(size=worlds)
            numbers = {"regret_constant": regret + 200.0, "regret": regret, "reward": 39_000.0 - regret}
            numbers["suboptimal_pulls"] = 40_000.0 + regret / 10
            curves = {
                measure: {
                    "mean": (values.mean() * steps / HORIZON).tolist(),
                    "error": (values.std(ddof=1) / worlds**0.5 * steps / HORIZON).tolist(),
                }
                for measure, values in numbers.items()
                if measure != "suboptimal_pulls"
            }
            if comparison != "published":
                curves.pop("regret_constant")
            by_measure = {measure: numbers[measure].tolist() for measure in list_measures(comparison)}
            key = f"logistics/{comparison}/{name}"
            pieces[key] = {"worlds": by_measure, "curves": curves, "steps": steps.tolist()}
            pieces[f"logistics/search/{name}"] = _make_search_piece(name)
    pieces[RECURSION] = run_recursions(context)
    for protocol in context.protocols:
        for place, variant in enumerate(VARIANTS):
            regret = 1000.0 + 100.0 * place + 10.0 * generator(1, 0, place, "made").normal(size=worlds)
            numbers = {"regret": regret, "reward": 39_000.0 - regret}
            if protocol == "published":
                numbers["regret_constant"] = regret + 200.0
            pieces[f"table3/{protocol}/variance-{variant}"] = {
                "worlds": {measure: values.tolist() for measure, values in numbers.items()}
            }
    return pieces


def _make_search_piece(name: str) -> PieceData:
    space = StudySpec(policy=name, scenario="logistics").space
    values = find_policy(name).resolve({}, ARMS, HORIZON)
    return {
        "params": {param: values[param] for param in space},
        "space": {param: list(distribution.bounds()) for param, distribution in space.items()},
    }
