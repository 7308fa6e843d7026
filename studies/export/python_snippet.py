"""Python: code that creates the recommended policies and selects an arm."""

from __future__ import annotations

from collections.abc import Sequence

from environments.text import format_number, format_percent
from policies import find_policy, policy_names
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """Write the code. Names are inserted as ASCII literals, so that they cannot be code."""
    lines = [
        '"""Recommended policies by study; requires ravenlab."""',
        "",
        "import ravenlab",
        "",
        "policies = {",
        *(line for recommendation in recommendations for line in _format_entry(recommendation)),
        "}",
        "",
        "for study, policy in policies.items():",
        "    arm = policy.select()",
        "    policy.update(arm, 0.5)  # the observed reward",
        '    print(f"{ascii(study)}: pulled arm {arm}")',
    ]
    return "\n".join(lines) + "\n"


def _format_entry(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    study = f"{recommendation.study!a}"
    if recommendation.policy not in policy_names():
        params = f"{recommendation.params!a}"
        return [f"    # {study}: {recommendation.policy!a} is a plugin; create it from its file with {params}"]
    policy = find_policy(recommendation.policy)
    secret = policy.hidden_knowledge()
    if secret is not None:
        return [f"    # {study}: {policy.name} {secret}, so it exists in simulation only"]
    values = policy.resolve(recommendation.params, recommendation.arms, recommendation.horizon)
    horizon = int(float(values.pop("horizon", recommendation.horizon)))
    return [
        *(["    # Tuned on costs: pass their negatives as rewards."] if _is_on_costs(recommendation) else []),
        f"    # {recommendation.scenario!a}, horizon {recommendation.horizon}: {_describe_result(recommendation)}",
        f"    {study}: ravenlab.{policy.__name__}(",
        f"        arms={recommendation.arms},",
        f"        horizon={horizon},",
        *(f"        {name}={value!r}," for name, value in values.items()),
        "    ),",
    ]


def _is_on_costs(recommendation: Recommendation | RobustRecommendation) -> bool:
    recorded = recommendation.recorded if isinstance(recommendation, Recommendation) else None
    return recorded is not None and recorded.minimize


def _describe_result(recommendation: Recommendation | RobustRecommendation) -> str:
    """Describe the measured regret, score or price for a comment."""
    if isinstance(recommendation, RobustRecommendation):
        price = recommendation.price
        mean, low, high = (format_percent(share) for share in (price.mean, price.low, price.high))
        return f"price of not knowing the scenario ({recommendation.measure}) {mean}, 95 % CI {low} to {high}"
    estimate = recommendation.regret if recommendation.log is None else recommendation.log.score
    name = "mean regret" if recommendation.log is None else "replay score"
    mean, low, high = (format_number(value) for value in (estimate.mean, estimate.low, estimate.high))
    return f"{name} {mean}, 95 % CI {low} to {high}"
