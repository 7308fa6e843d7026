"""Figures of searches and their results: history, importances, horizons, distributions."""

from __future__ import annotations

import numpy as np
import pytest

from dashboards.figures import (
    HistoryPoint,
    get_alt_text,
    plot_distributions,
    plot_param_importances,
    plot_params_by_horizon,
    plot_search_history,
)
from environments.errors import InputError
from environments.world import Floats
from studies.spec.study import StudySpec
from tests.dashboards.figure_checks import check_figure, legend_names, shown_text
from tests.messages import assert_names, raises_naming
from tests.studies.examples import LINES, WILD, make_recommendation

SPEC = StudySpec(scenario="variance-drift", horizon=1000)
PARAMS = {"alpha0": 0.25, "beta0": 4.0, "epsilon": 0.0001}


def make_history(count: int) -> list[HistoryPoint]:
    rng = np.random.default_rng(0)
    return [
        HistoryPoint(
            i,
            float(41 + rng.exponential(20)),
            0.5,
            "PRUNED" if i % 5 == 4 else "COMPLETE",
            {name: float(rng.uniform(0.01, 10)) for name in PARAMS},
        )
        for i in range(count)
    ]


def test_history_marks_best_validated_and_recommended_trials() -> None:
    rows = [*make_history(20), HistoryPoint(20, 40.5, 0.5, "COMPLETE", PARAMS)]
    figure = plot_search_history(rows, make_recommendation(), SPEC)
    out = check_figure(figure)
    assert len(legend_names(figure)) == 6
    (best,) = [trace for trace in out["data"] if trace.get("name") == "best so far"]
    assert best["y"] == sorted(best["y"], reverse=True)
    assert best["y"][-1] == 40.5
    (star,) = [trace for trace in out["data"] if trace.get("name") == "recommended"]
    assert (star["x"], star["y"]) == ([20], [40.5])
    assert star["customdata"] == [[0.5, 0.25, 4, 0.0001]]
    assert_names(get_alt_text(figure), "17 complete", "4 pruned", "40.5 at trial 20", "41.5", "40.25 to 42.75")


def test_rewards_are_maximized() -> None:
    rows = [HistoryPoint(i, float(i), 0.1, "COMPLETE", {}) for i in range(4)]
    figure = plot_search_history(rows, None, SPEC.model_copy(update={"objective": "reward"}))
    (best,) = [trace for trace in figure.data if trace.name == "best so far"]
    assert list(best.y) == [0, 1, 2, 3, 3]
    assert_names(figure.layout.yaxis.title.text, "reward")


def test_long_histories_are_thinned_and_the_title_states_it() -> None:
    figure = plot_search_history(make_history(2000), make_recommendation(), SPEC)
    check_figure(figure)
    assert "trial (200 of 1600 drawn)" in legend_names(figure)
    assert_names(figure.layout.title.text, 2000)


def test_a_subset_of_the_trials_is_shown_with_the_counts_of_all() -> None:
    figure = plot_search_history(make_history(20), None, SPEC, {"COMPLETE": 1600, "PRUNED": 400})
    check_figure(figure)
    assert_names(figure.layout.title.text, 2000)
    assert {"trial (16 of 1600 drawn)", "pruned (4 of 400 drawn)"} <= set(legend_names(figure))
    assert_names(get_alt_text(figure), "1600 complete", "400 pruned")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "No trials yet."),
        ([row._replace(state="PRUNED", value=None) for row in make_history(6)], "No trial has a value yet (6 pruned)."),
        (
            [row._replace(state="RUNNING", value=None) for row in make_history(2)],
            "No trial has a value yet (2 running).",
        ),
        ([row._replace(value=float("nan")) for row in make_history(3)], "No trial has a value yet (3 complete)."),
    ],
)
def test_history_without_values_states_the_reason(rows: list[HistoryPoint], reason: str) -> None:
    for figure in (plot_search_history(rows, None, SPEC), plot_search_history(rows, make_recommendation())):
        out = check_figure(figure)
        assert out["data"] == []
        assert out["layout"]["annotations"][0]["text"] == reason


@pytest.mark.parametrize(
    ("rows", "legend"),
    [
        (make_history(1), ["trial", "best so far"]),
        ([row._replace(stderr=None) for row in make_history(3)], ["trial", "best so far"]),
        ([row._replace(state="PRUNED") for row in make_history(6)], ["pruned"]),
    ],
)
def test_history_of_few_trials(rows: list[HistoryPoint], legend: list[str]) -> None:
    figure = plot_search_history(rows, None, SPEC)
    points = check_figure(figure)["data"][0]
    assert legend_names(figure) == legend
    assert points["x"] == [row.number for row in rows]
    assert points["y"] == pytest.approx([row.value for row in rows], rel=1e-5)
    assert [texts[0] for texts in points["customdata"]] == ["?" if row.stderr is None else row.stderr for row in rows]
    with_band = plot_search_history(rows, make_recommendation())
    assert check_figure(with_band)["data"][1]["y"] == [41.5, 41.5]
    assert legend_names(with_band)[1:] == legend


def test_importances_are_ordered_shares() -> None:
    figure = plot_param_importances(make_recommendation(importance={"alpha0": 0.2, "beta0": 0.7, "epsilon": 0.1}))
    out = check_figure(figure, title=("T = 1,000", "K = 10", "20 trials"))
    assert out["data"][0]["x"] == [10, 20, 70]
    assert out["layout"]["yaxis"]["ticktext"] == ["ε", "α₀", "β₀"]
    assert "β₀ 70 %, α₀ 20 %, ε 10 %" in get_alt_text(figure)


def test_importances_of_a_short_search_are_unknown() -> None:
    figure = plot_param_importances(make_recommendation(importance=None))
    assert check_figure(figure, title=("T = 1,000", "K = 10", "20 trials"))["data"] == []
    assert_names(figure.layout.annotations[0].text, 20)


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
        plot_param_importances(wild.model_copy(update={"importance": {name: 1.0}})),
        plot_search_history([HistoryPoint(0, 1.0, 0.1, "COMPLETE", {name: 1.0, "x": name})], wild),
        plot_distributions({name: np.arange(9.0)}, scenario=name, policy=name, horizon=10, arms=2),
    ]
    for figure in figures:
        text = shown_text(check_figure(figure, title=("T = ", "K = ")))
        assert "<script" not in text
        assert "%{meta" not in text
        assert "\\u001b" not in text
