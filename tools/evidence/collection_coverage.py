"""Coverage of intervals on collections of traces: python -m tools.evidence.collection_coverage --seeds 2000.

Collections of 8 to 50 simulated files are drawn. The report files play RAVEN-UCB at two settings of α₀, whose regrets
and difference have a known expectation, and Thompson sampling twice with other random draws, whose difference is 0: a
significant one is a false positive. Wanted: coverage of 93 to 97 %, and at most 7 % false positives.
"""

from dataclasses import astuple, dataclass
from functools import lru_cache

import numpy as np

from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Values
from ravenlab.tuning.validation.collection import estimate_files
from ravenlab.tuning.validation.trace import WindowSample, play_on_trace
from ravenlab.tuning.workers.problem import Evaluator, Problem
from tools.evidence.harness import make_parser, parallel_map

KINDS = ("stationary", "jump", "drift")
SIZES = (8, 12, 20, 50)
ROWS = 200
ARMS = 4
TRUTH_FILES = 2000
SETTINGS: tuple[dict[str, float], ...] = ({"alpha0": 0.5}, {"alpha0": 1.0})


def draw_file(kind: str, rng: np.random.Generator) -> Floats:
    """Draw a file: rewards [rows, arms] whose means differ from file to file."""
    means = np.repeat(rng.uniform(0.3, 0.8, (1, ARMS)), ROWS, axis=0)
    if kind == "jump":
        means[rng.integers(ROWS // 4, ROWS) :, rng.integers(ARMS)] = rng.uniform(0.3, 0.8)
    elif kind == "drift":
        means += np.linspace(0.0, 1.0, ROWS)[:, None] * rng.uniform(-0.4, 0.4, ARMS)
    return rng.normal(means, 0.2)


def make_collection(kind: str, files: int, seed: int) -> CollectionScenario:
    """Return a collection of files of one kind."""
    tables = [draw_file(kind, np.random.default_rng([KINDS.index(kind), files, seed, n])) for n in range(files)]
    trace = Trace.from_values([f"arm{k}" for k in range(ARMS)], np.concatenate(tables))
    starts = tuple(range(0, ROWS * (files + 1), ROWS))
    return CollectionScenario(trace, "trace:runs", files=tuple(map(str, range(files))), starts=starts)


def play(scenario: CollectionScenario, policy: str, params: Values, seed: int = 0) -> WindowSample:
    """Return the regret of a policy in the report files."""
    problem = Problem(policy, scenario, ROWS, ARMS, seed, burn_in=0)
    values = find_policy(policy).resolve(params, ARMS, ROWS)
    (played,) = play_on_trace(Evaluator(problem), [values], Stream.REPORT, len(scenario.numbers(Stream.REPORT)))
    return played.regret


@lru_cache
def expected_regret(kind: str) -> Floats:
    """Return the expected regret of each setting."""
    scenario = make_collection(kind, 2 * TRUTH_FILES, seed=-1 % 2**32)
    return np.array([play(scenario, "raven-ucb", dict(params)).windows.mean() for params in SETTINGS])


@dataclass(frozen=True)
class Misses:
    """How many intervals miss the regret and the difference, and how many differences of 0 are significant."""

    regret: int
    difference: int
    false_positives: int


def count_misses(files: int, repetitions: int, first: int = 0, kind: str = "jump") -> Misses:
    """Count misses on collections of so many files of one kind, whose seeds begin with the first."""
    truth = expected_regret(kind)
    missed = np.zeros(3, dtype=np.int64)
    for seed in range(first, first + repetitions):
        scenario = make_collection(kind, files, seed)
        low, high = (play(scenario, "raven-ucb", dict(params)) for params in SETTINGS)
        same = [play(scenario, "thompson", {}, seed=number) for number in (1, 2)]
        intervals = [estimate_files(sample).interval() for sample in (low, high - low, same[1] - same[0])]
        for i, (interval, value) in enumerate(zip(intervals, (truth[0], truth[1] - truth[0], 0.0), strict=True)):
            missed[i] += not interval.low <= value <= interval.high
    return Misses(*missed.tolist())


def main() -> int:
    """Run the study; print coverage and false positives by kind and number of files."""
    options = make_parser(__doc__, seeds=2000, jobs=True, first=True).parse_args()
    cases = [(kind, files) for kind in KINDS for files in SIZES]
    found = parallel_map(lambda case: count_misses(case[1], options.seeds, options.first, case[0]), cases, options.jobs)
    total = np.array([astuple(misses) for misses in found])
    for (kind, files), misses in zip(cases, total, strict=True):
        regret, difference, positives = misses / options.seeds
        print(
            f"{kind}, {files} files: coverage of the regret {1 - regret:.1%}, of the difference {1 - difference:.1%};"
            f" false positives {positives:.1%}"
        )
    shares = total.mean(axis=0) / options.seeds
    print(f"all: {1 - shares[0]:.1%}, {1 - shares[1]:.1%}; {shares[2]:.1%}")
    return int(not (0.93 <= 1 - shares[0] <= 0.97 and 0.93 <= 1 - shares[1] <= 0.97 and shares[2] <= 0.07))


if __name__ == "__main__":
    raise SystemExit(main())
