"""From recorded costs to a policy in use: tune, export, load."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.policies.engine.base import Policy

COSTS = {"harbor": 9.4, "airport": 10.1, "center": 12.5, "north": 11.0, "9": 11.6, "10": 12.0}
"""Mean cost of a delivery by depot; noise has a standard deviation of 1."""

SMALL: dict[str, Any] = {"trials": 4, "batch": 4, "replications": 10, "selection": 128, "report": 128}


def write_trace(path: Path, depots: list[str]) -> None:
    rng = np.random.default_rng(5)
    rows = [[f"{COSTS[depot] + rng.normal():.3f}" for depot in depots] for _ in range(600)]
    path.write_text("\n".join(",".join(cells) for cells in [depots, *rows]) + "\n")


def write_log(path: Path, depots: list[str]) -> None:
    rng = np.random.default_rng(6)
    events = [depots[rng.integers(len(depots))] for _ in range(1200)]
    lines = [f"{step},{depot},{COSTS[depot] + rng.normal():.3f}" for step, depot in enumerate(events)]
    path.write_text("\n".join(["step,arm,reward", *lines]) + "\n")


def deploy(policy: Policy, steps: int = 400) -> list[str]:
    """Return the depots that a policy selects; it is given the costs."""
    rng = np.random.default_rng(7)
    selected: list[str] = []
    for _ in range(steps):
        depot = policy.select()
        policy.update(depot, COSTS[depot] + rng.normal())
        selected.append(depot)
    return selected


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["trace", "log"])
def test_policy_tuned_on_costs_of_named_arms_finds_the_best(kind: str, reverse: bool, tmp_path: Path, url: str) -> None:
    depots = sorted(COSTS, reverse=reverse)
    file = tmp_path / "depots.csv"
    if kind == "trace":
        write_trace(file, depots)
        recommendation = ravenlab.tune(trace=str(file), minimize=True, horizon=50, storage=url, **SMALL)
    else:
        write_log(file, depots)
        recommendation = ravenlab.tune(log=str(file), minimize=True, storage=url, **SMALL)
    expected = tuple(depots if kind == "trace" else sorted(depots))
    snippet = tmp_path / "snippet.py"
    snippet.write_text(ravenlab.export(recommendation, "python"), encoding="utf-8")
    (created,) = runpy.run_path(str(snippet))["policies"].values()
    policies = [ravenlab.Policy.from_state(created.state())]
    for form in ("json", "toml"):
        path = tmp_path / f"recommended.{form}"
        path.write_text(ravenlab.export(storage=url, form=form), encoding="utf-8")
        policies.append(ravenlab.RavenUCB.load(path))
    for policy in policies:
        assert policy.names == expected
        last = deploy(policy)[-100:]
        assert last.count("harbor") >= 60, f"{last.count('harbor')} of 100"
        assert max(set(last), key=last.count) == "harbor"


def test_policy_tuned_with_churn_has_all_arms(tmp_path: Path, url: str) -> None:
    recommendation = ravenlab.tune("arm-churn", 200, arms=3, storage=url, **SMALL)
    path = tmp_path / "recommended.json"
    path.write_text(ravenlab.export(recommendation), encoding="utf-8")
    policy = ravenlab.Policy.load(path)
    assert policy.arms == 4
    policy.update_many([0, 1, 2], [0.5, 0.5, 0.5])
    assert all(policy.select() != 3 for _ in range(20))
    policy.open(3)
    assert policy.select() == 3


def test_results_without_a_recommendation_are_not_exported(url: str) -> None:
    grid = ravenlab.grid("stationary", 60, arms=2, replications=4, alpha0=[1.0], beta0=[1.0], storage=url)
    with pytest.raises(ravenlab.InputError, match="Grid"):
        ravenlab.export(grid)  # type: ignore[arg-type]
    with pytest.raises(ravenlab.InputError, match="int"):
        ravenlab.export(3)  # type: ignore[arg-type]


def test_parameters_from_the_law_are_exported(tmp_path: Path) -> None:
    path = tmp_path / "recommended.json"
    path.write_text(ravenlab.export(ravenlab.recommend("blips", 1000, arms=5)), encoding="utf-8")
    assert ravenlab.RavenUCB.load(path).arms == 5
