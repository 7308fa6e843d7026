"""Names and short forms of what results state: baselines, units, edges, estimates."""

from __future__ import annotations

from collections.abc import Sequence

from ravenlab.common.text import (
    format_count,
    format_interval,
    format_number,
)
from ravenlab.studies.results.recommendation import (
    BaselineName,
    Estimate,
    LogFacts,
    Recommendation,
    TraceFacts,
)
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.symbols import format_symbol

BASELINES: dict[BaselineName, str] = {
    "paper": "The paper's advice",
    "as constructed": "The class as constructed",
    "defaults": "The defaults",
}


WITHIN_NOISE = "within sampling noise"


INCONCLUSIVE = "inconclusive"


def name_edges(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    """Name the parameters at the edge of the search range, in a few words; an empty list if there are none."""
    names = ", ".join(format_symbol(edge.param) for edge in recommendation.edge)
    return [f"at the edge of the search range: {names}"] if names else []


def format_unit(recommendation: Recommendation | RobustRecommendation) -> str:
    """Format the scale of the rewards for a table; empty if it is the usual one."""
    return "" if recommendation.unit == 1.0 else f"reward scale {format_number(recommendation.unit)}"


def name_defaults(*recommendations: Recommendation | RobustRecommendation) -> str:
    """Return what the defaults are called: they are scaled if the rewards have another scale.

    Scaled defaults are not those of the class as constructed.
    """
    names = {"defaults" if each.unit == 1.0 else "scaled defaults" for each in recommendations}
    return " or ".join(sorted(names)) or "defaults"


def name_baseline(name: BaselineName, *recommendations: Recommendation) -> str:
    """Return what a baseline is called in tables and figures."""
    if name == "defaults":
        return name_defaults(*recommendations)
    return BASELINES[name].removeprefix("The ").removeprefix("class ")


def name_in_sentence(name: BaselineName, *recommendations: Recommendation) -> str:
    """Return what a baseline is called at the beginning of a sentence."""
    return f"The {name_defaults(*recommendations)}" if name == "defaults" else BASELINES[name]


def list_baselines(recommendations: Sequence[Recommendation]) -> dict[BaselineName, str]:
    """List the baselines of a table by name; the class as constructed only if a recommendation has it."""
    found = {baseline.name for recommendation in recommendations for baseline in recommendation.versus}
    names: list[BaselineName] = ["paper", "as constructed", "defaults"]
    return {name: name_baseline(name, *recommendations) for name in names if name != "as constructed" or name in found}


def list_contenders(recommendation: RobustRecommendation) -> list[EvaluatedSetting]:
    """List the settings of a robust recommendation; defaults that are scaled are called so."""
    defaults = {"name": name_defaults(recommendation)}
    return [each.model_copy(update=defaults) if each.name == "defaults" else each for each in recommendation.contenders]


def format_estimate(estimate: Estimate) -> str:
    """Format a mean with its 95 % confidence interval."""
    return format_interval(estimate.mean, estimate.low, estimate.high)


def name_regret_unit(recommendation: Recommendation) -> str:
    """Return what the regret is measured for, after a space; empty in simulated worlds, where it is the horizon."""
    match recommendation.recorded:
        case TraceFacts():
            return f" per window of {format_count(recommendation.horizon)} steps"
        case LogFacts():
            return " per step"
    return ""
