"""Figures of a grid: heat map and lines."""

import math
from typing import Any

import numpy as np
import pytest

from ravenlab.common.interval import Z95, Difference, Interval
from ravenlab.common.text import format_interval, format_percent
from ravenlab.dashboards.figures import get_alt_text, plot_heat_map, plot_sensitivity_lines
from ravenlab.dashboards.figures.grid_marks import PlayedPoint, find_cell, format_regret, list_marks
from ravenlab.dashboards.figures.grid_panels import arrange, plot_sensitivity_panels
from ravenlab.dashboards.pages.report.maps import group_alike
from ravenlab.studies.registry import GridDefaults
from ravenlab.studies.results.grid import Grid, make_map_spec
from ravenlab.studies.results.recommendation import Baseline, Parameters, Recommendation
from ravenlab.studies.spec.grid import GridSpec
from tests.dashboards.figure_checks import FINE, check_figure, legend_names, make_grid
from tests.messages import assert_names
from tests.studies.examples import make_map, make_recommendation

RECOMMENDED = make_recommendation(params={"alpha0": 0.8, "beta0": 2.2, "epsilon": 0.003}, versus=[])


def test_heat_map_has_equal_cells_and_all_marks() -> None:
    figure = plot_heat_map(make_grid(), RECOMMENDED, PlayedPoint(12.5, 0.25, Difference(-1.05, -1.5, -0.6)))
    out = check_figure(figure)
    for axis in ("xaxis", "yaxis"):
        assert out["layout"][axis]["type"] == "linear"
        assert out["layout"][axis]["tickvals"] == [0, 1, 2, 3]
        assert out["layout"][axis]["ticktext"] == ["0.5", "1", "5", "10"]
    assert "α₀" in out["layout"]["xaxis"]["title"]["text"]
    assert "β₀" in out["layout"]["yaxis"]["title"]["text"]
    recommended, *others = legend_names(figure)[1:]
    assert others == ["lowest cell"]
    assert_names(recommended, "recommended", "0.003", "0.1")
    (circle,) = [trace for trace in out["data"] if trace.get("name") == recommended and "text" in trace]
    assert circle["x"] == pytest.approx([math.log(0.8 / 0.5) / math.log(2.0)], abs=1e-3)
    assert circle["y"] == pytest.approx([1.0 + math.log(2.2) / math.log(5.0)], abs=1e-3)
    assert_names(circle["text"][0], "41.5", "12.5", "−1.05")
    assert_names(get_alt_text(figure), "13.55", "α₀ 1, β₀ 1")


def test_a_recommendation_with_the_epsilon_of_the_cells_is_named_without_it() -> None:
    same = make_recommendation(params={"alpha0": 0.8, "beta0": 2.2, "epsilon": 0.1})
    assert legend_names(plot_heat_map(make_grid(), same))[1] == "recommended"
    far = make_recommendation(params={"alpha0": 0.001, "beta0": 2.2, "epsilon": 0.1})
    assert "outside the grid" in legend_names(plot_heat_map(make_grid(), far))[1]


def test_cells_have_their_position_and_all_values() -> None:
    grid = make_grid(alpha0=(1.0, 10.0, 100.0), beta0=(1.0, 10.0))
    cells = check_figure(plot_heat_map(grid))["data"][0]
    assert (cells["x"], cells["y"]) == ([0, 1, 2], [0, 1])
    assert np.shape(cells["z"]) == (2, 3)
    mean, params, regret, difference = cells["customdata"][1][2]
    assert mean == pytest.approx(grid.mean[2, 1], rel=1e-4)
    assert params == "α₀ 100, β₀ 10"
    assert regret == format_interval(Interval.from_error(float(grid.mean[2, 1]), float(grid.stderr[2, 1])))
    assert difference == format_percent(grid.mean[2, 1] / grid.mean.min() - 1)
    for word in ("mean regret", "above the lowest cell", "R = 500"):
        assert word in cells["hovertemplate"]


def test_numbers_are_in_the_middle_of_their_cells() -> None:
    grid = make_grid(GridDefaults.alpha0, GridDefaults.beta0)
    (text,) = [trace for trace in check_figure(plot_heat_map(grid))["data"] if trace.get("mode") == "text"]
    places = list(zip(text["x"], text["y"], strict=True))
    assert places == [(i, j) for j in range(7) for i in range(9)]
    assert text["textposition"] == "middle center"
    assert text["text"][places.index((grid.best[0], grid.best[1]))] == "", "a mark covers it"
    assert float(text["text"][places.index((0, 6))]) == pytest.approx(grid.mean[0, 6], rel=0.01)


def test_the_region_is_outlined_exactly() -> None:
    """Every side between a cell inside and one outside is drawn, and no other."""
    grid = make_grid(FINE, FINE)
    inside = np.random.default_rng(1).random((25, 25)) < 0.4
    figure = plot_heat_map(Grid(grid.spec, grid.study, grid.mean, grid.stderr, inside))
    outline = next(trace for trace in figure.data if trace.type == "scatter" and trace.line.width == 3)
    padded = np.pad(inside, 1)
    sides = int((padded[1:] != padded[:-1]).sum() + (padded[:, 1:] != padded[:, :-1]).sum())
    drawn = 0.0
    for a, b in zip(range(0, len(outline.x), 3), range(1, len(outline.x), 3), strict=True):
        drawn += abs(outline.x[b] - outline.x[a]) + abs(outline.y[b] - outline.y[a])
    assert drawn == sides


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_fine_grids_stay_small(share: float) -> None:
    grid = make_grid(FINE, FINE)
    inside = np.random.default_rng(0).random((25, 25)) < share
    fine = Grid(grid.spec, grid.study, grid.mean, grid.stderr, inside)
    out = check_figure(plot_heat_map(fine, RECOMMENDED), most=100_000)
    assert out["layout"]["xaxis"]["ticktext"] == ["0.01", "0.1", "1", "10"]
    assert out["layout"]["xaxis"]["tickvals"] == [0, 8, 16, 24]
    lines = [
        trace
        for trace in check_figure(plot_sensitivity_lines(fine), most=40_000)["data"]
        if trace["mode"] == "lines+markers"
    ]
    assert len(lines) == 7


def test_colors_show_small_differences_from_the_lowest_cell() -> None:
    grid = make_grid((1.0, 2.0, 3.0, 4.0), (1.0,))
    mean = np.array([[100.0], [101.0], [110.0], [1000.0]])
    cells = check_figure(plot_heat_map(Grid(grid.spec, grid.study, mean, mean / 100, mean < 101)))["data"][0]
    shades = np.array(cells["z"][0]) / max(cells["z"][0])
    assert shades[0] == 0.0
    assert shades[1] > 0.09
    assert shades[2] > 0.3
    assert cells["colorbar"]["ticktext"] == ["0", "1", "5", "10", "20", "50", "100", "200", "500"]


def test_lines_have_bands_and_are_labelled_at_their_ends() -> None:
    figure = plot_sensitivity_lines(make_grid())
    out = check_figure(figure)
    lines = [trace for trace in out["data"] if trace["mode"] == "lines+markers"]
    bands = [trace for trace in out["data"] if trace.get("fill") == "toself"]
    (labels,) = [trace for trace in out["data"] if trace["mode"] == "text"]
    assert [trace["name"] for trace in lines] == ["β₀ = 0.5", "β₀ = 1", "β₀ = 5", "β₀ = 10"]
    assert len(bands) == len(lines) == len(labels["text"]) == len({trace["line"]["color"] for trace in lines})
    for line, label in zip(lines, labels["text"], strict=True):
        assert_names(label, line["line"]["color"], line["name"].replace("= ", ""))
    low, high = out["layout"]["yaxis"]["range"]
    places = sorted(np.log10(labels["y"]) if out["layout"]["yaxis"]["type"] == "log" else labels["y"])
    assert low < places[0]
    assert places[-1] < high
    assert min(np.diff(places)) > 0.04 * (high - low)
    assert out["layout"]["xaxis"]["type"] == "log"
    grid = make_grid()
    assert max(bands[0]["y"]) == pytest.approx((grid.mean + Z95 * grid.stderr)[:, 0].max(), rel=1e-4)


def test_many_lines_are_thinned_and_keep_the_best() -> None:
    grid = make_grid(FINE, FINE)
    figure = plot_sensitivity_lines(grid)
    names = [trace.name for trace in figure.data if trace.mode == "lines+markers"]
    assert len(names) == 7
    assert_names(figure.layout.title.text, "7 of 25")
    assert f"β₀ = {grid.spec.beta0[grid.best[1]]:.4g}" in names


@pytest.mark.parametrize("draw", [plot_heat_map, plot_sensitivity_lines])
@pytest.mark.parametrize("alpha0", [(1.0,), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize("beta0", [(5.0,), (0.5, 10.0)])
def test_narrow_grids(draw: Any, alpha0: tuple[float, ...], beta0: tuple[float, ...]) -> None:
    check_figure(draw(make_grid(alpha0, beta0)))


def test_a_scenario_without_advice_has_no_mark_for_it() -> None:
    with_advice, without = (plot_heat_map(make_grid(scenario=name)) for name in ("variance-drift", "periodic"))
    assert set(legend_names(with_advice)) - set(legend_names(without)) == {"paper's advice"}


POINT: Parameters = {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}


def draw_map(**params: float) -> tuple[Grid, Recommendation]:
    """Make the map of a study with these recommended parameters, which has a cell for the defaults."""
    baselines = [
        Baseline(name="paper", params={**POINT, "alpha0": 0.5}, regret=60.0, difference=18.5, low=16.0, high=21.0),
        Baseline(name="defaults", params=POINT, regret=41.0, difference=-0.5, low=-2.0, high=1.0),
    ]
    recommendation = make_recommendation(params={**POINT, **params}, versus=baselines)
    return make_map(recommendation), recommendation


def find(figure: Any, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name and trace.text is not None)


def test_marks_of_a_map_are_in_the_middle_of_their_cells() -> None:
    grid, recommendation = draw_map(alpha0=2.0)
    figure = plot_heat_map(grid, recommendation)
    out = check_figure(figure, most=30_000)
    symbols = ("circle", "square", "diamond", "circle-open")
    for mark, symbol in zip(list_marks(grid, recommendation), symbols, strict=True):
        cell = find_cell(grid, mark.params)
        assert cell is not None
        trace = find(figure, mark.name)
        assert (trace.x[0], trace.y[0]) == cell
        assert trace.marker.symbol == symbol
        assert_names(trace.text[0], format_regret(grid, cell))
    shown = [cell for row in out["data"][0]["customdata"] for cell in row]
    assert sum(cell[3] == "none" for cell in shown) == 1
    worst = grid.difference((8, 6)) / grid.mean[grid.reference]
    assert_names(shown[-1][3], *(format_percent(end, signed=True) for end in worst), "95 %")


def test_grids_on_another_scale_have_no_marks_of_unscaled_baselines() -> None:
    settings: dict[str, int | float | str] = {
        "mean_low": 30.0,
        "mean_high": 80.0,
        "variance_low": 100.0,
        "variance_high": 900.0,
    }
    spec = GridSpec(scenario="variance-drift", horizon=1000, settings=settings)
    mean = np.arange(63.0).reshape(9, 7) + 100.0
    figure = plot_heat_map(Grid(spec, spec.study_name(), mean, mean / 50, mean < 101))
    assert legend_names(figure)[1:] == ["lowest cell"]


def test_marks_that_coincide_are_one_mark() -> None:
    figure = plot_heat_map(*draw_map())
    names = legend_names(figure)
    assert "recommended = defaults" in names
    assert "defaults" not in names
    near = make_recommendation(params={**POINT, "alpha0": 0.99, "beta0": 1.05}, versus=draw_map()[1].versus)
    figure = plot_heat_map(make_grid(), near)
    assert "recommended ≈ defaults" in legend_names(figure)
    mark = find(figure, "recommended ≈ defaults")
    assert (mark.x[0], mark.y[0]) == (1, 1), "not beside the ring of the lowest cell"
    assert_names(mark.text[0], "0.99", "Defaults")


def test_the_marks_are_on_their_lines() -> None:
    grid, recommendation = draw_map(alpha0=2.0)
    figure = plot_sensitivity_lines(grid, recommendation)
    mark = find(figure, "recommended")
    assert (mark.x[0], mark.y[0]) == (2.0, pytest.approx(grid.mean[grid.reference], rel=1e-5))
    assert "lowest cell" not in legend_names(figure)


def test_a_map_of_one_parameter_is_a_line() -> None:
    whole, _ = draw_map()
    spec = make_map_spec(**{**vars(whole.spec), "axes": {"c": (0.5, 1.0, 2.0)}, "fixed": {}, "policy": "ucb1"})
    mean = np.array([20.0, 18.0, 30.0])
    grid = Grid(spec, "mine", mean, mean / 50, mean < 19, (1,), mean - 19.0, mean - 17.0)
    (line,) = [
        trace for trace in check_figure(plot_sensitivity_lines(grid))["data"] if trace["mode"] == "lines+markers"
    ]
    assert line["y"] == [20, 18, 30]
    assert np.shape(check_figure(plot_heat_map(grid))["data"][0]["z"]) == (1, 3)


def test_panels_are_horizons_by_scenarios() -> None:
    several = []
    for scenario in ("blips", "variance-drift", "periodic"):
        for horizon in (400, 1000):
            _, recommendation = draw_map(alpha0=2.0)
            each = recommendation.model_copy(update={"scenario": scenario, "horizon": horizon})
            several.append(each.model_copy(update={"sensitivity": make_map(each)}))
    rows = arrange(several[1:])
    assert [[each and (each.scenario, each.horizon) for each in row] for row in rows] == [
        [None, ("variance-drift", 400), ("periodic", 400)],
        [("blips", 1000), ("variance-drift", 1000), ("periodic", 1000)],
    ]
    figure = plot_sensitivity_panels(several, {several[0].study: "#there"})
    out = check_figure(figure, most=100_000, title=("K = ", "R = "))
    lines = [trace for trace in out["data"] if trace["mode"] == "lines+markers"]
    assert len(lines) == 6 * 7
    assert len({trace["xaxis"] for trace in lines}) == 6
    assert {trace["line"]["color"] for trace in lines if "= 5" in trace["name"]} == {lines[5]["line"]["color"]}
    assert legend_names(figure) == ["tied with the recommended", "defaults", "paper's advice", "recommended"]
    titles = [note["text"] for note in out["layout"]["annotations"][:6]]
    assert_names(titles[0], "blips", "T = 400", "#there")
    assert group_alike([*several, make_recommendation()]) == [several]
    assert group_alike(several[:1]) == []
