"""Reading logs, and one-line errors for invalid files."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded import examples, log_file, table_file
from ravenlab.environments.recorded.log_file import Log, read_log
from tests.messages import assert_names, raises_naming

HEAD = "step,arm,reward,propensity\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["step", "arm", "reward"]),
        ("step,arm\n1,a\n", ["reward", "step", "arm", "propensity"]),
        ("a,b\n1,2\n", ["step", "arm", "reward"]),
        ("step,arm,reward,arm\n1,a,2,a\n", ["column", "arm"]),
        ("step,arm,reward\n", ["row"]),
        (HEAD + "1,a,high,0.5\n", ["line 2", "reward", "'high'"]),
        (HEAD + "1,a,,0.5\n2,b,nan,0.5\n", ["no event", "reward"]),
        (HEAD + "1,a,inf,0.5\n", ["line 2", "reward", "inf"]),
        (HEAD + "1,a,1,0\n", ["line 2", "propensity", "0", "1", "got 0"]),
        (HEAD + "1,a,1,1.5\n", ["line 2", "propensity", "0", "1", "1.5"]),
        (HEAD + ",a,1,0.5\n", ["line 2", "step", "missing"]),
        (HEAD + "1,,1,0.5\n", ["line 2", "arm"]),
        (HEAD + "1,a,1,0.5\n2,a,1\n", ["line 3", "3", "4"]),
        (HEAD + "1,a,1,0.5\n2,a,1,0.5\n", ["2", "arms", "'a'"]),
    ],
)
def test_invalid_files_are_one_line_errors(text: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_log(path)
    assert str(error.value).startswith(f"log {path}: ")
    assert_names(str(error.value), *names)
    assert "\n" not in str(error.value)


def test_too_long_log_is_rejected_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_EVENTS", 100)
    monkeypatch.setattr(log_file, "MAX_ARMS", 10)
    path = tmp_path / "log.csv"
    path.write_text("step,arm,reward\n" + "".join(f"{i},{i % 2},1\n" for i in range(101)) + "not a row")
    with raises_naming(InputError, "100"):
        read_log(path)
    path.write_text("step,arm,reward\n" + "".join(f"{i},{i},1\n" for i in range(50)))
    with raises_naming(InputError, "10", "arms"):
        read_log(path)


def test_columns_may_have_any_order_and_others_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("\ufeffReward,city,Arm,STEP\n1,x,10,3\n0,y,9,4\n0.5,z,10,8\n", encoding="utf-8")
    log = read_log(path)
    assert log.names == ("9", "10")
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [1.0, 0.0, 0.5]
    assert log.step.tolist() == [3.0, 4.0, 8.0]
    assert log.propensity is None


def test_written_log_is_read_back(tmp_path: Path) -> None:
    log = examples.example_log(events=500)
    path = tmp_path / "log.csv"
    path.write_text(examples.log_to_csv(log))
    assert read_log(path) == log
    changed = Log.from_columns([log.names[k] for k in log.arm], 2 * log.reward, log.propensity)
    assert changed.digest != log.digest


def test_contents_are_read_only_copies() -> None:
    reward, propensity = np.array([1.0, 2.0]), np.array([0.5, 0.5])
    log = Log.from_columns(["a", "b"], reward, propensity)
    for column in (log.arm, log.reward, log.propensity, log.step):
        assert column is not None
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 3
    reward[0], propensity[0] = 3.0, 1.0
    assert log.digest == Log.from_columns(["a", "b"], [1.0, 2.0], [0.5, 0.5]).digest
    np.testing.assert_array_equal(log.reward, [1.0, 2.0])


def test_parquet_is_the_same_log(tmp_path: Path) -> None:
    log = examples.example_log(events=500)
    frame = pandas.DataFrame(
        {
            "reward": log.reward.astype(bool),
            "arm": [log.names[k] for k in log.arm],
            "step": log.step.astype(np.int64),
            "propensity": log.propensity,
        }
    )
    frame.to_parquet(tmp_path / "log.parquet")
    assert read_log(tmp_path / "log.parquet") == log
    frame.assign(arm=1.5).to_parquet(tmp_path / "log.parquet")
    with raises_naming(InputError, "arm", "double"):
        read_log(tmp_path / "log.parquet")
    frame.assign(reward="much").to_parquet(tmp_path / "log.parquet")
    with raises_naming(InputError, "reward"):
        read_log(tmp_path / "log.parquet")
    frame[:0].to_parquet(tmp_path / "log.parquet")
    with raises_naming(InputError, "row"):
        read_log(tmp_path / "log.parquet")
    (tmp_path / "log.parquet").write_text("step,arm,reward\n")
    with raises_naming(InputError, "Parquet"):
        read_log(tmp_path / "log.parquet")


def write_long_names(path: Path, **options: Any) -> None:
    """Write a log of 100 events whose two arms have names of 100 kB, so that it decodes to 10 MB."""
    names = ["a" * 100_000, "b" * 100_000]
    frame = pandas.DataFrame({"step": range(100), "arm": names * 50, "reward": 1.0, "unused": ["x" * 100_000] * 100})
    frame.to_parquet(path, **options)


def test_long_names_of_a_parquet_file_are_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that repeats a long text is small, but takes gigabytes if every row gets its own copy."""
    monkeypatch.setattr(table_file, "MAX_DECODED_BYTES", 1_000_000)
    path = tmp_path / "log.parquet"
    write_long_names(path)
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(pool)
    tracemalloc.start()
    try:
        log = read_log(path)
        peak = tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pyarrow.set_memory_pool(before)
    assert (log.events, [len(name) for name in log.names]) == (100, [100_000] * 2)
    assert peak < 8_000_000
    write_long_names(path, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 100_000
    with raises_naming(InputError, path, "10.0 MB", "1.0 MB"):
        read_log(path)


def test_nested_arms_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pandas.DataFrame({"step": [1, 2], "arm": [["a"], ["b"]], "reward": [1.0, 2.0]}).to_parquet(path)
    with raises_naming(InputError, "arm", "list"):
        read_log(path)


@pytest.mark.parametrize("dictionary", [False, ["arm"]])
def test_false_sizes_of_a_parquet_file_are_noticed_while_reading(
    dictionary: bool | list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sizes that a file states are read before its columns; a forged file states small ones."""
    monkeypatch.setattr(table_file.ParquetTable, "_check_size", lambda self, names: None)
    monkeypatch.setattr(table_file, "MAX_DECODED_BYTES", 1_000_000)
    monkeypatch.setattr(table_file, "TEXT_BATCH_ROWS", 100)
    names = [f"{number:010000}" for number in range(200)]
    frame = pandas.DataFrame({"step": range(200), "arm": names, "reward": 0.0})
    frame.to_parquet(tmp_path / "log.parquet", compression="zstd", use_dictionary=dictionary)
    with raises_naming(InputError, "decompressed", "1.0 MB"):
        read_log(tmp_path / "log.parquet")


@pytest.mark.parametrize("cell", ['"1"5', "1_0", '5"1"', "1e101", "-1e200"])
def test_cells_that_are_not_plain_numbers_are_rejected(cell: str, tmp_path: Path) -> None:
    """pandas reads the first one as 15, Python the second one as 10; a finite number is not called infinite."""
    (tmp_path / "log.csv").write_text(f"step,arm,reward\n1,a,{cell}\n2,b,1\n")
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / "log.csv")
    assert "finite" not in str(caught.value)


def test_quoted_cells_are_read(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text('step,arm,reward\n"1","a ""b""","0.5"\n2,c,"1"\n')
    log = read_log(tmp_path / "log.csv")
    assert log.names == ('a "b"', "c")
    assert log.reward.tolist() == [0.5, 1.0]
