"""Figures over time: curves, worlds and steps of change."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from ravenlab.dashboards.figures import get_alt_text, plot_curves, plot_world
from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import scenarios
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.view import change_steps
from ravenlab.environments.world import world_tables
from ravenlab.policies.engine.simulation import simulate
from tests.dashboards.figure_checks import check_figure, legend_names, shown_text
from tests.studies.examples import WILD


@pytest.mark.parametrize(
    ("name", "settings", "steps"),
    [
        ("stationary", {}, []),
        ("variance-drift", {}, []),
        ("localized-jump", {"every": 300}, [300, 600, 900]),
        ("gradual-drift", {"start": 200, "end": 700}, [200, 700]),
        ("arm-churn", {"opens": 100, "closes": "50%"}, [100, 500]),
        ("published-blips", {"every": 400}, [400, 800]),
    ],
)
def test_change_steps(name: str, settings: dict[str, int | str], steps: list[int]) -> None:
    assert change_steps(find_scenario(name, settings), 1000) == steps


def test_changes_of_blips_are_their_starts_and_ends() -> None:
    scenario = find_scenario("blips")
    worlds = draw_worlds(scenario, 1000, 10, seed=3)
    assert change_steps(scenario, 1000) == [int(t) for t in worlds.starts[0, 1:-1]]


SHORT = {"blips": {"every": 5, "lasting": 2}}


@pytest.mark.parametrize("name", sorted(scenarios()))
def test_changes_are_within_a_short_horizon(name: str) -> None:
    """Also if the horizon is shorter than the scenario's number of arms."""
    assert all(1 < t <= 20 for t in change_steps(find_scenario(name, SHORT.get(name)), 20))


@pytest.mark.parametrize("name", sorted(scenarios()))
def test_every_world_is_drawn_accurately(name: str) -> None:
    """Points of the best arm are exact; the line of each arm is close to its mean at 95 % of the steps.

    The variances of different arms are not joined by a line.
    """
    scenario = find_scenario(name)
    figure = plot_world(scenario, 2000, scenario.arms, seed=1)
    out = check_figure(figure, most=45_000 if name == "random-walk" else 27_000)
    means, variances = world_tables(draw_worlds(scenario, 2000, scenario.arms, seed=1))
    for column, table in (("y", means), ("y2", variances)):
        best = next(t for t in out["data"] if t.get("name") == "currently best arm" and t["yaxis"] == column)
        pairs = list(zip(best["x"], best["y"], strict=True))
        indices = np.array([x for x, _ in pairs if x is not None]) - 1
        best_arm = np.where(np.isnan(means), -np.inf, means).argmax(axis=1)
        exact = table[indices, best_arm[indices]]
        np.testing.assert_allclose([y for _, y in pairs if y is not None], exact, rtol=1e-5)
        for (x, _), (following, _) in pairwise(pairs):
            if column == "y2" and best["mode"] == "lines" and x is not None and following is not None:
                assert best_arm[x - 1] == best_arm[following - 1]
    arms = [trace for trace in out["data"] if trace.get("name") == "arm" and trace["yaxis"] == "y"]
    assert arms
    for trace in arms:
        k = int(trace["hovertemplate"].split("<")[0].split()[1]) - 1
        points = [(x, y) for x, y in zip(trace["x"], trace["y"], strict=True) if y is not None]
        x = np.array([point[0] for point in points])
        steps = np.arange(x.min(), x.max() + 1)
        line = np.interp(steps, x, [point[1] for point in points])
        deviation = np.abs(line - means[steps - 1, k])
        assert np.nanquantile(deviation, 0.95) < 0.02, name
    assert "over 2,000 steps" in get_alt_text(figure)


def test_worlds_mark_their_changes() -> None:
    figure = plot_world(find_scenario("arm-churn"), 1000, 5)
    assert figure.layout.shapes[0].path == "M330,0V1M670,0V1"
    assert legend_names(figure) == ["arm", "currently best arm", "change"]


@pytest.mark.parametrize(("horizon", "arms"), [(1, 1), (2, 1), (3, 3), (5000, 40)])
def test_small_and_large_worlds(horizon: int, arms: int) -> None:
    figure = plot_world(find_scenario("localized-jump"), horizon, arms)
    out = check_figure(figure)
    lines = [trace for trace in out["data"] if trace.get("name") == "arm"]
    assert len(lines) == 2 * (8 if arms == 40 else arms)
    assert all(trace["x"][0] == 1 and trace["x"][-1] == horizon for trace in lines)
    assert ("8 of 40 arms drawn" in figure.layout.title.text) == (arms == 40)


def test_a_world_with_a_hostile_name() -> None:
    scenario = dataclasses.replace(find_scenario("blips"), name=WILD, meaning=WILD)
    assert "<script" not in shown_text(check_figure(plot_world(scenario, 100, 3)))


def test_curves_have_bands_and_changes() -> None:
    results = [
        simulate("raven-ucb", "blips", horizon=400, replications=5, checkpoints=400, params={"alpha0": a})
        for a in (0.5, 5.0)
    ]
    figure = plot_curves(results, changes=[100, 200])
    out = check_figure(figure)
    assert len([trace for trace in out["data"] if trace.get("fill") == "toself"]) == 3
    assert figure.layout.shapes[0].path == "M100,0V1M200,0V1"
    assert "change" in legend_names(figure)
    regret = next(trace for trace in out["data"] if trace["mode"] == "lines" and "customdata" in trace)
    assert regret["x"][-1] == 400
    assert regret["y"][-1] == pytest.approx(results[0].regret.mean(), rel=1e-5)
    assert len({trace["line"].get("dash") for trace in out["data"] if "customdata" in trace}) == 2


@pytest.mark.parametrize("costs", [False, True])
def test_rewards_on_the_same_worlds_are_differences_from_the_first(costs: bool) -> None:
    """Otherwise the lines of all policies would overlap."""
    results = [
        simulate("raven-ucb", "blips", horizon=400, replications=5, checkpoints=400, params={"alpha0": a})
        for a in (0.5, 5.0)
    ]
    figure = plot_curves(results, names=["first", "second"], costs=costs)
    first, second = (
        trace for trace in check_figure(figure)["data"] if trace["yaxis"] == "y2" and "customdata" in trace
    )
    difference = (results[1].reward - results[0].reward) * (-1 if costs else 1)
    unit = "cost" if costs else "reward"
    assert set(first["y"]) == {0}
    assert second["y"][-1] == pytest.approx(difference.mean(), rel=1e-4)
    assert second["customdata"][-1] == pytest.approx(difference.std(ddof=1) / 5**0.5, rel=1e-4)
    assert f"mean {unit} difference from first" in second["hovertemplate"]
    assert figure.layout.yaxis2.title.text == f"{unit} difference"
    assert f"Regret and difference in {unit} over time" in figure.layout.title.text
    assert f"{unit} (difference from first) over 400 steps" in get_alt_text(figure)


def test_rewards_on_different_worlds_are_absolute() -> None:
    results = [simulate("ucb1", "blips", horizon=400, replications=5, checkpoints=400, seed=seed) for seed in (0, 1)]
    for figure in (plot_curves(results), plot_curves(results[:1])):
        last = check_figure(figure)["data"][-1]
        assert last["y"][-1] == pytest.approx(results[len(figure.data) // 4 - 1].reward.mean(), rel=1e-5)
        assert figure.layout.yaxis2.title.text == "cumulative reward"


def test_curves_of_one_world_one_step_or_none() -> None:
    one = simulate("ucb1", "blips", horizon=50, replications=1, checkpoints=1)
    regret, reward = check_figure(plot_curves([one]))["data"]
    assert regret["mode"] == reward["mode"] == "markers"
    assert one.curve is not None
    assert regret["x"] == reward["x"] == one.curve.steps.tolist()
    assert regret["y"] == pytest.approx(one.curve.regret[0], rel=1e-5)
    assert reward["y"] == pytest.approx(one.curve.reward[0], rel=1e-5)
    without_curve = simulate("ucb1", "blips", horizon=50, replications=1)
    assert check_figure(plot_curves([without_curve]))["data"] == []
    assert check_figure(plot_curves([]), title=())["data"] == []


def test_many_changes_are_thinned() -> None:
    one = simulate("ucb1", "stationary", horizon=5000, replications=2, checkpoints=100)
    figure = plot_curves([one], changes=range(2, 5000))
    check_figure(figure)
    assert legend_names(figure)[-1] == "change (1 of 84 drawn)"
    assert figure.layout.shapes[0].path.count("M") == 60


def test_six_curves_stay_small() -> None:
    one = simulate("raven-ucb", "blips", horizon=1000, replications=3, checkpoints=500)
    out = check_figure(plot_curves([one] * 6, names=[WILD] * 6), most=40_000)
    lines = [trace for trace in out["data"] if "customdata" in trace]
    assert len(lines) == 2 * 6
    assert all(len(trace["x"]) <= 160 / 6 and trace["x"][-1] == 1000 for trace in lines)
