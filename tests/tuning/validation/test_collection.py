"""Collections of traces: whole files are held out, and files are the replications of intervals and tests."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import ravenlab
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.trace_world import open_trace
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.parse import parse_study_spec
from tests.binomial import band
from tests.command import printed, refused
from tests.environments.recordings import write_csv
from tests.messages import assert_names, raises_naming
from tools.evidence.collection_coverage import count_misses

SMALL: dict[str, Any] = {"trials": 6, "batch": 4, "replications": 10, "selection": 60, "report": 80, "candidates": 3}


def draw_file(number: int, rows: int = 60) -> Floats:
    return np.random.default_rng([5, number]).normal([0.2, 0.5, 0.9], 0.3, (rows, 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(10):
        write_csv(runs / f"run{number}.csv", draw_file(number, rows=60 + number))
    return runs


def opened(path: Path | str) -> CollectionScenario:
    scenario = open_trace(path)
    assert isinstance(scenario, CollectionScenario)
    return scenario


def test_whole_files_are_held_out_and_no_window_crosses_them(folder: Path) -> None:
    scenario = opened(folder)
    assert sorted(scenario.files) == sorted(file.name for file in folder.iterdir())
    assert scenario.horizon == 60
    for stream in (Stream.SEARCH, Stream.SELECTION, Stream.REPORT):
        worlds = scenario.draw(40, 0, 0, 50, stream)
        number = np.searchsorted(scenario.starts, worlds.offsets, side="right") - 1
        assert (number == np.searchsorted(scenario.starts, worlds.offsets + 39, side="right") - 1).all()
        assert set(number) == set(scenario.numbers(stream))
    assert not set(scenario.numbers(Stream.SEARCH)) & set(scenario.numbers(Stream.REPORT))
    first = scenario.trace.values[: scenario.starts[1]]
    assert np.array_equal(first, draw_file(int(scenario.files[0][3]), len(first)))


def test_folders_patterns_and_series_of_a_long_table_are_the_same_collection(folder: Path, tmp_path: Path) -> None:
    lines = ["series,step,arm0,arm1,arm2"]
    for file in sorted(folder.iterdir()):
        rows = file.read_text().splitlines()[1:]
        lines += [f"{file.name},{step},{row}" for step, row in enumerate(rows)]
    long = tmp_path / "long.csv"
    long.write_text("\n".join([*lines, ""]))
    expected = opened(folder)
    for path in (f"{folder}/*.csv", long):
        found = opened(path)
        assert (found.files, found.starts, found.digest) == (expected.files, expected.starts, expected.digest)
    shuffled = [lines[0], *np.random.default_rng(1).permutation(lines[1:]).tolist()]
    long.write_text("\n".join([*shuffled, ""]))
    found = opened(long)
    assert "sorted by 'step'" in found.notes[0]
    # Series are in the order of their first rows, which has changed.
    values = dict(zip(found.files, np.split(found.trace.values, found.starts[1:-1]), strict=True))
    for name, part in zip(expected.files, np.split(expected.trace.values, expected.starts[1:-1]), strict=True):
        np.testing.assert_array_equal(values[name], part)


def test_notes_of_files_are_those_of_the_collection(folder: Path) -> None:
    for file in list(folder.iterdir())[:3]:
        header, *rows = file.read_text().splitlines()
        file.write_text("\n".join([f"step,{header}", *(f"{-step},{row}" for step, row in enumerate(rows))]))
    assert opened(folder).notes == ("rows were newest first; they are sorted by 'step' (3 files)",)


def test_data_frames_are_a_collection(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frames = [pandas.read_csv(file) for file in sorted(folder.iterdir())]
    with pytest.warns(UserWarning, match="stored in"):
        result = ravenlab.tune(trace=frames, minimize=True, storage="sqlite:///s.sqlite3", progress=False, **SMALL)
    assert result.trace.files is not None
    assert sum(map(len, result.trace.files.values())) == 15
    assert len(ravenlab.diagnose(frames, halves=0).files) == 10
    answer = ravenlab.recommend(folder, minimize=True, progress=False, jobs=1)
    assert "collection of 10 traces of 3 arms" in answer.understood
    assert answer.study is not None
    assert answer.study.horizon == 60


def test_recommendations_and_comparisons_state_the_files(folder: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    result = ravenlab.tune(trace=str(folder), minimize=True, storage=url, **SMALL)
    assert result.study == "raven-ucb/trace:runs/T60/K3"
    assert result.trace is not None
    assert result.trace.files is not None
    assert [len(names) for names in result.trace.files.values()] == [5, 5, 5]
    assert result.regret.low < result.regret.mean < result.regret.high
    assert all(each.decidable for each in result.alternatives)
    assert "5 files" in repr(result)
    assert ravenlab.tune(trace=str(folder), minimize=True, storage=url, **SMALL) == result
    budget: dict[str, Any] = {"tune": 2, "search_replications": 4, "replications": 20}
    compared = ravenlab.compare(trace=str(folder), policies="ucb1,raven-ucb", storage=url, **budget)
    entry = compared.main.best.entry
    assert entry.regret.shape == (5,)
    again = ravenlab.compare(trace=str(folder), policies="ucb1,raven-ucb", storage=url, **budget)
    assert again.as_object() == compared.as_object()  # as read from the storage
    difference = compared.main.standings[1].behind
    assert difference is not None
    assert difference.difference.excludes_zero == (difference.holm < 0.05)


def test_each_file_is_diagnosed(tmp_path: Path) -> None:
    for number in range(8):
        values = draw_file(number, rows=400)
        values[200:, 0] += 3.0 * (number < 6)
        write_csv(tmp_path / f"{number}.csv", values)
    diagnosis = ravenlab.diagnose(tmp_path, halves=0)
    assert list(diagnosis.files.values()).count("localized-jump") == 6
    assert diagnosis.verdict == "localized-jump"
    assert_names(printed("diagnose", str(tmp_path), "--halves=0"), "6 files localized-jump", "2 files stationary")


def test_invalid_collections_are_refused(folder: Path, tmp_path: Path) -> None:
    assert_names(refused("tune", f"--trace={folder}", "--window=61"), "61", "60")
    with raises_naming(InputError, "keep_state"):
        parse_study_spec({"trace": str(folder), "keep_state": True})
    (folder / "run9.csv").write_text("a,b,c\n1,2,3\n")
    assert_names(refused("tune", f"--trace={folder}"), "run9.csv", "other arms")
    for number in (7, 8, 9):
        (folder / f"run{number}.csv").unlink()
    assert_names(refused("tune", f"--trace={folder}"), "7 files", "8 are needed")
    path = tmp_path / "mine.toml"
    path.write_text('[[study]]\nscenario = { trace = "runs" }\n')
    with raises_naming(InputError, "8 are needed"):
        load_study_file(path)


def test_intervals_of_few_files_contain_the_true_difference() -> None:
    """The full study, `python -m tools.evidence.collection_coverage`, measures 93 to 97 %."""
    count = 120
    least, most = band(count, 0.05)
    assert least <= count_misses(files=8, repetitions=count, first=count).difference <= most
