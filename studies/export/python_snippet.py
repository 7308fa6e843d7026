"""Python: a snippet that builds every recommended policy and pulls an arm."""

from __future__ import annotations

from collections.abc import Sequence

from policies import find_policy
from studies.recommendation import Recommendation


def write(recommendations: Sequence[Recommendation]) -> str:
    """The snippet. Names go in as literals, so that none of them is ever code."""
    lines = [
        '"""Recommended policies by study; needs ravenlab."""',
        "",
        "import ravenlab",
        "",
        "policies = {",
        *(line for each in recommendations for line in _entry(each)),
        "}",
        "",
        "for study, policy in policies.items():",
        "    arm = policy.select()",
        "    policy.update(arm, 0.5)  # the reward that it gave",
        '    print(f"{ascii(study)}: pulled arm {arm}")',
    ]
    return "\n".join(lines) + "\n"


def _entry(each: Recommendation) -> list[str]:
    policy = find_policy(each.policy)
    where = f"{each.scenario!a}, horizon {each.horizon}"
    if policy.peeks:
        return [f"    # {each.study!a}: {policy.name} reads the true means, so it exists in simulation only"]
    values = policy.resolve(each.params, each.arms, each.horizon)
    horizon = int(float(values.pop("horizon", each.horizon)))
    turned = each.trace is not None and each.trace.minimize
    return [
        *(["    # it was tuned on costs: give it their negatives as rewards"] if turned else []),
        f"    # {where}: mean regret {each.regret.mean:.6g}, 95 % {each.regret.low:.6g} to {each.regret.high:.6g}",
        f"    {each.study!a}: ravenlab.{policy.__name__}(",
        f"        arms={each.arms},",
        f"        horizon={horizon},",
        *(f"        {name}={value!r}," for name, value in values.items()),
        "    ),",
    ]
