"""What is played for Figure 2: RAVEN-UCB and UCB1 on ten Bernoulli arms, as published and as defined.

UCB1 does not know its horizon, and a world is the same up to T whatever comes after it: one game over the longest
horizon, looked at on the way, gives its regret at all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from environments import find_scenario
from environments.streams import Stream, generator
from environments.world import Floats
from policies import find_policy
from policies.base import Value
from policies.playing import REGRET
from studies.files import load_study_file
from studies.shipped import find_study_file
from studies.spec import StudySpec
from tuning.fanout import Evaluator, Game
from tuning.reproduction.context import Context, Found

RAVEN, UCB1, BASELINE = "raven-ucb", "ucb1", "published-ucb1"
"""Who is tuned, and the UCB1 with bonus sqrt(2·ln t / (N+1)) that all are held against."""

BEYOND = (20_000, 50_000, 100_000, 200_000)
"""Horizons where the paper does not look."""

REPEATS = 20
"""Times that the whole of the authors' procedure is gone through; they did so once."""

FRESH = {50_000: 1600, 200_000: 400}
"""Fresh worlds that a winner is scored in, up to each of these horizons: enough for about ± 1 point."""

FINALISTS, SELECTION, REPORT = 3, 100, 20
"""How many of the ten trials meet again, with the defaults, and in how many worlds: with 50 of them the choice was
visibly poorer. The study's own report is small, since winners are scored in far more worlds here."""

LEAST = 5
"""Worlds of a trial in runs far below the usual precision, which are for trying things out."""

SCRIPT: dict[str, Value] = {"epsilon": 1e-6, "variance": "printed", "logarithm": "t"}
"""What the script played whatever Optuna suggested for ε."""


@lru_cache(maxsize=1)
def studies() -> dict[int, StudySpec]:
    """The search at each of the paper's horizons, from the study file that ships with ravenlab.

    >>> len(studies()), studies()[5000].trials, studies()[5000].replications
    (23, 10, 50)
    """
    return {spec.resolved().horizon or 0: spec for spec in load_study_file(find_study_file("figure2"))}


def study(context: Context, horizon: int) -> StudySpec:
    """The search at any horizon, with a small validation: 50 worlds a trial, fewer below the usual precision only.

    >>> from tuning.crew import ALONE
    >>> study(Context(0, 500, ("defined",), ALONE, ""), 200_000).replications
    50
    """
    usual = next(iter(studies().values()))
    counts = {"replications": usual.replications, "selection": SELECTION, "report": REPORT}
    budget = {name: min(count, context.count(count, LEAST)) for name, count in counts.items()}
    return usual.model_copy(update={"horizon": horizon, "candidates": FINALISTS, **budget})


def tuned_study(context: Context, horizon: int) -> StudySpec:
    """The same search, trial for trial and world for world, for UCB1 and its constant c."""
    return study(context, horizon).model_copy(update={"policy": UCB1, "space": {}})


def candidates(seed: int, repeat: int, horizon: int) -> list[dict[str, Value]]:
    """The ten candidates of one published search: α₀ and β₀ log-uniform.

    The script asked Optuna's TPE for ten, and the first ten of TPE are random, whatever came of them: a search of
    ten trials is a random one.

    >>> [len(candidates(0, 3, 100)), candidates(0, 3, 100) == candidates(0, 4, 100)]
    [10, False]
    """
    spec = studies()[horizon].resolved()
    rng = generator(seed, Stream.SEARCH, repeat, f"figure2/T{horizon}")
    ends = [np.log(spec.space[name].ends()) for name in ("alpha0", "beta0")]
    drawn = np.exp([[rng.uniform(low, high) for low, high in ends] for _ in range(spec.trials)])
    return [
        dict(find_policy(RAVEN).resolve({"alpha0": float(a), "beta0": float(b), **SCRIPT}, _arms(), horizon))
        for a, b in drawn
    ]


def repeats(context: Context) -> int:
    """How often the authors' procedure is gone through."""
    return context.count(REPEATS)


def fresh_worlds(context: Context, horizon: int) -> int:
    """In how many worlds a winner of this horizon is scored."""
    return context.count(FRESH[_reach(horizon)], least=20)


def groups() -> list[list[int]]:
    """All horizons, those together that are scored in equally many worlds.

    >>> [(len(times), times[-1]) for times in groups()]
    [(25, 50000), (2, 200000)]
    """
    return [[horizon for horizon in (*studies(), *BEYOND) if _reach(horizon) == reach] for reach in FRESH]


def _reach(horizon: int) -> int:
    return min(reach for reach in FRESH if horizon <= reach)


def published(context: Context, horizon: int) -> Found:
    """All searches of one horizon as the authors ran it: mean regrets of the winners where they won, and elsewhere."""
    worlds = studies()[horizon].replications
    evaluator = _evaluator(context, RAVEN, horizon)
    winners: list[dict[str, Value]] = []
    own, fresh = [], []
    for repeat in range(repeats(context)):
        tried = candidates(context.seed, repeat, horizon)
        regret = evaluator.play(tried, Stream.SIMULATE, repeat * worlds, worlds)[..., REGRET].mean(axis=1)
        best = int(np.argmin(regret))
        again = evaluator.play([tried[best]], Stream.REPORT, repeat * worlds, worlds)[..., REGRET]
        winners.append({name: tried[best][name] for name in ("alpha0", "beta0")})
        own.append(float(regret[best]))
        fresh.append(float(again.mean()))
    return {"winners": winners, "own": own, "fresh": fresh}


def published_baseline(context: Context) -> Found:
    """UCB1's mean regret [horizon, repeat] in the worlds of each search, and in the fresh ones."""
    times, count = list(studies()), repeats(context)

    def by_repeat(stream: Stream) -> list[list[float]]:
        worlds = studies()[times[0]].replications
        regret = _baseline(context, times, stream, count * worlds)
        means: list[list[float]] = regret.reshape(count, worlds, len(times)).mean(axis=1).T.tolist()
        return means

    return {"own": by_repeat(Stream.SIMULATE), "fresh": by_repeat(Stream.REPORT)}


def defined(context: Context, horizon: int) -> Found:
    """RAVEN-UCB and UCB1, each tuned on one budget: the winners, and their regrets in fresh worlds."""
    found = {}
    for spec in (study(context, horizon), tuned_study(context, horizon)):
        winner = context.search(f"figure2/{spec.policy}/T{horizon}", spec).recommendation
        assert winner is not None
        params = {name: float(value) for name, value in winner.params.items()}
        played = _evaluator(context, spec.policy, horizon).play(
            [spec.values(params)], Stream.REPORT, 0, fresh_worlds(context, horizon)
        )
        found[spec.policy] = {
            "params": params,
            "search": winner.search_estimate,
            "regrets": played[0, :, REGRET].tolist(),
        }
    return found


def defined_baseline(context: Context, times: Sequence[int]) -> Found:
    """UCB1's regrets [horizon, world] in the fresh worlds."""
    return {"regrets": _baseline(context, times, Stream.REPORT, fresh_worlds(context, times[-1])).T.tolist()}


def _baseline(context: Context, times: Sequence[int], stream: Stream, count: int) -> Floats:
    played = context.crew.simulate(
        BASELINE,
        "bernoulli",
        horizon=max(times),
        arms=_arms(),
        replications=count,
        seed=context.seed,
        checkpoints=list(times),
        stream=stream,
    )
    assert played.curve is not None
    return played.curve.regret


def _evaluator(context: Context, policy: str, horizon: int) -> Evaluator:
    game = Game(policy, find_scenario("bernoulli"), horizon, _arms(), context.seed, burn_in=0)
    return Evaluator(game, context.crew)


def _arms() -> int:
    arms = next(iter(studies().values())).arms
    assert arms is not None
    return arms
