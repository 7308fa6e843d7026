"""Two experiments on simulated logs with known truth: python -m tools.replay_experiments uneven 40, or time 9.

*uneven*: stationary worlds with 5 arms and 5,000 events. The best or the worst arm is logged with probability 0.6, the
others with 0.1. Prints the bias of the score and the coverage of its 95 % interval. The true score is the expected mean
reward of the policy deployed for 5,000 steps in the same world (`tools.replay_coverage`).

*time*: 10 arms that all jump every 2,000 of 20,000 events, logged uniformly. A replay of the events at which a policy
selects the logged arm uses one event in ten, so means change ten times as fast per step of the policy as in deployment.
Prints the candidate of sw-raven that is best in deployment, and what the choice by that replay and by local resampling
costs: the true regret of the chosen candidate, relative to that of the best one. One half of the simulated deployments
determines the best candidate and the other half its regret, as in `tools.replay_coverage`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from environments.recorded.log_file import Log
from environments.recorded.log_world import EXPANSION
from policies import find_policy
from policies.engine.parameters import Value
from studies.symbols import format_params
from tools.replay_coverage import (
    CANDIDATES,
    RESAMPLES,
    RUNS,
    choose,
    draw_path,
    open_as_scenario,
    simulate_log,
    true_regrets,
)
from tuning.validation.replay import replay

ARMS, EVENTS, FAVORED = 5, 5_000, 0.6
POLICIES = ("ucb1", "thompson", "raven-ucb")
JUMP_ARMS, JUMP_EVENTS, JUMP_RUNS = 10, 20_000, 60


def favor(arm: int) -> list[float]:
    """Return the probabilities of a logging policy that favors one arm."""
    return [FAVORED if k == arm else (1.0 - FAVORED) / (ARMS - 1) for k in range(ARMS)]


def measure_uneven(policy: str, best: bool, logs: range, runs: int = RUNS) -> tuple[float, float, float, float]:
    """Return the bias of the score, its standard error, the mean half-width of intervals, and their coverage."""
    errors, widths, covered = [], [], 0
    for number in logs:
        path, rng = draw_path("stationary", ARMS, number, EVENTS), np.random.default_rng([number, best])
        means = path.level[0, 0, :, 0]
        log = simulate_log(path, "uneven", rng, favor(int(np.argmax(means) if best else np.argmin(means))))
        found = replay(policy, log, resamples=RESAMPLES, seed=number)
        (regret,), _ = true_regrets(path, policy, [{}], runs, rng)
        truth = float(path.best.mean()) - regret
        errors.append(found.score - truth)
        widths.append((found.high - found.low) / 2.0)
        covered += found.low <= truth <= found.high
    error = float(np.std(errors, ddof=1) / len(logs) ** 0.5)
    return float(np.mean(errors)), error, float(np.mean(widths)), covered / len(logs)


def run_uneven(logs: range) -> None:
    """Print the table of uneven logging."""
    print("| favored arm | policy | bias (± standard error) | half-width of intervals | coverage |")
    print("| --- | --- | ---: | ---: | ---: |")
    for best in (True, False):
        for policy in POLICIES:
            bias, error, half, share = measure_uneven(policy, best, logs)
            name = "best" if best else "worst"
            print(f"| {name} | {policy} | {bias:+.4f} ± {error:.4f} | {half:.4f} | {100 * share:.1f} % |", flush=True)


def choose_by_matches(log: Log, policy: str, candidates: Sequence[Mapping[str, Value]]) -> int:
    """Return the candidate with the best mean reward over the events at which it selects the logged arm."""
    found, scores = find_policy(policy), []
    for params in candidates:
        given: dict[str, Any] = dict(found.resolve(params, log.arms, log.events))
        one = found(log.arms, **given)
        selected, rewards = one.select(), []
        for arm, reward in zip(log.arm.tolist(), log.reward.tolist(), strict=True):
            if arm == selected:
                one.update(arm, reward)
                rewards.append(reward)
                selected = one.select()
        scores.append(float(np.mean(rewards)))
    return int(np.argmax(scores))


def run_time(logs: range) -> None:
    """Print what the choice of parameters on a log costs in deployment."""
    print("| log | best in deployment | by matching events | cost | by local resampling | cost |")
    print("| ---: | --- | --- | ---: | --- | ---: |")
    costs = []
    for number in logs:
        path, rng = (
            draw_path("localized-jump", JUMP_ARMS, number, JUMP_EVENTS, fraction=1.0),
            np.random.default_rng(number),
        )
        log = simulate_log(path, "uniform", rng)
        first, second = (true_regrets(path, "sw-raven", CANDIDATES, JUMP_RUNS, rng)[0] for _ in range(2))
        best = int(np.argmin(first))
        chosen = (
            choose_by_matches(log, "sw-raven", CANDIDATES),
            choose(open_as_scenario(log, EXPANSION), "sw-raven", CANDIDATES),
        )
        costs.append([float(second[i] / second[best] - 1.0) for i in chosen])
        cells = [format_params(CANDIDATES[best])]
        for i, cost in zip(chosen, costs[-1], strict=True):
            cells += [format_params(CANDIDATES[i]), f"{100 * cost:+.0f} %"]
        print(f"| {number} | {' | '.join(cells)} |", flush=True)
    by_matches, by_resampling = np.median(costs, axis=0)
    print(
        f"\nMedian cost: {100 * by_matches:+.0f} % by matching events,"
        f" {100 * by_resampling:+.0f} % by local resampling."
    )


def main() -> None:
    """Run one of the two experiments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("uneven", "time"))
    parser.add_argument("logs", type=int, help="logs per row of the table, or rows")
    parser.add_argument("--first", type=int, default=0, help="number of the first log")
    options = parser.parse_args()
    (run_uneven if options.experiment == "uneven" else run_time)(range(options.first, options.first + options.logs))


if __name__ == "__main__":
    main()
