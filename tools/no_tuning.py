"""Policies without tuning against policies tuned in hindsight, in settings that were not used to design raven-auto.

    python -m tools.no_tuning tune results.jsonl --minutes 60
    python -m tools.no_tuning play results.jsonl
    python -m tools.no_tuning table results.jsonl

`tune` tunes the rivals in sampled settings, from the cheapest to the dearest, and stores them in results.sqlite3 beside
the file, so that it can be interrupted and resumed. Settings combine a scenario or two with T of 1,000, 10,000 or
100,000, K of 3, 10 or 100, a noise level of ½, 1 or 2 (factor of the standard deviation), a noise distribution, and
random change times where changes have times. Six policies are tuned on worlds of each setting by the searches of
`ravenlab compare`: 60 trials × 200 worlds, six finalists on 2,000 selection worlds, and 1,000 report worlds. With T of
100,000 and K of 100 these are 20, 200 and 200 worlds.

`play` plays the policies without tuning on the same report worlds, and completes the lines of the file. A line is a
setting. They have their unscaled defaults. The robust rival is RAVEN-UCB with what `ravenlab tune --robust`
recommends over the nine single scenarios at the T and K of the setting, with the scenarios' own noise.

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
from policies.engine.base import Value
from studies.results.comparison import Comparison, ComparisonEntry
from studies.results.robust import RobustRecommendation
from studies.spec.comparison import ComparisonSpec
from studies.spec.robust import RobustSpec, parse_robust_spec
from studies.statistics.intervals import relative_interval
from tools.docs.marks import table
from tuning.comparison.run import PlayedEntry, play_entry, run_comparison
from tuning.robust.run import run_robust
from tuning.workers.problem import Evaluator, Problem

SCENARIOS = (
    *("stationary", "localized-jump", "periodic", "blips", "gradual-drift", "incremental-drift", "variance-drift"),
    *("random-walk", "arm-churn", "localized-jump+variance-drift", "incremental-drift+blips", "random-walk+blips"),
    *("periodic+localized-jump", "gradual-drift+variance-drift", "periodic+variance-drift", "arm-churn+localized-jump"),
)
HORIZONS, ARMS, LEVELS, NOISES = (1000, 10_000, 100_000), (3, 10, 100), (0.5, 1.0, 2.0), ("laplace", "uniform")
TUNED = ("raven-ucb", "sw-raven", "d-raven", "ucb1", "sw-ucb", "glr-klucb")
UNTUNED = ("raven-auto", "master", "bob-sw-ucb", "adr-ucb", "glr-klucb", "raven-ucb", "tsallis-inf")
ROBUST = "raven-ucb, robust"
SINGLE = SCENARIOS[:9]
COUNT, SEED = 40, 4
TRIALS = 60
LARGE = 10_000_000  # T·K from which fewer worlds are played
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

    @property
    def worlds(self) -> tuple[int, int]:
        """Worlds of a trial and of the report."""
        return (20, 200) if self.horizon * self.arms >= LARGE else (200, 1000)

    def spec(self) -> ComparisonSpec:
        """Return the comparison of the tuned policies."""
        worlds, report = self.worlds
        return ComparisonSpec(
            scenario=self.scenario,
            settings=self.settings(),
            horizon=self.horizon,
            arms=self.arms,
            policies=TUNED,
            tune=TRIALS,
            search_replications=worlds,
            replications=report,
            defaults="original",
            seed=1000 + self.number,
        )

    def robust_spec(self) -> RobustSpec:
        """Return the robust search at the horizon and number of arms of the setting."""
        budget = {"trials": TRIALS, "replications": self.worlds[0], "selection": self.worlds[1], "report": 100}
        return parse_robust_spec({"scenarios": SINGLE, "horizon": self.horizon, "arms": self.arms, **budget})

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


def tune_settings(path: Path, minutes: float, numbers: list[int]) -> None:
    """Tune the rivals in the settings that the file does not contain yet, until the time is over."""
    until = time.monotonic() + 60.0 * minutes
    done = {row["number"] for row in read_rows(path)}
    for setting in sample_settings():
        if setting.number in done or (numbers and setting.number not in numbers):
            continue
        if time.monotonic() > until:
            print("Time is over; run the same command to resume.")
            return
        begin = time.process_time()
        run_robust(setting.robust_spec(), database(path))
        comparison = run_comparison(setting.spec(), database(path))
        best = best_tuned(comparison)
        row = {
            **asdict(setting),
            "search_worlds": setting.worlds[0],
            "report_worlds": comparison.worlds,
            "best": best.policy,
            "tuned": {
                entry.policy: [float(entry.regret.mean()), entry.failure_rate]
                for entry in comparison.entries
                if entry.setting == "tuned"
            },
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        place = f"{setting.describe()}, T {setting.horizon}, K {setting.arms}"
        seconds = time.process_time() - begin
        print(f"{place}: {best.policy} {best.regret.mean():.1f}, {seconds:.0f} s of CPU", flush=True)


def play_settings(path: Path, numbers: list[int]) -> None:
    """Play the policies without tuning in the tuned settings in which they have not been played."""
    settings = {setting.number: setting for setting in sample_settings()}
    rows = read_rows(path)
    for row in rows:
        if "excess" in row or (numbers and row["number"] not in numbers):
            continue
        row.update(play_setting(settings[row["number"]], database(path)))
        path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        print(f"{row['scenario']}, T {row['horizon']}, K {row['arms']}: {100 * row['excess']['raven-auto'][0]:+.0f} %")


def play_setting(setting: Setting, url: str) -> dict[str, Any]:
    """Play all policies without tuning on the report worlds of a tuned setting."""
    comparison = run_comparison(setting.spec(), url)
    best, count = best_tuned(comparison), comparison.worlds
    values = {policy: comparison.spec.default_params(policy) for policy in UNTUNED}
    robust = run_robust(setting.robust_spec(), url).result
    assert isinstance(robust, RobustRecommendation)
    values[ROBUST] = comparison.spec.resolve_params("raven-ucb", dict(robust.params))
    played = {name: play_untuned(setting, name.split(",")[0], params, count) for name, params in values.items()}
    return {
        "untuned": {
            name: [float(entry.regret.mean()), (entry.failures or 0) / count] for name, entry in played.items()
        },
        "excess": {
            name: list(relative_interval(entry.regret, best.regret, setting.number)) for name, entry in played.items()
        },
    }


def play_untuned(setting: Setting, policy: str, values: dict[str, Value], count: int) -> PlayedEntry:
    """Play a policy on the report worlds of a setting."""
    spec = setting.spec().resolved()
    problem = Problem(policy, spec.source.open(), spec.horizon, spec.arms, spec.seed, burn_in=0)
    return play_entry(Evaluator(problem), values, count)


def best_tuned(comparison: Comparison) -> ComparisonEntry:
    """Return the tuned entry with the smallest regret."""
    entries = [entry for entry in comparison.entries if entry.setting == "tuned"]
    return min(entries, key=lambda entry: float(entry.regret.mean()))


def database(path: Path) -> str:
    """Return the database beside the file."""
    return f"sqlite:///{path.with_suffix('.sqlite3')}"


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
    rows = [row for row in read_rows(path) if "excess" in row]
    summary = []
    auto = np.array([row["excess"]["raven-auto"][0] for row in rows])
    for policy in (*UNTUNED, ROBUST):
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
    parser.add_argument("command", choices=("tune", "play", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--numbers", type=int, nargs="*", default=[], help="settings; by default all")
    given = parser.parse_args()
    if given.command == "table":
        print_tables(given.file)
    elif given.command == "tune":
        tune_settings(given.file, given.minutes, given.numbers)
    else:
        play_settings(given.file, given.numbers)
