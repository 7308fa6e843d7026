"""`python -m tools.compile_kernels`: compile what most tests need, before several processes compile the same at once.

In a new clone nothing is compiled yet. Each test process, and each command that a test starts, would begin with the
same kernels. All others are left to the first test that needs them: two processes compile them in half the time.
"""

from __future__ import annotations

from policies import find_policy
from policies.engine.simulation import simulate

NAMES = ("raven-ucb", "ucb1", "epsilon-greedy", "thompson", "sw-raven", "d-raven", "published-raven-ucb")


def warm(name: str) -> None:
    """Compile the ways in which a policy is played: the general loop, the fast one if it has it, and online."""
    for checkpoints in (2, None):
        simulate(name, "stationary", horizon=30, arms=3, replications=1, checkpoints=checkpoints)
    if not find_policy(name).uses_true_means:
        policy = find_policy(name)(3, seed=1, horizon=30)
        for _ in range(5):
            policy.update(policy.select(), 0.5)


if __name__ == "__main__":
    for each in NAMES:
        warm(each)
