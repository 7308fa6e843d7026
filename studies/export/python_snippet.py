"""Python: a snippet that builds every recommended policy and pulls an arm."""

from __future__ import annotations

from collections.abc import Sequence

from policies import find_policy, policy_names
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
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


def _entry(each: Recommendation | RobustRecommendation) -> list[str]:
    if each.policy not in policy_names():
        return [f"    # {each.study!a}: {each.policy!a} is its user's own; make it from its file, with {each.params!a}"]
    policy = find_policy(each.policy)
    where = f"{each.scenario!a}, horizon {each.horizon}"
    if policy.uses_true_means:
        return [f"    # {each.study!a}: {policy.name} reads the true means, so it exists in simulation only"]
    values = policy.resolve(each.params, each.arms, each.horizon)
    horizon = int(float(values.pop("horizon", each.horizon)))
    turned = isinstance(each, Recommendation) and each.recorded is not None and each.recorded.minimize
    return [
        *(["    # it was tuned on costs: give it their negatives as rewards"] if turned else []),
        f"    # {where}: {_worth(each)}",
        f"    {each.study!a}: ravenlab.{policy.__name__}(",
        f"        arms={each.arms},",
        f"        horizon={horizon},",
        *(f"        {name}={value!r}," for name, value in values.items()),
        "    ),",
    ]


def _worth(each: Recommendation | RobustRecommendation) -> str:
    """What was measured, in a comment."""
    if isinstance(each, RobustRecommendation):
        low, mean, high = (100.0 * end for end in (each.price.low, each.price.mean, each.price.high))
        return f"price of not knowing the world ({each.measure}) {mean:.3g} %, 95 % {low:.3g} to {high:.3g} %"
    what, found = ("mean regret", each.regret) if each.log is None else ("replay score", each.log.score)
    return f"{what} {found.mean:.6g}, 95 % {found.low:.6g} to {found.high:.6g}"
