"""Recommendations for one's own data, checked against a known truth: python -m tools.evidence.own_data MODE.

- delivery: minutes of six carriers with a weekly season and one trend. A trace and a log are tuned with costs; the
  recommendation is exported, loaded and deployed in the same process, on a trace with a restart at every window.
  Criterion: at no seed more than 2 % above the cost of the best fixed arm.
- clicks: five arms with rates of 1 to 6 %, one of which jumps at every quarter, logged uniformly. The parameters play
  it with the rates of the log and with others. Criterion: at most 5 % more lost clicks than `RavenUCB(arms=5)`.
- scale: settings of `--set` in other units. Criterion: α₀ and ε convert exactly at powers of two, verdicts are equal,
  and at 1,000 the regret agrees within 0.5 %.
"""

import copy
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ravenlab
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.recorded.examples import log_to_csv, trace_to_csv
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.world import Floats, Ints, Worlds, fill_rewards
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.play import evaluate
from ravenlab.studies.export import export
from ravenlab.studies.laws.axes import RATES, axes_of, settings_at
from ravenlab.studies.results.describe_recommendation import describe_recommendation
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.quantities import UNIT_POWERS
from tools.evidence.harness import make_parser

CARRIERS = ("ant", "bee", "cat", "dog", "elk", "fox")
WEEKS = 12
STEPS = {"trace": 168 * WEEKS, "log": 504 * WEEKS}
REPETITIONS = 10  # deployments per seed, with other noise

CLICKS = {"noise": "bernoulli", "mean_low": 0.01, "mean_high": 0.06, "every": "25%", "fraction": 0.2}
IMPRESSIONS = 60_000
CLICK_ARMS = 5
CLICK_WORLDS = 1000
CLICK_BLOCK = 200

SCALES = (1.0 / 64.0, 1.0, 64.0, 1000.0)
BUDGETS = {
    "trace": {"trials": 60, "replications": 100, "selection": 500, "report": 500},
    "log": {"trials": 60},
    "scale": {"trials": 40, "replications": 50, "selection": 400, "report": 400},
}


def tune(folder: Path, fields: dict[str, Any]) -> Recommendation:
    result: Recommendation = ravenlab.tune(storage=f"sqlite:///{folder}/studies.sqlite3", progress=False, **fields)
    return result


class Delivery:
    """Expected minutes of each carrier at each step: levels, weekly seasons, and one carrier with a trend."""

    def __init__(self, seed: int, steps: int) -> None:
        rng = np.random.default_rng(seed)
        arms = len(CARRIERS)
        t = np.arange(steps)[:, None] / steps
        season = rng.uniform(0.5, 3.0, arms) * np.sin(2.0 * np.pi * (WEEKS * t + rng.random(arms)))
        trend = np.where(np.arange(arms) == rng.integers(arms), rng.choice([-8.0, 8.0]), 0.0) * t
        self.means: Floats = rng.uniform(30.0, 45.0, arms) + season + trend
        self.best_fixed = float(self.means.mean(axis=0).min())

    def costs(self, rng: np.random.Generator) -> Floats:
        """Draw the minutes of all carriers, with a standard deviation of 13 % and skewed to the right."""
        return self.means * rng.gamma(60.0, 1.0 / 60.0, self.means.shape)

    def expected_cost(self, arms: Ints) -> float:
        return float(self.means[np.arange(arms.size), arms].mean())


def choose_by_logging(costs: Floats, share: float, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Choose a random arm with probability `share`, otherwise the one of the lowest mean; also return propensities."""
    steps, count = costs.shape
    arms = np.empty(steps, np.int64)
    propensities = np.empty(steps)
    sums = np.zeros(count)
    pulls = np.zeros(count)
    for t in range(steps):
        best = int(np.argmin(sums / np.maximum(pulls, 1.0)))
        arm = int(rng.integers(count)) if rng.random() < share else best
        arms[t] = arm
        propensities[t] = share / count + (1.0 - share) * (arm == best)
        sums[arm] += costs[t, arm]
        pulls[arm] += 1.0
    return arms, propensities


def choose_by_policy(policy: Policy, feedback: Floats, window: int) -> Ints:
    """Let a policy choose; a new copy starts at each window."""
    arms = np.empty(feedback.shape[0], np.int64)
    for t in range(feedback.shape[0]):
        if t % window == 0:
            running = copy.deepcopy(policy)
        choice: Any = running.select()
        arm = CARRIERS.index(choice) if isinstance(choice, str) else int(choice)
        running.update(choice, float(feedback[t, arm]))
        arms[t] = arm
    return arms


def deploy(
    recommendation: Recommendation, exported: Path, delivery: Delivery, window: int, share: float, seed: int
) -> Floats:
    """Return the expected cost per step of what is recommended, of the loaded policy, and of the class as constructed.

    The loaded policy is told costs. The class as constructed takes rewards, which are negative costs.
    """
    rng = np.random.default_rng([seed, 1])
    decision: str = recommendation.verdict.decision
    loaded = ravenlab.RavenUCB.load(exported)
    constructed = ravenlab.RavenUCB(arms=len(CARRIERS))
    costs_per_step = np.empty((REPETITIONS, 3))
    for r in range(REPETITIONS):
        costs = delivery.costs(rng)
        played = choose_by_policy(loaded, costs, window)
        recommended = played
        if decision == "use one arm":
            recommended = np.full(costs.shape[0], CARRIERS.index(str(recommendation.verdict.arm)))
        elif decision == "keep the logging policy":
            recommended, _ = choose_by_logging(costs, share, rng)
        by_class = choose_by_policy(constructed, -costs, window)
        costs_per_step[r] = [delivery.expected_cost(arms) for arms in (recommended, played, by_class)]
    means: Floats = costs_per_step.mean(axis=0)
    return means


def tune_delivery(seed: int, kind: str, folder: Path) -> Floats:
    """Tune on a trace or a log of one seed and deploy the export.

    Returns:
        Excess cost over the best fixed arm of what is recommended and of the loaded policy.
    """
    steps = STEPS[kind]
    delivery = Delivery(seed, steps)
    rng = np.random.default_rng([seed, 0])
    costs = delivery.costs(rng)
    share = 1.0 if seed % 2 == 0 else 0.1
    path = folder / f"{kind}-{seed}.csv"
    if kind == "trace":
        path.write_text(trace_to_csv(Trace.from_values(CARRIERS, costs)))
    else:
        arms, propensities = choose_by_logging(costs, share, rng)
        names = [CARRIERS[arm] for arm in arms]
        path.write_text(log_to_csv(Log.from_columns(names, costs[np.arange(steps), arms], propensities)))
    begin = time.perf_counter()
    recommendation = tune(folder, {kind: str(path), "minimize": True, **BUDGETS[kind]})
    exported = path.with_suffix(".json")
    exported.write_text(export([recommendation], "json"))
    tuned = time.perf_counter()
    window = recommendation.horizon if kind == "trace" else steps
    best = delivery.best_fixed
    excess = deploy(recommendation, exported, delivery, window, share, seed) / best - 1.0
    label = kind if kind == "trace" else f"log with ε = {share:g}"
    print(
        f"{label}, seed {seed}: above the best fixed arm ({best:.2f}): recommended {excess[0]:+.1%}, loaded policy"
        f" {excess[1]:+.1%}, class as constructed {excess[2]:+.1%}; tuned in {tuned - begin:.0f} s, deployed in"
        f" {time.perf_counter() - tuned:.0f} s\n    {describe_recommendation(recommendation)[0]}",
        flush=True,
    )
    return excess[:2]


def check_delivery(seeds: int) -> bool:
    """Whether neither what is recommended nor the loaded policy costs 2 % more than the best fixed arm."""
    with tempfile.TemporaryDirectory() as folder:
        excess = [tune_delivery(seed, kind, Path(folder)) for seed in range(seeds) for kind in ("trace", "log")]
    worst = np.max(excess, axis=0)
    print(f"worst: recommended {worst[0]:+.1%}, loaded policy {worst[1]:+.1%}; at most 2% wanted")
    return bool(worst.max() <= 0.02)


def draw_click_worlds(seed: int, first: int, count: int) -> Worlds:
    return draw_worlds(find_scenario("localized-jump", CLICKS), IMPRESSIONS, CLICK_ARMS, seed, first, count, 0)


def log_clicks(world: Worlds, seed: int) -> Log:
    """Log a world with arms chosen uniformly."""
    rewards = np.empty((IMPRESSIONS, CLICK_ARMS))
    fill_rewards(world, 0, 1, np.empty_like(rewards), rewards)
    arm = np.random.default_rng([seed, 2]).integers(CLICK_ARMS, size=IMPRESSIONS)
    clicks = rewards[np.arange(IMPRESSIONS), arm]
    return Log.from_columns([f"ad{k}" for k in arm], clicks, np.full(IMPRESSIONS, 1.0 / CLICK_ARMS))


def excess_clicks(params: Mapping[str, Any], rates: Worlds | None) -> tuple[float, float]:
    """Return the excess of lost clicks over the class as constructed, with given or other rates, and its error."""
    policy = ravenlab.RavenUCB
    candidates = [policy.resolve(values, CLICK_ARMS, IMPRESSIONS) for values in (params, {})]
    blocks = []
    for first in range(0, CLICK_WORLDS, CLICK_BLOCK):
        worlds = draw_click_worlds(1_000_003, first, CLICK_BLOCK)
        if rates is not None:
            worlds.level[:] = rates.level
            worlds.best[:] = rates.best
        blocks.append(evaluate(policy, candidates, worlds, seed=0).regret)
    tuned, constructed = np.concatenate(blocks, axis=1)
    ratio = tuned.mean() / constructed.mean()
    error = (tuned - ratio * constructed).std(ddof=1) / np.sqrt(tuned.size) / constructed.mean()
    return float(ratio - 1.0), float(error)


def check_clicks(seeds: int) -> bool:
    """Whether parameters from logs lose at most 5 % more clicks than the class as constructed, in the mean of logs."""
    excess = np.empty((seeds, 2))
    for seed in range(seeds):
        world = draw_click_worlds(seed, 0, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "clicks.csv")
            path.write_text(log_to_csv(log_clicks(world, seed)))
            recommendation = tune(Path(folder), {"log": str(path), **BUDGETS["log"]})
        same, other = (excess_clicks(recommendation.params, rates) for rates in (world, None))
        excess[seed] = same[0], other[0]
        print(
            f"clicks, seed {seed}: lost clicks {same[0]:+.1%} ± {same[1]:.1%} with the same rates,"
            f" {other[0]:+.1%} ± {other[1]:.1%} with others\n"
            f"    {describe_recommendation(recommendation)[0]}",
            flush=True,
        )
    print("mean {:+.1%} with the same rates, {:+.1%} with others; at most 5% wanted".format(*excess.mean(axis=0)))
    return bool(excess.mean(axis=0).max() <= 0.05)


def draw_problem(seed: int) -> dict[str, Any]:
    """Draw a problem with a law: scenario, horizon, arms and settings."""
    rng = np.random.default_rng([seed, 3])
    scenario = sorted(RATES)[int(rng.integers(len(RATES)))]
    size: dict[str, Any] = {"horizon": int(rng.integers(500, 3001)), "arms": int(rng.integers(3, 13))}
    place = {axis.name: float(rng.uniform(axis.low, axis.high)) for axis in axes_of(scenario)}
    if "opens" in place:
        place["opens"], place["closes"] = sorted((place["opens"], place["closes"]))
    lowest = float(rng.normal(0.0, 3.0))
    settings = {"mean_low": lowest, "mean_high": lowest + 0.5, **settings_at(scenario, {**place, **size})}
    return {"scenario": scenario, **size, "settings": convert_settings(settings, float(rng.lognormal()))}


def convert_settings(settings: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Express settings in units in which rewards are `scale` times as large.

    >>> convert_settings({"mean_low": 1.0, "growth": 2.0, "every": "10%"}, 8.0)
    {'mean_low': 8.0, 'growth': 128.0, 'every': '10%'}
    """
    return {
        name: value * scale ** UNIT_POWERS[name] if name in UNIT_POWERS else value for name, value in settings.items()
    }


def scale_faults(problem: Mapping[str, Any], **budget: int) -> list[str]:
    """Tune a problem in several units and list how the recommendations disagree."""
    found: dict[float, Recommendation] = {}
    for scale in SCALES:
        with tempfile.TemporaryDirectory() as folder:
            settings = convert_settings(problem["settings"], scale)
            found[scale] = tune(Path(folder), {**problem, "settings": settings, **budget})
    base = found[1.0]
    powers = {param.name: param.power for param in ravenlab.RavenUCB.parameters}
    faults = []
    for scale, other in found.items():
        expected = {name: value * scale ** powers[name] for name, value in base.params.items()}
        if scale == 1000.0:
            error = other.regret.mean / (scale * base.regret.mean) - 1.0
            if abs(error) > 0.005:
                faults.append(f"scale {scale:g}: regret {error:+.2%}")
        elif other.params != expected:
            faults.append(f"scale {scale:g}: {other.params}, expected {expected}")
        if (other.verdict.decision, other.verdict.set) != (base.verdict.decision, base.verdict.set):
            faults.append(f"scale {scale:g}: {other.verdict.decision}, expected {base.verdict.decision}")
    return faults


def check_scale(seeds: int) -> bool:
    """Whether recommendations convert to other units."""
    correct = True
    for seed in range(seeds):
        problem = draw_problem(seed)
        faults = scale_faults(problem, **BUDGETS["scale"])
        correct = correct and not faults
        print(f"{problem}: {'; '.join(faults) or 'equal'}", flush=True)
    return correct


MODES: dict[str, Callable[[int], bool]] = {"delivery": check_delivery, "clicks": check_clicks, "scale": check_scale}


def main() -> None:
    """Run one check and exit with code 1 if its criterion is missed."""
    parser = make_parser(__doc__, seeds=10)
    parser.add_argument("mode", choices=sorted(MODES))
    options = parser.parse_args()
    raise SystemExit(not MODES[options.mode](options.seeds))


if __name__ == "__main__":
    main()
