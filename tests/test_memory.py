"""Memory grows with replications × steps, but not with replications × steps × arms."""

import pytest

from tests.project import python

MEASURE = """
import resource, sys
from ravenlab.policies.engine.simulation import simulate
policy, scenario, horizon, arms, replications = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
simulate(policy, scenario, horizon=arms + 1, arms=arms, replications=1)
simulate(policy, scenario, horizon=arms + 1, arms=arms, replications=1, checkpoints=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
simulate(policy, scenario, horizon=horizon, arms=arms, replications=replications)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize(
    ("policy", "scenario", "horizon", "arms", "replications", "megabytes"),
    [
        ("raven-ucb", "variance-drift", 10_000, 10, 200, 150),
        pytest.param("raven-ucb", "delayed", 10_000, 10, 200, 150, marks=pytest.mark.stress),
        pytest.param("ucb1", "gradual-drift", 10_000, 10, 200, 150, marks=pytest.mark.stress),
        ("published-raven-ucb", "published-logistics", 50_000, 100, 50, 300),
        ("raven-ucb", "periodic", 50_000, 1000, 4, 150),
    ],
)
def test_simulation_memory_is_bounded(
    policy: str, scenario: str, horizon: int, arms: int, replications: int, megabytes: float
) -> None:
    sizes = [str(number) for number in (horizon, arms, replications)]
    done = python("-c", MEASURE, policy, scenario, *sizes)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < megabytes
