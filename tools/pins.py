"""Pins: run fixed commands with fixed seeds and compare every file that they write with the recorded one.

    python -m tools.pins check
    python -m tools.pins record

`make test` checks all but the longest cases. Files are compared by byte. A difference is reported by key: the dotted
path in JSON, TOML, YAML and databases, row and column in CSV, the line in other formats. Durations and dates are not
compared. `tests/pins/<case>/` has the files of a case; `before/` is a copy of `current/` as earlier code wrote it,
which every command must still read.

Record only after a deliberate change of results, and state in the commit message which numbers changed and why.
Recording prints every difference from the files that it replaces.
"""

import argparse
import contextlib
import csv
import importlib.metadata
import io
import json
import shutil
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

import ravenlab
from tests.command import run_command
from tests.faults.states import ONLINE, train
from tests.project import ROOT

FOLDER = ROOT / "tests" / "pins"
NUMERICAL = ("numpy", "scipy", "pandas", "numba", "llvmlite", "optuna", "cmaes", "ruptures")
"""Packages on which the last digits depend; pins hold for their versions in constraints.txt."""

SHOWN = 12
"""Maximum number of differences printed per file."""

DATABASE = "studies.sqlite3"
VOLATILE = ("seconds", "nanoseconds")
"""Attributes of trials that are durations."""

EXTENSIONS = {
    "json": "json",
    "toml": "toml",
    "yaml": "yaml",
    "csv": "csv",
    "markdown": "md",
    "latex": "tex",
    "python": "py.txt",  # not a module of the tests
}
"""Export formats and the extensions of their files."""


@dataclass
class Run:
    """One run of a case in its own folder; `files` are the contents to pin, by name."""

    folder: Path
    jobs: int = 1
    files: dict[str, bytes] = field(default_factory=dict)

    def command(self, line: str) -> str:
        """Run `ravenlab` in the folder and return its standard output."""
        with contextlib.chdir(self.folder):
            code, out, err = run_command(line.split())
        if code != 0:
            raise RuntimeError(f"`ravenlab {line}` ended with {code}: {err.strip()}")
        return out

    def stored(self, line: str) -> str:
        """Run a command that uses the database of the case."""
        return self.command(f"{line} --storage sqlite:///{DATABASE}")

    def compute(self, line: str) -> str:
        """Run a command that uses workers and the database of the case."""
        return self.stored(f"{line} --quiet --jobs {self.jobs}")

    def keep(self, name: str, content: str) -> None:
        """Pin a text."""
        self.files[name] = content.encode()

    def keep_data(self, name: str, data: Any) -> None:
        """Pin plain data and arrays as JSON."""
        self.keep(name, json.dumps(data, indent=1, default=lambda array: array.tolist(), ensure_ascii=False) + "\n")

    def keep_files(self, *patterns: str) -> None:
        """Pin the files of the folder that match, under the same names."""
        for pattern in patterns:
            for path in sorted(self.folder.glob(pattern)):
                self.files[path.relative_to(self.folder).as_posix()] = path.read_bytes()

    def keep_studies(self) -> None:
        """Pin the contents of the database as JSON."""
        self.keep_data("studies.json", read_database((self.folder / DATABASE).read_bytes()))


# Cases

STUDIES = {
    "tune": "tune blips --horizon 500 --arms 5 --trials 32 --replications 24 --selection 400 --report 200",
    "trace": "tune --trace trace.csv --minimize --window 60 --trials 30 --replications 12 --selection 50 --report 50",
    "log": "tune --log log.csv --trials 6 --replications 8 --selection 128 --report 128",
    "robust": "tune blips periodic --robust --csv robust.csv --horizon 150 --arms 5 --trials 12 --replications 12 "
    "--selection 240 --report 100",
    "grid": "grid blips --paper --csv grid.csv --horizon 150 --arms 4 --replications 30",
    "compare": "compare blips stationary --horizon 150 --arms 4 --policies raven-ucb,ucb1,sw-ucb --tune 6 "
    "--replications 20",
}
"""Commands of the case `current`, one study of each kind. The first is raced: it has at least 200 selection worlds."""


def _write_recordings(run: Run, trace_rows: int | None = None, log_rows: int | None = None) -> None:
    """Write the example trace and log, or their first rows."""
    for kind, rows in (("trace", trace_rows), ("log", log_rows)):
        run.command(f"init --{kind}")
        path = run.folder / f"{kind}.csv"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[: None if rows is None else rows + 1]), encoding="utf-8")


def _current(run: Run) -> None:
    """Pin a database with one study of each kind, its exports, and a state of each policy."""
    _write_recordings(run, trace_rows=480, log_rows=1200)
    for kind, line in STUDIES.items():
        run.keep(f"{kind}.json", run.compute(f"{line} --json"))
    for form, extension in EXTENSIONS.items():
        run.keep(f"exports/exported.{extension}", run.stored(f"export --format {form}"))
    run.keep_files("*.csv", "comparison/compare.[!h]*")
    run.files[DATABASE] = _shrink_database(run.folder / DATABASE)
    actions = {}
    for name in ONLINE:
        policy = train(name)
        run.keep_data(f"states/{name}.json", policy.state())
        actions[name] = continue_policy(policy)
    run.keep_data("actions.json", actions)


def continue_policy(policy: ravenlab.Policy) -> list[int]:
    """Return the next arms of a policy with fixed rewards."""
    arms = []
    for step in range(20):
        arm = policy.select()
        policy.update(arm, (step % 5) / 4)
        arms.append(arm)
    return arms


def _shrink_database(path: Path) -> bytes:
    """Return the database without free pages and with fixed dates and durations, so that its bytes can be repeated."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        date = "2026-01-01 00:00:00.000000"
        database.execute("UPDATE trials SET datetime_start = ?, datetime_complete = ?", (date, date))
        for key in VOLATILE:
            changed = "UPDATE trial_user_attributes SET value_json = '1.0' WHERE key = ? AND value_json <> 'null'"
            database.execute(changed, (key,))
        database.commit()
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
    return path.read_bytes()


def _tune(run: Run, options: str) -> None:
    if "--trace" in options or "--log" in options:
        _write_recordings(run)
    run.keep("recommendation.json", run.compute(f"tune {options} --json"))
    run.keep_studies()


def _compare_recorded(run: Run) -> None:
    _write_recordings(run, trace_rows=480, log_rows=1200)
    policies = "--policies raven-ucb,sw-raven,ucb1 --tune 6 --replications 128"
    run.compute(f"compare --trace trace.csv --minimize --window 60 {policies} -o trace")
    run.compute(f"compare --log log.csv {policies} -o log")
    run.keep_files("*/compare.[!h]*")


def _simulate(run: Run) -> None:
    """Pin simulations of every scenario and of every policy, so that a changed random stream is detected."""
    scenarios = {}
    for name in sorted(ravenlab.scenarios()):
        scenarios[name] = ravenlab.simulate("raven-ucb", name, horizon=300, replications=3, seed=11)
    policies = {}
    for name in sorted(ravenlab.policy_names()):
        policies[name] = ravenlab.simulate(name, "localized-jump", horizon=120, arms=4, replications=3, seed=12)
    fields = ("params", "regret", "reward", "suboptimal_pulls")
    run.keep_data("scenarios.json", {name: _fields(result, *fields) for name, result in scenarios.items()})
    run.keep_data("policies.json", {name: _fields(result, *fields) for name, result in policies.items()})
    for scenario in ("variance-drift+arm-churn", "published-logistics", "variance-drift --set growth=0.5 --arms 3"):
        text = run.command(f"simulate {scenario} --horizon 400 --replications 6 --seed 7 --json")
        run.keep(f"{scenario.split()[0]}.json", text)
    curve = ravenlab.simulate("raven-ucb", "blips", horizon=150, arms=4, replications=4, seed=9, checkpoints=10)
    run.keep_data("checkpoints.json", {"curve": vars(curve.curve), "summary": curve.summary()})


def _fields(result: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def _recommend(run: Run) -> None:
    budget = "--arms 5 --trials 20 --replications 12 --selection 50 --report 50 --seed 1"
    run.compute(f"tune blips variance-drift --horizon 100,200 {budget}")
    for horizon in (100, 150, 400):
        run.keep(f"{horizon}.json", run.stored(f"recommend blips --arms 5 --horizon {horizon} --json"))
    run.keep("law.json", run.stored("recommend periodic --horizon 20000 --arms 12 --json"))


def _diagnose(run: Run) -> None:
    _write_recordings(run)
    for kind in ("trace", "log"):
        run.keep(f"{kind}.json", run.command(f"diagnose {kind}.csv --json --halves 2"))
    found = ravenlab.replay("ucb1", run.folder / "log.csv", resamples=128, seed=4)
    flat = {"score": found.score.as_object("score"), "logged": found.logged.as_columns("logged")}
    fields = {key: item for name, value in vars(found).items() for key, item in flat.get(name, {name: value}).items()}
    run.keep_data("replay.json", fields)


def _reproduce(run: Run, name: str) -> None:
    run.command(f"reproduce {name} --replications 2 --seed 0 --quiet --jobs {run.jobs} -o .")
    run.keep_files("csv/*.csv")
    run.keep_data("verdicts.json", json.loads((run.folder / "reproduction.json").read_bytes())["verdicts"])


SMALL = "--horizon 200 --arms 5 --trials 20 --replications 12 --selection 50 --report 50"

CASES: dict[str, Callable[[Run], None]] = {
    "current": _current,
    "compare-recorded": _compare_recorded,
    "simulate": _simulate,
    "recommend": _recommend,
    "diagnose": _diagnose,
    "figure1": partial(_reproduce, name="figure1"),
    "figure3": partial(_reproduce, name="figure3"),
    "tune-raced": partial(
        _tune, options="periodic+blips --horizon 1000 --trials 48 --replications 50 --selection 2000 --report 1000"
    ),
    "tune-trace": partial(_tune, options="--trace trace.csv --minimize --window 200 --trials 32 --selection 200"),
    "tune-log": partial(_tune, options="--log log.csv --trials 32 --replications 16 --selection 256 --report 256"),
    "tune-robust": partial(_tune, options="blips periodic --robust --horizon 400 --trials 32 --selection 1000"),
    "tune-horizons": partial(_tune, options=f"arm-churn gradual-drift {SMALL} --horizon 150,300 --seed 4"),
    "tune-set": partial(_tune, options=f"variance-drift --set growth=0.5 --noise laplace {SMALL}"),
    "tune-policy-random": partial(_tune, options=f"periodic --policy sw-ucb --sampler random {SMALL}"),
    "tune-qmc-quantile": partial(_tune, options=f"delayed --sampler qmc --objective quantile:0.9 {SMALL}"),
    "tune-cmaes-cvar": partial(_tune, options=f"bernoulli --sampler cmaes --objective cvar:0.9 {SMALL}"),
    "tune-grid-after": partial(_tune, options=f"blips --sampler grid --objective after:10% {SMALL}"),
    "tune-hyperband": partial(_tune, options=f"blips --pruner hyperband {SMALL}"),
    "tune-race-reward": partial(_tune, options=f"blips --pruner race --objective reward {SMALL}"),
    "table1": partial(_reproduce, name="table1"),
    "advice": partial(_reproduce, name="advice"),
    "bounds": partial(_reproduce, name="bounds"),
}

LONGEST = ("tune-robust", "advice", "bounds")
"""Cases that the tests leave out, to save time."""


def run_case(name: str, jobs: int = 1) -> dict[str, bytes]:
    """Run a case in a temporary folder and return its files by name."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder).resolve(), jobs)
        CASES[name](run)
        return run.files


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the recorded files of a case."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


# Comparison


def read_database(content: bytes) -> dict[str, Any]:
    """Return the studies of an SQLite file with attributes and trials, without dates and durations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / DATABASE
        path.write_bytes(content)
        with contextlib.closing(sqlite3.connect(path)) as database:
            return dict(_read_studies(database))


def _read_studies(database: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    for study, name in database.execute("SELECT study_id, study_name FROM studies ORDER BY study_name").fetchall():
        described: dict[str, Any] = {}
        for table in ("study_user_attributes", "study_system_attributes"):
            rows = database.execute(f"SELECT key, value_json FROM {table} WHERE study_id = ? ORDER BY key", (study,))
            described |= {key: json.loads(value) for key, value in rows}
        trials = "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY number"
        for trial, number, state in database.execute(trials, (study,)).fetchall():
            described[f"trial {number}"] = {"state": state, **dict(_read_trial(database, trial))}
        yield name, described


def _read_trial(database: sqlite3.Connection, trial: int) -> Iterator[tuple[str, Any]]:
    for table, key, value in (
        ("trial_params", "param_name", "param_value"),
        ("trial_values", "objective", "value"),
        ("trial_intermediate_values", "step", "intermediate_value"),
        ("trial_user_attributes", "key", "value_json"),
    ):
        query = f"SELECT {key}, {value} FROM {table} WHERE trial_id = ? ORDER BY {key}"
        for name, content in database.execute(query, (trial,)):
            if name not in VOLATILE:
                yield f"{table}.{name}", json.loads(content) if isinstance(content, str) else content


def _read_lines(content: bytes) -> dict[str, str]:
    return {f"line {number}": line for number, line in enumerate(content.decode().split("\n"), 1)}


def _read_csv(content: bytes) -> dict[str, Any]:
    rows = csv.DictReader(io.StringIO(content.decode()))
    return {f"row {number}": row for number, row in enumerate(rows, 1)}


READERS: dict[str, Callable[[bytes], Any]] = {
    ".json": json.loads,
    ".toml": lambda content: tomllib.loads(content.decode()),
    ".yaml": yaml.safe_load,
    ".csv": _read_csv,
    ".sqlite3": read_database,
}


def flatten(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value with its dotted key.

    >>> dict(flatten({"a": [1, {"b": None}], "c": {}}))
    {'a.0': '1', 'a.1.b': 'None', 'c': '{}'}
    """
    items = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    if not items or not data:
        yield path, repr(data)
    for key, value in items:
        yield from flatten(value, f"{path}.{key}" if path else str(key))


def compare_file(name: str, recorded: bytes | None, found: bytes | None) -> list[str]:
    r"""Describe how the content of a file differs from the recorded one.

    >>> compare_file("a.json", b'{"a": {"b": [1, 2]}}', b'{"a": {"b": [1, 3]}}')
    ['a.json: a.b.1: recorded 2, found 3']
    >>> compare_file("a.json", b'{"a": 1}', b'{"a":1}')
    ['a.json: the same values, but line 1: recorded \'{"a": 1}\', found \'{"a":1}\'']
    """
    if recorded is None or found is None:
        return [f"{name}: {'not recorded' if recorded is None else 'missing'}"]
    if recorded == found:
        return []
    read = READERS.get(Path(name).suffix, _read_lines)
    lines = _compare_values(dict(flatten(read(recorded))), dict(flatten(read(found))))
    if not lines and read is not read_database:
        first, *_ = _compare_values(dict(flatten(_read_lines(recorded))), dict(flatten(_read_lines(found))))
        lines = [f"the same values, but {first}"]
    more = [f"… and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {line}" for line in lines[:SHOWN] + more]


def _compare_values(recorded: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    keys = [key for key in dict.fromkeys([*recorded, *found]) if recorded.get(key) != found.get(key)]
    return [f"{key}: recorded {recorded.get(key, 'nothing')}, found {found.get(key, 'nothing')}" for key in keys]


def compare_files(recorded: Mapping[str, bytes], found: Mapping[str, bytes]) -> list[str]:
    """Describe how the files of a case differ from the recorded ones."""
    names = dict.fromkeys([*recorded, *found])
    return [line for name in names for line in compare_file(name, recorded.get(name), found.get(name))]


def describe_versions() -> str:
    """Describe the numerical packages whose versions differ from constraints.txt; empty if there are none."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    versions = {name: importlib.metadata.version(name) for name in NUMERICAL}
    return ", ".join(
        f"{name} {version} instead of {pinned[name]}" for name, version in versions.items() if version != pinned[name]
    )


def main() -> int:
    """Entry point of `python -m tools.pins`."""
    parser = argparse.ArgumentParser(prog="python -m tools.pins", description="Record or check the pins.")
    parser.add_argument("action", choices=("record", "check"))
    parser.add_argument("--case", action="append", choices=CASES, help="Only this case; may be repeated.")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="Folder of the cases.")
    parser.add_argument("--jobs", type=int, default=1, help="Number of workers; results do not depend on it.")
    options = parser.parse_args()
    if versions := describe_versions():
        print(f"The pins hold for the versions in constraints.txt, but there is {versions}.")
        return 1
    different = 0
    for name in options.case or CASES:
        folder = options.folder / name
        found = run_case(name, options.jobs)
        lines = compare_files(read_files(folder), found)
        print(f"{'differs' if lines else 'same   '}  {name}", *(f"    {line}" for line in lines), sep="\n", flush=True)
        different += bool(lines)
        if lines and options.action == "record":
            shutil.rmtree(folder, ignore_errors=True)
            for file, content in found.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(content)
    print(f"{different} cases {'recorded with differences' if options.action == 'record' else 'differ'}.")
    return int(options.action == "check" and different > 0)


if __name__ == "__main__":
    sys.exit(main())
