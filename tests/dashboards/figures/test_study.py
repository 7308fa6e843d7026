"""Figures of results: parameters by horizon, and distributions."""

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.dashboards.figures import plot_distributions, plot_params_by_horizon
from ravenlab.environments.world import Floats
from tests.dashboards.figure_checks import check_figure, legend_names, shown_text
from tests.messages import assert_names, raises_naming
from tests.studies.examples import LINES, WILD, make_recommendation


def test_parameters_by_horizon_have_one_panel_per_parameter() -> None:
    recommendations = [
        make_recommendation(horizon=horizon, params={"alpha0": 100 / horizon, "beta0": 4.0, "epsilon": 0.01})
        for horizon in (10000, 1000, 100000)
    ]
    figure = plot_params_by_horizon(recommendations)
    out = check_figure(figure)
    assert_names(out["layout"]["title"]["text"], "1000", "100000")
    assert [out["layout"][f"yaxis{n}"]["title"]["text"] for n in ("", 2, 3)] == ["α₀", "β₀", "ε"]
    assert out["layout"]["xaxis"]["type"] == "log"
    assert out["data"][0]["x"] == [1000, 10000, 100000]
    assert out["data"][0]["y"] == [0.1, 0.01, 0.001]
    assert "the paper's advice" in legend_names(figure)
    periodic = plot_params_by_horizon(
        [recommendation.model_copy(update={"scenario": "periodic"}) for recommendation in recommendations]
    )
    assert "the paper's advice" not in legend_names(periodic)


def test_parameters_of_one_horizon_or_none() -> None:
    one = check_figure(plot_params_by_horizon([make_recommendation()]))["data"][0]
    assert (one["mode"], one["x"], one["y"]) == ("markers", [1000], [0.25])
    none = check_figure(plot_params_by_horizon([]), title=())
    assert none["data"] == []
    with raises_naming(InputError, "policy", "scenario"):
        plot_params_by_horizon([make_recommendation(), make_recommendation(scenario="blips")])


def test_distributions_are_quantiles() -> None:
    samples = {"α₀ 1, β₀ 5": np.arange(1001.0), "β": np.arange(1001.0) * 2}
    out = check_figure(plot_distributions(samples, scenario="blips", horizon=1000, arms=10))
    box = out["data"][0]
    assert (box["lowerfence"], box["q1"], box["median"], box["q3"], box["upperfence"]) == (
        [50],
        [250],
        [500],
        [750],
        [950],
    )
    assert "R = 1,001" in out["data"][-1]["text"][0]


@pytest.mark.parametrize("samples", [{}, {"x": np.array([])}, {"x": np.array([np.nan])}])
def test_distributions_without_samples_are_empty(samples: dict[str, Floats]) -> None:
    out = check_figure(plot_distributions(samples, scenario="blips", horizon=1000, arms=10))
    assert out["data"] == []
    assert out["layout"]["annotations"][0]["text"] == "There are no samples."


@pytest.mark.parametrize(("values", "mean", "half_width"), [([3.0], 3, 0), ([1.0, np.nan, 2.0], 1.5, 0.979982)])
def test_distributions_of_few_samples(values: list[float], mean: float, half_width: float) -> None:
    figure = plot_distributions({"x": np.array(values)}, scenario="blips", horizon=1000, arms=10)
    box, means = check_figure(figure)["data"]
    assert box["median"] == means["x"] == [mean]
    assert means["error_x"]["array"] == [half_width]


@pytest.mark.parametrize("name", [WILD, LINES, "%{x}%{meta.alt}"])
def test_names_are_escaped(name: str) -> None:
    wild = make_recommendation(study=name, policy=name, scenario=name, params={name: 1.0, "alpha0": 1.0})
    figures = [
        plot_params_by_horizon([wild]),
        plot_distributions({name: np.arange(9.0)}, scenario=name, policy=name, horizon=10, arms=2),
    ]
    for figure in figures:
        text = shown_text(check_figure(figure, title=("T = ", "K = ")))
        assert "<script" not in text
        assert "%{meta" not in text
        assert "\\u001b" not in text
