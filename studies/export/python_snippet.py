"""Python: code that creates the recommended policies and selects an arm."""

from collections.abc import Sequence

from ravenlab.common.text import escape_unprintable, format_ends, format_mean, format_number, format_percent
from ravenlab.policies import find_policy, policy_names
from ravenlab.studies.results.describe_recommendation import word_verdict
from ravenlab.studies.results.expected import Advice, describe_deployment, find_instead


def write(recommendations: Sequence[Advice]) -> str:
    """Write the code. Names are inserted as ASCII literals, so that they cannot be code."""
    costs = any(describe_deployment(recommendation).feedback == "costs" for recommendation in recommendations)
    entries: list[str] = []
    closed: list[str] = []
    for recommendation in recommendations:
        obstacle = _find_obstacle(recommendation)
        if obstacle is None:
            entries += _format_entry(recommendation)
            later = range(recommendation.arms, recommendation.arms + describe_deployment(recommendation).extra_arms)
            closed += [f"policies[{recommendation.study!a}].close({arm})  # until it opens" for arm in later]
        else:
            entries += [f"    # {recommendation.study!a}: {obstacle}", _format_verdict(recommendation)]
    lines = [
        '"""Recommended policies by study; requires ravenlab."""',
        "",
        "import ravenlab",
        "",
        "policies = {",
        *entries,
        "}",
        *closed,
        "",
        "for study, policy in policies.items():",
        "    arm = policy.select()",
        f"    policy.update(arm, 0.5)  # the observed reward{', or the cost if minimize=True' if costs else ''}",
        '    print(f"{ascii(study)}: pulled arm {ascii(arm)}")',
    ]
    return "\n".join(lines) + "\n"


def _find_obstacle(recommendation: Advice) -> str | None:
    """Return why the policy cannot be created by its class; None if it can."""
    used = find_instead(recommendation) or recommendation
    if used.policy not in policy_names():
        return f"{used.policy!a} is a plugin; create it from its file with {used.params!a}"
    policy = find_policy(used.policy)
    secret = policy.hidden_knowledge()
    return None if secret is None else f"{policy.name} {secret}, so it exists in simulation only"


def _format_verdict(recommendation: Advice) -> str:
    text = word_verdict(recommendation)
    sentences = [f"{text.short}.", text.explanation, *text.warnings]
    return escape_unprintable(f"    # Verdict: {' '.join(filter(None, sentences))}")


def _format_entry(recommendation: Advice) -> list[str]:
    deployment = describe_deployment(recommendation)
    used = deployment.instead or recommendation
    policy = find_policy(used.policy)
    arms = recommendation.arms + deployment.extra_arms
    values = policy.resolve(used.params, arms, recommendation.horizon)
    horizon = int(float(values.pop("horizon", recommendation.horizon)))
    name, estimate = recommendation.stated  # the regret, score or price
    format_value = format_percent if recommendation.export_key == "robust" else format_number
    stated = f"{name} {format_mean(estimate, format_value)}, 95 % CI {format_ends(estimate, format_value)}"
    return [
        f"    # {recommendation.scenario!a}, horizon {recommendation.horizon}: {stated}",
        _format_verdict(recommendation),
        f"    # {' '.join(deployment.assumptions)}",
        f"    {recommendation.study!a}: ravenlab.{policy.__name__}(",
        f"        arms={arms},",
        *([] if deployment.names is None else [f"        names={deployment.names!a},"]),
        *(["        minimize=True,"] if deployment.feedback == "costs" else []),
        f"        horizon={horizon},",
        *(f"        {name}={value!r}," for name, value in values.items()),
        "    ),",
    ]
