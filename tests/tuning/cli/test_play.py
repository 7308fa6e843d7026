"""`ravenlab play`: the page, its worlds and policies, and invalid input."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from tests.command import printed, refused
from tests.messages import assert_names

SMALL = ("--horizon=300", "--arms=4", "--replications=30", "--jobs=1")


def read_run(path: Path) -> dict[str, Any]:
    """Return the data of a page."""
    found = re.search(r'<script type="application/json" id="run">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    run: dict[str, Any] = json.loads(found[1])
    return run


def test_the_worlds_are_those_of_simulate(here: Path) -> None:
    assert_names(printed("play", "localized-jump", *SMALL, "--policies=ucb1,raven-ucb", "--seed=3"), "play.html")
    run = read_run(here / "play.html")
    page = (here / "play.html").read_text(encoding="utf-8")
    assert run["policies"] == ["ucb1", "raven-ucb"]
    simulations = [
        ravenlab.simulate(name, "localized-jump", horizon=300, arms=4, replications=30, seed=3, jobs=1, pulls=True)
        for name in run["policies"]
    ]
    order = simulations[0].regret.argsort(kind="stable")
    for world, replication in zip(run["worlds"], (order[14], order[-1]), strict=False):
        for policy, simulation in enumerate(simulations):
            assert simulation.pulls is not None
            assert world["pulls"][policy] == simulation.pulls[replication].tolist()
            assert world["regret"][policy][-1] == pytest.approx(simulation.regret[replication], rel=1e-5)
    assert len(page) < 3_000_000
    assert "http" not in page.replace("http-equiv", "")


def test_an_exported_file_stands_for_its_policy(here: Path) -> None:
    recommended = ravenlab.recommend("localized-jump", 300, arms=4, storage="sqlite:///none.sqlite3")
    (here / "tuned.json").write_text(ravenlab.export(recommended, "json"))
    printed("play", "localized-jump", *SMALL, "--policies=tuned.json,raven-ucb,ucb1")
    run = read_run(here / "play.html")
    assert run["policies"] == ["raven-ucb (tuned)", "raven-ucb", "ucb1"]
    tuned = ravenlab.simulate(
        "raven-ucb", "localized-jump", horizon=300, arms=4, replications=30, params=recommended.params, jobs=1
    )
    median = float(np.sort(tuned.regret)[14])
    assert run["worlds"][0]["regret"][0][-1] == pytest.approx(median, rel=1e-5)


def test_a_trace_is_one_world_with_escaped_names(here: Path) -> None:
    costs = np.random.default_rng(0).normal([3.0, 1.0], 0.2, (400, 2))
    np.savetxt("costs.csv", costs, delimiter=",", header="a,</script><b>", comments="", fmt="%.4f")
    printed("play", "--trace=costs.csv", "--minimize", "--policies=raven-ucb,ucb1", "-o", "trace.html", "--jobs=1")
    run = read_run(here / "trace.html")
    assert run["arms"] == ["a", "</script><b>"]
    assert "</script><b>" not in (here / "trace.html").read_text(encoding="utf-8")
    assert len(run["worlds"]) == 1
    assert set(run["worlds"][0]["best"]) == {1}
    assert run["horizon"] == 400


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "SCENARIO"),
        (["blips", "--policies=ucb1,ucb1"], "ucb1"),
        (["blips", "--policies=none.json"], "none.json"),
        (["blips", "--policies=broken.toml"], "broken.toml"),
        (["blips", "--policies=ucb1,,"], "policy"),
        (["blips", "--policies=" + ",".join(ravenlab.policy_names()[:13])], "13"),
        (["blips", "--policies=all"], "12"),
        (["blips", "--minimize"], "--minimize"),
        (["blips", "--trace=costs.csv"], "SCENARIO"),
        (["--trace=costs.csv", "--horizon=10"], "--horizon"),
        (["--trace=none.csv"], "none.csv"),
        (["--trace=costs.csv", "--policies=oracle-ucb1"], "oracle-ucb1"),
        (["--trace=costs.csv", "--arms=3"], "arms"),
        (["blips", "--replications=0"], "--replications"),
        (["blips", "-o", "none/play.html"], "none"),
    ],
)
def test_invalid_input_is_one_line(arguments: list[str], named: str, here: Path) -> None:
    np.savetxt("costs.csv", np.random.default_rng(0).normal(size=(400, 2)), delimiter=",", header="a,b", comments="")
    (here / "broken.toml").write_text("schema =")
    assert_names(refused("play", *arguments), named)
    assert not (here / "play.html").exists()


def test_an_export_of_other_problems_is_refused(here: Path) -> None:
    names = [ravenlab.recommend("blips", horizon, arms=4, storage="sqlite:///none.sqlite3") for horizon in (500, 900)]
    (here / "two.json").write_text(ravenlab.export(names, "json"))
    assert_names(refused("play", "blips", *SMALL, "--policies=two.json"), "two.json", "blips", "300")
