"""Policies without tuning against policies tuned in hindsight, in settings that were not used to design raven-auto.

    python -m tools.no_tuning run results.jsonl --minutes 60
    python -m tools.no_tuning table results.jsonl

`run` plays sampled settings and appends one JSON line per finished setting, so that it can be interrupted and resumed;
studies are stored in results.sqlite3 beside the file. Settings combine a scenario or two with T of 1,000, 10,000 or
100,000, K of 3, 10 or 100, a noise level of ½, 1 or 2 (factor of the standard deviation), a noise distribution, and
random change times where changes have times. They are played from the cheapest to the dearest. Six policies are tuned
on worlds of each setting by the searches of `ravenlab compare`: by default 60 trials × 200 worlds, six finalists on
2,000 selection worlds, and 1,000 report worlds. The policies without tuning play the same report worlds at their
unscaled defaults.

`table` prints the excess of each policy without tuning over the best tuned policy of each setting, worst and mean over
the settings, with 95 % intervals from a bootstrap over settings, and the paired differences from raven-auto.

raven-auto was designed in these settings (scenario, T, K, level of the noise), with normal noise and fixed times:
stationary (2,000, 10, 1), (10,000, 5, 1), (4,000, 10, 2), (2,000, 50, 1); localized-jump (10,000, 10, 1),
(2,000, 5, 1), (5,000, 20, ½), (3,000, 50, 1); variance-drift (10,000, 10, 1), (2,000, 5, 1); periodic (10,000, 10, 1),
(20,000, 4, 1); gradual-drift (5,000, 5, 1); incremental-drift (10,000, 10, 1); random-walk (5,000, 5, 1);
blips (5,000, 10, 1); periodic+blips (5,000, 5, 1).
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from environments import find_scenario
from studies.results.comparison import Comparison
from studies.spec.comparison import ComparisonSpec
from studies.statistics.intervals import relative_interval
from tools.docs.marks import table
from tuning.comparison.run import run_comparison

SCENARIOS = (
    *("stationary", "localized-jump", "periodic", "blips", "gradual-drift", "incremental-drift", "variance-drift"),
    *("random-walk", "arm-churn", "localized-jump+variance-drift", "incremental-drift+blips", "random-walk+blips"),
    *("periodic+localized-jump", "gradual-drift+variance-drift", "periodic+variance-drift", "arm-churn+localized-jump"),
)
HORIZONS, ARMS, LEVELS, NOISES = (1000, 10_000, 100_000), (3, 10, 100), (0.5, 1.0, 2.0), ("laplace", "uniform")
TUNED = ("raven-ucb", "sw-raven", "d-raven", "ucb1", "sw-ucb", "glr-klucb")
UNTUNED = ("raven-auto", "master", "bob-sw-ucb", "adr-ucb", "glr-klucb", "raven-ucb", "tsallis-inf")
COUNT, SEED = 40, 4
BOOTSTRAP = 4000


@dataclass(frozen=True)
class Setting:
    """A problem: scenario with noise level, noise distribution and random times, horizon and arms."""

    number: int
    scenario: str
    horizon: int
    arms: int
    level: float
    noise: str

    def settings(self) -> dict[str, Any]:
        """Return the settings of the scenario."""
        scenario = find_scenario(self.scenario)
        times = {name: "geometric" for name in scenario.parameters() if name.split(".")[-1] == "times"}
        base = scenario.base
        factor = self.level**2
        variances = {"variance_low": factor * base.variance_low, "variance_high": factor * base.variance_high}
        return {**times, **variances, "noise": self.noise}

    def spec(self, policies: tuple[str, ...], trials: int, worlds: int, report: int) -> ComparisonSpec:
        """Return the comparison of some policies; all have the same report worlds."""
        return ComparisonSpec(
            scenario=self.scenario,
            settings=self.settings(),
            horizon=self.horizon,
            arms=self.arms,
            policies=policies,
            tune=trials,
            search_replications=worlds,
            replications=report,
            defaults="original",
            seed=1000 + self.number,
        )

    def describe(self) -> str:
        """Describe the setting in a table."""
        return f"{self.scenario}, {self.noise} × {self.level:g}"


def sample_settings(count: int = COUNT) -> list[Setting]:
    """Sample settings, each scenario about equally often; the cheapest first.

    >>> settings = sample_settings()
    >>> len(settings), len({setting.scenario for setting in settings})
    (40, 16)
    """
    rng = np.random.default_rng(SEED)
    scenarios = [SCENARIOS[i % len(SCENARIOS)] for i in range(count)]
    settings = [
        Setting(
            number,
            scenario,
            int(rng.choice(HORIZONS)),
            int(rng.choice(ARMS)),
            float(rng.choice(LEVELS)),
            str(rng.choice(NOISES)),
        )
        for number, scenario in enumerate(scenarios)
    ]
    return sorted(settings, key=lambda setting: (setting.horizon, setting.arms, setting.number))


def evaluate_setting(setting: Setting, url: str, budget: tuple[int, int, int]) -> dict[str, Any]:
    """Tune and play all policies in a setting; return what is stored about it."""
    trials, worlds, report = budget
    begin = time.process_time()
    tuned = run_comparison(setting.spec(TUNED, trials, worlds, report), url)
    untuned = run_comparison(setting.spec(UNTUNED, 0, worlds, report), url)
    count = min(tuned.worlds, untuned.worlds)
    entries = [entry for entry in tuned.entries if entry.setting == "tuned"]
    best = min(entries, key=lambda entry: float(entry.regret.mean()))
    return {
        **asdict(setting),
        "trials": trials,
        "search_worlds": worlds,
        "report_worlds": count,
        "cpu_seconds": round(time.process_time() - begin, 1),
        "best": best.policy,
        "tuned": {entry.policy: [float(entry.regret.mean()), entry.failure_rate] for entry in entries},
        "untuned": {entry.policy: [float(entry.regret.mean()), entry.failure_rate] for entry in _defaults(untuned)},
        "excess": {
            entry.policy: list(relative_interval(entry.regret[:count], best.regret[:count], setting.number))
            for entry in _defaults(untuned)
        },
    }


def _defaults(comparison: Comparison) -> list[Any]:
    return [entry for entry in comparison.entries if entry.setting == "defaults"]


def run_settings(path: Path, minutes: float, budget: tuple[int, int, int], count: int) -> None:
    """Evaluate the settings that the file does not contain yet, until the time is over."""
    until = time.monotonic() + 60.0 * minutes
    done = {row["number"] for row in read_rows(path)}
    url = f"sqlite:///{path.with_suffix('.sqlite3')}"
    print(
        f"{len(done)} of {count} settings finished; {budget[0]} trials × {budget[1]} worlds, {budget[2]} report worlds."
    )
    for setting in sample_settings(count):
        if setting.number in done:
            continue
        if time.monotonic() > until:
            print("Time is over; run the same command to resume.")
            return
        row = evaluate_setting(setting, url, budget)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        excess = 100 * row["excess"]["raven-auto"][0]
        print(f"{setting.describe()}, T {setting.horizon}, K {setting.arms}: {excess:+.0f} %", flush=True)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the finished settings."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def bootstrap_mean(values: Any) -> tuple[float, float, float]:
    """Return the mean of values of settings with a 95 % percentile interval.

    >>> bootstrap_mean([1.0, 1.0])
    (1.0, 1.0, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    draws = array[np.random.default_rng(0).integers(array.size, size=(BOOTSTRAP, array.size))].mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(array.mean()), float(low), float(high)


def print_tables(path: Path) -> None:
    """Print the summary by policy, and the excess of raven-auto by setting."""
    rows = read_rows(path)
    summary = []
    auto = np.array([row["excess"]["raven-auto"][0] for row in rows])
    for policy in UNTUNED:
        excess = np.array([row["excess"][policy][0] for row in rows])
        worst = rows[int(excess.argmax())]
        difference = "–"
        if policy != "raven-auto":
            difference = "{:+.0f} ({:+.0f} to {:+.0f})".format(*(100 * x for x in bootstrap_mean(excess - auto)))
        failures = np.mean([row["untuned"][policy][1] for row in rows])
        mean, low, high = (100 * x for x in bootstrap_mean(excess))
        where = f"{worst['scenario']}, T {worst['horizon']}, K {worst['arms']}"
        summary.append(
            [
                f"`{policy}`",
                f"{mean:.0f} ({low:.0f} to {high:.0f})",
                f"{100 * excess.max():.0f}",
                where,
                f"{np.mean(excess <= 0.25):.0%}",
                f"{100 * failures:.1f} %",
                difference,
            ]
        )
    failures = np.mean([row["tuned"]["raven-ucb"][1] for row in rows])
    titles = ["policy", "mean excess (%)", "worst (%)", "worst setting", "within 25 %", "failures", "minus raven-auto"]
    print(f"{len(rows)} settings; tuned RAVEN-UCB fails in {100 * failures:.1f} % of the worlds.\n")
    print("\n".join(table(titles, summary)) + "\n")
    by_setting = [
        [
            row["scenario"],
            f"{row['horizon']:,}",
            str(row["arms"]),
            f"{row['noise']} × {row['level']:g}",
            f"`{row['best']}`",
            f"{min(mean for mean, _ in row['tuned'].values()):.1f}",
            "{:+.0f} ({:+.0f} to {:+.0f})".format(*(100 * x for x in row["excess"]["raven-auto"])),
        ]
        for row in sorted(rows, key=lambda row: (SCENARIOS.index(row["scenario"]), row["number"]))
    ]
    titles = ["scenario", "T", "K", "noise", "best tuned", "regret", "excess of raven-auto (%)"]
    print("\n".join(table(titles, by_setting)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--settings", type=int, default=COUNT)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--report", type=int, default=1000)
    given = parser.parse_args()
    if given.command == "table":
        print_tables(given.file)
    else:
        run_settings(given.file, given.minutes, (given.trials, given.worlds, given.report), given.settings)
