"""`ravenlab grid`, and other commands on a grid."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ravenlab.common.documents import Map
from ravenlab.common.terminal import draw_map as draw_document_map
from ravenlab.studies.registry import PAPER_VALUES, GridDefaults
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import FINE_VALUES, GridSpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.dashboards.figure_checks import make_grid
from tests.messages import assert_names
from tests.studies.examples import finished_trials, store_grid

SMALL = ["--horizon=100,200", "--arms=3", "--replications=20", "--alpha0=0.1,1,5", "--beta0=0.5,10", "--quiet"]
NAME = "grid/raven-ucb/blips/T{}/K3/alpha0=0.1:1:5,beta0=0.5:10"


def draw_map(grid: Grid, width: int) -> list[str] | None:
    (table,) = grid.to_document().tables
    assert isinstance(table, Map)
    return draw_document_map(table, width)


Captured = pytest.CaptureFixture[str]


def test_tables_csv_and_json_agree(url: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "grid.csv"
    words = ["grid", "stationary", "blips", *SMALL, f"--storage={url}", "--jobs=2", f"--csv={path}"]
    assert run(words) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.count("Best cell: α₀") == 4
    assert captured.out.count("★") == 8
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 4 * 6
    assert list(rows[0]) == (
        ["scenario", "horizon", "alpha0", "beta0", "epsilon", "regret", "stderr", "replications", "indistinguishable"]
    )
    assert [row["horizon"] for row in rows[::6]] == ["100", "200", "100", "200"]
    first = path.read_bytes()
    grids = json.loads(printed(*words, "--json"))["grids"]
    assert path.read_bytes() == first
    assert [(grid["scenario"], grid["horizon"]) for grid in grids[1:3]] == [("stationary", 200), ("blips", 100)]
    means = [value for grid in grids for line in grid["mean"] for value in line]
    assert means == [float(row["regret"]) for row in rows]
    marks = [str(value).lower() for grid in grids for line in grid["indistinguishable"] for value in line]
    assert marks == [row["indistinguishable"] for row in rows]
    best = min(rows[:6], key=lambda row: float(row["regret"]))
    assert grids[0]["best"] == {name: float(best[name]) for name in ("alpha0", "beta0", "epsilon")}


def test_fine_grid(url: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.studies.spec.grid.FINE_VALUES", FINE_VALUES[::3])
    path = tmp_path / "fine.csv"
    words = ["grid", "stationary", "--horizon=20", "--arms=2", "--replications=5", "--fine", f"--csv={path}"]
    assert run([*words, f"--storage={url}", "--jobs=1"]) == 0
    captured = capsys.readouterr()
    assert_names(captured.out, 81)
    assert_names(captured.err, 81, 5)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 81
    assert [float(row["beta0"]) for row in rows[:9]] == list(FINE_VALUES[::3])


@pytest.mark.parametrize("cells", [GridDefaults.alpha0, PAPER_VALUES, FINE_VALUES])
def test_maps_fit_into_80_columns_and_show_every_cell(cells: tuple[float, ...]) -> None:
    grid = make_grid(cells, cells)
    lines = draw_map(grid, 80)
    assert lines is not None
    assert max(map(len, lines)) <= 80
    rows = lines[1:-1]
    assert len(rows) == len(cells)
    assert sum(line.count("★") for line in rows) == 1
    assert sum(line.count("≈") for line in rows) == grid.indistinguishable.sum() - 1
    assert [float(line.split()[0]) for line in rows] == pytest.approx(list(reversed(cells)), rel=0.01)
    assert "★" in rows[len(cells) - 1 - grid.best[1]]
    labels = [float(word) for word in lines[-1].split()[1:]]
    assert len(labels) == len(cells) or len(cells) == len(FINE_VALUES)
    assert set(labels) <= {float(f"{value:.4g}") for value in cells}
    assert draw_map(grid, 4) is None


def test_shades_of_a_map() -> None:
    grid = make_grid((1.0, 2.0, 3.0, 4.0, 5.0), (1.0,))
    mean = np.array([[100.0], [101.0], [109.0], [129.0], [250.0]])
    tied = np.array([[True], [True], [False], [False], [False]])
    lines = draw_map(Grid(grid.spec, grid.study, mean, mean / 100, tied), 14)
    assert lines is not None
    assert lines[1] == "  1  ★ ≈░░▒▒██"
    wide = draw_map(Grid(grid.spec, grid.study, mean, mean / 100, tied), 80)
    assert wide is not None
    assert wide[1].split() == ["1", "★", "≈1.0%", "░░░9.0%", "▒▒▒▒29%", "███150%"]


def test_progress_and_rerun_of_a_complete_grid(url: str, capsys: Captured) -> None:
    words = ["grid", "blips", *SMALL[1:-1], "--horizon=100", f"--storage={url}"]
    assert run(words) == 0
    assert_names(capsys.readouterr().err, 6, 20)
    before = finished_trials(url)
    assert run(words) == 0
    assert finished_trials(url) == before


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["blips", "--fine", "--alpha0=1"], ["--fine", "--alpha0"]),
        (["blips", "--paper", "--beta0=1"], ["--paper", "--beta0"]),
        (["blips", "--paper", "--fine"], ["--paper", "--fine"]),
        (["blips", "--alpha0=a,1"], ["--alpha0", "'a'"]),
        (["blips", "--beta0=nan"], ["--beta0", "nan"]),
        (["blips", "--epsilon=x"], ["--epsilon", "'x'"]),
        (["blips", "--horizon=1.5"], ["--horizon"]),
        (["blips", "periodic", "--name=x"], ["--name", "2"]),
        (["blips", "--backend=dask"], ["--backend", "threads", "loky"]),
        (["blips", "--jobs=0"], ["jobs", "1"]),
        (["blips", "--csv=no/such/folder/g.csv"], ["no/such"]),
        ([], ["SCENARIO"]),
    ],
)
def test_invalid_input_is_refused_before_anything_is_created(
    words: list[str], names: list[str], url: str, tmp_path: Path
) -> None:
    assert_names(refused("grid", *words, f"--storage={url}"), *names)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_csv_file_is_unchanged(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grid.csv"
    path.write_text("before")

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("ravenlab.studies.export.csv_table.write_grids", interrupt)
    assert run(["grid", "blips", *SMALL, f"--storage={url}", f"--csv={path}"]) == 130
    assert path.read_text() == "before"
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".grid.csv")]


def test_other_commands_support_grids(url: str, tmp_path: Path) -> None:
    grids = json.loads(printed("grid", "blips", *SMALL, f"--storage={url}", "--json"))["grids"]
    rows = json.loads(printed("studies", f"--storage={url}", "--json"))
    assert [(row["name"], row["kind"], row["state"], row["finished"], row["planned"]) for row in rows] == [
        (grid["study"], "grid", "complete", 6, 6) for grid in grids
    ]
    assert "6/6" in printed("studies", f"--storage={url}")

    shown = printed("show", NAME.format(100), f"--storage={url}")
    assert_names(shown, "6 of 6")
    assert "★" in shown
    document = json.loads(printed("show", NAME.format(100), f"--storage={url}", "--json"))
    assert document["grid"] == grids[0]
    assert document["spec"]["alpha0"] == [0.1, 1.0, 5.0]

    assert_names(refused("export", f"--storage={url}"), "ravenlab tune")
    assert_names(
        refused("export", "grid/*", f"--storage={url}"), "ravenlab grid --csv", *(grid["study"] for grid in grids)
    )

    target = f"sqlite:///{tmp_path}/copy.sqlite3"
    printed("copy", NAME.format(200), "--as", "copied", f"--to={target}", f"--storage={url}")
    assert json.loads(printed("show", "copied", f"--storage={target}", "--json"))["grid"] == {
        **grids[1],
        "study": "copied",
    }

    printed("delete", grids[0]["study"], "--yes", f"--storage={url}")
    assert [row["name"] for row in json.loads(printed("studies", f"--storage={url}", "--json"))] == [grids[1]["study"]]


def test_incomplete_grid(url: str) -> None:
    storage = open_storage(url, create=True)
    store_grid(storage, GridSpec(scenario="blips", horizon=100, alpha0=(1.0,), beta0=(1.0, 2.0)), 1, alike=None)
    out = printed("show", "grid", f"--storage={url}")
    assert_names(out, "1 of 2")
    assert json.loads(printed("show", "grid", f"--storage={url}", "--json"))["grid"] is None
