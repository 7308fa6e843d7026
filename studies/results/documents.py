"""What each recommendation says, as a document: answer, facts, tables, details and the card of the dashboard."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ravenlab.common.cells import NONE, Cell, Estimate, Number
from ravenlab.common.documents import Card, Document, IntervalRow, Table
from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_settings,
    join_words,
    name_problem,
    plural,
)
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.baselines import (
    SIMULTANEOUS,
    UNDECIDED,
    BaselineComparison,
    describe_baseline,
    format_difference,
)
from ravenlab.studies.results.describe_recommendation import (
    describe_better_policy,
    describe_failures,
    describe_recommendation,
    describe_regret,
    describe_robust,
    describe_unit,
    format_failures,
    format_price,
    format_unit,
    format_verdict,
    list_baselines,
    list_contenders,
    name_edges,
    warn_of_fixed_arm,
    word_verdict,
)
from ravenlab.studies.results.expected import Advice, count_extra_arms, describe_deployment
from ravenlab.studies.results.recommendation import Parameters, Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.results.verdict import Decision
from ravenlab.studies.symbols import format_params, format_symbol, list_values

RECOMMENDATION_COLUMNS = (
    *("Study", "Policy", "Scenario", "T", "K"),
    *("Verdict", "Parameters", "Regret (95 %)", "Failures"),
)
"""Columns of a table of recommendations; those of the baselines follow."""

MANY = 3
"""Number of studies above which a run states their results in a table only."""

SUMMARIES: dict[Decision, tuple[str, str]] = {
    "use these values": ("better than the defaults", "better than the defaults"),
    "set one parameter": ("better than the defaults", "better than the defaults"),
    "keep the defaults": ("keeps the defaults", "keep the defaults"),
    "use one arm": ("uses one arm", "use one arm"),
    "keep the logging policy": ("keeps the logging policy", "keep the logging policy"),
    "use another policy": ("uses another policy", "use another policy"),
    "inconclusive": ("inconclusive", "inconclusive"),
}
"""Decisions in a count of one study and of several, in the order of a summary."""


def recommendation_document(recommendation: Recommendation, better: BetterPolicy | None = None) -> Document:
    """State the verdict, the regret with its scale, the baselines, and everything else that is known."""
    text = word_verdict(recommendation)
    _, *sentences = describe_recommendation(recommendation, better)
    warnings = [*text.warnings, *_warn_of_failures(recommendation)]
    sensitivity = recommendation.sensitivity
    comparisons = recommendation.comparisons
    alternatives = recommendation.alternative_comparisons
    changes = [
        f"{comparison.title} {format_difference(comparison, interval=False)}"
        for comparison in comparisons
        if comparison.relation != "same"
    ]
    advised = [each for each in alternatives if each.name == recommendation.verdict.policy]
    facts = [
        *([] if better is None else [describe_better_policy(better)]),
        *map(describe_baseline, advised),
        describe_regret(recommendation)[0],
        *([f"{capitalize_first(comparisons[0].extra)} of {join_words(changes, 'and')}."] if changes else []),
        *describe_unit(recommendation),
        *recommendation.evidence,
        *recommendation.holds_for,
        *([] if sensitivity is None else sensitivity.describe()),
    ]
    stated = {*facts, *warnings, *map(describe_baseline, [*comparisons, *alternatives])}
    return Document(
        answer=text.answer,
        headline=text.headline,
        warnings=warnings,
        problem=_name_problem(recommendation),
        facts=facts,
        label=f"Recommendation of study {recommendation.study!r}",
        tables=[
            _baseline_table(recommendation),
            *([_alternative_table(alternatives)] if alternatives else []),
            *([] if sensitivity is None else [sensitivity.table()]),
        ],
        details=[sentence for sentence in sentences if sentence not in stated],
        card=recommendation_card(recommendation, better),
    )


def _warn_of_failures(recommendation: Recommendation) -> list[str]:
    """Warn if the interval of the mean regret can't be trusted, because failures are rare; usually an empty list."""
    failures = recommendation.failures
    if failures is None or failures.reliable:
        return []
    return describe_failures(failures, recommendation.regret.replications)[-1:]


def _name_problem(result: Recommendation | RobustRecommendation) -> str:
    """Name policy, scenario, horizon, arms and settings of a study."""
    subject = f"{result.policy} in {result.scenario}"
    return name_problem(subject, result.horizon, result.arms, format_settings(result.settings))


def recommendation_card(recommendation: Recommendation, better: BetterPolicy | None = None) -> Card:
    """Show the verdict of a study, the parameters, and the regret compared with the paper's advice and the defaults."""
    regret = recommendation.regret
    rows = [IntervalRow.of(f"recommended: {format_interval(regret, name='')}", regret)]
    for comparison in recommendation.comparisons:
        if comparison.relation != "same":  # the interval is that of the difference
            shifted = comparison.difference.shifted(regret.mean)
            label = format_difference(comparison, interval=comparison.relation not in UNDECIDED)
            difference = f"difference {format_interval(comparison.difference)}"
            hover = f"{comparison.short_title}: {format_number(shifted.mean)}, {difference}"
            rows.append(IntervalRow(f"{comparison.short_title}: {label}", shifted, hover, comparison.name))
    hints = []
    if better is not None:
        less = "less" if better.reduction is None else f"{format_percent(better.reduction)} less"
        hints.append(f"Another policy is better: tuned {better.policy} has {less} regret.")
    axis = "mean regret on held-out worlds"
    if recommendation.recorded:
        axis = f"held-out regret{recommendation.regret_unit}"
    return _verdict_card(
        recommendation, recommendation.scenario, rows, axis, [*hints, *warn_of_fixed_arm(recommendation)]
    )


def robust_card(result: RobustRecommendation) -> Card:
    """Show the setting for several scenarios, and its price compared with those of the other settings."""
    rows = []
    for setting in list_contenders(result):
        name = setting.name if setting.tuned_for is None else f"tuned for {setting.tuned_for}"
        rows.append(IntervalRow.of(f"{name}: {format_percent(setting.price.mean)}", setting.price.scaled(100.0)))
    card = _verdict_card(result, join_words(result.scenarios), rows, "excess over the tuned settings (%)", [])
    return replace(card, explanation=card.explanation or "One setting, if the scenario is not known.")


def _verdict_card(
    result: Recommendation | RobustRecommendation,
    scenario: str,
    rows: Sequence[IntervalRow],
    axis: str,
    hints: list[str],
) -> Card:
    """Show the verdict with the parameters, of which those that keep their defaults are marked if it says so."""
    text = word_verdict(result)
    verdict = result.verdict
    kept = verdict.decision in ("set one parameter", "keep the defaults")
    edges = [f"{capitalize_first(edges)}." for edges in name_edges(result)]
    return Card(
        context=name_problem(f"{result.policy} in {scenario}", result.horizon, result.arms, format_unit(result)),
        headline=text.short,
        explanation=text.explanation,
        params=result.params,
        rows=rows,
        axis=f"{axis}, 95 % CI",
        sure=verdict.decision != "inconclusive",
        hint=" ".join([*edges, *hints]),
        tags={name: "default" for name in result.params if kept and name not in verdict.set},
    )


def recommendations_documents(recommendations: Sequence[Recommendation]) -> list[Document]:
    """State the verdict of each study, and all results in one table; of many studies the table and a summary only."""
    if not recommendations:
        return []
    many = len(recommendations) > MANY
    documents = []
    facts = []
    for recommendation in recommendations:
        name = f"{recommendation.study}: " if len(recommendations) > 1 else ""
        text = word_verdict(recommendation)
        data = [] if recommendation.recorded is None else describe_regret(recommendation)
        sentences = [f"{name}{each}" for each in [*describe_unit(recommendation), *recommendation.evidence, *data]]
        if many:
            facts += sentences
            continue
        warnings = [f"{name}{warning}" for warning in [*text.warnings, *_warn_of_failures(recommendation)]]
        documents.append(
            Document(name + text.answer, headline=name + text.headline, warnings=warnings, facts=sentences)
        )
    facts += dict.fromkeys(text for recommendation in recommendations for text in recommendation.holds_for)
    held_out = {"worlds" if recommendation.recorded is None else "data" for recommendation in recommendations}
    caption = (
        f"Recommended parameters, evaluated on held-out {' or '.join(sorted(held_out, reverse=True))};"
        " baselines: extra regret"
    )
    if not many:
        table = tabulate_recommendations(recommendations).without("Policy", "Scenario", "T", "K", "Verdict")
        return [*documents, Document("", facts=facts, tables=[replace(table, caption=caption)])]
    edges = [
        f"{result.study} ({', '.join(format_symbol(edge.param) for edge in result.edge)})"
        for result in recommendations
        if result.edge
    ]
    warnings = [f"Better values may lie outside the search range: {'; '.join(edges)}."] if edges else []
    unreliable = sum(map(bool, map(_warn_of_failures, recommendations)))
    if unreliable:
        few = f"Too few report worlds for rare failures in {plural(unreliable, 'study', 'studies')}"
        warnings.append(f"{few}, marked !: mean regrets may be too low.")
    table = replace(_tabulate_briefly(recommendations), caption=caption)
    summary = summarize_decisions(recommendations)
    return [Document("", facts=facts, tables=[table]), Document(summary, warnings=warnings)]


def _tabulate_briefly(recommendations: Sequence[Recommendation]) -> Table:
    """Tabulate many recommendations without intervals, the most important columns first."""
    baselines = list_baselines(recommendations)
    rows: list[list[Cell]] = []
    for result in recommendations:
        failures = format_failures(result.failures.rate, result.failures.reliable) if result.failures else NONE
        changes = {each.name: format_difference(each, interval=False) for each in result.comparisons}
        regret = Number(format_number(result.regret.mean) + result.regret_unit)
        row: list[Cell] = [result.study, word_verdict(result).short, list_values(result.params), regret, failures]
        rows.append([*row, *(changes.get(name, NONE) for name in reversed(baselines))])
    columns = [
        "Study",
        "Decision",
        "Parameters",
        "Regret",
        "Failures",
        *map(capitalize_first, reversed(baselines.values())),
    ]
    return Table(columns, rows, text=("Study", "Decision", "Parameters"), narrow="cut", kept=3)


def summarize_decisions(recommendations: Sequence[Recommendation]) -> str:
    """Count the decisions of several studies."""
    counts = Counter(SUMMARIES[recommendation.verdict.decision] for recommendation in recommendations)
    parts = [
        f"{counts[words]} {words[counts[words] != 1]}" for words in dict.fromkeys(SUMMARIES.values()) if words in counts
    ]
    return f"{plural(len(recommendations), 'study', 'studies')}: {', '.join(parts)}."


def tabulate_recommendations(results: Sequence[Advice]) -> Table:
    """Tabulate recommendations, one row each; the last columns are the extra regret of the baselines."""
    baselines = list_baselines(results)
    rows: list[list[Cell]] = []
    for result in results:
        costs = "costs" if describe_deployment(result).feedback == "costs" else ""
        details = ", ".join(filter(None, [costs, format_unit(result)]))
        failures = format_failures(result.failures.rate, result.failures.reliable) if result.failures else NONE
        changes = {comparison.name: format_difference(comparison) for comparison in result.comparisons}
        for scenario, regret, _ in result.outcomes:
            later = count_extra_arms(scenario) if result.recorded is None else 0
            rows.append(
                [
                    result.study,
                    result.policy,
                    f"{scenario} ({details})" if details else scenario,
                    Number(format_count(result.horizon)),
                    Number(f"{result.arms} + {later}" if later else str(result.arms)),
                    format_verdict(result),
                    list_values(result.params),
                    Estimate(regret, unit=result.regret_unit),
                    failures,
                    *(changes.get(name, NONE) for name in baselines),
                ]
            )
    columns = [*RECOMMENDATION_COLUMNS, *map(capitalize_first, baselines.values())]
    text = ("Study", "Policy", "Scenario", "Verdict", "Parameters")
    return Table(columns, rows, text=text, narrow="stack")


def _baseline_table(recommendation: Recommendation) -> Table:
    names = list(recommendation.params)
    rows = [
        [
            "Recommended",
            *_format_values(recommendation.params, names),
            format_interval(recommendation.regret, name=""),
            "–",
        ]
    ]
    for baseline, comparison in zip(recommendation.versus, recommendation.comparisons, strict=True):
        rows.append(
            [
                capitalize_first(comparison.title),
                *_format_values(baseline.params, names),
                format_number(baseline.regret),
                format_difference(comparison),
            ]
        )
    regret = f"Mean regret{recommendation.regret_unit} (95 % CI)"
    columns = ["", *map(format_symbol, names), regret, "Difference (95 % CI)"]
    return Table(columns, rows)


def _alternative_table(alternatives: Sequence[BaselineComparison]) -> Table:
    """Tabulate what may be used instead of the policy, best first."""
    together = SIMULTANEOUS if alternatives[0].simultaneous else ""
    ordered = sorted(alternatives, key=lambda each: each.difference.mean)
    rows = [
        [
            each.heading + (f" ({format_params(each.params)})" if each.params else ""),
            format_difference(each),
        ]
        for each in ordered
    ]
    caption = "Without tuning, on the same held-out data"
    extra = capitalize_first(alternatives[0].extra)
    return Table(["", f"{extra}{alternatives[0].unit} ({together}95 % CI)"], rows, caption)


def _format_values(params: Parameters, names: Sequence[str]) -> list[str]:
    return [format_number(params[name]) if name in params else "–" for name in names]


def robust_document(result: RobustRecommendation) -> Document:
    """State the setting for an unknown scenario and its price."""
    answer, price, *details = describe_robust(result)
    stated = [*describe_unit(result), *result.holds_for]
    rows = [
        [
            capitalize_first(setting.name),
            format_params(setting.params),
            *(f"{format_number(each.regret.mean)} ({format_percent(each.price.mean)})" for each in setting.worlds),
            format_price(setting.price),
        ]
        for setting in list_contenders(result)
    ]
    columns = ["", "Parameters", *result.scenarios, "Price"]
    caption = "Mean regret (excess over the setting tuned for the scenario)"
    return Document(
        answer=answer,
        facts=[price, *stated],
        label=f"Robust recommendation of study {result.study!r}",
        problem=_name_problem(result),
        tables=[Table(columns, rows, caption, text=("", "Parameters"), narrow="stack")],
        details=[line for line in details if line not in stated],
        card=robust_card(result),
    )
