"""Public figures: from results, from names of stored studies, and the main figure of each kind of result."""

from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import ravenlab
from ravenlab import figures
from ravenlab.common.errors import InputError
from ravenlab.dashboards import figures as dashboards_figures
from ravenlab.studies.laws.recommendation import RecommendedParameters
from ravenlab.studies.storage.database import open_storage
from tests.dashboards.storages import store_search, store_search_grid
from tests.messages import assert_names, raises_naming
from tests.studies.examples import make_map, make_recommendation


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A storage with a finished search, a grid for the same problem and an unfinished grid."""
    url = f"sqlite:///{tmp_path_factory.mktemp('figures')}/s.sqlite3"
    store = open_storage(url, create=True)
    store_search(store)
    store_search_grid(store)
    store_search_grid(store, finished=False, name="unfinished", horizon=50)
    store.engine.dispose()
    return url


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    url = f"sqlite:///{tmp_path_factory.mktemp('comparison')}/s.sqlite3"
    result = ravenlab.compare("blips", 100, arms=3, policies="ucb1,raven-ucb", tune=0, replications=10, storage=url)
    return result, url


STUDY, GRID = "raven-ucb/variance-drift", "grid/raven-ucb/variance-drift"


@pytest.mark.parametrize(
    ("name", "study"),
    [
        ("plot", STUDY),
        ("plot", GRID),
        ("plot_recommendations", STUDY),
        ("plot_params_by_horizon", STUDY),
        ("plot_heat_map", GRID),
        ("plot_sensitivity_lines", GRID),
        ("plot_card", STUDY),
    ],
)
def test_figures_of_stored_studies(name: str, study: str, storage: str) -> None:
    draw = getattr(figures, name)
    figure = draw(study, storage=storage)
    assert isinstance(figure, go.Figure)
    assert figure.data
    result = ravenlab.load_result(study, storage=storage)
    assert draw(result).to_json() == figure.to_json()


def test_the_recommendation_is_marked_on_the_grid(storage: str) -> None:
    figure = figures.plot_heat_map(GRID, STUDY, storage=storage)
    assert any(str(trace.name).startswith("recommended") for trace in figure.data)


def test_figures_of_comparisons(comparison: tuple[Any, str]) -> None:
    result, url = comparison
    assert ravenlab.load_result(result.comparison.study, storage=url).to_frame().equals(result.to_frame())
    rankings = figures.plot_ranking, figures.plot_standings, figures.plot_critical_difference
    for draw in (*rankings, figures.plot_comparison_curves):
        assert draw(result).to_json() == draw(result.comparison.study, storage=url).to_json()
    assert ravenlab.plot(result).to_json() == figures.plot_standings(result).to_json()
    assert ravenlab.plot([result, result]).to_json() == figures.plot_relative_regret([result, result]).to_json()
    with raises_naming(ravenlab.InputError, "'tuned'", "defaults"):
        figures.plot_critical_difference(result, "tuned")


def test_figures_of_simulations_and_data(tmp_path: Path) -> None:
    played = ravenlab.simulate(["ucb1", "raven-ucb"], "blips", horizon=60, arms=3, replications=4, checkpoints=5)
    assert len(ravenlab.plot(played).data) >= len(ravenlab.plot(played[0]).data)
    boxes = figures.plot_distributions(played, measure="reward")
    assert [trace.median is not None for trace in boxes.data if trace.type == "box"] == [True, True]
    with raises_naming(ravenlab.InputError, "'speed'", "regret"):
        figures.plot_distributions(played, measure="speed")
    rewards = np.random.default_rng(1).normal(size=(400, 2))
    assert ravenlab.plot(ravenlab.diagnose(rewards, halves=0)).data
    np.savetxt(tmp_path / "t.csv", rewards, delimiter=",", header="a,b", comments="")
    assert figures.plot_trace(tmp_path / "t.csv", 50).data
    assert ravenlab.plot(ravenlab.find_scenario("stationary")).data


def test_intervals_of_several_recommendations() -> None:
    several = [make_recommendation(), make_recommendation(horizon=5000)]
    (recommended, paper, defaults) = ravenlab.plot(several).data
    assert [len(trace.x) for trace in (recommended, paper, defaults)] == [2, 2, 2]
    assert recommended.x == (41.5, 41.5)
    assert paper.error_x.array == (pytest.approx(2.5), pytest.approx(2.5))  # 41.5 + 21 − 60


def test_unsuitable_results_are_refused(storage: str) -> None:
    with raises_naming(ravenlab.InputError, "'raven-ucb/variance-drift/T1000/K10'", "no sensitivity map"):
        figures.plot_heat_map(STUDY, storage=storage)
    with raises_naming(ravenlab.InputError, "Grid", "int"):
        figures.plot_sensitivity_lines(5)
    with raises_naming(ravenlab.InputError, "scenario and horizon"):
        figures.plot_sensitivity_panels([STUDY, STUDY], storage=storage)
    with raises_naming(ravenlab.InputError, "different kinds"):
        ravenlab.plot([make_recommendation(), ravenlab.find_scenario("blips")])
    with raises_naming(ravenlab.InputError, "empty"):
        ravenlab.plot([])
    with raises_naming(ravenlab.InputError, "'unfinished'", "no result"):
        ravenlab.plot("unfinished", storage=storage)
    with raises_naming(ravenlab.InputError, "int"):
        ravenlab.plot(5)


def test_every_figure_can_be_drawn_from_results() -> None:
    drawn = {name for names in dashboards_figures._MODULES.values() for name in names if name.startswith("plot_")}
    assert drawn - set(figures.__all__) == {"plot_scores"}  # of scores of any kind; `plot_replays` draws it
    assert all(callable(getattr(figures, name)) for name in figures.__all__)


def test_a_recommendation_stands_for_its_sensitivity_map() -> None:
    results = [
        result.model_copy(update={"sensitivity": make_map(result)})
        for result in (make_recommendation(), make_recommendation(horizon=400))
    ]
    for draw in (figures.plot_heat_map, figures.plot_sensitivity_lines):
        whole, alone = draw(results[0]), draw(results[0].sensitivity)
        assert whole.data[0] == alone.data[0]
        assert "recommended" in {trace.name for trace in whole.data} & {trace.name for trace in alone.data}
    lines = [trace for trace in figures.plot_sensitivity_lines(results[0]).data if trace.mode == "lines+markers"]
    assert len(lines) == 7
    assert "T = 1,000" in figures.plot_sensitivity_panels(results).layout.annotations[1].text
    with raises_naming(InputError, "sensitivity"):
        figures.plot_sensitivity_panels(make_recommendation())


def test_figures_of_recommended_parameters_say_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    law = figures.plot(ravenlab.recommend("blips", horizon=3000))
    title = law.layout.title.text
    assert_names(title, "Expected regret of the parameters of the law", "raven-ucb", "blips", "T = 3,000", "K = 10")
    assert_names(title, "interpolated, not measured")
    assert "replications" not in law.layout.xaxis.title.text
    study = make_recommendation()
    problem = {name: getattr(study, name) for name in ("policy", "scenario", "settings", "horizon", "arms", "params")}
    sources: dict[Any, str] = {"stored": "a stored study", "searched": "a short search"}
    for kind, source in sources.items():
        drawn = figures.plot(RecommendedParameters(kind=kind, study=study, **problem))
        assert_names(drawn.layout.title.text, source)
        assert_names(drawn.layout.xaxis.title.text, "2,000 held-out replications")
