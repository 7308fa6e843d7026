"""Files as users have them: shuffled, with other names, separators, dates, indices and missing cells, and invalid ones.

Each is read as the same data as the clean file, or refused with one line and exit code 2.
"""

import warnings
from collections.abc import Callable
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
from tests.command import refused

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
    "weekday": ([lambda frame: frame.assign(weekday=np.arange(ROWS) // 24 % 7)], CSV, ["'weekday'", "in turn"]),
    "hour": ([lambda frame: frame.assign(hour=np.arange(ROWS) % 24), shuffle], CSV, ["'hour'", "in turn"]),
    "counter": ([lambda frame: frame.assign(n=np.cumsum(np.arange(ROWS) % 3))], CSV, ["'n'", "increases"]),
    "constant": ([lambda frame: frame.assign(version=2)], CSV, ["'version'", "constant"]),
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
