"""Reference numbers: run fixed commands with fixed seeds and compare every number with a recorded file.

Record and check:

    python -m tools.reference record tests/reference/numbers.json
    python -m tools.reference check tests/reference/numbers.json

Keys, words and files may be renamed without a difference: each output of a case (its JSON, CSV, tables, or stored
trials) is compared as a multiset of numbers. Only public names, such as the columns of the grid CSV, are compared by
key. Every case is recorded twice. Numbers that differ between the two runs, and those under `VOLATILE` keys, are not
recorded; a check tolerates as many unmatched numbers.

Re-record only after a deliberate change of results, such as a corrected estimator or a new default, and state in the
commit message which numbers changed and why. If an option is renamed, change this file without re-recording.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import os
import re
import sqlite3
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import yaml

import ravenlab

Numbers = dict[str, list[str]]
"""The numbers of one output by key path, in order; list positions are not part of a path."""

VOLATILE = {"schema", "seconds", "nanoseconds", "version"}
"""Keys whose numbers are never recorded: durations and versions."""

VERDICTS = {
    "stands": "confirmed",
    "within noise": "within sampling noise",
    "does not stand": "refuted",
    "not decidable": "inconclusive",
}
"""Verdicts, which are compared like numbers, from their former to their current wording."""

LONGEST_LIST = 250
"""Outputs with more numbers than this are recorded as one short digest per number."""

MAX_DIFFERENCES = 12
"""Maximum number of differences printed per output."""

BUDGET = "--trials 20 --replications 12 --selection 50 --report 50 -q"
SMALL = f"--arms 5 {BUDGET}"


@dataclass
class Output:
    """The numbers of one output, and whether its key paths are public."""

    numbers: Numbers
    public: bool = False


@dataclass
class Run:
    """One run of a case in its own folder."""

    folder: Path
    outputs: dict[str, Output] = field(default_factory=dict)

    @property
    def storage(self) -> str:
        """Return the URL of the case's database."""
        return f"sqlite:///{self.folder}/studies.sqlite3"

    def command(self, line: str) -> str:
        """Run `ravenlab` in the folder and return its standard output."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        environment = {name: value for name, value in os.environ.items() if name != "RAVENLAB_STORAGE"}
        code: object = 0
        with (
            contextlib.chdir(self.folder),
            mock.patch.object(sys, "argv", ["ravenlab", *line.split()]),
            mock.patch.dict(os.environ, environment, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                ravenlab.main()
            except SystemExit as exit_:
                code = exit_.code
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read())
        if code not in (0, None):
            raise RuntimeError(f"`ravenlab {line}` ended with {code}: {texts[1].strip()}")
        return texts[0]

    def stored(self, line: str) -> str:
        """Run a command that uses the case's database."""
        return self.command(f"{line} --storage {self.storage}")

    def read(self, name: str) -> str:
        """Return the text of a file that a command wrote."""
        return (self.folder / name).read_text(encoding="utf-8")

    def add(self, name: str, data: Any, *, public: bool = False) -> None:
        """Record the numbers of plain data, arrays, dataclasses or pydantic models."""
        numbers = self.outputs.setdefault(name, Output({}, public)).numbers
        for path, token in _flatten(data, ""):
            numbers.setdefault(path, []).append(token)

    def add_text(self, name: str, text: str, form: str, *, public: bool = False) -> None:
        """Record the numbers of a text in one of the formats of `READERS`, and keep the text in the folder."""
        (self.folder / f"output-{name}.txt").write_text(text, encoding="utf-8")
        self.add(name, READERS[form](text), public=public)

    def add_files(self, folder: str) -> None:
        """Record the files of an output folder, joined by format because files may be renamed."""
        for form, pattern in {"json": "*.json", "csv": "**/*.csv", "markdown": "*.md", "latex": "*.tex"}.items():
            for path in sorted((self.folder / folder).glob(pattern)):
                self.add(form, {path.stem: READERS[form](path.read_text(encoding="utf-8"))})

    def add_trials(self) -> None:
        """Record parameters, values and attributes of all stored trials."""
        with contextlib.closing(sqlite3.connect(self.folder / "studies.sqlite3")) as database:
            states = database.execute("SELECT state, number FROM trials ORDER BY trial_id")
            self.add("trials", {"state": Counter(state for state, _ in states)})
            for table, key, value in TRIAL_TABLES:
                query = f"SELECT {key}, {value} FROM {table} ORDER BY trial_id, {key}"
                for name, number in database.execute(query):
                    content = json.loads(number) if isinstance(number, str) else number
                    self.add("trials", {f"{table}.{name}": content})


TRIAL_TABLES = (
    ("trial_params", "param_name", "param_value"),
    ("trial_values", "objective", "value"),
    ("trial_intermediate_values", "step", "intermediate_value"),
    ("trial_user_attributes", "key", "value_json"),
)
"""Optuna's tables: name, column of the key, column of the number."""


def _token(number: float) -> str:
    """Return a number as text in full precision; 1 and 1.0 are the same number.

    >>> _token(1), _token(0.1), _token(True)
    ('1.0', '0.1', 'true')
    """
    if isinstance(number, bool):
        return str(number).lower()
    return str(number) if isinstance(number, int) and abs(number) > 2**53 else repr(float(number))


def _flatten(data: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield all numbers and verdicts with their key paths.

    >>> list(_flatten({"a": [1, {"b": "stands"}]}, ""))
    [('.a', '1.0'), ('.a.b', 'confirmed')]
    """
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if dataclasses.is_dataclass(data):
        data = {field.name: getattr(data, field.name) for field in dataclasses.fields(data)}
    elif hasattr(data, "model_dump"):
        data = data.model_dump()
    if isinstance(data, int | float):
        yield path, _token(data)
    elif isinstance(data, str):
        verdict = VERDICTS.get(data, data)
        if verdict in VERDICTS.values():
            yield path, verdict.replace(" ", "-")
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from _flatten(value, f"{path}.{key}")
    elif isinstance(data, Iterable):
        for value in data:
            yield from _flatten(value, path)


def _cell(text: str) -> Any:
    """Return the content of a CSV cell: a number, a truth value, JSON or text."""
    if text.lower() in ("true", "false") or text.startswith(("{", "[")):
        return json.loads(text.lower() if text[0] not in "{[" else text)
    try:
        return float(text)
    except ValueError:
        return text


def _read_csv(text: str) -> Any:
    rows = csv.DictReader(io.StringIO(text))
    return [{column: _cell(cell) for column, cell in row.items()} for row in rows]


def _parse_numbers(text: str) -> list[float]:
    """Return the formatted numbers of a table row, with or without thousands separators.

    >>> _parse_numbers("| T1000 | 1,234.5 (−2 to 3e-05) |")
    [1234.5, -2.0, 3e-05]
    """
    plain = re.sub(r"(?<=\d)(?:,|\{,\}|\\,|\u2009|\u202f)(?=\d{3}(?!\d))", "", text.replace("−", "-"))
    return [float(number) for number in re.findall(r"(?<![\w.~/])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w/])", plain)]


def _read_markdown(text: str) -> Any:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    rules = [row for row, line in enumerate(rows) if line.startswith("| ---")]
    heads = {row - 1 for row in rules} | set(rules)
    return [_parse_numbers(line) for row, line in enumerate(rows) if row not in heads]


def _read_latex(text: str) -> Any:
    bodies = re.findall(r"\\midrule(.*?)\\bottomrule", text, flags=re.DOTALL)
    return [_parse_numbers(line) for body in bodies for line in body.splitlines()]


def _read_python(text: str) -> Any:
    constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, int | float)]


READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "csv": _read_csv,
    "markdown": _read_markdown,
    "latex": _read_latex,
    "python": _read_python,
}


# Cases


def _tune(options: str) -> Callable[[Run], None]:
    """Return a case that tunes and records the recommendation and the stored trials."""

    def run(case: Run) -> None:
        words = options.split()
        for data in ("trace", "log"):
            if f"--{data}" in words:
                case.command(f"init --{data}")
        case.add_text("stdout", case.stored(f"tune {options} --json"), "json")
        case.add_trials()
        if "--csv" in words:
            case.add_text("csv", case.read(words[words.index("--csv") + 1]), "csv")

    return run


def _grid(case: Run) -> None:
    options = "--paper --horizon 150 --arms 4 --replications 30 --seed 5 --csv grid.csv --json -q"
    case.add_text("stdout", case.stored(f"grid blips periodic {options}"), "json")
    case.add_text("csv", case.read("grid.csv"), "csv", public=True)
    case.add_trials()


def _compare(case: Run) -> None:
    options = "--horizon 200 --arms 4 --replications 20 --seed 2 --policies raven-ucb,ucb1,sw-ucb --tune 6 -q"
    case.stored(f"compare blips stationary {options} -o comparison")
    case.add_files("comparison")
    case.add_trials()


def _simulate(case: Run) -> None:
    for scenario in ("blips", "variance-drift+arm-churn", "published-logistics"):
        text = case.command(f"simulate {scenario} --horizon 400 --replications 6 --seed 7 --json")
        case.add_text(f"raven-ucb in {scenario}", text, "json")
    options = "--set growth=0.5 --horizon 200 --arms 3 --policy ucb1 --replications 5 --json"
    case.add_text("ucb1", case.command(f"simulate variance-drift {options}"), "json")


def _worlds(case: Run) -> None:
    """Simulate every scenario, so that a changed random stream is detected."""
    for name in sorted(ravenlab.scenarios()):
        result = ravenlab.simulate("raven-ucb", name, horizon=300, replications=3, seed=11)
        case.add("worlds", {name: _fields(result, "regret", "reward", "suboptimal_pulls")}, public=True)


def _policies(case: Run) -> None:
    """Simulate every policy."""
    for name in sorted(ravenlab.policy_names()):
        result = ravenlab.simulate(name, "localized-jump", horizon=120, arms=4, replications=3, seed=12)
        case.add("policies", {name: _fields(result, "params", "regret", "reward", "suboptimal_pulls")}, public=True)


def _fields(result: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def _api(case: Run) -> None:
    """Record the fields of the results of the Python API under their public names."""
    small: dict[str, Any] = {"arms": 4, "seed": 9, "storage": case.storage}
    budget: dict[str, Any] = {"trials": 10, "replications": 8, "selection": 40, "report": 40}
    recommendation = ravenlab.tune("periodic", 150, **small, **budget)
    tune_fields = (
        "horizon",
        "arms",
        "params",
        "regret",
        "search_estimate",
        "indistinguishable",
        "box",
        "versus",
        "trials",
    )
    case.add("tune", _fields(recommendation, *tune_fields, "importance", "scale", "seed"), public=True)
    grid = ravenlab.grid("periodic", 150, replications=10, alpha0=[0.5, 1.0], beta0=[0.5, 1.0, 5.0, 10.0], **small)
    case.add("grid", _fields(grid, "mean", "stderr", "indistinguishable", "best"), public=True)
    comparison = ravenlab.compare("blips", 150, policies="ucb1,ccb", tune=0, replications=10, **small)
    case.add("compare", json.loads(comparison.as_json()))
    simulation = ravenlab.simulate("raven-ucb", "blips", horizon=150, arms=4, replications=4, seed=9, checkpoints=10)
    case.add("simulate", _fields(simulation, "params", "regret", "reward", "suboptimal_pulls", "curve"), public=True)
    case.add("simulate", {"summary": simulation.summary()}, public=True)
    case.command("init --log")
    replayed = ravenlab.replay("ucb1", case.folder / "log.csv", resamples=128, seed=4)
    case.add("replay", replayed, public=True)
    for name in ("raven-ucb", "thompson", "sw-ucb"):
        policy = ravenlab.find_policy(name)(3, seed=1, horizon=30)
        for step in range(30):
            policy.update(policy.select(), float(step % 7) / 7)
        case.add("state", {name: policy.state()}, public=True)


def _diagnose(data: str) -> Callable[[Run], None]:
    def run(case: Run) -> None:
        case.command(f"init --{data}")
        case.add_text("stdout", case.command(f"diagnose {data}.csv --json"), "json")

    return run


def _export(case: Run) -> None:
    case.stored(f"tune blips variance-drift --horizon 100,200 --seed 1 {SMALL}")
    for form in READERS:
        case.add_text(form, case.stored(f"export --format {form}"), form)
    for horizon in (100, 150, 400):
        text = case.stored(f"recommend blips --arms 5 --horizon {horizon} --json")
        case.add_text(f"recommend {horizon}", text, "json")


def _reproduce(name: str) -> Callable[[Run], None]:
    def run(case: Run) -> None:
        case.command(f"reproduce {name} --replications 2 --seed 0 -q -o reproduction")
        case.add_files("reproduction")

    return run


CHEAP: dict[str, Callable[[Run], None]] = {
    "tune": _tune(f"blips variance-drift+periodic --horizon 200 --seed 3 {SMALL}"),
    "grid": _grid,
    "simulate": _simulate,
    "worlds": _worlds,
    "export": _export,
    "diagnose trace": _diagnose("trace"),
    "reproduce figure1": _reproduce("figure1"),
}
"""Cases that the tests run."""

CASES: dict[str, Callable[[Run], None]] = {
    **CHEAP,
    "api": _api,
    "policies": _policies,
    "tune horizons": _tune(f"arm-churn gradual-drift --horizon 150,300 --seed 4 {SMALL}"),
    "tune set": _tune(f"variance-drift --set growth=0.5 --noise laplace --horizon 200 {SMALL}"),
    "tune policy random": _tune(f"periodic --policy sw-ucb --sampler random --horizon 200 {SMALL}"),
    "tune qmc quantile": _tune(f"delayed --sampler qmc --objective quantile:0.9 --horizon 200 {SMALL}"),
    "tune cmaes cvar": _tune(f"bernoulli --sampler cmaes --objective cvar:0.9 --horizon 200 {SMALL}"),
    "tune grid after": _tune(f"blips --sampler grid --objective after:10% --horizon 200 {SMALL}"),
    "tune hyperband": _tune(f"blips --pruner hyperband --horizon 200 {SMALL}"),
    "tune race reward": _tune(f"blips --pruner race --objective reward --horizon 200 {SMALL}"),
    "tune trace": _tune(f"--trace trace.csv --minimize --window 200 {BUDGET}"),
    "tune log": _tune("--log log.csv --trials 8 --replications 10 --selection 128 --report 128 -q"),
    "tune robust": _tune(f"blips periodic --robust --csv robust.csv --horizon 200 {SMALL}"),
    "tune pareto": _tune(f"blips periodic --robust --pareto --csv front.csv --horizon 200 {SMALL}"),
    "compare": _compare,
    "diagnose log": _diagnose("log"),
    "reproduce table1": _reproduce("table1"),
    "reproduce figure3": _reproduce("figure3"),
    "reproduce advice": _reproduce("advice"),
    "reproduce bounds": _reproduce("bounds"),
}


def run_case(name: str, keep: Path | None = None) -> dict[str, Output]:
    """Run a case in a new folder, which is temporary unless `keep` is given."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (Path(temporary) if keep is None else keep) / name.replace(" ", "-")
        folder.mkdir(parents=True)
        case = Run(folder.resolve())
        CASES[name](case)
        return case.outputs


# Recording and comparing


def _digest(token: str) -> str:
    return base64.b64encode(hashlib.blake2b(token.encode(), digest_size=3).digest()).decode()


def record_case(first: Mapping[str, Output], second: Mapping[str, Output]) -> dict[str, Any]:
    """Return the numbers that two runs of a case have in common, as plain data."""
    return {name: _record_output(output, second[name]) for name, output in first.items()}


def _record_output(first: Output, second: Output) -> dict[str, Any]:
    kept: Numbers = {}
    ignored = 0
    for path, tokens in first.numbers.items():
        repeated = Counter(second.numbers.get(path, []))
        volatile = any(part in VOLATILE for part in path.split("."))
        for token in tokens:
            if volatile or not repeated[token]:
                ignored += 1
                continue
            repeated[token] -= 1
            kept.setdefault(path, []).append(token)
    if first.public and ignored:
        raise RuntimeError("public fields must be the same in two runs")
    digested = sum(map(len, kept.values())) > LONGEST_LIST
    rendered = {path: " ".join(map(_digest, tokens) if digested else tokens) for path, tokens in kept.items()}
    return {"public": first.public, "ignored": ignored, "digested": digested, "numbers": rendered}


def differences(recorded: Mapping[str, Any], outputs: Mapping[str, Output]) -> list[str]:
    """Describe how the outputs of a case differ from the recorded ones."""
    lines = [f"{name}: new output" for name in outputs if name not in recorded]
    for name, expected in recorded.items():
        if name in outputs:
            lines += [f"{name}: {line}" for line in _output_differences(expected, outputs[name].numbers)]
        else:
            lines.append(f"{name}: missing output")
    return lines


def _output_differences(expected: Mapping[str, Any], numbers: Numbers) -> list[str]:
    shorten: Callable[[str], str] = _digest if expected["digested"] else str
    before = {path: tokens.split() for path, tokens in expected["numbers"].items()}
    now = {path: [shorten(token) for token in tokens] for path, tokens in numbers.items()}
    if expected["public"]:
        paths = [path for path in dict.fromkeys([*before, *now]) if before.get(path) != now.get(path)]
        lines = [f"{path}: recorded {before.get(path)}, found {numbers.get(path)}" for path in paths]
        return lines[:MAX_DIFFERENCES]
    recorded = Counter(token for tokens in before.values() for token in tokens)
    found = Counter(token for tokens in now.values() for token in tokens)
    missing, extra = recorded - found, found - recorded
    if not missing and extra.total() <= expected["ignored"]:
        return []
    counts = f"{missing.total()} of {recorded.total()} recorded numbers missing, {extra.total()} others found"
    lines = [f"{counts}, {expected['ignored']} tolerated"]
    missing_lines = [f"  missing {token} at {path}" for path, token in _locate_tokens(before, before, missing)]
    extra_lines = [f"  found {token} at {path}" for path, token in _locate_tokens(now, numbers, extra)]
    lines += missing_lines[:MAX_DIFFERENCES] + extra_lines[:MAX_DIFFERENCES]
    return lines


def _locate_tokens(shortened: Numbers, full: Numbers, wanted: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield the paths at which the wanted tokens occur, with their full text if known."""
    for path, tokens in shortened.items():
        for token, text in zip(tokens, full[path], strict=True):
            if wanted[token]:
                yield path, text


def record(path: Path, names: Sequence[str], keep: Path | None) -> None:
    """Write the numbers of the named cases and keep those of the other cases."""
    cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in names:
        print(f"recording {name}", flush=True)
        cases[name] = record_case(run_case(name, keep), run_case(name))
    ordered = {name: cases[name] for name in CASES if name in cases}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(ordered, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def check(path: Path, names: Sequence[str], keep: Path | None) -> bool:
    """Run the named cases, print their differences from the file, and return whether there are none."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    same = True
    for name in names:
        lines = differences(cases[name], run_case(name, keep)) if name in cases else ["not recorded"]
        print(f"{'differs' if lines else 'same   '}  {name}", *(f"    {line}" for line in lines), sep="\n", flush=True)
        same = same and not lines
    return same


def main() -> int:
    """Entry point of `python -m tools.reference`."""
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description="Record or check reference numbers.")
    parser.add_argument("action", choices=("record", "check"))
    parser.add_argument("file", type=Path, help="File with the recorded numbers.")
    parser.add_argument("--case", action="append", choices=CASES, help="Only this case; may be repeated.")
    parser.add_argument("--keep", type=Path, help="Folder for the full outputs, for debugging.")
    options = parser.parse_args()
    names = options.case or list(CASES)
    if options.action == "record":
        record(options.file, names, options.keep)
        return 0
    return 0 if check(options.file, names, options.keep) else 1


if __name__ == "__main__":
    sys.exit(main())
