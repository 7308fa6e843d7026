"""Table 3 for people: the paper's numbers beside ours, the paired tests, the tuned parameters, the estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboards.report.sections import ShownTable
from dashboards.reproduction._logistics import COMPARISONS, MEASURES, NAMES
from dashboards.reproduction._variances import ESTIMATORS
from environments.text import format_number, format_p_value
from studies.reproduction.tables import Table
from studies.symbols import format_symbol


def shown_tables(tables: Mapping[str, Table]) -> list[ShownTable]:
    """Regret open; reward, pulls, tests, parameters and estimators to be opened."""
    scores = tables["scores"]
    out = [_scores(scores, ("regret_constant", "regret"), "Cumulative regret", folded=False)]
    out.append(_scores(scores, ("reward",), "Cumulative reward", folded=True))
    out.append(_scores(scores, ("suboptimal_pulls",), "Suboptimal pulls", folded=True))
    out.append(_tests(tables["tests"]))
    if "parameters" in tables:
        out.append(_parameters(tables["parameters"]))
    out.append(_estimators(tables["estimators"]))
    return out


def _scores(scores: Table, measures: tuple[str, ...], caption: str, folded: bool) -> ShownTable:
    """A row a policy: the paper's number, then ours of each comparison."""
    columns: list[tuple[str, str, str]] = []
    for comparison in scores.distinct("comparison"):
        for measure in measures:
            if len(scores.where(comparison=comparison, measure=measure)):
                kind = {"regret_constant": ", against 0.8", "regret": ", of the moment"}.get(measure, "")
                columns.append((comparison, measure, f"{_short(comparison)}{kind}"))
    paper = [(comparison, measure) for comparison, measure, _ in columns if comparison == "published"][:1]
    rows = []
    for policy, name in NAMES.items():
        cells = [name]
        cells += [f"{scores.one(comparison=c, measure=m, policy=policy)['paper']:.1f}" for c, m in paper]
        cells += [_score(scores.one(comparison=c, measure=m, policy=policy)) for c, m, _ in columns]
        rows.append(cells)
    titles = ["policy", *(["paper"] if paper else []), *(title for _, _, title in columns)]
    explained = f"{caption}: mean ± standard error and 95 % interval; “of the moment” is against the best arm then open"
    plain = f"{caption}: mean ± standard error and 95 % interval"
    text = explained if "regret" in measures else plain
    return ShownTable(text, titles, rows, tuple(range(1, len(titles))), folded)


def _short(comparison: str) -> str:
    return {"published": "ours as published", "defaults": "defaults", "tuned": "tuned"}[comparison]


def _score(row: Mapping[str, Any]) -> str:
    return f"{row['mean']:.0f} ± {row['error']:.0f} ({row['low']:.0f} to {row['high']:.0f})"


def _tests(tests: Table) -> ShownTable:
    rows = [
        [
            COMPARISONS[row["comparison"]],
            MEASURES[row["measure"]],
            NAMES[row["policy"]],
            f"{row['difference']:+z.0f} ({row['low']:+z.0f} to {row['high']:+z.0f})",
            format_p_value(row["holm"]),
            "yes" if row["told_apart"] else "no",
        ]
        for row in tests
        if row["measure"] != "suboptimal_pulls" and (row["comparison"], row["measure"]) != ("published", "regret")
    ]
    columns = ["comparison", "measure", "policy", "policy − RAVEN-UCB (95 %)", "p after Holm", "told apart"]
    caption = (
        "Each policy against RAVEN-UCB in the same worlds (paired t-tests); as published, the two regrets differ "
        "by the same amount for all policies of a world, so one of them is shown"
    )
    return ShownTable(caption, columns, rows, (3, 4), True)


def _parameters(parameters: Table) -> ShownTable:
    rows = [
        [
            NAMES[row["policy"]],
            format_symbol(row["parameter"]),
            format_number(row["default"]),
            f"{format_number(row['from'])} to {format_number(row['to'])}",
            format_number(row["tuned"]),
        ]
        for row in parameters
    ]
    columns = ["policy", "parameter", "default", "searched", "tuned"]
    return ShownTable("What the searches chose", columns, rows, (2, 3, 4), True)


def _estimators(estimators: Table) -> ShownTable:
    rows = [
        [
            f"as {row['protocol']}",
            ESTIMATORS[row["estimator"]],
            MEASURES[row["measure"]],
            _score(row),
            f"{row['more']:+z.0f} ({row['more_low']:+z.0f} to {row['more_high']:+z.0f})",
        ]
        for row in estimators
    ]
    columns = ["protocol", "variance", "measure", "mean ± standard error (95 %)", "more than with the sample variance"]
    return ShownTable("RAVEN-UCB with each variance estimator", columns, rows, (3, 4), True)
