"""Names and short forms of what results state: baselines, units, edges, estimates."""

from collections.abc import Sequence

from ravenlab.common.text import format_number
from ravenlab.studies.results import baselines
from ravenlab.studies.results.expected import Advice
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.symbols import format_symbol


def name_edges(recommendation: Advice) -> list[str]:
    """Name the parameters at the edge of the search range, in a few words; an empty list if there are none."""
    names = ", ".join(format_symbol(edge.param) for edge in recommendation.edge)
    return [f"at the edge of the search range: {names}"] if names else []


def format_unit(recommendation: Advice) -> str:
    """Format the scale of the rewards for a table; empty if it is the usual one."""
    return "" if recommendation.unit == 1.0 else f"reward scale {format_number(recommendation.unit)}"


def name_defaults(*recommendations: Advice) -> str:
    """Return what the defaults of several recommendations are called together."""
    return " or ".join(sorted({baselines.name_defaults(each.unit) for each in recommendations})) or "defaults"


def list_baselines(recommendations: Sequence[Advice]) -> dict[str, str]:
    """List the baselines of a table by name; the class as constructed only if a recommendation has it."""
    found = {baseline.name for recommendation in recommendations for baseline in recommendation.comparisons}
    titles = {
        name: baselines.shorten_title(title)
        for name, title in baselines.TITLES.items()
        if name != "as constructed" or name in found
    }
    return titles | {"defaults": name_defaults(*recommendations)}


def list_contenders(recommendation: RobustRecommendation) -> list[EvaluatedSetting]:
    """List the settings of a robust recommendation; defaults that are scaled are called so."""
    defaults = {"name": name_defaults(recommendation)}
    return [each.model_copy(update=defaults) if each.name == "defaults" else each for each in recommendation.contenders]
