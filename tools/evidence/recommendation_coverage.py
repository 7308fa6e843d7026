"""Coverage of recommendations: python -m tools.evidence.recommendation_coverage --studies 1000.

1. Small but complete studies: search, selection, report. The true regret of the recommended parameters is their mean
   regret on 10⁵ worlds that no study uses. The reported 95 % interval should cover it in 93 to 97 % of the studies;
   the coverage of a normal interval around the search's best trial is printed for comparison.
2. On published-variance-drift at T 10,000 no cell of the paper's 4 × 4 grid should be better than the search.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import paired_interval
from ravenlab.studies.storage import keys
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.validation.recommend import recommend
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator
from tests.binomial import band
from tools.evidence.harness import make_parser, parallel_map

if TYPE_CHECKING:
    import optuna


SCENARIOS = ("stationary", "localized-jump", "variance-drift", "blips")
HORIZON = 200
ARMS = 5
TRUTH_SEED = 2**62
"""Seed of the worlds that estimate the true regret; no small study has it."""

BLOCK = 2000
GRID = (0.5, 1.0, 5.0, 10.0)
Row = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Outcome:
    """The intervals and estimates of one small study."""

    scenario: str
    params: tuple[tuple[str, Value], ...]
    regret: Interval
    search_estimate: float
    search_params: tuple[tuple[str, Value], ...]
    search_regret: Interval


def small_study(number: int) -> Outcome:
    """Run a complete study with small budgets; its number is the seed."""
    spec = StudySpec(
        scenario=SCENARIOS[number % len(SCENARIOS)],
        horizon=HORIZON,
        arms=ARMS,
        trials=16,
        batch=8,
        replications=20,
        candidates=4,
        selection=200,
        report=400,
        seed=number,
        sampler="random",
    )
    found, study = _tuned(spec)
    best = study.best_trial
    assert best.value is not None
    return Outcome(
        scenario=spec.scenario,
        params=tuple(spec.resolve_params(found.params).items()),
        regret=found.regret,
        search_estimate=found.search_estimate,
        search_params=tuple(spec.resolve_params(from_trial_params(spec, best.params)).items()),
        search_regret=Interval.from_error(best.value, float(best.user_attrs[keys.STDERR])),
    )


def _tuned(spec: StudySpec, jobs: int = 1) -> tuple[Recommendation, optuna.Study]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name=spec.study_name())
    evaluator = Evaluator(spec, LocalWorkers(jobs))
    search(spec, study, evaluator)
    return recommend(spec, study, evaluator), study


def true_means(
    scenario: str, params: list[tuple[tuple[str, Value], ...]], replications: int, jobs: int
) -> dict[tuple[tuple[str, Value], ...], float]:
    """The mean regret of each parameter setting over many common worlds."""
    distinct = list(dict.fromkeys(params))
    evaluator = Evaluator(StudySpec(scenario=scenario, horizon=HORIZON, arms=ARMS, seed=TRUTH_SEED), LocalWorkers(jobs))
    total = np.zeros(len(distinct))
    for first in range(0, replications, BLOCK):
        count = min(BLOCK, replications - first)
        total += evaluator.play([dict(p) for p in distinct], Stream.SIMULATE, first, count).regret.sum(axis=1)
    return dict(zip(distinct, (total / replications).tolist(), strict=True))


class Bias(NamedTuple):
    """The mean relative error of estimates, and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, estimates: list[float], truth: Floats) -> Bias:
        """Compute the bias from one estimate per study."""
        off = np.array(estimates) / truth - 1.0
        return cls(float(off.mean()), float(off.std(ddof=1)) / len(off) ** 0.5)


@dataclass(frozen=True)
class Coverage:
    """The number of intervals that cover the true regret, and the bias of the estimates."""

    studies: int
    reported: int
    searched: int
    bias_reported: Bias
    bias_searched: Bias


def coverage(studies: int, replications: int = 100_000, jobs: int = 1, first: int = 0) -> Coverage:
    """Run small studies and compare their intervals with the true regret."""
    outcomes = parallel_map(small_study, range(first, first + studies), jobs)
    truth = {}
    for scenario in SCENARIOS:
        here = [o for o in outcomes if o.scenario == scenario]
        asked = [p for o in here for p in (o.params, o.search_params)]
        truth[scenario] = true_means(scenario, asked, replications, jobs) if asked else {}
    mine = np.array([truth[o.scenario][o.params] for o in outcomes])
    theirs = np.array([truth[o.scenario][o.search_params] for o in outcomes])
    return Coverage(
        studies=studies,
        reported=sum(o.regret.contains(t) for o, t in zip(outcomes, mine, strict=True)),
        searched=sum(o.search_regret.contains(t) for o, t in zip(outcomes, theirs, strict=True)),
        bias_reported=Bias.of([o.regret.mean for o in outcomes], mine),
        bias_searched=Bias.of([o.search_estimate for o in outcomes], mine),
    )


def against_grid(trials: int, replications: int, jobs: int) -> tuple[Recommendation, list[Row]]:
    """Tune on the paper's protocol and compare the result with the cells of its grid on held-out worlds.

    Returns the recommendation and, for each cell, α₀, β₀, its excess regret over the recommendation, and the interval.
    """
    spec = StudySpec(scenario="published-variance-drift", horizon=10_000, trials=trials)
    found, _ = _tuned(spec, jobs)
    cells = [{"alpha0": a, "beta0": b, "epsilon": 0.1} for a, b in product(GRID, GRID)]
    players = [spec.resolve_params(found.params), *(spec.resolve_params(cell) for cell in cells)]
    regret: Floats = Evaluator(spec, LocalWorkers(jobs)).play(players, Stream.GRID, 0, replications).regret
    rows = [
        (cell["alpha0"], cell["beta0"], *paired_interval(theirs, regret[0], spec.seed))
        for cell, theirs in zip(cells, regret[1:], strict=True)
    ]
    return found, rows


def main() -> None:
    """Print coverage, bias and the comparison with the grid."""
    parser = make_parser(__doc__, jobs=True)
    parser.add_argument("--studies", type=int, default=1000, help="small studies (0: skip)")
    parser.add_argument("--truth", type=int, default=100_000, help="replications that estimate the true regret")
    parser.add_argument("--trials", type=int, default=200, help="trials of the comparison with the grid (0: skip)")
    parser.add_argument("--replications", type=int, default=2000, help="worlds of the comparison with the grid")
    options = parser.parse_args()
    if options.studies:
        begin = time.perf_counter()
        seen = coverage(options.studies, options.truth, options.jobs)
        low, high = band(seen.studies)
        print(f"{seen.studies} small studies, T {HORIZON}, K {ARMS}, true regret from {options.truth:,} replications")
        print(
            f"  coverage of the reported 95 % interval: {seen.reported / seen.studies:.1%} "
            f"(99.9 % band under correct coverage: {low / seen.studies:.1%} to {high / seen.studies:.1%}), "
            f"bias {seen.bias_reported.mean:+.1%}"
        )
        print(
            f"  coverage of the normal interval of the best trial: {seen.searched / seen.studies:.1%}; "
            f"bias of the search estimate {seen.bias_searched.mean:+.1%}"
        )
        print(f"  {time.perf_counter() - begin:.0f} s", flush=True)
    if options.trials:
        begin = time.perf_counter()
        found, rows = against_grid(options.trials, options.replications, options.jobs)
        print(f"published-variance-drift, T 10000: {found.params}, regret {found.regret}")
        for alpha0, beta0, difference, low_, high_ in rows:
            verdict = "worse" if low_ > 0 else "tied" if high_ >= 0 else "BETTER"
            print(f"  α₀ {alpha0:4g}  β₀ {beta0:4g}  {difference:+9.2f} [{low_:+.2f}, {high_:+.2f}]  {verdict}")
        print(f"  {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
