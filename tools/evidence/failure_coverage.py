"""Coverage study of rare failures: python -m tools.evidence.failure_coverage --validations 1000.

For each setting, candidates play a large pool of worlds once. The mean over the pool is the true mean regret. Samples
drawn from the pool then go through the whole rule (`studies.statistics.failures`), as in `tune` and `compare`:

1. Coverage: share of the 95 % intervals that contain the true mean, with a fixed sample of 200 worlds and by the rule.
2. False positives: share of the paired tests at the 5 % level that reject, although the second candidate was shifted so
   that both have the same true mean.
3. Cost of the choice: true regret of the value of α₀ with the lowest mean in a sample, above that of the best value.
   The samples have the sizes of searches (20 to 200 worlds) and of the selection (2,000 worlds).

Played pools and finished rows are kept in a folder. Run the program again to continue or to print the tables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from ravenlab.common.interval import ERROR_RATE
from ravenlab.common.markdown import format_rows
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import LAST_SHARE
from ravenlab.studies.results.ranking import compare_pairs
from ravenlab.studies.statistics import intervals
from ravenlab.studies.statistics.failures import MAX_GROWTH, MIN_WORLDS, FailureSample, include_unseen_in_mean
from ravenlab.studies.statistics.intervals import mean_interval
from ravenlab.studies.statistics.paired import estimate_difference
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator, Problem
from tools.evidence.harness import append_line, make_parser, read_lines

SEED = 777
BLOCK = 4000  # worlds played at a time
RESAMPLES = 500  # bootstrap resamples per interval, to save time
FIXED = 200  # worlds of a comparison before there was a rule
ALPHAS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
WEIGHTS = (0.1, 0.2)  # of UCB1
CHOICES = (20, 50, 200, 500, 1000, 2000)  # sample sizes for the cost of the choice


@dataclass(frozen=True)
class Setting:
    """A scenario with its size, and the numbers of worlds that RAVEN-UCB and UCB1, which is slower, play."""

    label: str
    scenario: str
    horizon: int
    arms: int
    worlds: int = 60_000
    compared: int = 30_000


SETTINGS = (
    Setting("A", "stationary", 20_000, 5),
    Setting("B", "stationary", 10_000, 10, worlds=30_000),
    Setting("C", "variance-drift", 10_000, 10, worlds=30_000),
)


def play_pool(
    setting: Setting, name: str, policy: str, candidates: Sequence[Mapping[str, Value]], folder: Path, jobs: int
) -> Floats:
    """Return regret, failure and regret of uniform choice [C, N, 3], from the folder or played and saved there."""
    path = folder / f"{setting.label}-{name}.npy"
    if not path.exists():
        chosen = find_policy(policy)
        problem = Problem(
            policy, find_scenario(setting.scenario), setting.horizon, setting.arms, SEED, burn_in=0, source=None
        )
        evaluator = Evaluator(problem, LocalWorkers(jobs))
        values = [chosen.resolve(params, setting.arms, setting.horizon) for params in candidates]
        parts = []
        for first in range(0, setting.worlds, BLOCK):
            count = min(BLOCK, setting.worlds - first)
            played = evaluator.play_with_failures(values, Stream.SIMULATE, first, count)
            columns = (played.regret, played.failed, played.uniform_regret)
            parts.append(np.stack(columns, axis=-1).astype(np.float32))
            print(f"{setting.label} {name}: {first + count:,} of {setting.worlds:,} worlds", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, np.concatenate(parts, axis=1))
    return np.asarray(np.load(path), dtype=np.float64)


def count_sample(sample: Floats) -> FailureSample:
    """Count the failures in a sample [R, 3]."""
    regret, failed, uniform = sample.T
    return FailureSample(regret.size, int(failed.sum()), float(regret.mean()), LAST_SHARE * float(uniform.mean()))


def grow(pools: Sequence[Floats], order: Ints) -> tuple[list[Floats], bool]:
    """Return the samples at which the rule stops for worlds in this order, and whether all are reliable."""
    count = MIN_WORLDS
    while True:
        samples = [pool[order[:count]] for pool in pools]
        reliable = all(count_sample(sample).reliable for sample in samples)
        if reliable or count == order.size:
            return samples, reliable
        count *= 2


def measure_coverage(pool: Floats, validations: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Return coverage with a fixed sample and by the rule, mean sample size, and share of unreliable samples."""
    true = float(pool[:, 0].mean())
    fixed = 0
    grown = 0
    worlds = 0
    unreliable = 0
    for seed in range(validations):
        order = rng.integers(0, pool.shape[0], MAX_GROWTH * MIN_WORLDS)
        fixed += mean_interval(pool[order[:FIXED], 0], seed).contains(true)
        (sample,), reliable = grow([pool], order)
        grown += include_unseen_in_mean(mean_interval(sample[:, 0], seed), count_sample(sample)).contains(true)
        worlds += sample.shape[0]
        unreliable += not reliable
    return fixed / validations, grown / validations, worlds / validations, unreliable / validations


def measure_level(
    first: Floats, second: Floats, validations: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the share of rejected true null hypotheses, and the mean sample size.

    The first share is that of the paired t-test with a fixed sample, the second that of a comparison by the rule.
    """
    second = second.copy()
    second[:, 0] += first[:, 0].mean() - second[:, 0].mean()
    fixed = 0
    grown = 0
    worlds = 0
    for _ in range(validations):
        order = rng.integers(0, first.shape[0], MAX_GROWTH * MIN_WORLDS)
        fixed += estimate_difference(first[order[:FIXED], 0], second[order[:FIXED], 0]).p_value < ERROR_RATE
        samples, _ = grow([first, second], order)
        tests = compare_pairs([sample[:, 0] for sample in samples], [*map(count_sample, samples)])
        grown += tests[0, 1].p < ERROR_RATE
        worlds += samples[0].shape[0]
    return fixed / validations, grown / validations, worlds / validations


def measure_choice(pool: Floats, worlds: int, validations: int, rng: np.random.Generator) -> list[float]:
    """Return the mean excess of the true regret of the candidate that is best on a sample, relative to the best one."""
    regret = pool[..., 0]
    true = regret.mean(axis=1)
    chosen = [
        int(np.argmin(regret[:, rng.integers(0, regret.shape[1], worlds)].mean(axis=1))) for _ in range(validations)
    ]
    return [float(true[chosen].mean() / true.min() - 1.0)]


class Rows:
    """Finished rows of the tables, one line of JSON each; a row that exists is not computed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, list[float]] = dict(read_lines(path))

    def measure(self, key: str, compute: Callable[[np.random.Generator], Sequence[float]]) -> Sequence[float]:
        """Return the numbers of a row; the random numbers depend on its key alone."""
        if key not in self.rows:
            self.rows[key] = list(compute(np.random.default_rng([SEED, *key.encode()])))
            append_line(self.path, [key, self.rows[key]])
            print(key, self.rows[key], flush=True)
        return self.rows[key]


def main() -> None:
    """Print the three tables in Markdown."""
    parser = make_parser(__doc__, jobs=True)
    parser.add_argument("--validations", type=int, default=1000, help="samples per row")
    parser.add_argument("--pairs", type=int, default=300, help="samples per pair")
    parser.add_argument("--settings", default="A,B", help="labels of the settings")
    parser.add_argument("--pools", type=Path, default=Path("pools"), help="folder of played pools and finished rows")
    options = parser.parse_args()
    intervals.RESAMPLES = RESAMPLES
    count: int = options.validations
    pairs: int = options.pairs
    coverage = [("setting", "α₀", "failure rate", "200 worlds", "rule", "worlds (mean)", "unreliable")]
    level = [("setting", "pair", "200 worlds", "rule", "worlds (mean)")]
    cost = [("setting", *(f"{worlds:,} worlds" for worlds in CHOICES))]
    for setting in SETTINGS:
        if setting.label not in options.settings.split(","):
            continue
        title = f"{setting.scenario}, T {setting.horizon:,}, K {setting.arms}"
        alphas = [{"alpha0": alpha} for alpha in ALPHAS]
        weights = [{"c": weight} for weight in WEIGHTS]
        raven = play_pool(setting, "raven-ucb", "raven-ucb", alphas, options.pools, options.jobs)
        rows = Rows(options.pools / f"rows-{count}.jsonl")
        for alpha, pool in zip(ALPHAS, raven, strict=True):
            key = f"coverage {setting.label} {alpha:g}"
            fixed, grown, worlds, unreliable = rows.measure(key, partial(measure_coverage, pool, count))
            row = (f"{pool[:, 1].mean():.3%}", f"{fixed:.1%}", f"{grown:.1%}", f"{worlds:,.0f}", f"{unreliable:.1%}")
            coverage.append((title, f"{alpha:g}", *row))
        costs = [
            rows.measure(f"choice {setting.label} {worlds}", partial(measure_choice, raven, worlds, count))[0]
            for worlds in CHOICES
        ]
        cost.append((title, *(f"{share:+.1%}" for share in costs)))
        few = replace(setting, worlds=setting.compared)
        others = play_pool(few, "ucb1", "ucb1", weights, options.pools, options.jobs)
        rows = Rows(options.pools / f"rows-{pairs}.jsonl")
        names = [*(f"α₀ {alpha:g}" for alpha in ALPHAS), *(f"UCB1 c {weight:g}" for weight in WEIGHTS)]
        pools = [*raven[:, : others.shape[1]], *others]
        for i, j in combinations(range(len(names)), 2):
            pair = f"{names[i]}, {names[j]}"
            level_of_pair = partial(measure_level, pools[i], pools[j], pairs)
            fixed, grown, worlds = rows.measure(f"level {setting.label} {pair}", level_of_pair)
            level.append((title, pair, f"{fixed:.1%}", f"{grown:.1%}", f"{worlds:,.0f}"))
    for table in (coverage, level, cost):
        print("\n" + format_rows([table[0], ["---"] * len(table[0]), *table[1:]]))


if __name__ == "__main__":
    main()
