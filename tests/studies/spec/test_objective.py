"""Objectives: values and parsing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.studies.spec.objective import Objective, parse_objective

SAMPLE = np.array([[4.0, 1.0, 3.0, 2.0], [10.0, 10.0, 10.0, 50.0]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean", [2.5, 20.0]),
        ("reward", [2.5, 20.0]),
        ("after:10%", [2.5, 20.0]),
        ("quantile:0.5", [2.5, 10.0]),
        ("cvar:0.5", [3.5, 30.0]),
        ("cvar:0.75", [4.0, 50.0]),
        ("cvar:0.999", [4.0, 50.0]),
    ],
)
def test_objective_values(text: str, expected: list[float]) -> None:
    assert parse_objective(text).value(SAMPLE).tolist() == expected


def test_only_reward_is_maximized() -> None:
    regret, reward = np.array([1.0]), np.array([2.0])
    for text in ("mean", "quantile:0.9", "cvar:0.9", "after:5"):
        objective = parse_objective(text)
        assert not objective.maximize
        assert objective.sample(regret, reward) is regret
    assert parse_objective("reward").maximize
    assert parse_objective("reward").sample(regret, reward) is reward


def test_the_burn_in_ends_before_the_horizon() -> None:
    assert parse_objective("after:10%").burn_in(1000) == 100
    assert parse_objective("after:7").burn_in(1000) == 7
    assert parse_objective("mean").burn_in(1000) == 0
    parse_objective("after:9").check(10)
    for text in ("after:10", "after:100%", "after:300%"):
        with pytest.raises(InputError, match="burn-in"):
            parse_objective(text).check(10)


@pytest.mark.parametrize(
    "text",
    [
        *("", "median", "mean:", "mean:0.5", "reward:1", "quantile", "quantile:", "quantile:0", "quantile:1"),
        *("cvar:nan", "cvar:x", "cvar:-0.1", "after", "after:", "after:0", "after:-5", "after:x", "after:0%"),
        "after:1e9999%",
    ],
)
def test_invalid_objectives_are_named_in_the_error(text: str) -> None:
    with pytest.raises(InputError, match="objective"):
        parse_objective(text)


@given(st.text(max_size=20) | st.from_regex(r"(mean|quantile|cvar|after|reward):?[0-9.%e-]*", fullmatch=True))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    try:
        objective = parse_objective(text)
    except InputError:
        return
    assert isinstance(objective, Objective)
