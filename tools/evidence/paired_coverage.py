"""Coverage of 95 % intervals of paired differences on logs: python -m tools.evidence.paired_coverage 10.

Logs of 20,000 events by uniform and ε-greedy logging policies are drawn from simulated worlds with normal rewards, or
with clicks at rates of 1 to 6 %. The mean reward of RAVEN-UCB at scaled defaults is compared on each log with that of
other parameters, of other policies and of the logging policy. The truth is the expected difference of the policies
deployed on the same path of means, over the noise of the rewards and the policies' own randomness.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.loading import scale_defaults
from ravenlab.policies.engine.parameters import Values
from ravenlab.policies.engine.play import evaluate, play_logs
from ravenlab.studies.statistics.resampled_logs import estimate_interval
from ravenlab.tuning.validation.log import summarize_logs
from tools.evidence.harness import append_line, make_parser, read_lines
from tools.evidence.replay_coverage import CHUNK, EVENTS, draw_path, open_as_scenario, redraw_noise, simulate_log

CLICKS = {"noise": "bernoulli", "mean_low": 0.01, "mean_high": 0.06}
MOTIONS = {"incremental-drift": {"drift": 0.03}, "periodic": {"amplitude": 0.02}}
"""Settings of the kinds of change of clicks, whose usual values are made for means between 0 and 1."""
NOISES = ("normal", "clicks")
LOGGERS = ("uniform", "epsilon-greedy")
KINDS = ("stationary", "incremental-drift", "gradual-drift", "localized-jump", "periodic", "blips")
ARMS = (3, 6)
RIVALS = ("greedier", "wider", "sw-raven", "raven-auto", "thompson")
"""What the scaled defaults of RAVEN-UCB are compared with; "greedier" and "wider" have another α₀."""
FACTORS = {"greedier": 0.25, "wider": 3.0}  # of α₀
LOGGED = "logging policy"
RESAMPLES = 256
RUNS = 300  # deployments for the truth
LEAST = 0.92
MOST = 0.98
"""Wanted coverage of all pairs."""


@dataclass(frozen=True)
class Pair:
    """One paired difference on one log: the estimate and the truth."""

    logger: str
    noise: str
    kind: str
    arms: int
    number: int
    rival: str
    estimator: str
    mean: float
    low: float
    high: float
    truth: float
    truth_error: float

    @property
    def covered(self) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= self.truth <= self.high


def scaled_values(scenario: LogScenario, rival: str) -> tuple[str, Values]:
    """Return a policy and its defaults, scaled to the rewards of a log."""
    name = "raven-ucb" if rival in ("", *FACTORS) else rival
    policy = find_policy(name)
    values = policy.resolve({}, scenario.arms, scenario.log.events)
    values = scale_defaults(policy, values, scenario.scale)
    if rival in FACTORS:
        values = {**values, "alpha0": FACTORS[rival] * float(values["alpha0"])}
    return name, values


def true_rewards(path: Worlds, contenders: Sequence[tuple[str, Values]], rng: np.random.Generator) -> Floats:
    """Return minus the regret per step [C, RUNS] of policies deployed on a path with the same noise."""
    steps = path.noise.shape[1]
    seed = int(rng.integers(2**31))
    parts = []
    for first in range(0, RUNS, CHUNK):
        worlds = redraw_noise(path, min(CHUNK, RUNS - first), rng)
        parts.append(
            np.stack(
                [evaluate(find_policy(name), [values], worlds, seed, first).regret[0] for name, values in contenders]
            )
        )
    return np.asarray(-np.concatenate(parts, axis=1) / steps)


def examine(logger: str, noise: str, kind: str, arms: int, number: int) -> list[Pair]:
    """Draw a log, and compare the paired differences on it with the truth; nothing if the log is inconclusive."""
    settings = {**CLICKS, **MOTIONS.get(kind, {})} if noise == "clicks" else {}
    path = draw_path(kind, arms, number, EVENTS, **settings)
    rng = np.random.default_rng([number, arms, LOGGERS.index(logger), NOISES.index(noise), KINDS.index(kind)])
    log = simulate_log(path, logger, rng)
    scenario = open_as_scenario(log)
    worlds = scenario.draw(log.events, number, 0, RESAMPLES, Stream.SIMULATE)
    contenders = [scaled_values(scenario, rival) for rival in ("", *RIVALS)]
    played = [play_logs(find_policy(name), values, worlds, number, 0, Stream.SIMULATE) for name, values in contenders]
    if summarize_logs(scenario, Stream.SIMULATE, played[0]).inconclusive is not None:
        return []
    simulated = scenario.prepared(Stream.SIMULATE).simulator is not None
    truth = true_rewards(path, contenders, rng)
    pairs = []
    for i, rival in enumerate(RIVALS, start=1):
        interval = estimate_interval(played[0].score - played[i].score, simulated)
        difference = truth[0] - truth[i]
        pairs.append(
            Pair(
                *(logger, noise, kind, arms, number, rival, "simulator" if simulated else "expansion"),
                *(interval.mean, interval.low, interval.high),
                *(float(difference.mean()), float(difference.std(ddof=1) / RUNS**0.5)),
            )
        )
    return pairs


def describe(pairs: Sequence[Pair]) -> Iterator[str]:
    """Format the table of the docs: coverage by logging policy and noise, kind of change, and rival."""
    for name in ("logger", "noise", "kind", "arms", "rival", "estimator"):
        for value in dict.fromkeys(getattr(pair, name) for pair in pairs):
            some = [pair for pair in pairs if getattr(pair, name) == value]
            below = np.mean([pair.truth < pair.low for pair in some])
            above = np.mean([pair.truth > pair.high for pair in some])
            yield f"{name} {value}: {len(some)} pairs, {1 - below - above:.1%} (below {below:.1%}, above {above:.1%})"
    logs = {(pair.logger, pair.noise, pair.kind, pair.arms, pair.number) for pair in pairs}
    yield f"{np.mean([pair.covered for pair in pairs]):.1%} of {len(pairs):,} pairs on {len(logs):,} logs"


def main() -> int:
    """Examine logs, append the outcomes to a file, and print the summary; fail if the pooled coverage is wrong."""
    parser = make_parser(__doc__, first=True, minutes=True)
    parser.add_argument("logs", type=int, help="logs per group")
    parser.add_argument("--file", type=Path, default=Path("paired-coverage.jsonl"), help="outcomes, one line per log")
    options = parser.parse_args()
    lines = read_lines(options.file)
    finished = {tuple(line["case"]) for line in lines}
    end = time.monotonic() + 60.0 * options.minutes
    numbers = range(options.first, options.first + options.logs)
    for number, logger, noise, kind, arms in product(numbers, LOGGERS, NOISES, KINDS, ARMS):
        if time.monotonic() > end:
            break
        if (number, logger, noise, kind, arms) not in finished:
            pairs = [asdict(pair) for pair in examine(logger, noise, kind, arms, number)]
            lines.append({"case": [number, logger, noise, kind, arms], "pairs": pairs})
            append_line(options.file, lines[-1])
    found = [Pair(**pair) for line in lines for pair in line["pairs"]]
    print("\n".join(describe(found)))
    return int(not LEAST <= np.mean([pair.covered for pair in found]) <= MOST)


if __name__ == "__main__":
    raise SystemExit(main())
