"""Coverage of the 95 % interval of a policy's score on a log: python -m tools.evidence.replay_coverage 20.

For every logging policy (uniform, skewed, ε-greedy, Thompson sampling), kind of change and number of arms, logs of
20,000 events are drawn from simulated worlds. The true score is the expected mean reward of the policy deployed for
20,000 steps on the same path of means, over the noise of the rewards and the policy's own randomness; it is measured by
simulation. The policy rotates over the logs of a group. The cost of tuning on a log is the true regret of the candidate
with the best score on the log, relative to that of the best of nine candidates. The best candidate is determined by one
half of the simulated deployments and compared on the other half, because the smallest of nine simulated regrets is
smaller than the true one.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.compiled import compiled
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import BERNOULLI, GRADUAL, Floats, Worlds, reward_of
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import evaluate, play
from ravenlab.studies.diagnosis.log_estimators import LOG_ESTIMATORS
from ravenlab.studies.diagnosis.model_selection import KINDS
from ravenlab.studies.registry import DEFAULT_ESTIMATOR, ESTIMATORS
from ravenlab.studies.statistics.paired import holm_adjust
from ravenlab.tuning.validation.replay import estimate_score
from tools.evidence.harness import append_line, make_parser, read_lines

EVENTS = 20_000
STATIC = ("uniform", "skewed")  # logging policies that do not learn
LOGGERS = (*STATIC, "epsilon-greedy", "thompson")
ARMS = (3, 10, 30)
POLICIES = ("raven-ucb", "sw-raven", "epsilon-greedy")
CANDIDATES = [{"alpha0": alpha0, "tau": tau} for alpha0 in (0.25, 0.5, 1.0) for tau in (200, 800, 3200)]
RUNS = 200  # simulated deployments for the truth
RESAMPLES = 192  # runs of the estimate
CHOICE_RUNS = 100  # the same for each candidate, in each half
SEARCH_RUNS = 64  # runs of each candidate on the log
TUNED_EVERY = 3  # the cost of tuning is measured on every third uniform or skewed log, and on all other logs
CHUNK = 50


@dataclass(frozen=True)
class Outcome:
    """One log: the estimate, the truth, and the cost of the candidate chosen on it."""

    logger: str
    scenario: str
    arms: int
    number: int
    policy: str
    estimator: str
    """The estimator that is used if the choice is automatic, or the requested one."""
    answered: bool
    covered: bool
    error: float
    half: float
    truth_error: float
    """Standard error of the simulated truth."""
    excess: float
    """True regret of the chosen candidate relative to the best one, minus 1; NaN if not measured."""


def draw_path(scenario: str, arms: int, number: int, events: int = EVENTS, **settings: Any) -> Worlds:
    """Draw a world, of which only the path of the means and variances is used."""
    return draw_worlds(find_scenario(scenario, settings), events, arms, seed=11, first=number)


def redraw_noise(path: Worlds, runs: int, rng: np.random.Generator) -> Worlds:
    """Return worlds with the same path and other noise."""
    steps = path.noise.shape[1]
    coin = np.empty((runs, 0), dtype=np.uint8)
    if path.kind & GRADUAL:
        coin = (rng.random((runs, steps)) < path.share).astype(np.uint8)
    shared: dict[str, Any] = {name: np.repeat(getattr(path, name), runs, axis=0) for name in SHARED}
    draw = rng.random if path.kind & BERNOULLI else rng.standard_normal
    return path._replace(noise=draw((runs, steps)), coin=coin, **shared)


SHARED = ("starts", "row", "blip", "level", "motion", "best", "opens", "closes", "parts", "delay")
"""Fields of a path without noise."""


def simulate_log(path: Worlds, logger: str, rng: np.random.Generator, shares: Sequence[float] = ()) -> Log:
    """Draw a log of one pull per step, by a policy or with given shares of the arms.

    The skewed policy mixes uniform pulls with shares 1, 1/2, 1/3, … in half.
    """
    worlds = redraw_noise(path, 1, rng)
    steps = worlds.noise.shape[1]
    arms = worlds.level.shape[2]
    if shares or logger in ("uniform", "skewed"):
        weights = np.array(shares or np.ones(arms))
        if logger == "skewed":
            weights = rng.permutation(1.0 / np.arange(1, arms + 1))
            weights = 0.5 * weights / weights.sum() + 0.5 / arms
        time = np.arange(1, steps + 1)[:, None]
        is_open = (worlds.opens[0] <= time) & (time < worlds.closes[0])
        arm = np.where(is_open, np.log(weights) + rng.gumbel(size=(steps, arms)), -np.inf).argmax(axis=1)
    else:
        policy = find_policy(logger)
        seed = int(rng.integers(2**31))
        no_marks = np.empty(0, dtype=np.int64)
        played = play(policy, policy.resolve({}, arms, steps), worlds, seed, 0, Stream.SIMULATE, no_marks, True)
        arm = played.pulls[0].astype(np.int64)
    reward = np.empty(steps)
    levels = (worlds.level[0], worlds.motion[0], worlds.season, worlds.coin[0], worlds.noise[0])
    fill_rewards(worlds.kind, worlds.starts[0], worlds.row[0], worlds.blip[0], *levels, arm, reward)
    return Log.from_columns([str(k) for k in arm], reward)


@compiled
def fill_rewards(kind, starts, rows, blips, level, motion, season, coin, noise, arm, reward):  # type: ignore[no-untyped-def]
    """Write the reward of the pulled arm at each step."""
    segment = -1
    for t in range(1, reward.shape[0] + 1):
        if t == starts[segment + 1]:
            segment += 1
        reward[t - 1] = reward_of(
            kind, level, motion, season, coin, noise, rows[segment], blips[segment], arm[t - 1], t
        )


def true_regrets(
    path: Worlds, policy: str, candidates: Sequence[Mapping[str, Value]], runs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the expected regret per step of candidates [C] on a path, and its standard errors."""
    found = find_policy(policy)
    steps = path.noise.shape[1]
    arms = path.level.shape[2]
    values = [found.resolve(params, arms, steps) for params in candidates]
    regrets = []
    for first in range(0, runs, CHUNK):
        worlds = redraw_noise(path, min(CHUNK, runs - first), rng)
        regrets.append(evaluate(found, values, worlds, int(rng.integers(2**31))).regret / steps)
    table = np.concatenate(regrets, axis=1)
    return table.mean(axis=1), table.std(axis=1, ddof=1) / np.sqrt(runs)


def open_as_scenario(log: Log, estimator: str = DEFAULT_ESTIMATOR) -> LogScenario:
    """Return a log as a scenario, with a simulator where the estimator needs one."""
    return LogScenario(log, "log:study", minimize=False, estimator=LOG_ESTIMATORS[estimator])


def choose(
    scenario: LogScenario, policy: str, candidates: Sequence[Mapping[str, Value]], runs: int = SEARCH_RUNS
) -> int:
    """Return the candidate with the best score on a log, as a search does."""
    log = scenario.log
    found = find_policy(policy)
    # The search stream, but with all events of the log.
    worlds = scenario.prepared(Stream.SIMULATE).draw_replications(log.events, 1, range(runs), Stream.SEARCH)
    values = [found.resolve(params, log.arms, log.events) for params in candidates]
    return int(np.argmin(evaluate(found, values, worlds, seed=1).regret.mean(axis=1)))


def examine(
    logger: str,
    scenario: str,
    arms: int,
    number: int,
    events: int = EVENTS,
    runs: int = RUNS,
    tune: bool = True,
    estimator: str = DEFAULT_ESTIMATOR,
) -> Outcome:
    """Draw a log, estimate the score of a policy on it, and compare with the truth."""
    path = draw_path(scenario, arms, number, events)
    rng = np.random.default_rng([number, arms, LOGGERS.index(logger), KINDS.index(scenario)])
    log = simulate_log(path, logger, rng)
    policy = POLICIES[number % len(POLICIES)]
    recorded = open_as_scenario(log, estimator)
    prepared = recorded.prepared(Stream.SIMULATE)
    used = "expansion" if prepared.simulator is None else "simulator"
    if prepared.describe_shortage(log.names, np.inf) is not None:
        return Outcome(logger, scenario, arms, number, policy, used, False, False, *[np.nan] * 4)
    found = estimate_score(policy, recorded, resamples=RESAMPLES, seed=number)
    (regret,), (error,) = true_regrets(path, policy, [{}], runs, rng)
    truth = float(path.best.mean()) - regret
    answered = found.inconclusive is None
    excess = np.nan
    if tune and answered:
        first, second = (true_regrets(path, "sw-raven", CANDIDATES, CHOICE_RUNS, rng)[0] for _ in range(2))
        chosen = choose(recorded, "sw-raven", CANDIDATES)
        best = int(np.argmin(first))
        excess = float(second[chosen] / second[best] - 1.0)
    half = found.score.half_width
    covered = found.score.contains(truth)
    gap = found.score.mean - truth
    return Outcome(logger, scenario, arms, number, policy, used, answered, covered, gap, half, float(error), excess)


@dataclass(frozen=True)
class Group:
    """Summary of the logs of one logging policy, kind of change and number of arms."""

    name: tuple[str, str, int]
    logs: int
    answered: int
    covered: int
    excess: float
    """Median over the answered logs."""
    p: float
    """Exact binomial test of a coverage below 92 %."""


def summarize(outcomes: Sequence[Outcome]) -> list[Group]:
    """Summarize the logs of each group."""
    from scipy.stats import binomtest

    groups = []
    for name in dict.fromkeys((some.logger, some.scenario, some.arms) for some in outcomes):
        members = [some for some in outcomes if (some.logger, some.scenario, some.arms) == name]
        answered = [some for some in members if some.answered]
        covered = sum(some.covered for some in answered)
        p = binomtest(covered, len(answered), 0.92, "less").pvalue if answered else 1.0
        costs = [some.excess for some in answered if not np.isnan(some.excess)]
        excess = float(np.median(costs)) if costs else np.nan
        groups.append(Group(name, len(members), len(answered), covered, excess, p))
    return groups


def describe(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Format the table of the docs: answer rate, coverage and cost of tuning by logging policy and arms."""
    groups = summarize(outcomes)
    yield "| logging policy | K | logs | answered | coverage | excess regret, median | largest group median |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for logger in LOGGERS:
        for arms in ARMS:
            some = [group for group in groups if group.name[0] == logger and group.name[2] == arms]
            logs, answered, covered = (sum(getattr(group, key) for group in some) for key in FIELDS)
            costs = [
                one.excess for one in outcomes if (one.logger, one.arms) == (logger, arms) and one.excess == one.excess
            ]
            worst = [group.excess for group in some if group.excess == group.excess]
            if logs:
                yield (
                    f"| {logger} | {arms} | {logs} | {100 * answered / logs:.0f} % |"
                    f" {100 * covered / answered if answered else np.nan:.1f} % |"
                    f" {100 * np.median(costs) if costs else np.nan:.1f} % | {100 * max(worst, default=np.nan):.1f} % |"
                )
    answered, covered = (sum(getattr(group, key) for group in groups) for key in FIELDS[1:])
    yield f"\nPooled coverage {100 * covered / max(1, answered):.1f} % of {answered:,} answered logs."
    adjusted = holm_adjust([group.p for group in groups])
    low = [
        f"{' '.join(map(str, group.name))}: {group.covered}/{group.answered}"
        for group, p in zip(groups, adjusted, strict=True)
        if p < 0.05
    ]
    yield f"Groups significantly below 92 % (exact binomial test, Holm): {'; '.join(low) or 'none'}."


FIELDS = ("logs", "answered", "covered")


def main() -> None:
    """Examine logs, append the outcomes to a file, and print the summary."""
    parser = make_parser(__doc__, first=True, minutes=True)
    parser.add_argument("logs", type=int, help="logs per group")
    parser.add_argument("--loggers", nargs="*", default=LOGGERS)
    parser.add_argument("--scenarios", nargs="*", default=KINDS)
    parser.add_argument("--arms", nargs="*", type=int, default=ARMS)
    parser.add_argument("--estimator", choices=ESTIMATORS, default=DEFAULT_ESTIMATOR)
    parser.add_argument("--file", type=Path, default=Path("replay-coverage.jsonl"), help="outcomes, one line per log")
    options = parser.parse_args()
    done = [Outcome(**line) for line in read_lines(options.file)]
    finished = {(some.logger, some.scenario, some.arms, some.number) for some in done}
    end = time.monotonic() + 60.0 * options.minutes
    numbers = range(options.first, options.first + options.logs)
    cases = product(numbers, options.arms, options.scenarios, options.loggers)
    for number, arms, scenario, logger in cases:
        if time.monotonic() > end:
            break
        if (logger, scenario, arms, number) not in finished:
            tune = number % TUNED_EVERY == 0 or logger not in STATIC
            done.append(examine(logger, scenario, arms, number, tune=tune, estimator=options.estimator))
            append_line(options.file, asdict(done[-1]))
    print("\n".join(describe(done)))


if __name__ == "__main__":
    main()
