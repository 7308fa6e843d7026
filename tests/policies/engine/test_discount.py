import numpy as np
import pytest

from ravenlab.policies.d_raven import MEAN, PAIRS, SQUARES, UNIT_OF_WEIGHT, WEIGHT, DRaven
from tests.policies.reference_parts import History


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("gamma", [0.0, 0.7, 0.99, 0.99999, 1.0])
def test_statistics_match_weighted_rewards(gamma: float, offset: float) -> None:
    rng = np.random.default_rng(6)
    policy = DRaven(3, gamma=gamma)
    history = History()
    for step in range(1, 3001):
        k, x = int(rng.choice(3, p=[0.6, 0.38, 0.02])), offset + float(rng.normal(0.5, 0.3))
        policy.update(k, x)
        history.add(k, x)
        if step % 500 == 0:
            for arm in range(3):
                w, rewards = history.weighted(arm, gamma)
                tolerance, unit = 1e-9 * max(1.0, offset**0.5), policy._cells[UNIT_OF_WEIGHT]
                assert policy._stats[WEIGHT, arm] * unit == pytest.approx(w.sum(), rel=1e-9, abs=1e-280)
                assert policy._stats[PAIRS, arm] * unit**2 == pytest.approx(
                    w.sum() ** 2 - (w**2).sum(), rel=1e-9, abs=1e-9
                )
                if w.sum() > 1e-250:
                    mean = np.average(rewards, weights=w)
                    assert policy._stats[MEAN, arm] == pytest.approx(mean, abs=tolerance)
                    squares = np.sum(w * (rewards - mean) ** 2)
                    assert policy._stats[SQUARES, arm] * unit == pytest.approx(squares, rel=tolerance, abs=tolerance)


def test_idle_arm_stays_finite() -> None:
    policy = DRaven(2, gamma=0.5)
    policy.update(0, 0.3)
    policy.update(0, 0.5)
    policy.close(0)
    for _ in range(3000):
        policy.update(1, 0.1)
    assert np.isfinite(policy._stats).all()
    assert policy._stats[WEIGHT, 0] == 0.0
    policy.open(0)
    assert policy.select() == 0
