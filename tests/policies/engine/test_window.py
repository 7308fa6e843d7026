import numpy as np
import pytest

from ravenlab.policies.engine.parameters import ParamContext
from ravenlab.policies.engine.window import COUNT, MEAN, SQUARES, longest_window, window_for_changes
from ravenlab.policies.sw_raven import SWRaven
from tests.policies.reference_parts import History


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("tau", [1, 2, 37, 1000])
def test_statistics_match_last_rewards(tau: int, offset: float) -> None:
    rng = np.random.default_rng(5)
    policy = SWRaven(4, tau=tau)
    history = History()
    for step in range(1, 3511):
        k, x = int(rng.choice(4, p=[0.5, 0.3, 0.15, 0.05])), offset + float(rng.normal(0.5, 0.3))
        policy.update(k, x)
        history.add(k, x)
        if step % 270 == 0:
            for arm in range(4):
                rewards = np.array(history.window(arm, tau))
                assert policy._stats[COUNT, arm] == len(rewards)
                if rewards.size:
                    tolerance = 1e-9 * max(1.0, offset**0.5)
                    mean, squares = np.mean(rewards), np.sum((rewards - np.mean(rewards)) ** 2)
                    assert policy._stats[MEAN, arm] == pytest.approx(mean, abs=tolerance)
                    assert policy._stats[SQUARES, arm] == pytest.approx(squares, abs=tolerance, rel=tolerance)


def test_removed_outlier_leaves_no_rounding_error() -> None:
    policy = SWRaven(2, tau=10)
    for x in [1e15, *[0.25, 0.5] * 5]:
        policy.update(0, x)
    assert policy._stats[MEAN, 0] == 0.375
    assert policy._stats[SQUARES, 0] == pytest.approx(10 * 0.125**2, abs=1e-12)


@pytest.mark.parametrize(("horizon", "tau"), [(1, 1.0), (10000, 191.9), (10**6, 2350.8)])
def test_default_window(horizon: int, tau: float) -> None:
    assert window_for_changes(ParamContext(horizon, 5, {"changes": 10.0})) == pytest.approx(tau, rel=1e-3)
    assert window_for_changes(ParamContext(horizon, 5, {"changes": 0.0})) == horizon
    assert longest_window(ParamContext(horizon, 5, {})) == max(10, horizon)
