"""Atlas of the best parameters, laws fitted to it, and their check on held-out settings: python -m tools.atlas COMMAND.

    run        searches RAVEN-UCB, SW-RAVEN and D-RAVEN in a Sobol design over horizon, arms, noise and rates of change
    survey     plays the parameters of the present laws, and others around them, in many more settings
    regret     plays the parameters of the laws in yet more settings, for the expected regret
    fit        fits the laws and the expected regret, and writes studies/laws/laws.json
    reference  searches RAVEN-UCB with 200 trials in settings that take no part in fitting
    check      compares the laws, the paper's advice and the defaults with these references on common held-out worlds
    others     searches sw-raven and d-raven with 100 trials in such settings, at horizons up to 30,000
    check-others  compares the laws and the defaults of these policies with the searches
    start      runs studies that start with the law's parameters, and studies without it, in such settings
    check-start  compares the parameters that these studies recommend on common held-out worlds
    combined   compares the laws of both kinds of change in combinations of two, as a diagnosis of several kinds needs

The commands other than fit and combined append one line per setting to a file in tools/atlas_results and skip the
settings that it contains, so they can be interrupted, and a larger --settings adds to what is there.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.environments import find_scenario
from ravenlab.studies.laws.axes import RATES, features, reward_range
from ravenlab.studies.laws.law import COORDINATES, LAWS_FILE, answer, load_document, load_laws
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.storage.keys import project_version
from tools.docs.laws import CHECK_COLUMNS, START_COLUMNS, check_rows, describe_coverage, start_rows
from tools.docs.marks import table
from tools.laws.document import add_check, compared_names, make_document, summarize_check, summarize_start
from tools.laws.measurement import (
    Budget,
    Setting,
    make_settings,
    measure_policy,
    play_report,
    recommend_prefixes,
    search_best,
    shorten,
    surround,
)

FOLDER = Path(__file__).parent / "atlas_results"
FILES = {
    "run": FOLDER / "atlas.jsonl",
    "survey": FOLDER / "survey.jsonl",
    "regret": FOLDER / "regret.jsonl",
    "reference": FOLDER / "references.jsonl",
    "check": FOLDER / "check.jsonl",
    "others": FOLDER / "others.jsonl",
    "check-others": FOLDER / "check_others.jsonl",
    "start": FOLDER / "start.jsonl",
    "check-start": FOLDER / "check_start.jsonl",
}
HELD_OUT = ("reference", "check", "others", "check-others", "start", "check-start")
DESIGN_SEEDS = {"run": 18, "survey": 718, "regret": 1118, **dict.fromkeys(HELD_OUT, 1918)}
FIRST_WORLDS = {"run": 10_000, "survey": 30_000, "regret": 70_000, **dict.fromkeys(HELD_OUT, 50_000)}
"""Seed of the worlds of the first setting."""

BUDGETS = {
    "raven-ucb": Budget(64, 2e8, finalists=8, selection_steps=4e7, report_steps=4e6, most_search=300),
    "sw-raven": Budget(32, 1.5e7, finalists=4, selection_steps=5e6, report_steps=3e6),
    "d-raven": Budget(40, 2e7, finalists=4, selection_steps=5e6, report_steps=3e6),
}
REFERENCE_BUDGET = Budget(
    200, 4e8, finalists=16, selection_steps=8e7, report_steps=0.0, least_search=20, least_selection=20
)
OTHERS = ("sw-raven", "d-raven")
OTHERS_BUDGET = Budget(
    100, 3e7, finalists=8, selection_steps=1e7, report_steps=3e6, least_search=40, least_selection=60, least_report=200
)
OTHERS_LONGEST, OTHERS_COUNT = 30_000, 4  # longest horizon, settings per scenario
START_TRIALS = {"law": (20, 50), "usual": (20, 50, 200)}
"""Trials of studies with and without the law; the longest without it is the reference."""
START_BUDGET = Budget(
    200, np.inf, finalists=16, selection_steps=0.0, report_steps=4e7, least_report=1000, most_report=10_000
)
"""The standard 200 worlds per trial at every horizon; selection as in every study. The report worlds are increased
until rare failures are represented, as in every study."""

COMBINED = (
    ("localized-jump", "periodic"),
    ("incremental-drift", "periodic"),
    ("localized-jump", "arm-churn"),
    ("periodic", "blips"),
    ("incremental-drift", "localized-jump"),
    ("variance-drift", "localized-jump"),
    ("localized-jump", "blips"),
    ("incremental-drift", "variance-drift"),
)
COMBINED_SEED = 77
COMBINED_WORLDS = 200

SURVEY_STEPS = 4e6
SURVEY_WORLDS = (40, 400)
SURVEYED = {"raven-ucb": 20, "sw-raven": 2, "d-raven": 4}
"""Candidates around the parameters of the law."""
REGRET_STEPS = 3e6
REGRET_WORLDS = (40, 400)
SLOW_SHARE = 3  # the two slower policies play one in so many of the worlds
SPREAD = {"alpha0": 1.1, "beta0": 1.6, "epsilon": 1.6, "tau": 0.8, "gamma": 0.8}

CHECK_STEPS = 1e7
CHECK_WORLDS = (200, 2000)
COPIES = 4
JITTER = 0.02
"""Copies of the law's and the reference's parameters that differ by up to 2 %: two candidates that differ by a
thousandth lose the best arm in different worlds, and the mean over copies reduces this noise."""


def guesses(policy: str, horizon: int) -> list[dict[str, float]]:
    """Return first candidates: windows and discounts for a few to many changes."""
    if policy == "raven-ucb":
        return [{"alpha0": alpha0, "beta0": 0.3, "epsilon": 0.03} for alpha0 in (0.5, 1.5, 4.0, 10.0)]
    common = {"alpha0": 0.5, "beta0": 0.5, "epsilon": 0.05}
    if policy == "sw-raven":
        return [{**common, "tau": float(max(10, horizon // part))} for part in (2, 6, 20)]
    return [{**common, "gamma": 1.0 - min(0.25, changes / horizon)} for changes in (3.0, 12.0, 50.0)]


def run_setting(setting: Setting) -> dict[str, Any]:
    """Search the three policies in a setting, on the same worlds."""
    policies = {
        policy: measure_policy(setting, policy, budget, guesses(policy, setting.horizon))
        for policy, budget in BUDGETS.items()
    }
    return {"policies": policies}


def law_params(setting: Setting, policy: str) -> tuple[dict[str, float], Interval]:
    """Return the parameters of the law in a setting, and the expected regret."""
    scenario = find_scenario(setting.scenario, setting.settings)
    answered = answer(scenario, setting.horizon, setting.arms, policy).answer
    return answered.params, answered.regret


def survey_setting(setting: Setting) -> dict[str, Any]:
    """Play the laws' parameters and others around them."""
    worlds = int(np.clip(SURVEY_STEPS / setting.horizon, *SURVEY_WORLDS))
    return {"policies": {policy: play_around(setting, policy, worlds, SPREAD, n) for policy, n in SURVEYED.items()}}


def measure_regret(setting: Setting) -> dict[str, Any]:
    """Play the laws' parameters; copies reduce the noise of RAVEN-UCB."""
    worlds = int(np.clip(REGRET_STEPS / setting.horizon, *REGRET_WORLDS))
    copies = {policy: COPIES if policy == "raven-ucb" else 1 for policy in COORDINATES}
    jitter = dict.fromkeys(SPREAD, JITTER)
    return {"policies": {policy: play_around(setting, policy, worlds, jitter, n) for policy, n in copies.items()}}


def play_around(setting: Setting, policy: str, worlds: int, spread: dict[str, float], count: int) -> dict[str, Any]:
    """Play the parameters of the law and a design around them on the report worlds."""
    worlds = worlds if policy == "raven-ucb" else worlds // SLOW_SHARE
    scenario = find_scenario(setting.scenario, setting.settings)
    places = features(scenario, setting.horizon, setting.arms)
    law = load_laws()[setting.scenario, policy].at(places, setting.horizon, reward_range(scenario))
    around = surround(law, spread, count)
    candidates = [round_window(candidate, setting.horizon) for candidate in around]
    regret = play_report(setting, policy, candidates, worlds)
    return {
        "worlds": worlds,
        "stderr": shorten(regret.mean(axis=0).std(ddof=1) / np.sqrt(worlds), 3),
        "trials": {
            **{name: [shorten(candidate[name]) for candidate in candidates] for name in candidates[0]},
            "regret": [shorten(number, 5) for number in regret.mean(axis=1)],
        },
    }


def round_window(params: dict[str, float], horizon: int) -> dict[str, float]:
    """Round the window τ, if there is one, to whole steps."""
    if "tau" not in params:
        return params
    return {**params, "tau": float(np.clip(round(params["tau"]), 2, horizon))}


def usual_candidates(setting: Setting) -> list[dict[str, float]]:
    """Return the first candidates of a search without the law, apart from the defaults: the paper's advice."""
    advice = paper_advice(setting.scenario, setting.horizon)
    return [] if advice is None else [advice]


def search_reference(setting: Setting) -> dict[str, Any]:
    """Search RAVEN-UCB in a held-out setting, with 200 trials and without the law."""
    params, worlds = search_best(setting, "raven-ucb", REFERENCE_BUDGET, usual_candidates(setting))
    return {"params": params, "worlds": worlds}


def check_setting(setting: Setting, reference: dict[str, float]) -> dict[str, Any]:
    """Compare the law, the paper's advice and the defaults with the reference of a held-out setting."""
    law, expected = law_params(setting, "raven-ucb")
    others: dict[str, dict[str, float]] = {"defaults": {}}
    others |= dict(zip(["paper"], usual_candidates(setting), strict=False))
    worlds = int(np.clip(CHECK_STEPS / setting.horizon, *CHECK_WORLDS))
    result = compare_with_reference(setting, "raven-ucb", {"law": law, "reference": reference}, others, worlds)
    return {"law": law, "expected": [shorten(number) for number in expected], **result}


def search_others(setting: Setting) -> dict[str, Any]:
    """Search the two other policies in a held-out setting, with 100 trials."""
    out = {}
    for policy in OTHERS:
        params, worlds = search_best(setting, policy, OTHERS_BUDGET, guesses(policy, setting.horizon))
        out[policy] = {"params": params, "worlds": worlds}
    return {"policies": out}


def check_others(setting: Setting, references: dict[str, Any]) -> dict[str, Any]:
    """Compare the laws and the defaults of the two other policies with the references of a held-out setting."""
    out: dict[str, Any] = {}
    worlds = OTHERS_BUDGET.report_worlds(setting.horizon)
    for policy in OTHERS:
        law, expected = law_params(setting, policy)
        compared = {"law": law, "reference": references[policy]["params"]}
        result = compare_with_reference(setting, policy, compared, {"defaults": {}}, worlds)
        out[policy] = {"law": law, "expected": [shorten(number) for number in expected], **result}
    return {"policies": out}


def start_setting(setting: Setting) -> dict[str, Any]:
    """Run studies that start with the law's parameters, and studies without it.

    The reference is the study with most trials and without the law.
    """
    law = law_params(setting, "raven-ucb")[0]
    usual = usual_candidates(setting)
    chosen = {"law": law}
    for name, first in (("law", [*usual, law]), ("usual", usual)):
        found = recommend_prefixes(setting, "raven-ucb", START_BUDGET, first, START_TRIALS[name])
        chosen |= {f"{name}{count}": params for count, params in found.items()}
    chosen["reference"] = chosen.pop(f"usual{START_BUDGET.trials}")
    return {"params": chosen}


def check_start(setting: Setting, params: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Compare the parameters that the studies of a setting recommend."""
    worlds = START_BUDGET.report_worlds(setting.horizon)
    return compare_with_reference(setting, "raven-ucb", params, {}, worlds, grow=True)


def compare_with_reference(
    setting: Setting,
    policy: str,
    copied: dict[str, dict[str, float]],
    others: dict[str, dict[str, float]],
    worlds: int,
    grow: bool = False,
) -> dict[str, Any]:
    """Return regrets, and excesses over the reference with their standard errors, on the report worlds.

    With `grow`, worlds are added until rare failures are represented.
    """
    distinct = [*{tuple(params.items()): params for params in copied.values()}.values()]
    copies = [
        round_window(candidate, setting.horizon)
        for params in distinct
        for candidate in surround(params, dict.fromkeys(params, JITTER), COPIES)[1:]
    ]
    regret = play_report(setting, policy, [*copies, *others.values()], worlds, grow)
    worlds = regret.shape[1]
    means = regret[: len(copies)].reshape(len(distinct), COPIES, worlds).mean(axis=1)
    samples = {name: means[distinct.index(params)] for name, params in copied.items()}
    samples |= dict(zip(others, regret[len(copies) :], strict=True))
    best = samples["reference"]
    out: dict[str, Any] = {"worlds": worlds}
    for name, sample in samples.items():
        difference = sample - best
        out[f"regret.{name}"] = shorten(sample.mean(), 5)
        out[f"excess.{name}"] = [
            shorten(difference.mean() / best.mean()),
            shorten(difference.std(ddof=1) / np.sqrt(worlds) / best.mean(), 2),
        ]
    return out


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "run": run_setting,
    "survey": survey_setting,
    "regret": measure_regret,
    "reference": search_reference,
    "check": check_setting,
    "others": search_others,
    "check-others": check_others,
    "start": start_setting,
    "check-start": check_start,
}


REFERENCES = {
    "check": ("reference", "params"),
    "check-others": ("others", "policies"),
    "check-start": ("start", "params"),
}
"""Commands that compare the parameters found by another command, and the entry of its records."""


def run_task(call: tuple[str, Setting, tuple[Any, ...]]) -> dict[str, Any]:
    """Run the task of a command in one setting."""
    command, setting, arguments = call
    begin = time.process_time()
    result = TASKS[command](setting, *arguments)
    seconds = round(time.process_time() - begin, 1)
    return {"key": setting.key, **asdict(setting), **result, "seconds": seconds, "version": project_version()}


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the complete lines of a file in the order of the design; a line that a kill left incomplete is skipped."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    order = list(RATES)
    return sorted(records, key=lambda record: (record["index"], order.index(record["scenario"])))


def run_missing(command: str, calls: Iterable[tuple[str, Setting, tuple[Any, ...]]], jobs: int) -> None:
    """Run a command in all settings that its file does not contain, and append each result."""
    path = FILES[command]
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {record["key"] for record in read_records(path)}
    missing = [call for call in calls if call[1].key not in done]
    print(f"{path.name}: {len(done)} settings finished, {len(missing)} left", flush=True)
    with multiprocessing.get_context("spawn").Pool(jobs) as pool, path.open("a+", encoding="utf-8") as file:
        if file.tell() > 0 and not path.read_bytes().endswith(b"\n"):
            file.write("\n")
        for record in pool.imap_unordered(run_task, missing):
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())
            print(f"{record['key']}: {record['seconds']} s", flush=True)


def make_calls(command: str, count: int) -> list[tuple[str, Setting, tuple[Any, ...]]]:
    """Return the calls of a command; checks need the references that are finished."""
    settings = [*make_settings(count, DESIGN_SEEDS[command], FIRST_WORLDS[command])]
    if command == "others":
        short = [setting for setting in settings if setting.horizon <= OTHERS_LONGEST]
        settings = [s for name in RATES for s in [s for s in short if s.scenario == name][:OTHERS_COUNT]]
    if command not in REFERENCES:
        return [(command, setting, ()) for setting in settings]
    file, entry = REFERENCES[command]
    references = {record["key"]: record[entry] for record in read_records(FILES[file])}
    return [(command, setting, (references[setting.key],)) for setting in settings if setting.key in references]


def fit() -> None:
    """Fit the laws to the atlas and the survey, and write the data file."""
    records, survey, regrets = (read_records(FILES[name]) for name in ("run", "survey", "regret"))
    budgets = {policy: asdict(budget) for policy, budget in BUDGETS.items()}
    provenance = {
        "command": "python -m tools.atlas run; survey; regret; fit",
        "version": project_version(),
        "settings": len(records),
        "survey": len(survey),
        "regrets": len(regrets),
        "seeds": DESIGN_SEEDS,
        "budgets": budgets,
    }
    document = make_document(records, survey, regrets, provenance)
    write_document(document)
    check = add_summaries(document)
    checked = ", ".join(f"{len(found)} of {policy}" for policy, found in check.items())
    print(
        f"{LAWS_FILE.name}: {len(records)} settings, {len(survey)} of the survey, {len(regrets)} regrets;"
        f" checked in {checked}; {LAWS_FILE.stat().st_size / 1000:.0f} kB"
    )


def add_summaries(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Add what the checks and the studies from the law have shown to the data file; return the checks."""
    check = current_check()
    add_check(document, check)
    document["start"] = summarize_start(read_records(FILES["check-start"]))
    write_document(document)
    return check


def write_document(document: dict[str, Any]) -> None:
    """Write the data file; one law and one setting per line, so that changes can be compared."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace('{"scenario"', '\n{"scenario"')
    LAWS_FILE.write_text(text + "\n", encoding="utf-8")
    load_document.cache_clear()
    load_laws.cache_clear()


def current_check() -> dict[str, list[dict[str, Any]]]:
    """Return the checked settings of each policy in which the law is still the same, with the present expectation."""
    found: dict[str, list[dict[str, Any]]] = {policy: [] for policy in COORDINATES}
    for record in [*read_records(FILES["check"]), *read_records(FILES["check-others"])]:
        setting = Setting(**{field.name: record[field.name] for field in fields(Setting)})
        entries = record.get("policies", {"raven-ucb": record})
        for policy, entry in entries.items():
            params, expected = law_params(setting, policy)
            trials = (OTHERS_BUDGET if policy in OTHERS else REFERENCE_BUDGET).trials
            # The unit of the rewards follows from the setting; it is no part of the law.
            if {name: value for name, value in params.items() if name != "unit"} == entry["law"]:
                found[policy].append({**entry, "scenario": setting.scenario, "expected": expected, "trials": trials})
    return found


def print_check() -> None:
    """Print the excess regret over the references, by policy and scenario, and the coverage of the regret."""
    for policy, records in current_check().items():
        rows = [*check_rows(summarize_check(records))]
        for name in RATES:
            own = [record for record in records if record["scenario"] == name]
            if own:
                rows.append([f"law, {name}", *check_rows(summarize_check(own))[0][1:]])
        print("\n".join(["", policy, *table(CHECK_COLUMNS, rows)]))
        if records:
            print(f"\n{describe_coverage(summarize_check(records))}")


def print_start() -> None:
    """Print the excess regret of searches with and without the law over the longest search without it."""
    records = read_records(FILES["check-start"])
    rows = start_rows(summarize_start(records))
    print("\n".join(["", *table(START_COLUMNS, rows), ""]))
    columns = compared_names(records)
    settings = [
        [
            record["key"],
            str(record["horizon"]),
            str(record["arms"]),
            *(f"{100.0 * mean:.1f} ± {196.0 * error:.1f}" for mean, error in (record[f"excess.{c}"] for c in columns)),
        ]
        for record in records
    ]
    print("\n".join(table(["setting", "T", "K", *(f"{column} %" for column in columns)], settings)))


def print_combined() -> None:
    """Print the excess of the law of each kind, and of the defaults, over the best of a grid in combinations."""
    grid = [{"alpha0": a, "beta0": b, "epsilon": 0.05} for a in np.geomspace(0.5, 14.0, 12) for b in (0.1, 0.4, 1.2)]
    rows = []
    excesses = []
    for horizon in (2000, 10_000):
        for number, kinds in enumerate(COMBINED):
            setting = Setting("+".join(kinds), number, horizon, 10, {}, COMBINED_SEED)
            laws = [answer(find_scenario(kind), horizon, setting.arms, "raven-ucb").answer for kind in kinds]
            laws.sort(key=lambda law: -law.regret.mean)
            candidates = [*({**law.params} for law in laws), {}, *grid]
            chosen, held_out = (
                play_report(setting, "raven-ucb", candidates, 2 * COMBINED_WORLDS)
                .reshape(len(candidates), 2, COMBINED_WORLDS)
                .mean(axis=2)
                .T
            )
            best = held_out[3 + int(np.argmin(chosen[3:]))]
            excesses.append(held_out[:3] / best - 1.0)
            rows.append([setting.scenario, str(horizon), *(f"{100.0 * excess:.1f} %" for excess in excesses[-1])])
    columns = ("larger expected regret", "smaller expected regret", "defaults")
    print("\n".join(table(("scenario", "T", *columns), rows)))
    for name, values in zip(columns, np.transpose(excesses), strict=True):
        print(f"{name}: median {np.median(values):.1%}, {values.min():.1%} to {values.max():.1%}")


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=(*TASKS, "fit", "combined"))
    parser.add_argument("--settings", type=int, default=16, help="settings per scenario")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.command == "fit":
        fit()
        return
    if options.command == "combined":
        print_combined()
        return
    run_missing(options.command, make_calls(options.command, options.settings), options.jobs)
    if options.command in REFERENCES:
        add_summaries(load_document())
    if options.command == "check-start":
        print_start()
    elif options.command in REFERENCES:
        print_check()


if __name__ == "__main__":
    main()
