"""Policies from exported files: choice of the entry, reward scale, and invalid files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ravenlab.environments import InputError
from ravenlab.policies import RavenUCB, find_policy, policy_names
from ravenlab.policies.engine.base import Policy
from tests.messages import raises_naming


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "study": "raven-ucb/blips/T1000/K5",
        "policy": "raven-ucb",
        "scenario": "blips",
        "horizon": 1000,
        "arms": 5,
        "params": {"alpha0": 0.5, "beta0": 2.0, "epsilon": 0.01},
        **changes,
    }


def write_export(folder: Path, *entries: dict[str, Any], schema: Any = 2) -> Path:
    path = folder / "recommended.json"
    feedback = {"feedback": "rewards"} if schema == 2 else {}
    complete = [{**feedback, **each} for each in entries]
    path.write_text(json.dumps({"schema": schema, "recommendations": complete}), encoding="utf-8")
    return path


def test_only_entry_needs_no_arguments(tmp_path: Path) -> None:
    policy = RavenUCB.load(write_export(tmp_path, entry(), entry(policy="ucb1", params={"c": 1.0})))
    assert policy.arms == 5
    assert policy.values["alpha0"] == 0.5
    assert policy.values["variance"] == "welford"
    assert policy.select() == 0
    assert RavenUCB.load(str(tmp_path / "recommended.json"), arms=8).arms == 8


def test_a_policy_tuned_on_costs_takes_costs(tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(arms=2, feedback="costs"))
    assert "minimize=True" in repr(RavenUCB.load(path))
    for policy in (Policy.load(path), RavenUCB.load(path, names=["a", "b"])):
        policy.update_many([0, 1], [12.5, 9.4])
        assert policy.select(index=True) == 1
    assert "minimize" not in repr(RavenUCB.load(write_export(tmp_path, entry(arms=2))))


def test_the_advised_policy_is_created(tmp_path: Path) -> None:
    better = {"policy": "d-raven", "params": {"alpha0": 3.0, "gamma": 0.99}}
    path = write_export(tmp_path, entry(instead=better))
    loaded = Policy.load(path)
    assert (loaded.name, loaded.values["alpha0"], loaded.values["gamma"]) == ("d-raven", 3.0, 0.99)
    with pytest.warns(UserWarning, match="advises d-raven instead of RavenUCB"):
        assert RavenUCB.load(path).values["alpha0"] == 0.5
    broken: object
    for broken, name in (
        ("d-raven", "instead"),
        ({"policy": "d-raven"}, "instead"),
        ({**better, "params": {"alpha0": [1]}}, "alpha0"),
    ):
        with raises_naming(InputError, name):
            Policy.load(write_export(tmp_path, entry(instead=broken)))


@pytest.mark.parametrize("facts", [{}, {"trace": {"minimize": False}}, {"log": {"minimize": True}}])
def test_files_of_schema_1_are_loaded_as_before_with_a_warning(facts: dict[str, object], tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(arms=2, **facts), schema=1)
    with pytest.warns(UserWarning, match="negative of costs") as caught:
        policy = RavenUCB.load(path)
    assert [warning.filename for warning in caught] == [__file__]
    policy.update_many([0, 1], [-12.5, -9.4])
    assert policy.select() == 1


def test_arms_have_the_exported_names(tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(arms=2, names=["north", "south"]))
    assert RavenUCB.load(path).select() == "north"
    assert RavenUCB.load(path, names=["a", "b"]).select() == "a"
    assert RavenUCB.load(path, arms=3, names=["a", "b", "c"]).select() == "a"
    with raises_naming(InputError, "names", "3", "2"):
        RavenUCB.load(path, arms=3)


def test_arms_that_open_later_are_closed(tmp_path: Path) -> None:
    policy = RavenUCB.load(write_export(tmp_path, entry(scenario="arm-churn", extra_arms=2)))
    assert policy.arms == 7
    assert policy.state()["open"] == [1, 1, 1, 1, 1, 0, 0]
    policy.update_many(range(5), [0.5] * 5)
    policy.open(6)
    assert policy.select() == 6


def test_missing_parameters_get_their_defaults(tmp_path: Path) -> None:
    policy = RavenUCB.load(write_export(tmp_path, entry(params={"alpha0": 0.5})))
    assert policy.values == {**RavenUCB(arms=5).values, "alpha0": 0.5}


@pytest.mark.parametrize("suffix", [".csv", ".yaml", ".py"])
def test_formats_that_cannot_be_loaded_are_rejected(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"recommended{suffix}"
    path.write_text("study,policy\n", encoding="utf-8")
    with raises_naming(InputError, path, "JSON", "TOML") as caught:
        RavenUCB.load(path)
    assert "not a valid" not in str(caught.value)


def test_toml_exports_are_read(tmp_path: Path) -> None:
    path = tmp_path / "recommended.toml"
    path.write_text(
        'schema = 2\n[[recommendations]]\nstudy = "s"\npolicy = "ucb1"\nscenario = "blips"\nhorizon = 100\narms = 3\n'
        'feedback = "rewards"\n'
        "[recommendations.params]\nc = 0.5\n"
    )
    assert Policy.load(path).values == {"c": 0.5}


def test_arguments_select_an_entry(tmp_path: Path) -> None:
    path = write_export(
        tmp_path,
        entry(),
        entry(horizon=10000, params={"alpha0": 3.0}),
        entry(scenario="periodic", arms=7),
        entry(scenario="delayed", study="a"),
        entry(scenario="delayed", study="b", arms=9),
    )
    assert RavenUCB.load(path, scenario="blips", horizon=10000).values["alpha0"] == 3.0
    assert RavenUCB.load(path, scenario="periodic").arms == 7
    assert RavenUCB.load(path, scenario="delayed", arms=9).arms == 9
    assert RavenUCB.load(path, study="b").arms == 9
    with raises_naming(InputError, "2", "raven-ucb", "'blips'", "10000"):
        RavenUCB.load(path, scenario="blips")
    with raises_naming(InputError, "raven-ucb", "horizon", "5", "blips", "1000"):
        RavenUCB.load(path, horizon=5)
    with raises_naming(InputError, "ucb1", "raven-ucb", "blips"):
        find_policy("ucb1").load(path)


def test_seed_is_passed_to_the_policy(tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(policy="thompson", params={"b0": 0.1}))
    first, second = (find_policy("thompson").load(path, seed=3) for _ in range(2))
    for policy in (first, second):
        for arm in range(5):
            policy.update(arm, 0.1 * arm)
    assert [first.select() for _ in range(20)] == [second.select() for _ in range(20)]


def test_horizon_of_the_entry_is_passed_to_the_policy(tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(policy="ucb-imp", params={"a": 0.5}))
    assert find_policy("ucb-imp").load(path).values == {"horizon": 1000.0, "a": 0.5}


def test_raven_is_converted_to_another_scale(tmp_path: Path) -> None:
    policy = RavenUCB.load(write_export(tmp_path, entry()), scale=10)
    assert policy.values["alpha0"] == pytest.approx(5.0)
    assert policy.values["beta0"] == 2.0
    assert policy.values["epsilon"] == pytest.approx(1.0)


SCALABLE = [
    name for name in policy_names() if find_policy(name).scalable and find_policy(name).hidden_knowledge() is None
]


@pytest.mark.parametrize("name", SCALABLE)
def test_converted_policies_pull_the_same_arms(name: str, tmp_path: Path) -> None:
    """Scaling by a power of 4 is exact."""
    path = write_export(tmp_path, entry(policy=name, params={}, horizon=400))
    small, large = find_policy(name).load(path, seed=1), find_policy(name).load(path, seed=1, scale=4.0)
    rng = np.random.default_rng(7)
    means, same, steps = rng.random(5), 0, 400
    for _ in range(steps):
        arm = small.select()
        same += arm == large.select()
        reward = float(means[arm] + 0.3 * rng.standard_normal())
        small.update(arm, reward)
        large.update(arm, 4.0 * reward)
    assert same == steps, f"{same} of {steps} pulls are the same; check power and scalable"


@pytest.mark.parametrize("name", ["ccb", "published-ucb1"])
def test_scaling_of_unscalable_policies_is_rejected(name: str, tmp_path: Path) -> None:
    path = write_export(tmp_path, entry(policy=name, params={}))
    assert find_policy(name).load(path, scale=1).name == name
    with raises_naming(InputError, "scale", "1"):
        find_policy(name).load(path, scale=2)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "2", True])
def test_rejects_invalid_scales(scale: Any, tmp_path: Path) -> None:
    with raises_naming(InputError, "scale"):
        RavenUCB.load(write_export(tmp_path, entry()), scale=scale)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"", ["JSON"]),
        (b'{"schema": 1, "recommendations": [{"study"', ["JSON"]),
        (b"\x80\x04\x95pickle", ["JSON"]),
        (b"[" * 100_000, ["JSON"]),
        (b"[1, 2]", ["schema", "recommendations"]),
        (b'{"a": 1}', ["schema", "recommendations"]),
        (b'{"schema": 3, "recommendations": []}', ["schema", "3", "1", "2"]),
        (b'{"schema": true, "recommendations": []}', ["schema", "True"]),
        (b'{"schema": 1, "recommendations": {}}', ["recommendations", "list"]),
        (b'{"schema": 1, "recommendations": [3]}', ["recommendations[0]"]),
        (b'{"schema": 1, "recommendations": []}', ["raven-ucb"]),
    ],
)
def test_rejects_other_and_truncated_files(content: bytes, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "recommended.json"
    path.write_bytes(content)
    with raises_naming(InputError, *names) as caught:
        RavenUCB.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"horizon": "1000"}, ["horizon", "'1000'"]),
        ({"arms": True}, ["arms", "True"]),
        ({"arms": 0}, ["arms", "1"]),
        ({"params": [1]}, ["params", "[1]"]),
        ({"params": {"alpha0": None}}, ["alpha0", "None"]),
        ({"params": {"alpha0": -1}}, ["alpha0", "-1", "0"]),
        ({"params": {"alpha0": float("nan")}}, ["alpha0", "nan"]),
        ({"params": {"self": 1}}, ["parameter"]),
        ({"feedback": None}, ["feedback", "'None'", "costs"]),
        ({"feedback": "cost"}, ["feedback", "'cost'", "costs"]),
        ({"names": "abcde"}, ["names", "list", "'abcde'"]),
        ({"names": ["a", "b"]}, ["names", "5", "2"]),
        ({"names": ["a", "b", "c", "d", 5]}, ["names", "5"]),
        ({"names": ["a", "b", "c", "d", "a"]}, ["names", "'a'"]),
        ({"extra_arms": -1}, ["extra_arms", "-1", "0"]),
        ({"extra_arms": 10**14}, ["memory"]),
        ({"params": {"variance": "__import__('os')"}}, ["variance", "welford"]),
    ],
)
def test_rejects_invalid_entries(changes: dict[str, Any], names: list[str], tmp_path: Path) -> None:
    with raises_naming(InputError, *names):
        RavenUCB.load(write_export(tmp_path, entry(**changes)))


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot read"):
            RavenUCB.load(path)
