"""Answers of `ravenlab recommend` over wide ranges: python -m tools.evidence.short_answers --file answers.jsonl.

Settings are sampled beyond the design of the laws: noise σ/R from 0.02 to 3, rates of change from a quarter to four
times the range of the laws, horizons of 300 to 30,000 steps, 2 to 50 arms; a third of them have rewards of 0 and 1 at
rates of 0.1 to 50 %. Each answer, whether from a law or from a short search, and a study with 200 trials play the same
further worlds. The file keeps one line per setting, so that the command can be interrupted and run again.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ravenlab
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.policies import find_policy
from ravenlab.studies.laws.axes import RATES, Axis, settings_at
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.tuning.workers.problem import Evaluator
from tools.evidence.harness import append_line, make_parser, read_lines

WORLDS = 2000
SAMPLE = 20261119
HORIZON = Axis("horizon", "steps T", 300.0, 30_000.0)
ARMS = Axis("arms", "arms K", 2.0, 50.0)
NOISE = Axis("noise", "σ / R", 0.02, 3.0)
RATE = Axis("rate", "highest rate", 0.002, 0.5)
FACTOR = 4.0
"""How far rates of change lie beyond the range of the laws."""


def sample_setting(number: int) -> dict[str, Any]:
    """Return a setting; every third has rewards of 0 and 1.

    >>> sample_setting(0)["scenario"], sample_setting(2)["settings"]["noise"]
    ('stationary', 'bernoulli')
    """
    rng = np.random.default_rng([SAMPLE, number])
    scenario = list(RATES)[number % len(RATES)]
    coordinates = {axis.name: axis.value(rng.uniform(-1.0, 1.0)) for axis in (HORIZON, ARMS, NOISE)}
    for axis in RATES[scenario]:
        wide = axis
        if axis.logarithmic and "share" not in axis.name:
            wide = Axis(axis.name, axis.meaning, axis.low / FACTOR, axis.high * FACTOR)
        coordinates[axis.name] = wide.value(rng.uniform(-1.0, 1.0))
    horizon = round(coordinates["horizon"])
    arms = round(coordinates["arms"])
    settings = settings_at(scenario, {**coordinates, "horizon": horizon, "arms": arms})
    if number % 3 == 2:
        high = RATE.value(rng.uniform(-1.0, 1.0))
        low = high * rng.uniform(0.2, 0.8)
        settings = {name: value for name, value in settings.items() if not name.startswith(("variance", "growth"))}
        scales = {"drift": high - low, "amplitude": (high - low) / 2.0}
        settings |= {name: scales[name] for name in scales if name in settings}
        settings |= {"noise": "bernoulli", "mean_low": low, "mean_high": high}
    if scenario == "variance-drift" and "noise" in settings:
        scenario = "localized-jump"
    find_scenario(scenario, settings).check(horizon, arms)
    return {"scenario": scenario, "horizon": horizon, "arms": arms, "settings": settings}


def measure_setting(number: int, jobs: int) -> dict[str, Any]:
    """Ask, tune, and play both answers on the same worlds."""
    setting = sample_setting(number)
    answer = ravenlab.recommend(**setting, progress=False, jobs=jobs)
    problem = {**setting, "seed": SAMPLE + number}
    study = ravenlab.tune(
        setting["scenario"],
        setting["horizon"],
        arms=setting["arms"],
        settings=setting["settings"],
        seed=problem["seed"],
        storage=f"sqlite:///{Path('short_answers.sqlite3').absolute()}",
        progress=False,
        jobs=jobs,
    )
    assert isinstance(study, ravenlab.Recommendation)
    spec = parse_study_spec({**problem, "seed": SAMPLE + number + 1000})
    evaluator = Evaluator(spec)
    values = [spec.resolve_params(params) for params in (answer.params, study.params)]
    regrets = evaluator.play(values, Stream.REPORT, 0, WORLDS).regret
    own, reference = regrets.mean(axis=1)
    error = float(regrets[0].std(ddof=1) / np.sqrt(WORLDS))
    expected = answer.regret
    advised = float(own)
    better = None
    if answer.study is not None and answer.study.verdict.policy is not None:
        better = answer.study.verdict.policy
        params = next(each.params for each in answer.study.alternatives if each.name == better)
        other = Evaluator(replace(evaluator.problem, policy=better), evaluator.workers)
        resolved = find_policy(better).resolve(params, setting["arms"], setting["horizon"])
        advised = float(other.play([resolved], Stream.REPORT, 0, WORLDS).regret.mean())
    return {
        "number": number,
        **setting,
        "kind": answer.kind,
        "regret": float(own),
        "reference": float(reference),
        "advised": advised,
        "policy": better or answer.policy,
        "covered": bool(expected.low - 2.0 * error <= own <= expected.high + 2.0 * error),
    }


def main() -> None:
    """Measure settings until the file has all of them, and print the criteria."""
    parser = make_parser(__doc__, jobs=True)
    parser.add_argument("--settings", type=int, default=60)
    parser.add_argument("--file", type=Path, default=Path("short_answers.jsonl"))
    options = parser.parse_args()
    known = {row["number"] for row in read_lines(options.file)}
    for number in range(options.settings):
        if number not in known:
            append_line(options.file, measure_setting(number, options.jobs))
    rows = [row for row in read_lines(options.file) if row["number"] < options.settings]
    for name, chosen in {
        "all": rows,
        "continuous rewards": [row for row in rows if row["settings"].get("noise") != "bernoulli"],
        "rewards of 0 and 1": [row for row in rows if row["settings"].get("noise") == "bernoulli"],
    }.items():
        excess = [row["regret"] / row["reference"] - 1.0 for row in chosen]
        advised = [row["advised"] / row["reference"] - 1.0 for row in chosen]
        covered = np.mean([row["covered"] for row in chosen])
        print(
            f"{name}, {len(chosen)} settings: excess over 200 trials, median {np.median(excess):+.1%},"
            f" 90th percentile {np.quantile(excess, 0.9):+.1%}; with the advised policy {np.median(advised):+.1%} and"
            f" {np.quantile(advised, 0.9):+.1%}; intervals that cover {covered:.0%}"
        )
    print(json.dumps({kind: sum(row["kind"] == kind for row in rows) for kind in {row["kind"] for row in rows}}))


if __name__ == "__main__":
    main()
