"""Bias and coverage of the regret on traces with known means: python -m tools.evidence.trace_coverage coverage 200.

A trace is x_k(t) = μ_k(t) + noise. The *realised regret* is reported: the reward of the benchmark arm b(t) minus
that of the pulled arm a(t), summed over a window. The target of its interval is the expected realised regret over
traces of the process, or given the path of the means, over traces with the same path and fresh noise.

Two other values are shown. The *regret of means*, the sum of μ_b(t) − μ_a(t), is larger than the realised regret if
noise is autocorrelated, because a policy that follows the noise earns more than the means of its arms. The *true
regret* is the sum of max_k μ_k(t) − μ_a(t). No estimate of max_k μ_k(t) from noisy rows is unbiased. Its excess over
the regret of means, max_k μ_k(t) − μ_b(t), does not depend on the policy, and differences between policies do not
depend on the benchmark.

`python -m tools.evidence.trace_coverage false-positives 200` counts significant differences in comparisons of policies
that are equally good, on traces and logs. The output of both is a Markdown table.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.environments.recorded.examples import log_to_csv
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.log_world import MIN_REPLAYS
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.recorded.trace_world import FixedArmPlay, TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Values
from ravenlab.policies.engine.play import play_windows
from ravenlab.studies.results.comparison import ComparisonEntry, Leaderboard, RecordedResult, RegretCurve
from ravenlab.studies.results.ranking import build_recorded_board
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.statistics.bootstrap import row_autocorrelation, sum_interval
from ravenlab.studies.statistics.paired import holm_adjust
from ravenlab.tuning.api import compare
from ravenlab.tuning.validation.trace import NO_MARKS, locate_parts, play_on_trace
from ravenlab.tuning.workers.problem import Evaluator, Problem
from tools.evidence.harness import make_parser

ARMS = 5
WINDOWS = 300
REDRAWS = 4  # traces with the same path of means and fresh noise, which measure the expectation given the path
POLICIES = ("raven-ucb", "ucb1")  # the regret of the first is covered, and its difference from the second
LEAST_COVERAGE = 0.92

Paths = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True)
class Process:
    """A process of traces: paths of the means [rows, K], and noise with spread σ and correlation ρ between rows."""

    name: str
    paths: Paths
    spread: float
    correlation: float = 0.0
    rows: int = 1000
    window: int = 60

    def draw(self, means: Floats, rng: np.random.Generator) -> TraceScenario:
        """Draw a trace with these means."""
        values = means + self.spread * autoregression(self.rows, self.correlation, rng)
        return TraceScenario(Trace.from_values([f"arm{k}" for k in range(ARMS)], values), "trace:simulated")


def autoregression(rows: int, correlation: float, rng: np.random.Generator) -> Floats:
    """Draw AR(1) series [rows, K] with unit variance."""
    from scipy.signal import lfilter

    noise = rng.normal(size=(rows, ARMS))
    noise[1:] *= np.sqrt(1.0 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], noise, axis=0))


def identical(rows: int, rng: np.random.Generator) -> Floats:
    """Equal means of all arms."""
    del rng
    return np.full((rows, ARMS), 0.5)


def constant(rows: int, rng: np.random.Generator) -> Floats:
    """Means that do not change; they are the same in all traces."""
    del rng
    return np.tile(np.linspace(0.3, 0.7, ARMS), (rows, 1))


FIXED_PATHS = (identical, constant)


def jumps(rows: int, rng: np.random.Generator) -> Floats:
    """Means that are drawn again every 100 rows."""
    return np.repeat(rng.random((rows // 100 + 1, ARMS)), 100, axis=0)[:rows]


def seasons(rows: int, rng: np.random.Generator) -> Floats:
    """Sine waves with periods of 170 to 500 rows."""
    time = np.arange(rows)[:, None] / rng.uniform(170, 500, ARMS) + rng.random(ARMS)
    return np.asarray(0.5 + 0.3 * np.sin(2 * np.pi * time))


def autoregressive(correlation: float) -> Paths:
    """Means that are AR(1) series with spread 0.2."""
    return lambda rows, rng: 0.5 + 0.2 * autoregression(rows, correlation, rng)


PROCESSES = (
    Process("five identical arms, σ 0.1", identical, 0.1),
    Process("constant means, σ 0.1", constant, 0.1),
    Process("constant means, σ 0.5", constant, 0.5),
    Process("constant means, σ 0.5, noise with correlation 0.5", constant, 0.5, correlation=0.5),
    Process("jump every 100 rows, σ 0.1", jumps, 0.1),
    Process("jump every 100 rows, σ 0.5", jumps, 0.5),
    Process("seasons, σ 0.3", seasons, 0.3),
    Process("AR(1) means with correlation 0.97, σ 0.3", autoregressive(0.97), 0.3),
    Process("AR(1) means with correlation 0.9, σ 0.3", autoregressive(0.9), 0.3),
    Process("jump every 100 rows, σ 0.1, default window", jumps, 0.1, window=125),
    Process("seasons, σ 0.3, default window", seasons, 0.3, window=125),
)


@dataclass(frozen=True)
class Reported:
    """A reported value with its 95 % interval, and whether the effective sample size suffices."""

    interval: Interval
    enough: bool


@dataclass(frozen=True)
class TraceValues:
    """Mean values per window of one trace, from the arms that were pulled on it."""

    realised: float
    """Reward of the benchmark arm minus that of the first policy."""
    of_means: float
    """The same for the means of the arms."""
    true: float
    """Best mean minus the mean of the arm of the first policy."""
    difference: float
    """Reward of the first policy minus that of the second."""


@dataclass(frozen=True)
class Outcome:
    """One trace: its intervals, and the expected values given its path of means."""

    regret: Reported
    difference: Reported
    expected: TraceValues


def evaluate_trace(process: Process, seed: int) -> Outcome:
    """Draw a trace, compute its intervals as `ravenlab tune` does, and measure other traces with the same means."""
    rng = np.random.default_rng([seed, 7])
    means = process.paths(process.rows, rng)
    intervals = estimate_intervals(process, process.draw(means, rng), seed)
    measured = [measure_values(process, means, process.draw(means, rng), seed) for _ in range(REDRAWS)]
    return Outcome(*intervals, average_values(measured))


def average_values(values: Sequence[TraceValues]) -> TraceValues:
    """Average each field."""
    return TraceValues(*np.mean([tuple(vars(each).values()) for each in values], axis=0).tolist())


def measure_values(process: Process, means: Floats, scenario: TraceScenario, seed: int) -> TraceValues:
    """Play the report segment of a trace with known means."""
    worlds = scenario.draw(process.window, seed, 0, WINDOWS, Stream.REPORT)
    rows = worlds.offsets[:, None] + np.arange(process.window)
    pulls = []
    for name in POLICIES:
        policy = find_policy(name)
        values = scaled_defaults(name, scenario, process)
        pulls.append(play_windows(policy, values, worlds, seed, 0, Stream.REPORT, NO_MARKS, pulls=True).pulls)

    def total(table: Floats, arms: np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]) -> float:
        return float(table[rows, arms].sum(axis=1).mean())

    benchmark = worlds.best_arm[rows]
    rewards = scenario.rewards
    return TraceValues(
        realised=total(rewards, benchmark) - total(rewards, pulls[0]),
        of_means=total(means, benchmark) - total(means, pulls[0]),
        true=float(means[rows].max(axis=2).sum(axis=1).mean()) - total(means, pulls[0]),
        difference=total(rewards, pulls[0]) - total(rewards, pulls[1]),
    )


def scaled_defaults(policy: str, scenario: TraceScenario, process: Process) -> Values:
    """Return the defaults of a policy on the scale of the trace."""
    policy_class = find_policy(policy)
    factor = scenario.scale.factor
    scaled = {
        param.name: param.default * factor**param.power
        for param in policy_class.parameters
        if param.power and isinstance(param.default, float)
    }
    return policy_class.resolve(scaled, ARMS, process.window)


def estimate_intervals(process: Process, scenario: TraceScenario, seed: int) -> tuple[Reported, Reported]:
    """Return the reported regret and difference with their intervals."""
    played = []
    for name in POLICIES:
        problem = Problem(name, scenario, process.window, ARMS, seed, burn_in=0)
        values = scaled_defaults(name, scenario, process)
        played += play_on_trace(Evaluator(problem), [values], Stream.REPORT, WINDOWS)
    first, second = (candidate.regret for candidate in played)
    intervals = []
    for sample in (first, second - first):
        mean = float(sample.windows.mean())
        dependence = row_autocorrelation(process.rows, process.window, sample.parts, Stream.REPORT)
        intervals.append(Reported(sum_interval(mean, sample.parts, dependence, seed), dependence.enough))
    return intervals[0], intervals[1]


@dataclass
class Coverage:
    """Number of conclusive intervals, and of those that cover."""

    conclusive: int = 0
    covered: int = 0

    def count(self, reported: Reported, value: float) -> None:
        """Count an interval; inconclusive ones are left out."""
        if reported.enough:
            self.conclusive += 1
            self.covered += reported.interval.contains(value)

    @property
    def p(self) -> float:
        """Exact binomial test of a coverage below 92 %."""
        from scipy.stats import binomtest

        if not self.conclusive:
            return 1.0
        return float(binomtest(self.covered, self.conclusive, LEAST_COVERAGE, "less").pvalue)

    def describe(self, traces: int) -> str:
        """Format the coverage and the share of conclusive intervals."""
        share = f"{100 * self.covered / self.conclusive:.1f} %" if self.conclusive else "–"
        return share if self.conclusive == traces else f"{share} of {100 * self.conclusive / traces:.0f} %"


COVERAGE_TITLES = (
    *("process", "true regret", "regret of means", "expected realised regret", "reported (± standard error)"),
    *("coverage: regret", "coverage: regret given the path", "coverage: difference"),
)


def run_coverage(traces: int, first: int, processes: Sequence[Process]) -> None:
    """Print the table of coverage, and which processes are significantly below 92 %."""
    print(f"| {' | '.join(COVERAGE_TITLES)} |\n|{' --- |' * len(COVERAGE_TITLES)}", flush=True)
    regrets = []
    differences = []
    for process in processes:
        found = [evaluate_trace(process, seed) for seed in range(first, first + traces)]
        truth = average_values([outcome.expected for outcome in found])
        reported = [outcome.regret.interval.mean for outcome in found]
        regret = Coverage()
        given_path = Coverage()
        difference = Coverage()
        for outcome in found:
            regret.count(outcome.regret, truth.realised)
            given_path.count(outcome.regret, outcome.expected.realised)
            difference.count(outcome.difference, truth.difference)
        cells = (
            process.name,
            *(f"{value:.2f}" for value in (truth.true, truth.of_means, truth.realised)),
            f"{np.mean(reported):.2f} ± {np.std(reported) / np.sqrt(traces):.2f}",
            regret.describe(traces),
            "–" if process.paths in FIXED_PATHS else given_path.describe(traces),
            difference.describe(traces),
        )
        print(f"| {' | '.join(cells)} |", flush=True)
        regrets.append(regret)
        differences.append(difference)
    for name, group in (("regret", regrets), ("difference", differences)):
        covered, conclusive = (sum(getattr(each, key) for each in group) for key in ("covered", "conclusive"))
        low = [p.name for p, holm in zip(processes, holm_adjust([c.p for c in group]), strict=True) if holm < 0.05]
        print(
            f"\nPooled coverage of the {name}: {100 * covered / conclusive:.1f} % of {conclusive:,} intervals."
            f" Significantly below 92 % (exact binomial test, Holm): {'; '.join(low) or 'none'}."
        )


COMPARED = ("raven-ucb", "ucb1", "epsilon-greedy")
BUDGET = {"tune": 4, "search_replications": 10, "policies": COMPARED}
LOG_EVENTS = 3000


def compare_on_file(seed: int, where: dict[str, object]) -> list[bool]:
    """Tune and compare policies; return for each table whether a difference is significant."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/studies.sqlite3"
        result = compare(storage=storage, seed=seed, **BUDGET, **where)  # type: ignore[call-overload]
    return [has_significant_difference(board) for board in result.boards]


def has_significant_difference(board: Leaderboard) -> bool:
    """Return whether some entry of a table is significantly worse than the best."""
    return any(not standing.among_the_best for standing in board.standings)


def compare_on_trace(seed: int) -> list[bool]:
    """Compare policies on five identical arms, on which all are equally good: with defaults and tuned."""
    values = 0.5 + 0.1 * np.random.default_rng([seed, 8]).normal(size=(1000, ARMS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        np.savetxt(path, values, delimiter=",", header=",".join("abcde"), comments="")
        return compare_on_file(seed, {"trace": str(path), "horizon": 60, "replications": 100})


def compare_on_log(seed: int) -> list[bool]:
    """Compare policies on a log of five identical arms that were pulled uniformly."""
    rng = np.random.default_rng([seed, 9])
    log = Log.from_columns([f"a{k}" for k in rng.integers(0, ARMS, LOG_EVENTS)], rng.normal(0.5, 0.1, LOG_EVENTS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        path.write_text(log_to_csv(log), encoding="utf-8")
        return compare_on_file(seed, {"log": str(path), "replications": MIN_REPLAYS})


def compare_fixed_arms(process: Process) -> Callable[[int], list[bool]]:
    """Compare policies that pull one arm each; on a process with exchangeable arms all are equally good."""

    def run(seed: int) -> list[bool]:
        rng = np.random.default_rng([seed, 10])
        scenario = process.draw(process.paths(process.rows, rng), rng)
        spec = ComparisonSpec.model_construct(horizon=process.window, seed=seed)
        entries = [fixed_arm_entry(scenario, arm, process.window, seed) for arm in range(len(COMPARED))]
        return [has_significant_difference(build_recorded_board(spec, "defaults", "fixed arms", entries))]

    return run


def fixed_arm_entry(scenario: TraceScenario, arm: int, window: int, seed: int) -> ComparisonEntry:
    """Play one arm in all windows of the report segment."""
    worlds = scenario.draw(window, seed, 0, WINDOWS, Stream.REPORT)
    history = scenario.draw_history(window, WINDOWS, Stream.REPORT)
    lost = worlds.best - scenario.rewards[:, arm]
    played = FixedArmPlay(np.empty(0), np.zeros(len(lost)), np.zeros(window))
    for first in history.offsets:
        played.regret_by_row[first : first + window] += lost[first : first + window]
        played.regret_by_step[:] += lost[first : first + window]
    regret = lost[worlds.offsets[:, None] + np.arange(window)].sum(axis=1)
    parts = locate_parts(played, history, scenario.segment(Stream.REPORT))
    recorded = RecordedResult(0.0, len(lost), parts)
    return ComparisonEntry(f"arm {arm}", "defaults", {}, regret, RegretCurve((), (), ()), recorded=recorded)


NULLS: dict[str, Callable[[int], list[bool]]] = {
    "identical arms, trace of 1,000 rows": compare_on_trace,
    "identical arms, log of 3,000 events": compare_on_log,
    **{
        f"fixed arms on a trace: {process.name}": compare_fixed_arms(process)
        for process in PROCESSES
        if process.paths is not constant and process.window == PROCESSES[0].window
    },
}


def run_false_positives(files: int, first: int, nulls: Sequence[str]) -> None:
    """Print how often a comparison of equally good policies has a significant difference."""
    print("| equally good policies | comparisons | with a significant difference |\n| --- | --- | --- |", flush=True)
    for name in nulls:
        found = np.array([NULLS[name](seed) for seed in range(first, first + files)])
        for label, column in zip(("defaults", "tuned"), found.T, strict=False):
            suffix = f", {label}" if found.shape[1] > 1 else ""
            print(f"| {name}{suffix} | {files} | {column.sum()} ({100 * column.mean():.1f} %) |", flush=True)


def main() -> None:
    """Run one of the two studies."""
    parser = make_parser(__doc__, first=True)
    parser.add_argument("study", choices=("coverage", "false-positives"))
    parser.add_argument("files", type=int, help="traces or logs per row of the table")
    parser.add_argument("--only", type=int, nargs="*", help="rows of the table, counted from 0")
    options = parser.parse_args()
    if options.study == "coverage":
        chosen = PROCESSES if options.only is None else [PROCESSES[i] for i in options.only]
        run_coverage(options.files, options.first, chosen)
    else:
        names = list(NULLS) if options.only is None else [list(NULLS)[i] for i in options.only]
        run_false_positives(options.files, options.first, names)


if __name__ == "__main__":
    main()
