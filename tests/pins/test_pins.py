"""The files of small runs of every command are identical to the recorded ones; see `tools.pins`."""

import json
from pathlib import Path

import pytest

from tools.pins import CASES, FOLDER, LONGEST, compare_files, describe_versions, read_files, run_case

VERSIONS = describe_versions()


@pytest.mark.skipif(bool(VERSIONS), reason=f"the pins hold for the versions in constraints.txt: {VERSIONS}")
@pytest.mark.parametrize("name", [name for name in CASES if name not in LONGEST])
def test_files_are_as_recorded(name: str) -> None:
    lines = compare_files(read_files(FOLDER / name), run_case(name))
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_recorded_case_is_checked() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {"before", *CASES}


@pytest.mark.parametrize(
    ("name", "old", "new", "difference"),
    [
        ("tune.json", '"horizon": 500', '"horizon": 501', "recommendations.0.horizon: recorded 500, found 501"),
        (
            "exports/exported.toml",
            "horizon = 500",
            "horizon = 501",
            "recommendations.1.horizon: recorded 500, found 501",
        ),
        ("exports/exported.yaml", "horizon: 500", "horizon: 501", "recommendations.1.horizon: recorded 500, found 501"),
        ("exports/exported.csv", ",500,", ",501,", "row 2.horizon: recorded '500', found '501'"),
        ("grid.csv", "\n", "\r\n", "the same values, but"),
        ("exports/exported.md", "500", "501", "line "),
    ],
)
def test_difference_is_reported_by_key(name: str, old: str, new: str, difference: str) -> None:
    recorded = read_files(FOLDER / "current")
    changed = recorded[name].decode().replace(old, new, 1).encode()
    (line,) = compare_files(recorded, {**recorded, name: changed})
    assert line.startswith(f"{name}: {difference}")


def test_files_that_are_missing_or_new_are_reported() -> None:
    recorded = read_files(FOLDER / "current")
    others = {name: content for name, content in recorded.items() if name != "grid.csv"}
    assert compare_files(recorded, others) == ["grid.csv: missing"]
    assert compare_files(others, recorded) == ["grid.csv: not recorded"]


def test_databases_are_small_and_hold_no_paths() -> None:
    for path in FOLDER.glob("*/studies.sqlite3"):
        content = path.read_bytes()
        assert len(content) < 400_000
        for parent in (Path.home(), Path.cwd(), Path("/tmp")):
            assert json.dumps(f"{parent}/")[1:-1].encode() not in content
