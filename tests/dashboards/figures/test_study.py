"""Figures of searches and what came out of them: history, importances, horizons, distributions."""

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
from studies.spec.study import StudySpec
from tests.dashboards.drawn import check, names, shown_text
from tests.messages import assert_names, raises_naming
from tests.studies.examples import LINES, WILD, make_recommendation

SPEC = StudySpec(scenario="variance-drift", horizon=1000)
PARAMS = {"alpha0": 0.25, "beta0": 4.0, "epsilon": 0.0001}


def made_rows(count: int) -> list[HistoryPoint]:
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


def test_history_marks_the_best_so_far_the_validated_and_the_recommended() -> None:
    rows = [*made_rows(20), HistoryPoint(20, 40.5, 0.5, "COMPLETE", PARAMS)]
    figure = plot_search_history(rows, make_recommendation(), SPEC)
    out = check(figure)
    assert len(names(figure)) == 6
    (best,) = [trace for trace in out["data"] if trace.get("line", {}).get("shape") == "hv"]
    assert best["y"] == sorted(best["y"], reverse=True)
    assert best["y"][-1] == 40.5
    (chosen,) = [trace for trace in out["data"] if trace.get("marker", {}).get("symbol") == "star"]
    assert (chosen["x"], chosen["y"]) == ([20], [40.5])
    assert chosen["customdata"] == [[0.5, 0.25, 4, 0.0001]]
    assert_names(get_alt_text(figure), "41.5", "40.25 to 42.75")


def test_rewards_are_to_be_large() -> None:
    rows = [HistoryPoint(i, float(i), 0.1, "COMPLETE", {}) for i in range(4)]
    figure = plot_search_history(rows, None, SPEC.model_copy(update={"objective": "reward"}))
    (best,) = [trace for trace in figure.data if trace.line.shape == "hv"]
    assert list(best.y) == [0, 1, 2, 3, 3]
    assert_names(figure.layout.yaxis.title.text, "reward")


def test_two_thousand_trials_are_thinned_and_say_so() -> None:
    figure = plot_search_history(made_rows(2000), make_recommendation(), SPEC)
    check(figure)
    assert any("200 of 1600" in name for name in names(figure))
    assert_names(figure.layout.title.text, 2000)


def test_some_of_many_trials_are_counted_as_what_they_are() -> None:
    figure = plot_search_history(made_rows(20), None, SPEC, {"COMPLETE": 1600, "PRUNED": 400})
    check(figure)
    assert_names(figure.layout.title.text, 2000)
    for share in ("16 of 1600", "4 of 400"):
        assert any(share in name for name in names(figure))
    assert_names(get_alt_text(figure), "1600", "400")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        made_rows(1),
        [row._replace(state="PRUNED", value=None) for row in made_rows(6)],
        [row._replace(state="PRUNED") for row in made_rows(6)],
        [row._replace(value=float("nan"), stderr=float("nan")) for row in made_rows(3)],
        [row._replace(stderr=None) for row in made_rows(3)],
        [row._replace(state="RUNNING", value=None) for row in made_rows(2)],
    ],
)
def test_history_of_little(rows: list[HistoryPoint]) -> None:
    check(plot_search_history(rows, None, SPEC))
    check(plot_search_history(rows, make_recommendation()))


def test_history_says_why_it_is_empty() -> None:
    rows = [row._replace(state="PRUNED", value=None) for row in made_rows(6)]
    assert_names(plot_search_history(rows, None, SPEC).layout.annotations[0].text, 6)


def test_importances_are_ordered_shares() -> None:
    figure = plot_param_importances(make_recommendation(importance={"alpha0": 0.2, "beta0": 0.7, "epsilon": 0.1}))
    out = check(figure)
    assert out["data"][0]["x"] == [10, 20, 70]
    assert out["layout"]["yaxis"]["ticktext"] == ["ε", "α₀", "β₀"]
    assert "β₀ 70 %, α₀ 20 %, ε 10 %" in get_alt_text(figure)


def test_importances_of_a_short_search_are_not_known() -> None:
    figure = plot_param_importances(make_recommendation(importance=None))
    check(figure)
    assert_names(figure.layout.annotations[0].text, 20)


def test_horizons_has_a_panel_a_parameter() -> None:
    found = [
        make_recommendation(horizon=horizon, params={"alpha0": 100 / horizon, "beta0": 4.0, "epsilon": 0.01})
        for horizon in (10000, 1000, 100000)
    ]
    figure = plot_params_by_horizon(found)
    out = check(figure)
    assert_names(out["layout"]["title"]["text"], "1000", "100000")
    assert [out["layout"][f"yaxis{n}"]["title"]["text"] for n in ("", 2, 3)] == ["α₀", "β₀", "ε"]
    assert out["layout"]["xaxis"]["type"] == "log"
    assert out["data"][0]["x"] == [1000, 10000, 100000]
    assert out["data"][0]["y"] == [0.1, 0.01, 0.001]
    elsewhere = plot_params_by_horizon([each.model_copy(update={"scenario": "periodic"}) for each in found])
    assert len(names(figure)) == len(names(elsewhere)) + 1


def test_horizons_of_one_and_of_none() -> None:
    check(plot_params_by_horizon([make_recommendation()]))
    check(plot_params_by_horizon([]), title=())
    with raises_naming(InputError, "policy", "scenario"):
        plot_params_by_horizon([make_recommendation(), make_recommendation(scenario="blips")])


def test_distributions_are_quantiles() -> None:
    samples = {"α₀ 1, β₀ 5": np.arange(1001.0), "β": np.arange(1001.0) * 2}
    out = check(plot_distributions(samples, scenario="blips", horizon=1000, arms=10))
    box = out["data"][0]
    assert (box["lowerfence"], box["q1"], box["median"], box["q3"], box["upperfence"]) == (
        [50],
        [250],
        [500],
        [750],
        [950],
    )
    assert "R = 1,001" in out["data"][-1]["text"][0]


@pytest.mark.parametrize(
    "samples", [{}, {"x": np.array([])}, {"x": np.array([3.0])}, {"x": np.array([1.0, np.nan, 2.0])}]
)
def test_distributions_of_little(samples: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> None:
    check(plot_distributions(samples, scenario="blips", horizon=1000, arms=10))


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
        text = shown_text(check(figure))
        assert "<script" not in text
        assert "%{meta" not in text
        assert "\\u001b" not in text
