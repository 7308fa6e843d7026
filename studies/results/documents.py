"""What each result says, as a document, and its pandas table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ravenlab.common.cells import Cell, Estimate, Number
from ravenlab.common.documents import Document, Map, Shade, Table
from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_range,
    format_settings,
    join_words,
    plural,
)
from ravenlab.studies.export.comparison import board_table
from ravenlab.studies.export.deployment import count_extra_arms, describe_deployment
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.baselines import (
    SIMULTANEOUS,
    BaselineComparison,
    describe_baseline,
    format_difference,
)
from ravenlab.studies.results.cards import comparison_card, recommendation_card, robust_card
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.describe import (
    describe_better_policy,
    describe_failures,
    describe_recommendation,
    describe_regret,
    describe_robust,
    describe_verdict,
    format_failures,
    format_price,
    format_verdict,
)
from ravenlab.studies.results.describe_comparison import describe_marks
from ravenlab.studies.results.expected import Advice
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.naming import format_unit, list_baselines, list_contenders
from ravenlab.studies.results.recommendation import Parameters, Recommendation
from ravenlab.studies.results.recorded import USUAL, describe_scale, describe_unit
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.spec.grid import GRID_POLICY
from ravenlab.studies.symbols import format_params, format_symbol, list_values

if TYPE_CHECKING:
    pass

RECOMMENDATION_COLUMNS = (
    *("Study", "Policy", "Scenario", "T", "K"),
    *("Verdict", "Parameters", "Regret (95 %)", "Failures"),
)
"""Columns of a table of recommendations; those of the baselines follow."""

MAX_LISTED_CELLS = 12  # of a grid that is too large for a map
GRID_TESTS = "paired tests, corrected"


def recommendation_document(recommendation: Recommendation, better: BetterPolicy | None = None) -> Document:
    """State the verdict, the regret with its scale, the baselines, and everything else that is known."""
    answer, *sentences = describe_recommendation(recommendation, better)
    facts = [
        *([] if better is None else [describe_better_policy(better)]),
        describe_regret(recommendation)[0],
        *_list_changes(recommendation),
        *describe_unit(recommendation),
        *recommendation.holds_for,
    ]
    alternatives = recommendation.alternative_comparisons
    tabulated = {*facts, *map(describe_baseline, [*recommendation.comparisons, *alternatives])}
    return Document(
        answer=answer,
        problem=_name_problem(f"{recommendation.policy} in {recommendation.scenario}", recommendation),
        facts=facts,
        label=f"Recommendation of study {recommendation.study!r}",
        tables=[_baseline_table(recommendation), *([_alternative_table(alternatives)] if alternatives else [])],
        details=[sentence for sentence in sentences if sentence not in tabulated],
        card=recommendation_card(recommendation, better),
    )


def recommendations_document(recommendations: Sequence[Recommendation]) -> Document:
    """State the verdict of each study, what to know about recorded or unreliable data, and all results in one table."""
    sentences = []
    for recommendation in recommendations:
        name = f"{recommendation.study}: " if len(recommendations) > 1 else ""
        stated = [describe_verdict(recommendation), *describe_unit(recommendation)]
        if recommendation.recorded is not None:
            stated += describe_regret(recommendation)
        elif recommendation.failures is not None and not recommendation.failures.reliable:
            stated += describe_failures(recommendation.failures, recommendation.regret.replications)[-1:]
        sentences += [f"{name}{sentence}" for sentence in stated]
    sentences += dict.fromkeys(text for recommendation in recommendations for text in recommendation.holds_for)
    held_out = {"worlds" if recommendation.recorded is None else "data" for recommendation in recommendations}
    caption = (
        f"Recommended parameters, evaluated on held-out {' or '.join(sorted(held_out, reverse=True))};"
        " baselines: extra regret"
    )
    table = tabulate_recommendations(recommendations).without("Policy", "Scenario", "T", "K", "Verdict")
    return Document(sentences[0], "", sentences[1:], [replace(table, caption=caption)])


def tabulate_recommendations(results: Sequence[Advice]) -> Table:
    """Tabulate recommendations, one row each; the last columns are the extra regret of the baselines."""
    baselines = list_baselines(results)
    rows: list[list[Cell]] = []
    for result in results:
        changes = {comparison.name: format_difference(comparison) for comparison in result.comparisons}
        for scenario, regret, _ in result.outcomes:
            rows.append(
                [
                    result.study,
                    result.policy,
                    _name_source(result, scenario),
                    Number(format_count(result.horizon)),
                    Number(_format_arms(result, scenario)),
                    format_verdict(result),
                    list_values(result.params),
                    Estimate(regret, unit=result.regret_unit),
                    format_failures(result.failures),
                    *(changes.get(name, "–") for name in baselines),
                ]
            )
    columns = [*RECOMMENDATION_COLUMNS, *map(capitalize_first, baselines.values())]
    text = ("Study", "Policy", "Scenario", "Verdict", "Parameters")
    return Table(columns, rows, text=text, narrow="stack")


def _name_source(result: Advice, scenario: str) -> str:
    """Return the name of a scenario, trace or log; costs and an unusual scale of the rewards are mentioned."""
    costs = "costs" if describe_deployment(result).feedback == "costs" else ""
    details = ", ".join(filter(None, [costs, format_unit(result)]))
    return f"{scenario} ({details})" if details else scenario


def _format_arms(result: Advice, scenario: str) -> str:
    """Format K, plus the number of arms that open later."""
    later = count_extra_arms(scenario) if result.recorded is None else 0
    return f"{result.arms} + {later}" if later else str(result.arms)


def _list_changes(recommendation: Recommendation) -> list[str]:
    """State the extra regret of the baselines in one sentence."""
    changes = [
        f"{comparison.title} {format_difference(comparison, interval=False)}"
        for comparison in recommendation.comparisons
        if comparison.relation != "same"
    ]
    return [f"Extra regret of {join_words(changes, 'and')}."] if changes else []


class _Sizes(Protocol):
    """What a result and its specification state about the problem."""

    @property
    def horizon(self) -> int: ...
    @property
    def arms(self) -> int: ...
    @property
    def settings(self) -> Mapping[str, int | float | str]: ...


def _name_problem(subject: str, sizes: _Sizes) -> str:
    """Name what a result is about, with horizon, arms and settings."""
    settings = [format_settings(sizes.settings)] if sizes.settings else []
    return ", ".join([subject, f"T = {format_count(sizes.horizon)}", f"K = {format_count(sizes.arms)}", *settings])


def _baseline_table(recommendation: Recommendation) -> Table:
    names = list(recommendation.params)
    rows = [["Recommended", *_format_values(recommendation.params, names), format_interval(recommendation.regret), "–"]]
    for baseline, comparison in zip(recommendation.versus, recommendation.comparisons, strict=True):
        rows.append(
            [
                capitalize_first(comparison.title),
                *_format_values(baseline.params, names),
                format_number(baseline.regret),
                format_difference(comparison),
            ]
        )
    regret = f"Mean regret{recommendation.regret_unit}"
    columns = ["", *map(format_symbol, names), regret, "Difference (95 % CI)"]
    return Table(columns, rows)


def _alternative_table(alternatives: Sequence[BaselineComparison]) -> Table:
    """Tabulate what may be used instead of the policy, best first."""
    together = SIMULTANEOUS if alternatives[0].simultaneous else ""
    ordered = sorted(alternatives, key=lambda each: each.difference.mean)
    rows = [
        [
            capitalize_first(each.title) + (f" ({format_params(each.params)})" if each.params else ""),
            format_difference(each),
        ]
        for each in ordered
    ]
    caption = "Without tuning, on the same held-out data"
    return Table(["", f"Extra regret{alternatives[0].unit} ({together}95 % CI)"], rows, caption)


def _format_values(params: Parameters, names: Sequence[str]) -> list[str]:
    return [format_number(params[name]) if name in params else "–" for name in names]


def grid_document(grid: Grid) -> Document:
    """State the best cell and how many others are as good; small grids are shown as a map."""
    spec = grid.spec
    (i, j) = grid.best
    best = {"alpha0": spec.alpha0[i], "beta0": spec.beta0[j]}
    percent = grid.percent_above_best()
    facts = [_describe_other_cells(grid)]
    if grid.mean.size > 1:
        worst = format_percent(float(percent.max()) / 100)
        facts.append(f"The worst of {format_count(grid.mean.size)} cells has {worst} more regret.")
    facts += [] if grid.unit == 1.0 else [describe_scale(grid.unit, USUAL, "default values of α₀ and ε")]
    size = f"{len(spec.alpha0)} × {len(spec.beta0)} cells × {format_count(spec.replications)} worlds"
    return Document(
        answer=f"Best cell: {format_params(best)} (ε {format_number(spec.epsilon)}), mean regret"
        f" {format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))} (standard error).",
        facts=facts,
        label=f"Grid {grid.study!r}, {size}",
        problem=_name_problem(f"{GRID_POLICY} in {spec.scenario}", spec),
        tables=[_grid_map(grid)],
        details=[
            "The regret of the best cell is optimistically biased (selection bias); ravenlab tune validates on held-out"
            " worlds."
        ],
    )


def _grid_map(grid: Grid) -> Map:
    """Show by how much the cells are above the best, with the best cells as a list."""
    spec = grid.spec
    percent = grid.percent_above_best()
    cells = [
        [
            Shade(float(percent[i, j]), bool(grid.indistinguishable[i, j]), best=(i, j) == grid.best)
            for i in range(len(spec.alpha0))
        ]
        for j in reversed(range(len(spec.beta0)))
    ]
    ranked = [divmod(int(index), len(spec.beta0)) for index in grid.mean.argsort(axis=None)[:MAX_LISTED_CELLS]]
    rows = [
        [
            format_number(spec.alpha0[i]),
            format_number(spec.beta0[j]),
            f"{format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}",
            format_percent(float(percent[i, j]) / 100.0),
            "yes" if grid.indistinguishable[i, j] else "no",
        ]
        for i, j in ranked
    ]
    columns = ["α₀", "β₀", "Mean regret ± standard error", "Above the best", "Indistinguishable"]
    return Map(
        columns=[format_number(value) for value in spec.alpha0],
        rows=[format_number(value) for value in reversed(spec.beta0)],
        cells=cells,
        caption="Percent above the best; outlined: statistically indistinguishable from the best",
        corner="β₀ ↓ α₀ →",
        listing=Table(columns, rows, f"Best {len(rows)} of {format_count(grid.mean.size)} cells"),
    )


def _describe_other_cells(grid: Grid) -> str:
    """State which other cells of a grid may be the best."""
    spec = grid.spec
    others = grid.mean.size - 1
    close = int(grid.indistinguishable.sum()) - 1
    if not others:
        return "The grid has no other cell."
    if close < 1:  # damaged grids may mark no cell, not even the best
        worse = "The other cell is" if others == 1 else f"All other {format_count(others)} cells are"
        return f"{worse} significantly worse ({GRID_TESTS})."
    rows, columns = grid.indistinguishable.nonzero()
    return (
        f"{plural(close, 'other cell is', 'other cells are')} statistically indistinguishable from it ({GRID_TESTS}):"
        f" α₀ {format_range(spec.alpha0[i] for i in rows)}, β₀ {format_range(spec.beta0[j] for j in columns)}."
    )


def comparison_document(result: ComparisonResult) -> Document:
    """State the best policy and the distance of the others, with the main leaderboard."""
    from ravenlab.studies.export.comparison import TIME, describe_boards

    document = describe_boards(result)
    return replace(
        document,
        label=f"Comparison {result.comparison.study!r}",
        problem=_name_problem(result.comparison.spec.scenario, result.comparison.spec),
        tables=[board_table(result, result.main).without(TIME)],
        details=[describe_marks([result]), *document.details],
        card=comparison_card(result),
    )


def robust_document(result: RobustRecommendation) -> Document:
    """State the setting for an unknown scenario and its price."""
    answer, price, *details = describe_robust(result)
    stated = [*describe_unit(result), *result.holds_for]
    return Document(
        answer=answer,
        facts=[price, *stated],
        label=f"Robust recommendation of study {result.study!r}",
        problem=_name_problem(f"{result.policy} in {result.scenario}", result),
        tables=[_settings_table(result.scenarios, list_contenders(result))],
        details=[line for line in details if line not in stated],
        card=robust_card(result),
    )


def _settings_table(scenarios: Sequence[str], settings: Sequence[EvaluatedSetting]) -> Table:
    rows = [
        [
            capitalize_first(setting.name),
            format_params(setting.params),
            *(f"{format_number(each.regret.mean)} ({format_percent(each.price.mean)})" for each in setting.worlds),
            format_price(setting.price),
        ]
        for setting in settings
    ]
    columns = ["", "Parameters", *scenarios, "Price"]
    caption = "Mean regret (excess over the setting tuned for the scenario)"
    return Table(columns, rows, caption, text=("", "Parameters"), narrow="stack")
