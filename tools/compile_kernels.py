"""Compile the kernels that most tests need: python -m tools.compile_kernels.

Without this, every test process of a new clone would compile the same kernels. The first test that needs any other
kernel compiles it.
"""

from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate

POLICIES = ("raven-ucb", "ucb1", "epsilon-greedy", "thompson", "sw-raven", "d-raven", "published-raven-ucb")


def compile_policy(name: str) -> None:
    """Compile the general loop, the fast loop if any, and the online rules of a policy."""
    for checkpoints in (2, None):
        simulate(name, "stationary", horizon=30, arms=3, replications=1, checkpoints=checkpoints)
    policy_class = find_policy(name)
    if policy_class.hidden_knowledge() is None:
        policy = policy_class(3, seed=1, horizon=30)
        for _ in range(5):
            policy.update(policy.select(), 0.5)


if __name__ == "__main__":
    for policy_name in POLICIES:
        compile_policy(policy_name)
