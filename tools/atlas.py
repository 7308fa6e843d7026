"""Atlas of the best parameters: python -m tools.atlas run --settings 16 --jobs 2.

    run        searches RAVEN-UCB, SW-RAVEN and D-RAVEN in a Sobol design over horizon, arms, noise and rates of change
    reference  searches RAVEN-UCB with 200 trials in other settings, which take no part in fitting

Each appends one line per setting to a file and skips those that the file contains, so it can be interrupted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from studies.storage.keys import project_version
from tuning.laws.measurement import Budget, Setting, make_settings, measure_policy, search_best

FOLDER = Path(__file__).parent / "atlas_results"
ATLAS = FOLDER / "atlas.jsonl"
REFERENCES = FOLDER / "references.jsonl"

DESIGN_SEED = 18
CHECK_SEED = 1918
FIRST_WORLDS = {"run": 10_000, "reference": 50_000}  # seed of the worlds of the first setting

BUDGETS = {
    "raven-ucb": Budget(64, 2e8, finalists=8, selection_steps=4e7, report_steps=4e6, most_search=300),
    "sw-raven": Budget(32, 1.5e7, finalists=4, selection_steps=5e6, report_steps=3e6),
    "d-raven": Budget(40, 2e7, finalists=4, selection_steps=5e6, report_steps=3e6),
}
REFERENCE_BUDGET = Budget(200, 4e8, finalists=16, selection_steps=8e7, report_steps=0.0, least_search=20)


def guesses(policy: str, horizon: int) -> list[dict[str, float]]:
    """Return first candidates: windows and discounts for a few to many changes."""
    if policy == "raven-ucb":
        return [{"alpha0": alpha0, "beta0": 0.3, "epsilon": 0.03} for alpha0 in (0.5, 1.5, 4.0, 10.0)]
    common = {"alpha0": 0.5, "beta0": 0.5, "epsilon": 0.05}
    if policy == "sw-raven":
        return [{**common, "tau": float(max(10, horizon // part))} for part in (2, 6, 20)]
    return [{**common, "gamma": 1.0 - min(0.25, changes / horizon)} for changes in (3.0, 12.0, 50.0)]


def run_setting(setting: Setting) -> dict[str, Any]:
    """Measure the three policies in a setting, on the same worlds."""
    begin = time.process_time()
    policies = {
        policy: measure_policy(setting, policy, budget, guesses(policy, setting.horizon))
        for policy, budget in BUDGETS.items()
    }
    return {
        "key": setting.key,
        **asdict(setting),
        "policies": policies,
        "seconds": round(time.process_time() - begin, 1),
        "version": project_version(),
    }


def run_reference(setting: Setting) -> dict[str, Any]:
    """Search RAVEN-UCB in a setting that takes no part in fitting, with 200 trials."""
    begin = time.process_time()
    chosen, worlds = search_best(setting, "raven-ucb", REFERENCE_BUDGET)
    return {
        "key": setting.key,
        **asdict(setting),
        "params": chosen,
        "worlds": worlds,
        "seconds": round(time.process_time() - begin, 1),
        "version": project_version(),
    }


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the complete lines of a file; a line that a kill left incomplete is skipped."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def run_missing(task: Callable[[Setting], dict[str, Any]], settings: Iterable[Setting], path: Path, jobs: int) -> None:
    """Run a task for all settings that a file does not contain, and append each result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {record["key"] for record in read_records(path)}
    missing = [setting for setting in settings if setting.key not in done]
    print(f"{path.name}: {len(done)} settings finished, {len(missing)} left", flush=True)
    with multiprocessing.get_context("spawn").Pool(jobs) as pool, path.open("a+", encoding="utf-8") as file:
        if file.tell() > 0 and not path.read_bytes().endswith(b"\n"):
            file.write("\n")
        for record in pool.imap_unordered(task, missing):
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())
            print(f"{record['key']}: {record['seconds']} s", flush=True)


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("run", "reference"))
    parser.add_argument("--settings", type=int, default=16, help="settings per scenario")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    first = FIRST_WORLDS[options.command]
    if options.command == "run":
        run_missing(run_setting, make_settings(options.settings, DESIGN_SEED, first), ATLAS, options.jobs)
    else:
        run_missing(run_reference, make_settings(options.settings, CHECK_SEED, first), REFERENCES, options.jobs)


if __name__ == "__main__":
    main()
