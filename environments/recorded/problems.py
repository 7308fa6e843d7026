"""Example problems with a known truth: expected values of arms at each step, from which traces and logs are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ravenlab.common.arrays import Floats, Ints
from ravenlab.common.errors import unknown_name
from ravenlab.common.text import join_words
from ravenlab.environments.recorded.examples import log_to_csv, trace_to_csv
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.trace_file import Trace

HOURS = 4368  # 26 weeks
WEEK = 168
ORDERS_PER_HOUR = 20
IMPRESSIONS = 100_000
IMPRESSIONS_PER_DAY = 10_000
REGION_HOURS = 3000
TRUTH_ROWS = 1000  # at most twice as many rows of expected values are written


@dataclass(frozen=True)
class Change:
    """One change of an arm, or of all arms: what happened, and the steps at which it began and ended."""

    kind: str
    arm: str
    first: int
    last: int
    size: float


@dataclass(frozen=True)
class ExampleProblem:
    """A problem with a known truth.

    >>> problem = make_problem("regions", seed=1)
    >>> problem.names[0], problem.means.shape, sorted({change.kind for change in problem.changes})
    ('dublin', (3000, 5), ['gap', 'jump', 'trend'])
    """

    name: str
    names: tuple[str, ...]
    """Names of the arms."""
    means: Floats
    """Expected values [steps, arms]; NaN where an arm is unavailable."""
    changes: tuple[Change, ...]
    """What changes, as a person would tell it."""
    minimize: bool
    unit: str
    draw: Callable[[Floats, np.random.Generator], Floats]
    """Draws values with given means."""
    logged_per_step: int
    """Number of logged events in a step; 0 if only traces are drawn."""
    binary: bool = False
    """Whether values are clicks or the like, which are only known for the arm that was pulled."""

    def describe(self) -> str:
        """Describe the values and the changes in a sentence each.

        >>> make_problem("regions", seed=1).describe()
        'dollars per step of 5 arms, less is better. Changes: jump, trend and gap.'
        """
        better = "less" if self.minimize else "more"
        kinds = join_words(list(dict.fromkeys(change.kind for change in self.changes)), "and")
        return f"{self.unit} per step of {len(self.names)} arms, {better} is better. Changes: {kinds}."

    def values(self, rng: np.random.Generator) -> Floats:
        """Draw the values of all arms at all steps."""
        return self.draw(self.means, rng)

    def trace(self, seed: int = 0) -> Trace:
        """Draw a trace: the values of all arms at all steps.

        >>> make_problem("carriers").trace().rows
        4368
        """
        return Trace.from_values(self.names, np.round(self.values(np.random.default_rng([seed, 1])), 4))

    def log(self, seed: int = 0, share: float = 0.1) -> Log:
        """Draw a log: a random arm with probability `share`, otherwise the arm with the best mean so far.

        >>> make_problem("carriers").log(share=1.0).events
        87360
        """
        rng = np.random.default_rng([seed, 2])
        values = self.draw(np.repeat(self.means, max(1, self.logged_per_step), axis=0), rng)
        arms, propensities = choose_by_logging(values, share, rng, self.minimize)
        rewards = values[np.arange(arms.size), arms]
        return Log.from_columns([self.names[arm] for arm in arms], np.round(rewards, 4), np.round(propensities, 6))

    @property
    def best_fixed(self) -> int:
        """The arm with the best expected value over all steps at which it is available."""
        totals = np.nanmean(self.means, axis=0)
        return int(np.argmin(totals) if self.minimize else np.argmax(totals))

    def expected_regret(self, arms: Ints) -> float:
        """Return the expected regret of arms that were chosen, one per step, against the best arm of each step."""
        best = np.nanmin(self.means, axis=1) if self.minimize else np.nanmax(self.means, axis=1)
        return float(np.abs(best - self.means[np.arange(arms.size), arms]).sum())

    def files(self, seed: int = 0) -> dict[str, str]:
        """Return the example files by name: recorded data of each kind that the problem has, and the truth.

        >>> sorted(make_problem("regions").files())
        ['regions-trace.csv', 'regions-truth.csv']
        """
        files = {f"{self.name}-truth.csv": self.truth_csv()}
        if not self.binary:
            files[f"{self.name}-trace.csv"] = trace_to_csv(self.trace(seed))
        if self.logged_per_step:
            files[f"{self.name}-log.csv"] = log_to_csv(self.log(seed))
        if self.binary:
            files[f"{self.name}-uniform-log.csv"] = log_to_csv(self.log(seed, share=1.0))
        return files

    def truth_csv(self) -> str:
        """Format the expected values of about a thousand steps as CSV; the changes are comments in front of them.

        >>> make_problem("headlines").truth_csv().splitlines()[0]
        '# decay of autumn from step 0 to 100000: -0.5'
        """
        lines = [
            f"# {change.kind} of {change.arm} from step {change.first} to {change.last}: {change.size:.4g}"
            for change in self.changes
        ]
        lines.append(",".join(["step", *self.names]))
        every = max(1, len(self.means) // TRUTH_ROWS)
        for step, row in enumerate(self.means[::every].tolist()):
            lines.append(",".join([str(1 + step * every), *("" if np.isnan(mean) else f"{mean:.6g}" for mean in row)]))
        return "\n".join(lines) + "\n"


def choose_by_logging(values: Floats, share: float, rng: np.random.Generator, minimize: bool) -> tuple[Ints, Floats]:
    """Choose a random available arm with probability `share`, otherwise the one with the best mean so far.

    Returns:
        The arms and their propensities.
    """
    steps, count = values.shape
    arms = np.empty(steps, np.int64)
    propensities = np.empty(steps)
    sums = np.zeros(count)
    pulls = np.zeros(count)
    signed = -values if minimize else values
    available = ~np.isnan(values)
    everywhere = bool(available.all())
    random_steps = np.less(rng.random((steps,)), share)
    random_arms = rng.random((steps,))
    for t in range(steps):
        means = np.full(count, np.inf)  # arms without a pull come first
        np.divide(sums, pulls, out=means, where=pulls > 0)
        open_arms = np.arange(count) if everywhere else np.flatnonzero(available[t])
        best = int(open_arms[int(np.argmax(means[open_arms]))])
        arm = int(open_arms[int(random_arms[t] * open_arms.size)]) if random_steps[t] else best
        arms[t] = arm
        propensities[t] = share / open_arms.size + (1.0 - share) * (arm == best)
        sums[arm] += signed[t, arm]
        pulls[arm] += 1.0
    return arms, propensities


def _draw_gamma(shape: float, means: Floats, rng: np.random.Generator) -> Floats:
    return means * rng.gamma(shape, 1.0 / shape, means.shape)


def _draw_clicks(means: Floats, rng: np.random.Generator) -> Floats:
    return np.where(np.isnan(means), np.nan, (rng.random(means.shape) < means).astype(np.float64))


def make_carriers(seed: int) -> ExampleProblem:
    """Minutes of eight carriers for 26 weeks: weekly seasons, one outage of 36 hours, and one trend."""
    names = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen")
    rng = np.random.default_rng([seed, 11])
    t = np.arange(HOURS)
    base = rng.permutation(np.linspace(40.0, 51.0, len(names))) + rng.uniform(-0.5, 0.5, len(names))
    phases = rng.random(len(names))
    amplitudes = rng.uniform(0.5, 2.0, len(names))
    means = base + amplitudes * np.sin(2.0 * np.pi * (t[:, None] / WEEK + phases))
    trend_arm, outage_arm = rng.choice(len(names), 2, replace=False)
    size = float(rng.choice([-6.0, 6.0]))
    means[:, trend_arm] += size * t / HOURS
    first = int(rng.integers(HOURS // 5, 4 * HOURS // 5))
    means[first : first + 36, outage_arm] += 40.0
    changes = (
        Change("trend", names[trend_arm], 0, HOURS, size),
        Change("outage", names[outage_arm], first, first + 36, 40.0),
        Change("weekly season", "all", 0, HOURS, float(amplitudes.mean())),
    )
    draw = partial(_draw_gamma, 60.0)
    return ExampleProblem("carriers", names, means, changes, True, "minutes", draw, logged_per_step=ORDERS_PER_HOUR)


def make_headlines(seed: int) -> ExampleProblem:
    """Clicks on six headlines: rates of 1 to 6 % that decay with age, a common daily cycle, and one replacement."""
    names = ("autumn", "budget", "cinema", "derby", "election", "football")
    rng = np.random.default_rng([seed, 12])
    t = np.arange(IMPRESSIONS)
    rates = rng.permutation(np.linspace(0.02, 0.05, len(names)))
    halves = rng.uniform(0.6, 1.5, len(names)) * IMPRESSIONS  # impressions until a rate has halved
    halves[0] = IMPRESSIONS
    replaced = int(rng.integers(1, len(names)))
    replacement = int(rng.uniform(0.35, 0.65) * IMPRESSIONS)
    ages = np.repeat(t[:, None], len(names), axis=1)
    ages[replacement:, replaced] -= replacement
    fresh = np.repeat(rates[None], IMPRESSIONS, axis=0)
    new_rate = float(rng.uniform(0.045, 0.055))
    fresh[replacement:, replaced] = new_rate
    cycle = 1.0 + 0.2 * np.sin(2.0 * np.pi * t / IMPRESSIONS_PER_DAY)
    means = np.clip(fresh * 0.5 ** (ages / halves) * cycle[:, None], 0.005, 0.065)
    decays = [
        Change("decay", name, 0, IMPRESSIONS, float(0.5 ** (IMPRESSIONS / half) - 1.0))
        for name, half in zip(names, halves, strict=True)
    ]
    changes = (
        *decays,
        Change("replacement", names[replaced], replacement, IMPRESSIONS, new_rate),
        Change("daily cycle", "all", 0, IMPRESSIONS, 0.2),
    )
    return ExampleProblem(
        "headlines", names, means, changes, False, "clicks", _draw_clicks, logged_per_step=1, binary=True
    )


def make_regions(seed: int) -> ExampleProblem:
    """Dollars per hour in five cloud regions: a jump of the cheapest, a trend, and hours without a price."""
    names = ("dublin", "frankfurt", "london", "oregon", "tokyo")
    rng = np.random.default_rng([seed, 13])
    t = np.arange(REGION_HOURS)
    base = rng.permutation(np.linspace(0.8, 1.2, len(names)))
    means = np.repeat(base[None], REGION_HOURS, axis=0)
    cheapest, second = np.argsort(base)[:2].tolist()
    jump = int(rng.uniform(0.3, 0.7) * REGION_HOURS)
    means[jump:, cheapest] += 0.35
    means[:, second] += 0.05 * t / REGION_HOURS
    gap_arm = int(rng.choice([k for k in range(len(names)) if k != cheapest]))
    gap = int(rng.uniform(0.1, 0.9) * (REGION_HOURS - 60))
    means[gap : gap + 60, gap_arm] = np.nan
    changes = (
        Change("jump", names[cheapest], jump, REGION_HOURS, 0.35),
        Change("trend", names[second], 0, REGION_HOURS, 0.05),
        Change("gap", names[gap_arm], gap, gap + 60, np.nan),
    )
    return ExampleProblem(
        "regions", names, means, changes, True, "dollars", partial(_draw_gamma, 400.0), logged_per_step=0
    )


PROBLEMS: dict[str, Callable[[int], ExampleProblem]] = {
    "carriers": make_carriers,
    "headlines": make_headlines,
    "regions": make_regions,
}


def make_problem(name: str, seed: int = 0) -> ExampleProblem:
    """Create an example problem; another seed gives another truth of the same kind.

    >>> bool(make_problem("headlines").means.max() < 0.066)
    True
    """
    if name not in PROBLEMS:
        raise unknown_name("example", name, PROBLEMS)
    return PROBLEMS[name](seed)
