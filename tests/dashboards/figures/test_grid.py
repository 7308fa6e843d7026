"""Figures of a grid: heat map and lines."""

import math
from typing import Any

import numpy as np
import pytest

from ravenlab.common.interval import Z95, Difference
from ravenlab.dashboards.figures import get_alt_text, plot_heat_map, plot_sensitivity_lines
from ravenlab.dashboards.figures.grid import PlayedPoint
from ravenlab.studies.registry import GridDefaults
from ravenlab.studies.results.grid import Grid
from tests.dashboards.figure_checks import FINE, check_figure, legend_names, make_grid
from tests.messages import assert_names
from tests.studies.examples import make_recommendation

RECOMMENDED = make_recommendation(params={"alpha0": 0.8, "beta0": 2.2, "epsilon": 0.003})


def test_heat_map_has_equal_cells_and_all_marks() -> None:
    figure = plot_heat_map(make_grid(), RECOMMENDED, PlayedPoint(12.5, 0.25, Difference(-1.05, -1.5, -0.6)))
    out = check_figure(figure)
    for axis in ("xaxis", "yaxis"):
        assert out["layout"][axis]["type"] == "linear"
        assert out["layout"][axis]["tickvals"] == [0, 1, 2, 3]
        assert out["layout"][axis]["ticktext"] == ["0.5", "1", "5", "10"]
    assert "α₀" in out["layout"]["xaxis"]["title"]["text"]
    assert "β₀" in out["layout"]["yaxis"]["title"]["text"]
    *others, recommended = legend_names(figure)[1:]
    assert others == ["lowest cell", "the paper's advice"]
    assert_names(recommended, "recommended", "0.003", "0.1")
    (star,) = [trace for trace in out["data"] if trace.get("name") == recommended]
    assert star["x"] == pytest.approx([math.log(0.8 / 0.5) / math.log(2.0)], abs=1e-3)
    assert star["y"] == pytest.approx([1.0 + math.log(2.2) / math.log(5.0)], abs=1e-3)
    assert_names(star["text"][0], "41.5", "12.5", "−1.05")
    assert_names(get_alt_text(figure), "13.55", "α₀ = 1, β₀ = 1")


def test_a_recommendation_with_the_epsilon_of_the_cells_is_named_without_it() -> None:
    same = make_recommendation(params={"alpha0": 0.8, "beta0": 2.2, "epsilon": 0.1})
    assert legend_names(plot_heat_map(make_grid(), same))[-1] == "recommended"
    far = make_recommendation(params={"alpha0": 0.001, "beta0": 2.2, "epsilon": 0.1})
    assert "outside the grid" in legend_names(plot_heat_map(make_grid(), far))[-1]


def test_cells_have_their_position_and_all_values() -> None:
    grid = make_grid(alpha0=(1.0, 10.0, 100.0), beta0=(1.0, 10.0))
    cells = check_figure(plot_heat_map(grid))["data"][0]
    assert (cells["x"], cells["y"]) == ([0, 1, 2], [0, 1])
    assert np.shape(cells["z"]) == (2, 3)
    alpha0, beta0, mean, stderr, percent, worse = cells["customdata"][1][2]
    assert (alpha0, beta0, worse) == (100, 10, "yes")
    assert mean == pytest.approx(grid.mean[2, 1], rel=1e-4)
    assert stderr == pytest.approx(grid.stderr[2, 1], rel=1e-2)
    assert percent == pytest.approx(100 * (grid.mean[2, 1] / grid.mean.min() - 1), rel=1e-2)
    for word in ("α₀", "β₀", "ε = 0.1", "standard error", "R = 500"):
        assert word in cells["hovertemplate"]


def test_numbers_are_in_the_middle_of_their_cells() -> None:
    grid = make_grid(GridDefaults.alpha0, GridDefaults.beta0)
    (text,) = [trace for trace in check_figure(plot_heat_map(grid))["data"] if trace.get("mode") == "text"]
    places = list(zip(text["x"], text["y"], strict=True))
    assert places == [(i, j) for j in range(7) for i in range(9)]
    assert text["textposition"] == "middle center"
    assert float(text["text"][places.index((grid.best[0], grid.best[1]))]) == pytest.approx(grid.mean.min(), rel=0.01)


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
    out = check_figure(plot_heat_map(fine, RECOMMENDED), most=60_000)
    assert out["layout"]["xaxis"]["ticktext"] == ["0.01", "0.1", "1", "10"]
    assert out["layout"]["xaxis"]["tickvals"] == [0, 8, 16, 24]
    assert len(check_figure(plot_sensitivity_lines(fine))["data"]) == 2 * 6


def test_colors_show_small_differences_from_the_lowest_cell() -> None:
    grid = make_grid((1.0, 2.0, 3.0, 4.0), (1.0,))
    mean = np.array([[100.0], [101.0], [110.0], [1000.0]])
    cells = check_figure(plot_heat_map(Grid(grid.spec, grid.study, mean, mean / 100, mean < 101)))["data"][0]
    shades = np.array(cells["z"][0]) / max(cells["z"][0])
    assert shades[0] == 0.0
    assert shades[1] > 0.09
    assert shades[2] > 0.3
    assert cells["colorbar"]["ticktext"] == ["0", "1", "2", "5", "10", "20", "50", "100", "200", "500"]


def test_lines_differ_in_dash_and_marker_and_have_bands() -> None:
    figure = plot_sensitivity_lines(make_grid())
    out = check_figure(figure)
    assert legend_names(figure) == ["β₀ = 0.5", "β₀ = 1", "β₀ = 5", "β₀ = 10"]
    lines = [trace for trace in out["data"] if trace["mode"] == "lines+markers"]
    bands = [trace for trace in out["data"] if trace.get("fill") == "toself"]
    assert len(bands) == len(lines) == 4
    assert len({trace["line"]["dash"] for trace in lines}) == len({trace["marker"]["symbol"] for trace in lines}) == 4
    assert out["layout"]["xaxis"]["type"] == "log"
    grid = make_grid()
    assert max(bands[0]["y"]) == pytest.approx((grid.mean + Z95 * grid.stderr)[:, 0].max(), rel=1e-4)


def test_many_lines_are_thinned_and_keep_the_best() -> None:
    grid = make_grid(FINE, FINE)
    figure = plot_sensitivity_lines(grid)
    assert len(legend_names(figure)) == 6
    assert_names(figure.layout.title.text, "6 of 25")
    assert f"β₀ = {grid.spec.beta0[grid.best[1]]:.4g}" in legend_names(figure)


@pytest.mark.parametrize("draw", [plot_heat_map, plot_sensitivity_lines])
@pytest.mark.parametrize("alpha0", [(1.0,), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize("beta0", [(5.0,), (0.5, 10.0)])
def test_narrow_grids(draw: Any, alpha0: tuple[float, ...], beta0: tuple[float, ...]) -> None:
    check_figure(draw(make_grid(alpha0, beta0)))


def test_a_scenario_without_advice_has_no_mark_for_it() -> None:
    with_advice, without = (plot_heat_map(make_grid(scenario=name)) for name in ("variance-drift", "periodic"))
    assert set(legend_names(with_advice)) - set(legend_names(without)) == {"the paper's advice"}
