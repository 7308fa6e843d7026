"""The wording of each surface, compared with the files in tests/golden."""

import re
from pathlib import Path

import numpy as np
import optuna
import optuna_dashboard
import pytest

from ravenlab.dashboards.figures import get_alt_text, plot_heat_map, plot_world
from ravenlab.environments import find_scenario
from tests.command import printed, refused
from tests.dashboards.figure_checks import legend_names, make_grid
from tests.dashboards.outline import Outline
from tests.golden import assert_golden
from tests.studies.examples import make_recommendation, store_recommendations

STORAGE = "sqlite:///studies.sqlite3"
WORLD = ["--horizon=100", "--arms=3", "--replications=4", "--jobs=1", "--seed=1"]
SEARCH = ["--trials=4", "--selection=8", "--report=8"]
STUDY = "raven-ucb/blips/T100/K3/seed=1"

ERRORS = [
    "tune",
    "tune blip",
    "tune blips --horizon ten",
    "tune blips --horizon 0",
    "tune blips --trials 0",
    "tune blips --policy ucb2",
    "tune blips --range alpha0=5:1",
    "tune blips --fix alpha0=nan",
    "tune blips --set evry=5%",
    "tune blips --noise pink",
    "tune blips --trace none.csv",
    "tune blips --cluster x",
    "tune --study quik",
    "tune blips --name a --horizon 100,200",
    "grid blips --alpha0 5,1",
    "compare blips --policies ucb1,ucb1",
    "recommend random-walk --horizon 3000 --no-search",
    "recommend periodic --horizon 3000 --set period=10 --no-search",
    "recommend blips --horizon 3000 --arms 1",
    "export --format jsn",
    "show nothing",
    "delete nothing",
    "diagnose none.csv",
    "tnue",
    "tune --trils 3",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(autouse=True)
def _working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all tests of this module in one folder, with a terminal of 100 columns."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def tuned(folder: Path) -> str:
    """Output of a small search; its study is stored in the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        return printed("tune", "blips", *WORLD, *SEARCH, f"--storage={STORAGE}")


def test_tune(tuned: str) -> None:
    assert_golden("tune", tuned)


@pytest.mark.usefixtures("tuned")
def test_show() -> None:
    words = ["show", STUDY, f"--storage={STORAGE}"]
    assert_golden("show", "\n".join([printed(*words), printed(*words, "--all")]))


@pytest.mark.usefixtures("tuned")
def test_note() -> None:
    study = optuna.load_study(study_name=STUDY, storage=STORAGE)
    assert_golden("note", optuna_dashboard.get_note(study))


@pytest.mark.usefixtures("tuned")
def test_report() -> None:
    printed("report", "-o", "report.html", f"--storage={STORAGE}")
    words = Outline(Path("report.html").read_text(encoding="utf-8")).words
    assert_golden("report", re.sub(r"\n\s+", "\n", re.sub(r"\b(Python|[a-z]+) \d+\.\d+\.\d+", r"\1 VERSION", words)))


def test_recommendation(folder: Path) -> None:
    """The baselines differ, one parameter is at the edge of its range, and importances are given."""
    recommendations = [
        make_recommendation(importance={"beta0": 0.25, "alpha0": 0.75}),
        make_recommendation(horizon=100_000, params={"alpha0": 4.0, "beta0": 4.0, "epsilon": 0.0001}),
    ]
    storage = store_recommendations(folder / "recommendations.sqlite3", *recommendations)
    outputs = [printed("show", recommendations[0].study, f"--storage={storage}")]
    words = ["recommend", "variance-drift", f"--storage={storage}"]
    outputs += [printed(*words, f"--horizon={horizon}") for horizon in (1000, 10_000, 300)]
    assert_golden("recommend", "\n\n".join(outputs).replace(str(folder), "FOLDER"))


@pytest.mark.usefixtures("tuned")
def test_errors() -> None:
    assert_golden("errors", "\n".join(f"$ ravenlab {line}\n{refused(*line.split())}" for line in ERRORS))


def test_diagnosis() -> None:
    rows = np.random.default_rng(1).normal(size=(400, 3))
    rows[:, 0] += np.linspace(0.0, 4.0, 400)
    np.savetxt("trace.csv", rows, delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    assert_golden("diagnosis", printed("diagnose", "trace.csv", "--halves=0"))


def test_comparison() -> None:
    words = ["compare", "blips", *WORLD, "--policies=raven-ucb,ucb1", "--tune=0", "--quiet"]
    printed(*words, "--storage=sqlite:///compared.sqlite3", "-o", "comparison")
    assert_golden("comparison", Path("comparison/compare.md").read_text(encoding="utf-8"))


def test_figures() -> None:
    """Title, legend and description of each figure; the golden file of the report covers the others."""
    figures = [
        plot_heat_map(make_grid(), make_recommendation()),
        plot_world(find_scenario("arm-churn"), 1000, 5),
    ]
    lines = [(figure.layout.title.text, *legend_names(figure), get_alt_text(figure)) for figure in figures]
    assert_golden("figures", "\n\n".join("\n".join(parts) for parts in lines))
