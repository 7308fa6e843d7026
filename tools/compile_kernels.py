"""Compile the kernels that most tests need: python -m tools.compile_kernels.

In a new clone nothing is compiled, and every test process would start by compiling the same kernels. Other kernels are
compiled by the first test that needs them, in parallel.
"""

from __future__ import annotations

from policies import find_policy
from policies.engine.simulation import simulate

NAMES = ("raven-ucb", "ucb1", "epsilon-greedy", "thompson", "sw-raven", "d-raven", "published-raven-ucb")


def warm(name: str) -> None:
    """Compile the general loop, the fast loop if there is one, and the online rules of a policy."""
    for checkpoints in (2, None):
        simulate(name, "stationary", horizon=30, arms=3, replications=1, checkpoints=checkpoints)
    policy_class = find_policy(name)
    if not policy_class.uses_true_means:
        policy = policy_class(3, seed=1, horizon=30)
        for _ in range(5):
            policy.update(policy.select(), 0.5)


if __name__ == "__main__":
    for policy_name in NAMES:
        warm(policy_name)
