import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import CLOSED, OPEN, WAITING


@pytest.mark.parametrize("name", ["cusum-ucb", "glr-klucb", "m-ucb"])
def test_restarted_arm_waits_for_its_reward(name: str) -> None:
    """Another arm without rewards is selected meanwhile, and none if the others are closed."""
    policy = find_policy(name)(3, horizon=100)
    policy.update(1, 0.5)
    rest = (policy._stats, policy._cells, policy._memory, policy._p, policy._rng)
    assert policy.choose(4, np.array([OPEN, OPEN, OPEN]), *rest) == 0
    assert policy.choose(4, np.array([WAITING, OPEN, OPEN]), *rest) == 2
    assert policy.choose(40, np.array([WAITING, CLOSED, CLOSED]), *rest[:3], np.zeros(8), rest[4]) == -1
