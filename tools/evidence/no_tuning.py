"""Policies without tuning against policies tuned in hindsight, in settings that were not used to design raven-auto.

    python -m tools.evidence.no_tuning tune --minutes 60
    python -m tools.evidence.no_tuning play
    python -m tools.docs

`tune` tunes the rivals in sampled settings, from the cheapest to the dearest, and stores them in no_tuning.sqlite3
beside the results, so that it can be interrupted and resumed. Settings combine a scenario or two with T of 1,000,
10,000 or 100,000, K of 3, 10 or 100, a noise level of ½, 1 or 2 (factor of the standard deviation), a noise
distribution, and random change times where changes have times. Six policies are tuned on worlds of each setting by the
searches of `ravenlab compare`: 60 trials × 200 worlds, six finalists on 2,000 selection worlds (1,000 with T of
100,000), and 1,000 report worlds. Report worlds are doubled while rare failures may be missing and fewer than 100
million steps have been played.

There are two samples of 40 settings. The results of most settings of the first one (numbers 0 to 39) were known when
the last three changes of raven-auto were made. The second one (numbers 40 to 79) was drawn after the last change.

`play` plays the policies without tuning on the same report worlds, and completes the lines of the file. A line is a
setting. They have their unscaled defaults. The robust rival is RAVEN-UCB with what `ravenlab tune --robust`
recommends over the nine single scenarios at the T and K of the setting, with the scenarios' own noise.

`tools.docs` writes the tables and the picture of docs/evidence/no-tuning.md: the excess of each policy without tuning
over the best tuned policy of each setting, with 95 % intervals, those of means from a bootstrap over settings.

docs/evidence/no-tuning.md lists the settings in which raven-auto was designed.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.robust import RobustSpec, parse_robust_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.failures import grow_sample
from ravenlab.studies.statistics.intervals import relative_interval
from ravenlab.tuning.robust.run import run_robust
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.problem import EvaluatedCandidates, Evaluator, Problem, is_reliable
from tools.docs.no_tuning import RESULTS
from tools.evidence.harness import append_line, make_parser, read_lines

SCENARIOS = (
    *("stationary", "localized-jump", "periodic", "blips", "gradual-drift", "incremental-drift", "variance-drift"),
    *("random-walk", "arm-churn", "localized-jump+variance-drift", "incremental-drift+blips", "random-walk+blips"),
    *("periodic+localized-jump", "gradual-drift+variance-drift", "periodic+variance-drift", "arm-churn+localized-jump"),
)
HORIZONS = (1000, 10_000, 100_000)
ARMS = (3, 10, 100)
LEVELS = (0.5, 1.0, 2.0)
NOISES = ("laplace", "uniform")
TUNED = ("raven-ucb", "sw-raven", "d-raven", "ucb1", "sw-ucb", "glr-klucb")
UNTUNED = ("raven-auto", "master", "bob-sw-ucb", "adr-ucb", "glr-klucb", "raven-ucb", "tsallis-inf")
ROBUST = "raven-ucb, robust"
SINGLE = SCENARIOS[:9]
COUNT, SEED = 80, 4  # settings of both samples
TRIALS = 60
SEARCH_WORLDS = 200
REPORT_WORLDS = 1000
SELECTION_WORLDS = {1000: 2000, 10_000: 2000, 100_000: 1000}  # by horizon
MOST_REPORT_STEPS = 100_000_000  # samples of this size do not grow, even if rare failures may be missing


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

    def spec(self) -> ComparisonSpec:
        """Return the comparison of the tuned policies."""
        return ComparisonSpec(
            scenario=self.scenario,
            settings=self.settings(),
            horizon=self.horizon,
            arms=self.arms,
            policies=TUNED,
            tune=TRIALS,
            search_replications=SEARCH_WORLDS,
            replications=REPORT_WORLDS,
            defaults="original",
            seed=1000 + self.number,
        )

    def search_spec(self, policy: str) -> StudySpec:
        """Return the search that tunes a policy."""
        return self.spec().search_spec(policy).model_copy(update={"selection": SELECTION_WORLDS[self.horizon]})

    def robust_spec(self) -> RobustSpec:
        """Return the robust search at the horizon and number of arms of the setting."""
        budget = {"trials": TRIALS, "replications": SEARCH_WORLDS, "selection": REPORT_WORLDS, "report": 100}
        return parse_robust_spec({"scenarios": SINGLE, "horizon": self.horizon, "arms": self.arms, **budget})

    def describe(self) -> str:
        """Describe the setting in a table."""
        return f"{self.scenario}, {self.noise} × {self.level:g}"


def sample_settings(count: int = COUNT) -> list[Setting]:
    """Sample settings, each scenario about equally often; the cheapest first.

    >>> settings = sample_settings()
    >>> len(settings), len({setting.scenario for setting in settings})
    (80, 16)
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
    done = {row["number"] for row in read_lines(path)}
    for setting in sample_settings():
        if setting.number in done or (numbers and setting.number not in numbers):
            continue
        if time.monotonic() > until:
            print("Time is over; run the same command to resume.")
            return
        begin = time.process_time()
        row = tune_setting(setting, database(path))
        append_line(path, row)
        place = f"{setting.describe()}, T {setting.horizon}, K {setting.arms}"
        seconds = time.process_time() - begin
        print(f"{place}: {row['best']} {row['tuned'][row['best']][0]:.1f}, {seconds:.0f} s of CPU", flush=True)


def tune_setting(setting: Setting, url: str) -> dict[str, Any]:
    """Tune the rivals in a setting and play them on its report worlds; return the line of the file."""
    robust = run_robust(setting.robust_spec(), url).result
    assert isinstance(robust, RobustRecommendation)
    spec = setting.spec()
    params = {
        policy: dict(run_study(setting.search_spec(policy), url, standalone=False).result.params) for policy in TUNED
    }

    def play(first: int, count: int) -> Floats:
        return np.concatenate([play_report(setting, policy, params[policy], first, count).columns for policy in TUNED])

    def reliable(columns: Floats) -> bool:
        enough = columns.shape[1] * setting.horizon >= MOST_REPORT_STEPS
        return enough or is_reliable(EvaluatedCandidates(columns))

    played = EvaluatedCandidates(grow_sample(play, REPORT_WORLDS, reliable))
    regret = played.regret.mean(axis=1)
    failed = played.failed.mean(axis=1)
    best = TUNED[int(regret.argmin())]
    return {
        **asdict(setting),
        "search_worlds": SEARCH_WORLDS,
        "report_worlds": played.regret.shape[1],
        "best": best,
        "tuned": {policy: [float(regret[i]), float(failed[i])] for i, policy in enumerate(TUNED)},
        "best_params": spec.resolve_params(best, params[best]),
        "robust_params": robust.params,
    }


def play_settings(path: Path, numbers: list[int], again: list[str]) -> None:
    """Play the policies without tuning that have not been played in a tuned setting, and those to be played again."""
    settings = {setting.number: setting for setting in sample_settings()}
    rows = read_lines(path)
    for row in rows:
        names = [name for name in (*UNTUNED, ROBUST) if name in again or name not in row.get("excess", {})]
        if not names or (numbers and row["number"] not in numbers):
            continue
        play_setting(settings[row["number"]], row, names)
        path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        excess = 100 * row["excess"][UNTUNED[0]][0]
        print(f"{row['scenario']}, T {row['horizon']}, K {row['arms']}: {excess:+.0f} %", flush=True)


def play_setting(setting: Setting, row: dict[str, Any], names: list[str]) -> None:
    """Play the best tuned policy and policies without tuning on the report worlds, and add the results to the line."""
    spec = setting.spec()
    count = row["report_worlds"]
    best = play_report(setting, row["best"], row["best_params"], 0, count)
    for name in names:
        policy = name.split(",")[0]
        params = row["robust_params"] if name == ROBUST else spec.default_params(policy)
        played = play_report(setting, policy, params, 0, count)
        mean = played.regret[0].mean()
        failures = played.failed[0].mean()
        row.setdefault("untuned", {})[name] = [float(mean), float(failures)]
        excess = relative_interval(played.regret[0], best.regret[0], setting.number)
        row.setdefault("excess", {})[name] = list(excess)


def play_report(setting: Setting, policy: str, params: dict[str, Value], first: int, count: int) -> EvaluatedCandidates:
    """Play a policy on report worlds of a setting."""
    spec = setting.spec()
    problem = Problem(policy, spec.source.open(), spec.horizon, spec.arms, spec.seed, burn_in=0)
    values = spec.resolve_params(policy, params)
    return Evaluator(problem).play_with_failures([values], Stream.REPORT, first, count)


def database(path: Path) -> str:
    """Return the database beside the file."""
    return f"sqlite:///{path.with_suffix('.sqlite3')}"


if __name__ == "__main__":
    parser = make_parser(__doc__, minutes=True)
    parser.add_argument("command", choices=("tune", "play"))
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--numbers", type=int, nargs="*", default=[], help="settings; by default all")
    parser.add_argument("--again", nargs="*", default=[], help="policies without tuning to play again; by default none")
    given = parser.parse_args()
    if given.command == "tune":
        tune_settings(given.file, given.minutes, given.numbers)
    else:
        play_settings(given.file, given.numbers, given.again)
