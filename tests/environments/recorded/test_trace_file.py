import sys
from pathlib import Path
from unittest.mock import Mock, PropertyMock

import numpy as np
import pandas
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded import table_file, trace_file
from ravenlab.environments.recorded.trace_file import Trace, read_trace
from tests.environments.recordings import table, write_csv
from tests.messages import raises_naming

INVALID = {
    "ragged": ("a,b\n1,2\n3\n", ["line 3", "1", "2"]),
    "long row": ("a,b\n1,2,3\n", ["line 2", "3"]),
    "text": ("a,b\n1,2\n3,high\n", ["line 3", "'b'", "'high'"]),
    "time column with another name": ("when,a,b\nMonday,1,2\n", ["step", "time", "date"]),
    "row index": (
        "day,a,b\n" + "".join(f"{n},1,2\n" for n in range(7, 17)),
        ["'day'"],
    ),
    "one column": ("a\n1\n", ["2"]),
    "one column and a time column": ("time,a\n1,1\n", ["2"]),
    "repeated column": ("a,b,a\n1,2,3\n", ["'a'"]),
    "infinite": ("a,b\n1,2\ninf,3\n", ["row 2", "'a'", "inf"]),
    "huge": ("a,b\n1,-1e300\n", ["row 1", "'b'"]),
    "empty": ("", ["empty"]),
    "blank": ("\n\n", ["empty"]),
    "header only": ("a,b\n", ["row"]),
    "column without values": ("a,b\n1,\n2,\n", ["'b'"]),
    "no values": ("a,b\n,\n,\n", ["row"]),
    "no header": ("0.1,0.2\n0.3,0.4\n", ["first line"]),
    "no header, repeated values": ("0.0,0.0\n0.3,0.4\n", ["first line"]),
    "column without a name": ("a,,b\n1,2,3\n", ["column", "name"]),
    "log instead of a trace": ("step,arm,reward\n1,0,0.5\n", ["log"]),
    "repeated step": ("step,a,b\n1,1,2\n1,3,4\n", ["line 3", "step", "1"]),
    "repeated step, not in order": ("t,a,b\n5,1,2\n4,3,4\n5,3,4\n", ["line 4", "t", "5"]),
    "underscore": ("a,b\n1_000,2\n", ["line 2", "'a'", "'1_000'"]),
    "digits after a quote": ('a,b\n"1"5,2\n', ["CSV"]),
    "unclosed quote": ('a,b\n"1,2\n', ["CSV"]),
    "no line end": ("a,b\n" + "1" * 1_000_001, ["1,000,000"]),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_file_is_a_one_line_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(INVALID[name][0])
    with raises_naming(InputError, *INVALID[name][1]) as caught:
        read_trace(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    for path, names in (
        (tmp_path / "none.csv", [tmp_path / "none.csv"]),
        (tmp_path / "table.xlsx", [".csv", ".parquet"]),
        (tmp_path / "nul\0.csv", []),
    ):
        with raises_naming(InputError, *names):
            read_trace(path)
    (tmp_path / "folder.csv").mkdir()
    with raises_naming(InputError, tmp_path):
        read_trace(tmp_path / "folder.csv")
    (tmp_path / "latin.csv").write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_trace(tmp_path / "latin.csv")


def test_too_many_rows_are_rejected_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MAX_CELLS", 1000)
    path = write_csv(tmp_path / "long.csv", table(rows=400, arms=3))
    with raises_naming(InputError, "333", "3 arms", "1,000"):
        read_trace(path)


@pytest.mark.stress
def test_ten_million_rows_are_rejected_in_bounded_memory(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("a,b\n")
        for _ in range(1000):
            file.write("0.125,0.25\n" * 10_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with raises_naming(InputError, "5,000,000", "2 arms"):
        read_trace(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_time_columns_missing_cells_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "fine.csv"
    path.write_text(
        '\ufefftime,"Paris, 2",oslo\r\nMon,1,NaN\r\nTue, ,4\r\n\r\nWed,,\r\nThu,n/a,6e0\r\n', encoding="utf-8"
    )
    trace = read_trace(path)
    assert trace.names == ("Paris, 2", "oslo")
    assert trace.empty_rows == 1
    assert trace.missing == (2, 1)
    np.testing.assert_array_equal(trace.values, [[1, np.nan], [np.nan, 4], [np.nan, 6]])


def test_the_digest_depends_on_contents_only(tmp_path: Path) -> None:
    values = table(rows=30, missing=0.3)
    one = read_trace(write_csv(tmp_path / "one.csv", values))
    names = ",".join(one.names)
    other = tmp_path / "other.csv"
    other.write_text(
        f"step,{names}\n"
        + "".join(f"{i},{','.join('NA' if np.isnan(x) else repr(float(x)) for x in r)}\n" for i, r in enumerate(values))
    )
    assert read_trace(other) == one
    values[3, 0] += 1e-12
    assert read_trace(write_csv(tmp_path / "two.csv", values)).digest != one.digest
    assert Trace.from_values(["w", "x", "y", "z"], one.values).digest != one.digest


def test_pandas_reads_a_regular_file_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = table(rows=200, missing=0.2)[:, ::-1]
    path = write_csv(tmp_path / "trace.csv", values)
    monkeypatch.setattr(table_file.CsvTable, "chunks", None)
    np.testing.assert_array_equal(read_trace(path).values, values)


@pytest.mark.parametrize("cells", ["1,2", "1, 2", "True,false", "NA,2", "1e-3,-0", '"1",2', "1,Null", "n/A,2"])
def test_both_parsers_agree(cells: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,a,b\n" + f"x,{cells}\nx,3,4\n" * 6)
    trace = read_trace(path)
    monkeypatch.setattr(table_file.CsvTable, "_read_frame", lambda *_: None)
    assert read_trace(path) == trace


def test_contents_are_read_only_copies() -> None:
    values = table(rows=30)
    trace = Trace.from_values(["w", "x", "y", "z"], values)
    with pytest.raises(ValueError, match="read-only"):
        trace.values[0, 0] = 3.0
    values[0, 0] += 1.0
    assert trace.values[0, 0] != values[0, 0]


def test_parquet_is_the_same_trace(tmp_path: Path) -> None:
    values = table(rows=50, missing=0.2)
    same = read_trace(write_csv(tmp_path / "trace.csv", values))
    frame = pandas.DataFrame(values, columns=same.names)
    frame.insert(0, "time", pandas.date_range("2024-01-01", periods=50, freq="h"))
    frame.to_parquet(tmp_path / "trace.parquet")
    assert read_trace(tmp_path / "trace.parquet") == same


def test_schema_of_a_parquet_file_is_read_once(tmp_path: Path) -> None:
    """Reading it again for every column takes minutes for 20,000 columns."""
    path = tmp_path / "wide.parquet"
    pandas.DataFrame({f"arm{k}": [0.0, 1.0] for k in range(50)}).to_parquet(path)
    with table_file.open_parquet(path) as file:
        schema = PropertyMock(return_value=file.schema_arrow)
        wide = Mock(metadata=file.metadata)
        type(wide).schema_arrow = schema
        parquet = table_file.ParquetTable(path, wide)
        assert {parquet.non_numeric_type(position) for position in range(50)} == {None}
    assert schema.call_count == 1


def test_invalid_parquet_is_a_one_line_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_text("a,b\n1,2\n")
    with raises_naming(InputError, "Parquet") as caught:
        read_trace(path)
    assert "\n" not in str(caught.value)
    for frame, names in (
        ({"a": [1.0, 2.0], "b": ["x", "y"]}, ["'b'"]),
        ({"a": [1.0, 2.0]}, ["2"]),
        ({"step": [1, 1], "a": [1.0, 2.0], "b": [1, 2]}, ["row 2", "step", "1"]),
        ({"a": [1.0, np.inf], "b": [True, False]}, ["row 2", "'a'"]),
    ):
        pandas.DataFrame(frame).to_parquet(path)
        with raises_naming(InputError, *names):
            read_trace(path)
    with raises_naming(InputError, tmp_path / "none.parquet"):
        read_trace(tmp_path / "none.parquet")


def test_parquet_without_pyarrow_names_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "trace.parquet").write_bytes(b"PAR1")
    with raises_naming(InputError, "pip install 'ravenlab[parquet]'"):
        read_trace(tmp_path / "trace.parquet")
