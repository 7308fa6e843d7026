"""Files as users have them: shuffled, with other names, separators, dates, indices and missing cells, and invalid ones.

Each is read as the same data as the clean file, or refused with one line and exit code 2.
"""

import csv
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from pandas import DataFrame

import ravenlab
from ravenlab.environments.recorded.log_file import read_log
from ravenlab.environments.recorded.recording import write_frame
from ravenlab.environments.recorded.trace_file import read_trace
from ravenlab.studies.diagnosis.analysis import read_rewards
from tests.command import refused, run_command

ROWS = 240
START = "2026-01-01"

Change = Callable[[DataFrame], DataFrame]


def make_trace() -> DataFrame:
    rng = np.random.default_rng(4)
    frame = DataFrame(np.round(rng.normal([3.0, 5.0, 4.0], 1.0, (ROWS, 3)), 3), columns=["ant", "bee", "cat"])
    frame.insert(0, "time", pandas.date_range(START, periods=ROWS, freq="h"))
    return frame


def make_log() -> DataFrame:
    rng = np.random.default_rng(5)
    arms = rng.choice(["red", "green", "blue"], ROWS)
    frame = DataFrame({"step": np.arange(1, ROWS + 1), "arm": arms, "reward": np.round(rng.normal(size=ROWS), 3)})
    return frame.assign(propensity=1 / 3)


def shuffle(frame: DataFrame) -> DataFrame:
    return frame.sample(frac=1.0, random_state=1)


def reverse(frame: DataFrame) -> DataFrame:
    return frame[::-1]


def dates(form: str, column: str = "time", freq: str = "h") -> Change:
    def change(frame: DataFrame) -> DataFrame:
        times = pandas.date_range(START, periods=ROWS, freq=freq).strftime(form)
        return frame.assign(**{column: times})

    return change


def rename(**names: str) -> Change:
    return lambda frame: frame.rename(columns=names)


def epoch(frame: DataFrame) -> DataFrame:
    return frame.assign(time=1_767_225_600 + 3600 * np.arange(ROWS))


def blank(column: str) -> Change:
    def change(frame: DataFrame) -> DataFrame:
        return frame.assign(**{column: frame[column].where(np.arange(ROWS) % 10 > 0)})

    return change


def repeat(column: str) -> Change:
    return lambda frame: frame.assign(**{column: frame[column].iloc[np.arange(ROWS) // 2].to_numpy()})


def drop_rows(frame: DataFrame) -> DataFrame:
    return frame[(frame.index < 100) | (frame.index >= 120)]


def drop(*columns: str) -> Change:
    return lambda frame: frame.drop(columns=list(columns))


ISO = dates("%Y-%m-%d %H:%M")
ZULU = dates("%Y-%m-%dT%H:%M:%SZ")
GERMAN = dates("%d.%m.%Y %H:%M")
SLASHES = dates("%Y/%m/%d %H:%M:%S")
FOREIGN = rename(step="timestamp", arm="carrier", reward="cost")
OTHERS = rename(step="when", arm="who", reward="gain")
NAMES = {"step": "when", "arm": "who", "reward": "gain"}
CSV = {"index": False}
SEMICOLONS = {"index": False, "sep": ";"}
GERMAN_CSV = {**SEMICOLONS, "decimal": ","}
TABS = {"index": False, "sep": "\t"}
BARS = {"index": False, "sep": "|"}
INDEX = {"index": True}

TRACES: dict[str, tuple[list[Change], dict[str, Any], list[str]]] = {
    "clean": ([], CSV, []),
    "shuffled": ([shuffle], CSV, ["sorted"]),
    "newest first": ([reverse], CSV, ["newest first"]),
    "shuffled with an index": ([shuffle], INDEX, ["sorted"]),
    "index": ([], INDEX, []),
    "index only": ([drop("time")], INDEX, []),
    "index only, shuffled": ([drop("time"), shuffle], INDEX, ["sorted"]),
    "no time": ([drop("time")], CSV, []),
    "semicolons": ([], SEMICOLONS, ["semicolons"]),
    "decimal commas": ([], GERMAN_CSV, ["semicolons", "decimals by commas"]),
    "decimal commas and tabs": ([], {**TABS, "decimal": ","}, ["tabs", "decimals by commas"]),
    "decimal commas, newest first": ([GERMAN, reverse], GERMAN_CSV, ["newest first", "semicolons"]),
    "tabs": ([], TABS, ["tabs"]),
    "bars, shuffled": ([shuffle], BARS, ["bars", "sorted"]),
    "ISO minutes": ([ISO, shuffle], CSV, ["sorted"]),
    "UTC": ([ZULU, reverse], CSV, ["newest first"]),
    "German dates": ([GERMAN, shuffle], CSV, ["sorted"]),
    "slashes": ([SLASHES, shuffle], CSV, ["sorted"]),
    "day first": ([dates("%d/%m/%Y %H:%M", freq="3h")], CSV, []),
    "month first, newest first": ([dates("%m/%d/%Y %H:%M", freq="3h"), reverse], CSV, ["newest first"]),
    "seconds": ([epoch, shuffle], CSV, ["sorted"]),
    "timestamps": ([rename(time="Timestamp"), shuffle], CSV, ["sorted"]),
    "gaps": ([drop_rows], CSV, ["1 gap", "20 steps"]),
    "gaps, shuffled": ([drop_rows, shuffle], GERMAN_CSV, ["1 gap", "sorted"]),
    "a constant arm": ([lambda frame: frame.assign(armadillo=2)], CSV, ["'armadillo'", "constant", "unless it is"]),
    "an arm that increases": ([lambda frame: frame.assign(dog=np.arange(ROWS) / 7)], CSV, ["'dog'", "increases"]),
    "labels": ([lambda frame: frame.assign(time=[f"row {i % 7}" for i in range(ROWS)])], CSV, ["labels"]),
    "time in the last column": ([lambda frame: frame[["ant", "bee", "cat", "time"]], shuffle], CSV, ["sorted"]),
    "month names": ([dates("%d %b %Y %I:%M %p"), shuffle], CSV, ["sorted"]),
    "month first, in order": ([dates("%m/%d/%Y %I:%M %p")], CSV, []),
    "short years": ([dates("%d.%m.%y %H:%M", freq="3h"), shuffle], GERMAN_CSV, ["sorted"]),
    "missing cells": ([blank("bee")], CSV, []),
    "missing cells as text": ([blank("bee"), shuffle], {**CSV, "na_rep": "NaN"}, ["sorted"]),
}

LOGS: dict[str, tuple[list[Change], dict[str, Any], dict[str, str] | None, list[str]]] = {
    "clean": ([], CSV, None, []),
    "shuffled": ([shuffle], CSV, None, ["sorted"]),
    "newest first": ([reverse], CSV, None, ["newest first"]),
    "index": ([], INDEX, None, []),
    "index, shuffled": ([shuffle], INDEX, None, ["sorted"]),
    "other names": ([FOREIGN], CSV, None, ["step=timestamp,arm=carrier,reward=cost"]),
    "other names, shuffled": ([FOREIGN, shuffle], INDEX, None, ["sorted", "arm=carrier"]),
    "named columns": ([OTHERS], CSV, NAMES, []),
    "named columns, decimal commas": ([OTHERS, shuffle], GERMAN_CSV, NAMES, ["sorted", "semicolons"]),
    "an arm without a usual name": ([rename(arm="who")], CSV, {}, ["arm=who"]),
    "semicolons": ([], SEMICOLONS, None, ["semicolons"]),
    "decimal commas": ([], GERMAN_CSV, None, ["decimals by commas"]),
    "tabs": ([], TABS, None, ["tabs"]),
    "times": ([dates("%Y-%m-%dT%H:%M:%S", "step")], CSV, None, []),
    "times, newest first": ([dates("%Y-%m-%dT%H:%M:%S", "step"), reverse], CSV, None, ["newest first"]),
    "German times": ([dates("%d.%m.%Y %H:%M", "step"), shuffle], GERMAN_CSV, None, ["sorted"]),
    "repeated times": ([repeat("step")], CSV, None, ["120 events", "order of the file"]),
    "repeated times, newest first": ([repeat("step"), reverse], CSV, None, ["newest first"]),
    "blank propensities": ([blank("propensity")], CSV, None, ["24 rows", "propensity"]),
    "no propensities": ([drop("propensity")], CSV, None, []),
    "no steps": ([drop("step")], CSV, None, ["order of the file"]),
    "missing rewards": ([blank("reward")], CSV, None, ["24 rows", "reward"]),
    "missing rewards, shuffled": ([blank("reward"), shuffle], GERMAN_CSV, None, ["24 rows", "sorted"]),
    "other columns": ([lambda frame: frame.assign(city="x", note="a,b")], CSV, None, []),
}

REFUSED: dict[str, tuple[Callable[[], DataFrame], list[str], list[str]]] = {
    "repeated times": (lambda: repeat("time")(make_trace()), [], ["line 3", "repeated", "120 rows"]),
    "shuffled row numbers": (
        lambda: shuffle(drop("time")(make_trace()).assign(record=np.arange(ROWS))),
        [],
        ["'record'", "another order", "step"],
    ),
    "repeated times, shuffled": (lambda: shuffle(repeat("time")(make_trace())), [], ["repeated"]),
    "missing times": (lambda: blank("time")(make_trace()), [], ["line 2", "missing"]),
    "days or months": (lambda: shuffle(dates("%d/%m/%Y %H:%M")(make_trace()).head(200)), [], ["months"]),
    "half a date": (lambda: make_trace().assign(time=["2026-01-01", *["soon"] * (ROWS - 1)]), [], ["line 3", "'soon'"]),
    "text in an arm": (lambda: make_trace().assign(bee="high"), [], ["line 2", "'bee'", "'high'"]),
    "two usual arms": (lambda: make_log().rename(columns={"arm": "item"}).assign(ad="x"), [], ["'item'", "'ad'"]),
    "unknown column": (make_log, ["--columns", "arm=nobody"], ["'nobody'", "step, arm, reward"]),
    "unknown role": (make_log, ["--columns", "who=arm"], ["'who'", "step, arm, reward, propensity"]),
    "no form": (make_log, ["--columns", "arm"], ["step=timestamp,arm=carrier"]),
    "steps of text": (lambda: make_log().assign(step="soon"), [], ["line 2", "step", "'soon'"]),
    "rewards of text": (lambda: make_log().assign(reward="much"), [], ["line 2", "reward", "'much'"]),
}


ORDERS: dict[str, tuple[Change, list[str]]] = {
    "in order": (lambda frame: frame, []),
    "shuffled": (shuffle, ["sorted"]),
    "newest first": (reverse, ["newest first"]),
}
LAYOUTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "commas": ({}, []),
    "quoted cells": ({"quoting": csv.QUOTE_ALL}, []),
    "semicolons": ({"sep": ";"}, ["semicolons"]),
    "decimal commas": ({"sep": ";", "decimal": ","}, ["decimals by commas"]),
    "quoted decimal commas": ({"sep": ";", "decimal": ",", "quoting": csv.QUOTE_ALL}, ["decimals by commas"]),
    "tabs": ({"sep": "\t"}, ["tabs"]),
    "Parquet": ({}, []),
}
ENDS = {"plain": "{}", "blank lines": "{}\n\n\n", "byte order mark": "\ufeff{}", "both": "\ufeff{}\n"}
TIMES: dict[str, Change] = {
    "times": lambda frame: frame,
    "ISO times": ISO,
    "German times": GERMAN,
    "seconds": epoch,
    "timestamps": rename(time="Timestamp"),
    "an index beside times": lambda frame: frame.reset_index(),
}
EXTRAS: dict[str, tuple[Change, list[str]]] = {
    "no more columns": (lambda frame: frame, []),
    "weekdays": (lambda frame: frame.assign(weekday=frame.index // 24 % 7), ["'weekday' repeats", "left out"]),
    "hours": (lambda frame: frame.assign(hour=frame.index % 24), ["'hour' repeats", "left out"]),
    "a counter": (lambda frame: frame.assign(total=np.cumsum(frame.index % 3)), ["'total' only increases", "left out"]),
    "a constant": (lambda frame: frame.assign(version=2), ["'version' is constant", "left out"]),
    "a row number": (lambda frame: frame.assign(record=frame.index + 1), ["'record'", "left out"]),
}
LOSSES: dict[str, tuple[Change, list[str]]] = {
    "complete": (lambda frame: frame, []),
    "missing cells": (blank("bee"), []),
    "gaps": (drop_rows, ["1 gap"]),
    "empty rows": (lambda frame: blank("cat")(blank("bee")(blank("ant")(frame))), ["24 rows without any value"]),
}
LOG_NAMES: dict[str, tuple[Change, list[str]]] = {
    "usual names": (lambda frame: frame, []),
    "foreign names": (FOREIGN, ["step=timestamp,arm=carrier,reward=cost"]),
    "other columns": (lambda frame: frame.assign(city="x, y", hour=frame.index % 24), []),
    "German times": (dates("%d.%m.%Y %H:%M", "step"), []),
    "times of pairs": (repeat("step"), ["120 events"]),
}
LOG_LOSSES: dict[str, tuple[Change, list[str]]] = {
    "complete": (lambda frame: frame, []),
    "missing rewards": (blank("reward"), ["24 rows without a reward"]),
    "blank propensities": (blank("propensity"), ["24 rows without a propensity"]),
    "no propensities": (drop("propensity"), []),
}


@dataclass(frozen=True)
class Mess:
    """A combination of what can be wrong with a file, and what reading it must state."""

    names: tuple[str, ...]
    frame: DataFrame
    clean: DataFrame
    layout: str
    end: str
    crlf: bool
    notes: list[str]

    def write(self, folder: Path) -> Path:
        if self.layout == "Parquet":
            self.frame.to_parquet(folder / "messy.parquet", index=False)
            return folder / "messy.parquet"
        text = self.frame.to_csv(index=False, **LAYOUTS[self.layout][0])
        text = ENDS[self.end].format(text)
        (folder / "messy.csv").write_bytes((text.replace("\n", "\r\n") if self.crlf else text).encode())
        return folder / "messy.csv"


def combine(number: int) -> Mess:
    """Draw a combination; every other one is a log."""
    rng = np.random.default_rng([7, number])

    def pick(table: Any) -> str:
        return str(rng.choice(list(table)))

    order = pick(ORDERS)
    layout = pick(LAYOUTS)
    names: tuple[str, ...]
    notes = ORDERS[order][1] + LAYOUTS[layout][1]
    if number % 2:
        names = (pick(LOG_NAMES), pick(LOG_LOSSES))
        # Reversed pairs of events with one time can't be told from pairs in another order.
        order = "in order" if names[0] == "times of pairs" else order
        notes = ORDERS[order][1] + LAYOUTS[layout][1]
        changes = [LOG_NAMES[names[0]], LOG_LOSSES[names[1]]]
        clean = LOG_LOSSES[names[1]][0](make_log()).dropna(subset="reward")
        frame = make_log()
    else:
        names = (pick(TIMES), pick(EXTRAS), pick(LOSSES))
        changes = [(TIMES[names[0]], []), EXTRAS[names[1]], LOSSES[names[2]]]
        clean = LOSSES[names[2]][0](make_trace()).dropna(how="all", subset=["ant", "bee", "cat"])
        frame = make_trace()
    for change, stated in changes:
        frame = change(frame)
        notes = notes + stated
    end = pick(ENDS)
    crlf = bool(rng.integers(2))
    label = (*names, order, layout, *([] if layout == "Parquet" else [end, "CRLF" if crlf else "LF"]))
    return Mess(label, ORDERS[order][0](frame), clean, layout, end, crlf, notes)


@pytest.mark.parametrize("mess", [pytest.param(mess, id=", ".join(mess.names)) for mess in map(combine, range(60))])
def test_combinations_are_read_like_the_clean_file(mess: Mess, tmp_path: Path) -> None:
    kind, names, values, stated = read_rewards(mess.write(tmp_path))
    if kind == "trace":
        assert names == ("ant", "bee", "cat")
        np.testing.assert_array_equal(values, mess.clean[list(names)].to_numpy(dtype=np.float64))
    else:
        pulled = np.isfinite(values).argmax(axis=1)
        assert [names[k] for k in pulled] == mess.clean["arm"].tolist()
        np.testing.assert_array_equal(values[np.arange(len(values)), pulled], mess.clean["reward"])
    assert all(note in "; ".join(stated) for note in mess.notes), stated
    assert mess.notes or not stated


def test_what_was_done_is_printed_on_stderr(tmp_path: Path) -> None:
    EXTRAS["weekdays"][0](reverse(make_trace())).to_csv(tmp_path / "messy.csv", index=False)
    code, out, err = run_command(["diagnose", str(tmp_path / "messy.csv")])
    assert code == 0, err
    assert "rows were newest first; they are sorted by 'time'" in err
    assert "column 'weekday'" in err
    assert "240 steps, 3 arms" in out


@pytest.mark.parametrize("name", TRACES)
def test_a_messy_trace_is_read_like_the_clean_one(name: str, tmp_path: Path) -> None:
    changes, options, notes = TRACES[name]
    clean = make_trace()
    frame = clean
    for change in changes:
        frame = change(frame)
        clean = change(clean) if change not in (shuffle, reverse) else clean
    frame.to_csv(tmp_path / "messy.csv", **options)
    kind, names, values, stated = read_rewards(tmp_path / "messy.csv")
    arms = [arm for arm in clean.columns if arm.lower() not in ("time", "timestamp")]
    assert (kind, list(names)) == ("trace", arms)
    np.testing.assert_array_equal(values, clean[arms].to_numpy(dtype=np.float64))
    assert all(note in "; ".join(stated) for note in notes), stated
    assert notes or not stated


@pytest.mark.parametrize("name", LOGS)
def test_a_messy_log_is_read_like_the_clean_one(name: str, tmp_path: Path) -> None:
    changes, options, columns, notes = LOGS[name]
    frame = make_log()
    for change in changes:
        frame = change(frame)
    frame.to_csv(tmp_path / "messy.csv", **options)
    kind, names, values, stated = read_rewards(tmp_path / "messy.csv", columns)
    clean = make_log()
    clean = clean[np.arange(ROWS) % 10 > 0] if name.startswith("missing rewards") else clean
    rows = np.arange(len(clean))
    assert (kind, names) == ("log", ("blue", "green", "red"))
    assert [names[k] for k in np.isfinite(values).argmax(axis=1)] == clean["arm"].tolist()
    np.testing.assert_array_equal(values[rows, np.isfinite(values).argmax(axis=1)], clean["reward"])
    assert all(note in "; ".join(stated) for note in notes), stated
    assert notes or not stated


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_one_line(name: str, tmp_path: Path) -> None:
    make, options, names = REFUSED[name]
    make().to_csv(tmp_path / "messy.csv", index=False)
    message = refused("diagnose", str(tmp_path / "messy.csv"), *options)
    assert all(part in message for part in names), message
    assert len(message.strip().splitlines()) == 1


def test_data_frames_and_parquet_with_a_time_index_are_read_like_files(tmp_path: Path) -> None:
    frame = make_trace().set_index("time")
    frame.to_parquet(tmp_path / "trace.parquet")
    frame.rename_axis(None).to_parquet(tmp_path / "unnamed.parquet")
    shuffle(frame).to_parquet(tmp_path / "shuffled.parquet")
    make_trace().to_csv(tmp_path / "trace.csv", index=False)
    clean = read_trace(tmp_path / "trace.csv")
    assert read_trace(tmp_path / "trace.parquet") == read_trace(tmp_path / "unnamed.parquet") == clean
    shuffled = read_trace(tmp_path / "shuffled.parquet")
    assert shuffled == clean
    assert "sorted" in shuffled.notes[0]
    assert read_trace(write_frame(shuffle(frame), tmp_path, "trace")) == clean
    log = FOREIGN(make_log())
    log.set_index("timestamp").to_parquet(tmp_path / "log.parquet")
    log.to_csv(tmp_path / "log.csv", index=False)
    assert read_log(tmp_path / "log.parquet") == read_log(tmp_path / "log.csv")


def test_python_takes_data_frames_and_names_of_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = shuffle(make_trace())
    diagnosis = ravenlab.diagnose(frame, halves=0)
    assert diagnosis.names == ("ant", "bee", "cat")
    assert "sorted by 'time'" in str(diagnosis)
    log = OTHERS(pandas.concat([make_log()] * 5, ignore_index=True).assign(step=np.arange(5 * ROWS)))
    replayed = ravenlab.replay("ucb1", log, columns=NAMES, resamples=128)
    assert replayed.events == 5 * ROWS
    budget: dict[str, Any] = {"trials": 2, "replications": 4, "selection": 8, "report": 8}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ravenlab.tune(trace=frame, horizon=20, progress=False, jobs=1, storage="sqlite:///s.sqlite3", **budget)
    (file,) = tmp_path.glob("trace-*.csv")
    texts = [str(warning.message) for warning in caught]
    assert any(str(file) in text for text in texts)
    assert any("sorted by 'time'" in text for text in texts)
    assert result.trace.notes == ["rows were not in order; they are sorted by 'time'"]
    assert "sorted by 'time'" in str(result.to_document().details)


def test_study_files_name_columns(tmp_path: Path) -> None:
    OTHERS(make_log()).to_csv(tmp_path / "log.csv", index=False)
    text = '[[study]]\nscenario = {{ log = "log.csv", columns = {} }}\nselection = 128\nreport = 128\n'
    for columns in ('{ step = "when", arm = "who", reward = "gain" }', '"step=when,arm=who,reward=gain"'):
        (tmp_path / "study.toml").write_text(text.format(columns))
        (spec,) = ravenlab.load_study_file(tmp_path / "study.toml")
        assert spec.columns == NAMES
        assert spec.source.open().arms == 3
