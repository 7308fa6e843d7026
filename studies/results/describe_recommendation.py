"""Recommendations described in sentences: verdict, regret, comparisons with baselines, and the data used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ravenlab.common.interval import TIE_MARGIN
from ravenlab.common.text import (
    capitalize_first,
    describe_p_value,
    format_count,
    format_ends,
    format_interval,
    format_mean,
    format_number,
    format_percent,
    join_words,
    plural,
)
from ravenlab.studies.results import baselines
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.baselines import USUAL, describe_baseline, describe_scale, describe_stake
from ravenlab.studies.results.describe_recorded import (
    describe_file,
    describe_log_score,
    describe_trace_regret,
    name_tuned,
)
from ravenlab.studies.results.expected import Advice
from ravenlab.studies.results.recommendation import FIXED_ARM, Edge, Failures, LogFacts, Recommendation, TraceFacts
from ravenlab.studies.results.robust import EvaluatedSetting, Price, RobustRecommendation
from ravenlab.studies.results.verdict import INSTEAD
from ravenlab.studies.spec.robust import parse_measure
from ravenlab.studies.spec.space import find_parameters
from ravenlab.studies.symbols import format_params, format_symbol


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


@dataclass(frozen=True)
class VerdictText:
    """The verdict in words. The whole text is the headline, what to keep, a link and the reason."""

    headline: str
    """What to do, in a few words, with the values to set."""
    short: str
    """The headline where the parameters are shown beside it."""
    kept: str = ""
    """The values to keep."""
    link: str = ". "
    reason: str = ""
    """Why, beginning in lower case unless it is a sentence of its own; may be empty."""
    warnings: Sequence[str] = ()

    @property
    def answer(self) -> str:
        """The headline with the reason."""
        return f"{self.headline}{self.kept}{f'{self.link}{self.reason}' if self.reason else '.'}"

    @property
    def rest(self) -> str:
        """Everything after the headline."""
        return " ".join([self.answer.removeprefix(self.headline), *self.warnings])

    @property
    def explanation(self) -> str:
        """The reason as a sentence of its own."""
        return capitalize_first(self.reason)


def describe_verdict(recommendation: Advice) -> str:
    """Describe what to do and whether it matters, in a few sentences."""
    text = word_verdict(recommendation)
    return text.headline + text.rest


def word_verdict(recommendation: Advice) -> VerdictText:
    """Word the verdict: what to do, why, and what to be careful about."""
    verdict = recommendation.verdict
    params = recommendation.params
    values = format_params(params)
    defaults = name_defaults(recommendation)
    warnings = [*warn_of_fixed_arm(recommendation), *_warn_of_edges(recommendation)]
    baseline = "as constructed" if verdict.decision == "inconclusive" else "defaults"
    stake = next((describe_stake(each) for each in recommendation.comparisons if each.name == baseline), "")
    kept = ""
    link = ": "
    match verdict.decision:
        case "keep the defaults":
            headline = f"Keep the {defaults}"
            kept = f" ({values})"
            reason = f"no parameters are better by more than {100 * TIE_MARGIN:g} %."
        case "set one parameter":
            (name,) = verdict.set
            others = {key: value for key, value in params.items() if key != name}
            headline = f"Set only {format_params({name: params[name]})}"
            kept = f" and keep the other {defaults} ({format_params(others)})"
            reason = f"{_describe_others(recommendation, name)}. {stake}".rstrip()
        case "use these values":
            return VerdictText(f"Use {values}", "Use these values", reason=stake, warnings=warnings)
        case "use one arm":
            headline = f"Always use {verdict.arm!r}"
            reason = f"it has less regret than the best parameters found ({values})."
        case "keep the logging policy":
            headline = "Keep the logging policy"
            reason = f"the best parameters found ({values}) are worse."
        case "use another policy":
            other = next((each.params for each in recommendation.alternatives if each.name == verdict.policy), {})
            headline = f"Use {verdict.policy}"
            kept = f" with its {defaults} ({format_params(other)})" if other else ""
            link = ": " if other else ", which has nothing to set: "
            reason = (
                f"on the same held-out data it is better than {recommendation.policy} with the best parameters found"
                f" ({values})."
            )
        case _:
            headline = "Inconclusive"
            link = ", because "
            estimate = f"The best estimate is {values}."
            if recommendation.recorded is not None and not verdict.set:  # no values are shown to be better
                estimate = f"Until that is known, keep the {defaults}: {values}."
            reason = f"{verdict.reason}. {estimate} {stake}".rstrip()
    return VerdictText(headline, headline, kept, link, reason, warnings)


def warn_of_fixed_arm(recommendation: Advice) -> list[str]:
    """State that parameters are not better than the best arm of the search rows; an empty list if they are."""
    arm = next((each for each in recommendation.alternative_comparisons if each.name == FIXED_ARM), None)
    if arm is None or arm.relation == "worse" or recommendation.verdict.decision in INSTEAD:
        return []
    return [f"{capitalize_first(arm.short_title)} is not significantly worse."]


def _warn_of_edges(recommendation: Advice) -> list[str]:
    """State which values are at the edge of the search range, in one sentence; an empty list if none is."""
    names = [format_symbol(edge.param) for edge in recommendation.edge]
    if not names:
        return []
    values = f"value of {names[0]} is" if len(names) == 1 else f"values of {join_words(names, 'and')} are"
    return [f"The {values} at the edge of the search range; better values may lie outside it."]


def _describe_others(recommendation: Advice, name: str) -> str:
    """Describe how much the parameters that keep their defaults matter."""
    others = [format_symbol(other) for other in recommendation.box if other != name]
    excess = recommendation.verdict.excess
    names = join_words(others, "and")
    if excess is not None and not excess.tied:
        return f"tuning {names} too reduces the regret by at most {format_percent(excess.high)}"
    do, them = ("does", "it") if len(others) == 1 else ("do", "them")
    return f"{names} {do} not matter, since tuning {them} too reduces the regret by at most {100 * TIE_MARGIN:g} %"


def format_verdict(recommendation: Advice) -> str:
    """Format the verdict for a table: the decision, and the parameters at the edge of their search range."""
    return "; ".join([word_verdict(recommendation).short, *name_edges(recommendation)])


def describe_better_policy(better: BetterPolicy) -> str:
    """Describe in one sentence that another policy is better, and the evidence for it.

    >>> from ravenlab.common.interval import Interval
    >>> difference = Interval(12.0, 9.0, 15.0, of="difference")
    >>> describe_better_policy(BetterPolicy("ucb1", {"c": 0.5}, 60.0, difference, 0.2, 1e-6, "raven-ucb", "mine"))
    'Another policy is better: tuned ucb1 (c 0.5) has 20 % less regret than tuned raven-ucb (difference 12.0, 95 % CI \
9.0 to 15.0, p < 0.0001) in the comparison mine.'
    """
    less = "" if better.reduction is None else f"{format_percent(better.reduction)} "
    return (
        f"Another policy is better: tuned {better.policy} ({format_params(better.params)}) has {less}less"
        f" regret than tuned {better.worse} (difference {format_mean(better.difference)}, 95 % CI"
        f" {format_ends(better.difference)}, {describe_p_value(better.p)})"
        f" in the comparison {better.comparison}."
    )


def describe_recommendation(recommendation: Recommendation, better: BetterPolicy | None = None) -> list[str]:
    """Describe parameters, regret, baselines, importance and data, one or two sentences per item.

    A better policy that a stored comparison shows is stated after the verdict.
    """
    lines = [describe_verdict(recommendation)]
    lines += [] if better is None else [describe_better_policy(better)]
    lines += describe_regret(recommendation)
    lines += describe_ranges(recommendation)
    lines += map(describe_baseline, recommendation.comparisons)
    if recommendation.importance:
        ordered = sorted(recommendation.importance.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{format_symbol(name)} {format_percent(share)}" for name, share in ordered)
        lines.append(f"Parameter importance: {shares}.")
    lines += describe_edges(recommendation.policy, recommendation.edge)
    lines += _describe_widening(recommendation)
    facts = recommendation.recorded
    if facts is not None:
        lines += describe_file(recommendation, facts)
    lines += describe_unit(recommendation)
    costs = recommendation.source is not None and recommendation.source.minimize
    if costs:
        what = "Rewards in the log" if isinstance(facts, LogFacts) else "Cells"
        lines.append(f"{what} are costs; a policy loaded from the export takes costs.")
    lines += recommendation.evidence
    lines += recommendation.holds_for
    unit = "costs" if costs else "rewards"
    scale = recommendation.scale
    lines.append(
        f"Tuned on {unit} with mean {format_number(scale.mean)} and spread {format_number(scale.spread)}"
        f" ({plural(recommendation.trials, 'trial')}, seed {recommendation.seed}, version {recommendation.version})."
    )
    return lines


def describe_regret(recommendation: Recommendation) -> list[str]:
    """Describe the regret on held-out worlds or held-out data, and how reliable the estimate is."""
    match recommendation.recorded:
        case TraceFacts() as facts:
            return describe_trace_regret(recommendation, facts)
        case LogFacts() as facts:
            return describe_log_score(recommendation, facts)
    regret = recommendation.regret
    biased = recommendation.objective == "mean" and recommendation.search_estimate < regret.low
    share = ""
    if recommendation.attainable is not None and recommendation.attainable > 0.0:
        share = f", {format_percent(regret.mean / recommendation.attainable)} of the attainable reward,"
    return [
        f"Mean regret {name_tuned(recommendation)}{format_interval(regret)}{share} on"
        f" {format_count(regret.replications)} held-out worlds not used for selection; the search"
        f" estimate was {format_number(recommendation.search_estimate)} (objective"
        f" {recommendation.objective}){_mention_bias(biased)}.",
        *([] if recommendation.failures is None else describe_failures(recommendation.failures, regret.replications)),
    ]


def _mention_bias(biased: bool) -> str:
    return ", which is optimistically biased (selection bias)" if biased else ""


def describe_failures(failures: Failures, worlds: int) -> list[str]:
    """Describe how many worlds fail, and warn if the interval of the mean regret cannot be trusted.

    >>> failures = Failures(rate=0.002, count=2, highest_rate=0.0063, unseen=8.2, reliable=False)
    >>> describe_failures(failures, 1000)[1]
    'Warning: failures missing from the sample may add up to 8.2 to the mean regret, so the interval may be too low; \
use more report worlds.'
    """
    lines = [
        f"The policy fails in {format_count(failures.count)} of {format_count(worlds)} worlds"
        f" ({format_percent(failures.rate)}; at most {format_percent(failures.highest_rate)} with 95 % confidence):"
        " in the last tenth of the steps its regret exceeds half that of uniform choice."
    ]
    if not failures.reliable:
        lines.append(
            f"Warning: failures missing from the sample may add up to {format_number(failures.unseen)} to the mean"
            " regret, so the interval may be too low; use more report worlds."
        )
    return lines


def format_failures(rate: float | None, reliable: bool) -> str:
    """Format a failure rate for a table; an exclamation mark warns of an unreliable interval of the mean.

    >>> format_failures(0.01, reliable=False), format_failures(None, reliable=True)
    ('1.0 % !', '–')
    """
    return "–" if rate is None else f"{format_percent(rate)}{'' if reliable else ' !'}"


def describe_ranges(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    """Describe how far each parameter may differ from the recommended value; an empty list if that is not known."""
    box = recommendation.box
    close = len(recommendation.indistinguishable)
    if recommendation.recorded is not None or recommendation.verdict.defaults is None:
        text = f"{format_count(close)} candidates are statistically indistinguishable from the best"
        return [f"{text}: {_format_ranges(box)}."] if box and close > 1 else []
    text = f"Changing one parameter within its range increases the regret by at most {100 * TIE_MARGIN:g} %"
    return [f"{text}, if the others have these values: {_format_ranges(box)}."] if box else []


def _format_ranges(box: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(
        f"{format_symbol(name)} {format_number(low)} to {format_number(high)}" for name, (low, high) in box.items()
    )


def _describe_widening(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    if not recommendation.widened:
        return []
    ranges = _format_ranges(recommendation.widened)
    return [f"Search ranges were widened, because the best trials were at their edge: {ranges}."]


def describe_edges(policy: str, edges: Sequence[Edge]) -> list[str]:
    """Describe values at the edge of their search range, each with the wider range to search.

    For a parameter searched as 1 − x the edge holds 1 − x; the range is given for x itself.

    >>> describe_edges("d-raven", [Edge(param="gamma", value=0.75, low=0.00001, high=0.75)])
    ['γ 0.75 is at the edge of the search range; search again with the range gamma=0.25:0.99999.']
    """
    rates = {param.name for param in find_parameters(policy) if param.scale == "one-minus"}
    lines = []
    for edge in edges:
        inverted = edge.param in rates and edge.low <= 1.0 - edge.value <= edge.high
        low, high = (1.0 - edge.high, 1.0 - edge.low) if inverted else (edge.low, edge.high)
        lines.append(
            f"{format_symbol(edge.param)} {format_number(edge.value)} is at the edge of the search range;"
            f" search again with the range {edge.param}={low:.10g}:{high:.10g}."
        )
    return lines


def describe_unit(result: Recommendation | RobustRecommendation) -> list[str]:
    """Describe the scale of the rewards; an empty list if it is the usual one."""
    if result.unit == 1.0:
        return []
    return [describe_scale(result.unit) if result.recorded is not None else describe_scale(result.unit, USUAL)]


def describe_robust(recommendation: RobustRecommendation) -> list[str]:
    """Describe one setting for several scenarios: its price, and the prices of a wrong guess and of the defaults."""
    replications = recommendation.contenders[0].worlds[0].regret.replications
    estimate = recommendation.search_estimate - 1.0
    lines = [
        describe_verdict(recommendation),
        f"This is one setting for an unknown scenario out of {join_words(recommendation.scenarios, 'and')}."
        f" {describe_price(recommendation)} The price is the regret above that of the setting tuned for the scenario,"
        f" on {format_count(replications)} held-out worlds per scenario; the search estimate was"
        f" {format_percent(estimate)}{_mention_bias(estimate < recommendation.price.low)}.",
    ]
    guesses = [
        (world, setting.tuned_for)
        for setting in recommendation.contenders
        for world in setting.worlds
        if setting.tuned_for is not None and world.scenario != setting.tuned_for
    ]
    if guesses:
        world, tuned_for = max(guesses, key=lambda guess: guess[0].price.mean)
        lines.append(
            f"A wrong guess costs up to {format_percent(world.price.mean)}: the setting tuned for {tuned_for},"
            f" used in {world.scenario} (95 % CI of this pair alone"
            f" {format_ends(world.price, format_percent)})."
        )
    defaults = recommendation.contenders[-1]
    lines.append(
        f"Price of the {name_defaults(recommendation)} ({format_params(defaults.params)}):"
        f" {format_price(defaults.price)}; measure {recommendation.measure}."
    )
    lines += describe_ranges(recommendation)
    lines += describe_edges(recommendation.policy, recommendation.edge)
    lines += _describe_widening(recommendation)
    lines += describe_unit(recommendation)
    lines += recommendation.holds_for
    trials = plural(recommendation.trials, "trial")
    lines.append(f"{trials}, seed {recommendation.seed}, version {recommendation.version}.")
    return lines


def describe_price(recommendation: RobustRecommendation) -> str:
    """Describe the price of not knowing the scenario in one sentence."""
    scenarios = len(recommendation.scenarios)
    counted = parse_measure(recommendation.measure).worst_count(scenarios)
    hows = {1: "at most", scenarios: "on average"}
    how = hows.get(counted, f"on average over the worst {counted}")
    return f"Not knowing which of the {scenarios} scenarios applies costs {how} {format_price(recommendation.price)}."


def format_price(price: Price) -> str:
    """Format a price with its 95 % confidence interval.

    >>> format_price(Price(mean=0.1, low=0.05, high=0.15))
    '10 % (95 % CI 5.0 % to 15 %)'
    """
    return format_interval(price, format_value=format_percent)
