"""Python: code that creates the recommended policies and selects an arm."""

from collections.abc import Sequence

from ravenlab.common.text import escape_unprintable, format_ends, format_number, format_percent
from ravenlab.policies import find_policy, policy_names
from ravenlab.studies.export.deployment import describe_deployment
from ravenlab.studies.results.describe import word_verdict
from ravenlab.studies.results.expected import Advice


def write(recommendations: Sequence[Advice]) -> str:
    """Write the code. Names are inserted as ASCII literals, so that they cannot be code."""
    costs = any(describe_deployment(recommendation).feedback == "costs" for recommendation in recommendations)
    lines = [
        '"""Recommended policies by study; requires ravenlab."""',
        "",
        "import ravenlab",
        "",
        "policies = {",
        *(line for recommendation in recommendations for line in _format_entry(recommendation)),
        "}",
        *(line for recommendation in recommendations for line in _close_later_arms(recommendation)),
        "",
        "for study, policy in policies.items():",
        "    arm = policy.select()",
        f"    policy.update(arm, 0.5)  # the observed reward{', or the cost if minimize=True' if costs else ''}",
        '    print(f"{ascii(study)}: pulled arm {ascii(arm)}")',
    ]
    return "\n".join(lines) + "\n"


def _format_entry(recommendation: Advice) -> list[str]:
    study = f"{recommendation.study!a}"
    text = word_verdict(recommendation)
    sentences = [f"{text.short}.", text.explanation, *text.warnings]
    verdict = escape_unprintable(f"    # Verdict: {' '.join(filter(None, sentences))}")
    obstacle = _find_obstacle(recommendation)
    if obstacle is not None:
        return [f"    # {study}: {obstacle}", verdict]
    policy = find_policy(recommendation.policy)
    deployment = describe_deployment(recommendation)
    arms = recommendation.arms + deployment.extra_arms
    values = policy.resolve(recommendation.params, arms, recommendation.horizon)
    horizon = int(float(values.pop("horizon", recommendation.horizon)))
    return [
        f"    # {recommendation.scenario!a}, horizon {recommendation.horizon}: {_describe_result(recommendation)}",
        verdict,
        f"    # {' '.join(deployment.assumptions)}",
        f"    {study}: ravenlab.{policy.__name__}(",
        f"        arms={arms},",
        *([] if deployment.names is None else [f"        names={deployment.names!a},"]),
        *(["        minimize=True,"] if deployment.feedback == "costs" else []),
        f"        horizon={horizon},",
        *(f"        {name}={value!r}," for name, value in values.items()),
        "    ),",
    ]


def _close_later_arms(recommendation: Advice) -> list[str]:
    """Return statements that close the arms that open later."""
    if _find_obstacle(recommendation) is not None:
        return []
    first = recommendation.arms
    later = range(first, first + describe_deployment(recommendation).extra_arms)
    return [f"policies[{recommendation.study!a}].close({arm})  # until it opens" for arm in later]


def _find_obstacle(recommendation: Advice) -> str | None:
    """Return why the policy cannot be created by its class; None if it can."""
    if recommendation.policy not in policy_names():
        return f"{recommendation.policy!a} is a plugin; create it from its file with {recommendation.params!a}"
    policy = find_policy(recommendation.policy)
    secret = policy.hidden_knowledge()
    return None if secret is None else f"{policy.name} {secret}, so it exists in simulation only"


def _describe_result(recommendation: Advice) -> str:
    """Describe the regret, score or price for a comment."""
    name, estimate = recommendation.stated
    format_value = format_percent if recommendation.export_key == "robust" else format_number
    return f"{name} {format_value(estimate.mean)}, 95 % CI {format_ends(estimate, format_value)}"
