"""Bias and coverage of the regret on traces with known means: python -m tools.trace_coverage 150.

A trace is x_k(t) = μ_k(t) + noise. The *true regret* of a policy is the sum over the steps of a window of
max_k μ_k(t) − μ_a(t), where a is the arm that the policy pulls when it plays the recorded rows, averaged over windows
and over traces of the process. No estimate of max_k μ_k(t) from noisy rows is unbiased. What is reported is the regret
against the benchmark arm b(t), in expectation the sum of μ_b(t) − μ_a(t). It is smaller than the true regret by the
*deficit* max_k μ_k(t) − μ_b(t), which does not depend on the policy. The true difference between two policies has no
benchmark: it is the difference of the means μ_a(t) of their arms.

Truth is averaged over four times as many traces as intervals are computed for. The output is a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from environments.recorded.trace_file import Trace
from environments.recorded.trace_world import TraceScenario
from environments.streams import Stream
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Values
from policies.engine.play import play_windows
from studies.statistics.bootstrap import sum_interval
from tuning.validation.recorded import NO_MARKS, play_on_trace, row_autocorrelation
from tuning.workers.problem import Evaluator, Problem

ARMS = 5
WINDOWS = 300
TRUTH_FACTOR = 4
POLICIES = ("raven-ucb", "ucb1")  # the regret of the first is covered, and its difference from the second

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

    def draw(self, rng: np.random.Generator) -> tuple[Floats, TraceScenario]:
        """Draw a trace; return its true means and the scenario."""
        means = self.paths(self.rows, rng)
        values = means + self.spread * autoregression(self.rows, self.correlation, rng)
        return means, TraceScenario(Trace.from_values([f"arm{k}" for k in range(ARMS)], values), "trace:simulated")


def autoregression(rows: int, correlation: float, rng: np.random.Generator) -> Floats:
    """Draw AR(1) series [rows, K] with unit variance."""
    from scipy.signal import lfilter

    noise = rng.normal(size=(rows, ARMS))
    noise[1:] *= np.sqrt(1.0 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], noise, axis=0))


def constant(rows: int, rng: np.random.Generator) -> Floats:
    """Means that do not change; they are the same in all traces."""
    del rng
    return np.tile(np.linspace(0.3, 0.7, ARMS), (rows, 1))


def jumps(rows: int, rng: np.random.Generator) -> Floats:
    """Means that are drawn anew every 100 rows."""
    return np.repeat(rng.random((rows // 100 + 1, ARMS)), 100, axis=0)[:rows]


def seasons(rows: int, rng: np.random.Generator) -> Floats:
    """Sine waves with periods of 170 to 500 rows."""
    time = np.arange(rows)[:, None] / rng.uniform(170, 500, ARMS) + rng.random(ARMS)
    return np.asarray(0.5 + 0.3 * np.sin(2 * np.pi * time))


def autoregressive(correlation: float) -> Paths:
    """Means that are AR(1) series with spread 0.2."""
    return lambda rows, rng: 0.5 + 0.2 * autoregression(rows, correlation, rng)


PROCESSES = (
    Process("five identical arms, σ 0.1", lambda rows, rng: np.full((rows, ARMS), 0.5), 0.1),
    Process("constant means, σ 0.1", constant, 0.1),
    Process("constant means, σ 0.5", constant, 0.5),
    Process("constant means, σ 0.5, noise with correlation 0.5", constant, 0.5, correlation=0.5),
    Process("jump every 100 rows, σ 0.1", jumps, 0.1),
    Process("jump every 100 rows, σ 0.5", jumps, 0.5),
    Process("seasons, σ 0.3", seasons, 0.3),
    Process("AR(1) means with correlation 0.97, σ 0.3", autoregressive(0.97), 0.3),
    Process("AR(1) means with correlation 0.9, σ 0.3", autoregressive(0.9), 0.3),
)


@dataclass(frozen=True)
class Outcome:
    """One trace: reported regret and difference with intervals (mean, low, high), and the true values per window."""

    regret: tuple[float, float, float]
    difference: tuple[float, float, float]
    true_regret: float
    benchmark_regret: float
    """True mean of the benchmark arm minus that of the pulled arm."""
    true_difference: float


def evaluate_trace(process: Process, seed: int, intervals: bool) -> Outcome:
    """Draw a trace, play its report segment and compute the intervals as `ravenlab tune` does."""
    means, scenario = process.draw(np.random.default_rng([seed, 7]))
    worlds = scenario.draw(process.window, seed, 0, WINDOWS, Stream.REPORT)
    rows = worlds.offsets[:, None] + np.arange(process.window)
    pulled = []
    for name in POLICIES:
        policy, values = find_policy(name), _values(name, scenario, process)
        played = play_windows(policy, values, worlds, seed, 0, Stream.REPORT, NO_MARKS, pulls=True)
        pulled.append(float(means[rows, played.pulls].sum(axis=1).mean()))
    best = float(means[rows].max(axis=2).sum(axis=1).mean())
    benchmark = float(means[rows, worlds.best_arm[rows]].sum(axis=1).mean())
    estimates = _estimate(process, scenario, seed) if intervals else ((0.0, 0.0, 0.0),) * 2
    return Outcome(*estimates, best - pulled[0], benchmark - pulled[0], pulled[0] - pulled[1])


def _values(policy: str, scenario: TraceScenario, process: Process) -> Values:
    """Return the defaults of a policy on the scale of the trace."""
    policy_class = find_policy(policy)
    factor = scenario.scale.factor
    scaled = {
        param.name: param.default * factor**param.power
        for param in policy_class.parameters
        if param.power and isinstance(param.default, float)
    }
    return policy_class.resolve(scaled, ARMS, process.window)


def _estimate(
    process: Process, scenario: TraceScenario, seed: int
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the reported regret and difference with their intervals."""
    played = []
    for name in POLICIES:
        problem = Problem(name, scenario, process.window, ARMS, seed, burn_in=0)
        played.append(play_on_trace(Evaluator(problem), [_values(name, scenario, process)], Stream.REPORT, WINDOWS))
    first, second = played
    estimates = []
    for sample, parts in (
        (first.regret[0], first.parts[0]),
        (second.regret[0] - first.regret[0], second.parts[0] - first.parts[0]),
    ):
        mean = float(sample.mean())
        dependence = row_autocorrelation(scenario, process.window, parts, Stream.REPORT)
        low, high = sum_interval(parts, dependence, seed)
        estimates.append((mean, mean + low, mean + high))
    return estimates[0], estimates[1]


def run_process(process: Process, traces: int) -> str:
    """Return the table row of a process."""
    truth = [evaluate_trace(process, seed, intervals=False) for seed in range(traces, (1 + TRUTH_FACTOR) * traces)]
    found = [evaluate_trace(process, seed, intervals=True) for seed in range(traces)]

    def average(name: str) -> float:
        return float(np.mean([getattr(outcome, name) for outcome in truth]))

    def coverage(interval: str, name: str) -> str:
        value = average(name)
        hits = [low <= value <= high for _, low, high in (getattr(outcome, interval) for outcome in found)]
        return f"{100 * np.mean(hits):.0f} %"

    reported = float(np.mean([outcome.regret[0] for outcome in found]))
    error = float(np.std([outcome.regret[0] for outcome in found])) / np.sqrt(traces)
    cells = (
        process.name,
        f"{average('true_regret'):.2f}",
        f"{average('benchmark_regret'):.2f}",
        f"{reported:.2f} ± {error:.2f}",
        coverage("regret", "benchmark_regret"),
        coverage("regret", "true_regret"),
        coverage("difference", "true_difference"),
    )
    return f"| {' | '.join(cells)} |"


TITLES = (
    *("process", "true regret", "against the benchmark arm", "reported (± standard error)"),
    *("coverage: against the benchmark arm", "coverage: true regret", "coverage: difference"),
)

if __name__ == "__main__":
    traces = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    print(f"| {' | '.join(TITLES)} |\n|{' --- |' * len(TITLES)}", flush=True)
    for process in PROCESSES:
        print(run_process(process, traces), flush=True)
