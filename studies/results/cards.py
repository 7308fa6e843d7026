"""Cards: what a result says in large type, and the intervals drawn below it."""

from collections.abc import Mapping
from typing import Any

from ravenlab.common.documents import Card, IntervalRow
from ravenlab.common.interval import Interval
from ravenlab.common.text import capitalize_first, format_interval, format_number, format_percent, join_words
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.baselines import UNDECIDED, BaselineComparison, format_difference
from ravenlab.studies.results.comparison import ComparisonResult, Standing
from ravenlab.studies.results.describe import warn_of_fixed_arm, word_verdict
from ravenlab.studies.results.describe_comparison import describe_failed_tuning
from ravenlab.studies.results.naming import format_unit, list_contenders, name_edges
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.results.verdict import Verdict


def recommendation_card(recommendation: Recommendation, better: BetterPolicy | None = None) -> Card:
    """Show the verdict of a study, the parameters, and the regret compared with the paper's advice and the defaults."""
    text = word_verdict(recommendation)
    regret = recommendation.regret
    verdict = recommendation.verdict
    rows = [_row(f"recommended: {format_interval(regret, name='')}", regret)]
    rows += [
        _baseline_row(comparison, regret.mean)
        for comparison in recommendation.comparisons
        if comparison.relation != "same"
    ]
    hints = _warn_of_edges(recommendation)
    if better is not None:
        less = "less" if better.reduction is None else f"{format_percent(better.reduction)} less"
        hints.append(f"Another policy is better: tuned {better.policy} has {less} regret.")
    hints += warn_of_fixed_arm(recommendation)
    return Card(
        context=_context(recommendation.policy, recommendation.scenario, recommendation),
        headline=text.short,
        explanation=text.explanation,
        params=recommendation.params,
        rows=rows,
        axis=f"held-out regret{recommendation.regret_unit}, 95 % CI"
        if recommendation.recorded
        else "mean regret on held-out worlds, 95 % CI",
        sure=verdict.decision != "inconclusive",
        hint=" ".join(hints),
        tags=_tag_defaults(verdict, recommendation.params),
    )


def robust_card(result: RobustRecommendation) -> Card:
    """Show the setting for several scenarios, and its price compared with those of the other settings."""
    text = word_verdict(result)
    return Card(
        _context(result.policy, join_words(result.scenarios), result),
        text.short,
        text.explanation or "One setting, if the scenario is not known.",
        result.params,
        [_price_row(setting) for setting in list_contenders(result)],
        "excess over the tuned settings (%), 95 % CI",
        sure=result.verdict.decision != "inconclusive",
        hint=" ".join(_warn_of_edges(result)),
        tags=_tag_defaults(result.verdict, result.params),
    )


def _warn_of_edges(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    return [f"{capitalize_first(edges)}." for edges in name_edges(recommendation)]


def _tag_defaults(verdict: Verdict, params: Mapping[str, float | str]) -> dict[str, str]:
    """Mark the parameters that keep their defaults, if the verdict says so."""
    kept = verdict.decision in ("set one parameter", "keep the defaults")
    return {name: "default" for name in params if kept and name not in verdict.set}


def comparison_card(result: ComparisonResult) -> Card:
    """Show the policy with the lowest regret, and the regrets of the others."""
    board = result.main
    spec = result.comparison.spec
    tied = [each.policy for each in board.standings[1:] if each.among_the_best]
    best = board.best
    untuned = result.board("defaults")
    if tied:
        are = "is" if len(tied) == 1 else "are"
        explanation = (
            f"{best.policy} has the lowest regret; {join_words(tied, 'and')} {are} as good within sampling noise."
        )
    else:
        explanation = "All other policies are significantly worse." if len(board.ranked) > 1 else ""
    return Card(
        context=_context(f"{len(spec.policies)} policies ({board.setting})", spec.scenario, spec),
        headline="No single best policy" if tied else f"{best.policy} is best",
        explanation=explanation,
        params={} if tied else best.entry.shown_params(),
        rows=[_standing_row(each) for each in board.standings],
        axis=f"mean regret on {result.comparison.worlds:,} held-out {spec.replications_name}, 95 % CI",
        sure=not tied,
        hint="" if untuned is None else " ".join(describe_failed_tuning(board, untuned)),
    )


def _context(policy: str, scenario: str, sizes: Any) -> str:
    scale = format_unit(sizes) if isinstance(sizes, Recommendation | RobustRecommendation) else ""
    return ", ".join(filter(None, [f"{policy} in {scenario}", f"T = {sizes.horizon:,}", f"K = {sizes.arms}", scale]))


def _row(label: str, interval: Interval) -> IntervalRow:
    return IntervalRow(label, interval, hover=f"{label}: {format_interval(interval)}")


def _baseline_row(comparison: BaselineComparison, recommended: float) -> IntervalRow:
    """Compare a baseline with the recommended regret; the interval is that of the difference."""
    shifted = comparison.difference.shifted(recommended)
    label = format_difference(comparison, interval=comparison.relation not in UNDECIDED)
    difference = format_interval(comparison.difference)
    hover = f"{comparison.short_title}: {format_number(shifted.mean)}, difference {difference}"
    return IntervalRow(f"{comparison.short_title}: {label}", shifted, hover)


def _price_row(setting: EvaluatedSetting) -> IntervalRow:
    price = setting.price
    label = f"{setting.name if setting.tuned_for is None else f'tuned for {setting.tuned_for}'}"
    return _row(f"{label}: {format_percent(price.mean)}", price.scaled(100.0))


def _standing_row(standing: Standing) -> IntervalRow:
    if standing.behind is None:
        value = format_interval(standing.regret, name="")
    elif standing.behind.share is None:
        value = f"{format_number(standing.behind.difference.mean)} more"
    else:
        value = format_percent(standing.behind.share.mean, signed=True)
    return _row(f"{standing.policy}: {value}", standing.regret)
