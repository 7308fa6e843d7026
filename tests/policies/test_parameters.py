"""Invalid parameters are refused by name, for every policy with limits of its own."""

from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy

INVALID: dict[str, list[dict[str, Any]]] = {
    "adr-ucb": [{"delta": 1.5}, {"n0": 0}, {"xi": -1.0}],
    "ars-exp3": [{"eta": -1.0}, {"high": 0.0}, {"eta": "x"}, {"horizon": 1e50}],
    "bob-sw-ucb": [{"block": 0}, {"block": 2.5}, {"high": 0.0}, {"xi": -1.0}],
    "cusum-ucb": [{"m": 0}, {"m": 2.5}, {"h": -1.0}, {"a": 1.5}, {"low": 1.0}],
    "epsilon-greedy": [{"epsilon": 1.5}],
    "exp3-s": [{"gamma": 1.1}, {"gamma": -0.1}, {"high": 0.0}, {"changes": -1}],
    "f-dsw-ts": [{"n": 0}, {"n": 2.5}, {"gamma": 1.1}, {"g": "median"}, {"low": 2.0}],
    "glr-klucb": [{"delta": 1.5}, {"exploration": -0.1}, {"s2": -1.0}],
    "kl-ucb": [{"likelihood": "poisson"}, {"s2": -1.0}, {"low": 1.0}],
    "m-ucb": [{"w": 1}, {"w": 2.5}, {"b": -1.0}, {"gamma": 1.5}, {"low": 1.0}],
    "master": [{"h": -1.0}, {"xi": -1.0}, {"high": 0.0}],
    "rexp3": [{"batch": 0}, {"batch": 2.5}, {"gamma": 1.1}, {"high": 0.0}, {"variation": -1}],
    "softmax": [{"tau": 0.0}],
    "sw-ts": [{"low": 1.0}, {"kappa0": 0.0}, {"tau": 0}, {"tau": 2.5}, {"a0": 0.0}],
    "thompson": [{"low": 1.0}, {"likelihood": "poisson"}],
    "tsallis-inf": [{"c": 0.0}, {"c": -1.0}, {"high": 0.0}],
}


@pytest.mark.parametrize("policy", INVALID)
def test_invalid_parameters_are_named(policy: str) -> None:
    for params in INVALID[policy]:
        with pytest.raises(InputError, match=next(iter(params))):
            find_policy(policy).resolve(params, 2, 100)
