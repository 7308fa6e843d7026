"""Play RAVEN-UCB and UCB1 on ten Bernoulli arms, as published and as defined.

As published, the authors' procedure is repeated many times, because a single run is random. As defined, one search per
horizon yields a winner that is evaluated on held-out worlds; UCB1 with its own constant tuned is treated the same way.

UCB1 does not depend on the horizon, and a world up to T does not depend on what follows. One run over the longest
horizon with checkpoints therefore gives the regret of UCB1 at all horizons.
"""

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.workers.problem import Evaluator, Problem

RAVEN = "raven-ucb"
UCB1 = "ucb1"
BASELINE = "published-ucb1"
"""The tuned policies, and the baseline: UCB1 with bonus sqrt(2·ln t / (N+1))."""

LONGER_HORIZONS = (20_000, 50_000, 100_000, 200_000)  # horizons beyond those of the paper
REPEATS = 20  # repetitions of the authors' procedure, which they ran once
HELD_OUT = {50_000: 1600, 200_000: 400}
"""Held-out worlds up to each of these horizons: enough for about ± 1 percentage point."""

FINALISTS = 3
SELECTION = 100
REPORT = 20
"""Finalists and their selection worlds (50 gave a visibly worse choice). The study's own report is small because
winners are evaluated on many more worlds here."""

MIN_REPLICATIONS = 5  # worlds per trial far below the default precision
SCRIPT_PARAMS: dict[str, Value] = {"epsilon": 1e-6, "variance": "printed", "logarithm": "t"}
"""Parameters of the authors' script; it ignored the ε that Optuna suggested."""


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per horizon, and the baseline on the same worlds."""
    out = []
    if "published" in context.protocols:
        out.append(RunPiece("figure2/published/ucb1", 1.5, run_published_baseline))
        out += [
            RunPiece(f"figure2/published/T{horizon}", 0.2 + 1.2e-4 * horizon, partial(run_published, horizon=horizon))
            for horizon in load_studies()
        ]
    if "defined" in context.protocols:
        for horizons in group_horizons():
            key = f"figure2/defined/ucb1-to-T{horizons[-1]}"
            out.append(RunPiece(key, 2.5, partial(run_defined_baseline, horizons=horizons)))
            out += [
                RunPiece(f"figure2/defined/T{horizon}", 0.4 + 1.6e-4 * horizon, partial(run_defined, horizon=horizon))
                for horizon in horizons
            ]
    return out


@lru_cache(maxsize=1)
def load_studies() -> dict[int, StudySpec]:
    """Load the search at each horizon of the paper from the study file shipped with ravenlab."""
    return {spec.horizon: spec for spec in load_study_file(find_study_file("figure2"))}


def first_study() -> StudySpec:
    """The search at the shortest horizon; those at other horizons differ only in the horizon."""
    return next(iter(load_studies().values()))


def make_spec(context: RunContext, horizon: int) -> StudySpec:
    """The search at any horizon: 50 worlds per trial, or fewer below the default precision."""
    spec = first_study()
    counts = {"replications": spec.replications, "selection": SELECTION, "report": REPORT}
    budget = {name: min(count, context.count(count, MIN_REPLICATIONS)) for name, count in counts.items()}
    return spec.model_copy(update={"horizon": horizon, "candidates": FINALISTS, **budget})


def draw_candidates(seed: int, repeat: int, horizon: int) -> list[dict[str, Value]]:
    """Draw the ten candidates of one published search: α₀ and β₀ log-uniform.

    The authors used Optuna's TPE with ten trials. The first ten trials of TPE are random, so the search is random.
    """
    spec = load_studies()[horizon]
    rng = generator(seed, Stream.SEARCH, repeat, f"figure2/T{horizon}")
    ranges = [np.log(spec.space[name].bounds()) for name in ("alpha0", "beta0")]
    values = np.exp([[rng.uniform(low, high) for low, high in ranges] for _ in range(spec.trials)])
    return [
        dict(find_policy(RAVEN).resolve({"alpha0": float(a), "beta0": float(b), **SCRIPT_PARAMS}, _arms(), horizon))
        for a, b in values
    ]


def count_repeats(context: RunContext) -> int:
    """Number of repetitions of the authors' procedure."""
    return context.count(REPEATS)


def count_held_out(context: RunContext, horizon: int) -> int:
    """Number of held-out worlds at a horizon."""
    return context.count(HELD_OUT[_group(horizon)], least=20)


def group_horizons() -> list[list[int]]:
    """Group all horizons by their number of held-out worlds."""
    horizons = (*load_studies(), *LONGER_HORIZONS)
    return [[horizon for horizon in horizons if _group(horizon) == longest] for longest in HELD_OUT]


def _group(horizon: int) -> int:
    return min(longest for longest in HELD_OUT if horizon <= longest)


def run_published(context: RunContext, horizon: int) -> PieceData:
    """Repeat the authors' search: mean regrets of the winners on the worlds that selected them and on others."""
    worlds = first_study().replications
    evaluator = _make_evaluator(context, RAVEN, horizon)
    winners: list[dict[str, Value]] = []
    on_selection = []
    on_held_out = []
    for repeat in range(count_repeats(context)):
        candidates = draw_candidates(context.seed, repeat, horizon)
        regret = evaluator.play(candidates, Stream.SIMULATE, repeat * worlds, worlds).regret.mean(axis=1)
        best = int(np.argmin(regret))
        held_out = evaluator.play([candidates[best]], Stream.REPORT, repeat * worlds, worlds).regret
        winners.append({name: candidates[best][name] for name in ("alpha0", "beta0")})
        on_selection.append(float(regret[best]))
        on_held_out.append(float(held_out.mean()))
    return {"winners": winners, "selection": on_selection, "held_out": on_held_out}


def run_published_baseline(context: RunContext) -> PieceData:
    """Mean regret of UCB1 [horizon, repeat] on the worlds of each search and on the held-out ones."""
    horizons = list(load_studies())
    repeats = count_repeats(context)
    worlds = first_study().replications

    def mean_by_repeat(stream: Stream) -> list[list[float]]:
        regret = _run_baseline(context, horizons, stream, repeats * worlds)
        means: list[list[float]] = regret.reshape(repeats, worlds, len(horizons)).mean(axis=1).T.tolist()
        return means

    return {"selection": mean_by_repeat(Stream.SIMULATE), "held_out": mean_by_repeat(Stream.REPORT)}


def run_defined(context: RunContext, horizon: int) -> PieceData:
    """Tune RAVEN-UCB and UCB1 with the same budget; return the winners and their regrets on held-out worlds."""
    raven = make_spec(context, horizon)
    ucb1 = raven.changed(policy=UCB1, space={})  # the only parameter searched is the constant c
    out = {}
    for spec in (raven, ucb1):
        winner = context.search(f"figure2/{spec.policy}/T{horizon}", spec)
        params = {name: float(value) for name, value in winner.params.items()}
        played = _make_evaluator(context, spec.policy, horizon).play(
            [spec.resolve_params(params)], Stream.REPORT, 0, count_held_out(context, horizon)
        )
        out[spec.policy] = {"params": params, "regrets": played.regret[0].tolist()}
    return out


def run_defined_baseline(context: RunContext, horizons: Sequence[int]) -> PieceData:
    """Regrets of UCB1 [horizon, world] on the held-out worlds."""
    worlds = count_held_out(context, horizons[-1])
    return {"regrets": _run_baseline(context, horizons, Stream.REPORT, worlds).T.tolist()}


def _run_baseline(context: RunContext, horizons: Sequence[int], stream: Stream, count: int) -> Floats:
    options = {"horizon": max(horizons), "arms": _arms(), "replications": count, "checkpoints": list(horizons)}
    return context.simulate_regret(BASELINE, "bernoulli", stream=stream, **options)


def _make_evaluator(context: RunContext, policy: str, horizon: int) -> Evaluator:
    problem = Problem(policy, find_scenario("bernoulli"), horizon, _arms(), context.seed, burn_in=0)
    return Evaluator(problem, context.workers)


def _arms() -> int:
    return first_study().arms
