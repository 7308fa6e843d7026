"""The advice of Section 5 on the page: what each line costs where it is meant to help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import faded, shaded, whiskers
from dashboards.figures._scales import axis, labelled, numbers
from dashboards.figures._style import BLUE, GREEN, ORANGE, VERMILION, Trace, make
from dashboards.figures._titles import heading
from dashboards.report.sections import ShownTable
from dashboards.reproduction.section import Section
from environments.text import format_number
from studies.reproduction.document import Document, Outcome
from studies.reproduction.rules import DEAR
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


def section(outcome: Outcome, document: Document) -> Section:
    """Words, figure and tables of the advice."""
    costs = outcome.tables["costs"]
    return Section(
        title="The advice of Section 5",
        claimed=_claimed(costs),
        did=_did(outcome),
        found=_found(outcome, document),
        figures=[("advice-costs", price(costs))],
        tables=[_lines(costs), _regrets(costs)],
    )


def price(costs: Table) -> go.Figure:
    """What the advice and the defaults cost more than the recommendation, a row each, with 95 % intervals."""
    rows = list(costs)
    limit: Trace = {
        "type": "scatter",
        "mode": "lines",
        "x": [100 * DEAR, 100 * DEAR],
        "y": [-0.5, len(rows) - 0.5],
        "line": {"color": VERMILION, "width": 1.5, "dash": "dash"},
        "name": f"{100 * DEAR:g} %: what advice may cost",
        "hoverinfo": "skip",
    }
    traces = [
        _dots(rows, "cost", -0.14, BLUE, "circle", "the paper's advice"),
        _dots(rows, "defaults_cost", 0.14, ORANGE, "square", "the defaults"),
        limit,
    ]
    labels = [f"({row['advice']}) {row['scenario']}<br>T = {row['horizon']}, as {row['protocol']}" for row in rows]
    worlds = {row["horizon"]: row["worlds"] for row in rows}
    played = ", ".join(f"R = {count} at T = {horizon}" for horizon, count in sorted(worlds.items()))
    return make(
        traces,
        heading("What the advice costs", "against the recommendation", "raven-ucb", "K = 10 arms", played),
        "Dots with 95 % intervals: how much more regret the paper's advice and the defaults have than the validated "
        "recommendation. "
        + "; ".join(
            f"advice {row['advice']} in {row['world']}, T = {row['horizon']}: {_range(row, 'cost')}" for row in rows
        )
        + ".",
        height=170 + 46 * len(rows),
        xaxis=axis("more regret, in %"),
        yaxis=labelled(labels, range=[len(rows) - 0.5, -0.5], showgrid=False),
        shapes=[shaded(0, 100 * DEAR, faded(GREEN, 0.15))],
    )


def _dots(rows: list[dict[str, Any]], name: str, shift: float, colour: str, symbol: str, label: str) -> Trace:
    value, low, high = ([100 * row[f"{name}{end}"] for row in rows] for end in ("", "_low", "_high"))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(value),
        "y": [place + shift for place in range(len(rows))],
        "error_x": whiskers(value, low, high, colour, thickness=2, width=5),
        "marker": {"symbol": symbol, "size": 9, "color": colour},
        "name": label,
        "text": [f"{row['world']}, T = {row['horizon']}<br>{label}: {_range(row, name)}" for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _claimed(costs: Table) -> list[str]:
    """Each line once."""
    lines = {
        (row["advice"], row["context"], row["term"]): f"({row['advice']}) {row['context']}, {row['term']} horizons: "
        f"α₀ = {row['advised_alpha0']:g}, β₀ = {row['advised_beta0']:g}"
        for row in costs
    }
    return [f"The paper closes with parameters to use: {'; '.join(lines.values())}."]


def _did(outcome: Outcome) -> list[str]:
    costs, facts = outcome.tables["costs"], outcome.facts
    horizons = {row["term"]: row["horizon"] for row in costs}
    worlds = " and ".join(f"{facts['fresh'][term]} at T = {horizon}" for term, horizon in horizons.items())
    return [
        f"For every line a search of {facts['trials']} candidates, {facts['replications']} worlds each, looked for "
        "better parameters in the scenario that the advice is meant for; the best few met again in fresh worlds, and "
        "the winner is the recommendation. It, the advice (with "
        f"ε = {costs.column('advised_epsilon')[0]:g}) and the policy's defaults then played worlds that had chosen "
        f"nothing: {worlds}. “Gradual changes” are both incremental drift and, as defined, gradual drift.",
        f"Advice stands when it costs less than {100 * DEAR:g} % more regret than the recommendation.",
    ]


def _found(outcome: Outcome, document: Document) -> list[str]:
    costs = outcome.tables["costs"]
    out = []
    for protocol in document.protocols:
        mine = list(costs.where(protocol=protocol))
        good = [row for row in mine if row["verdict"] == "stands"]
        dear, cheap = max(mine, key=lambda row: row["cost"]), min(mine, key=lambda row: row["cost"])
        out.append(
            f"As {protocol}, the advice stands in {len(good)} of {len(mine)} cases. It costs most in "
            f"{dear['scenario']} at T = {dear['horizon']}: {_range(dear, 'cost')} more regret than α₀ "
            f"{format_number(dear['alpha0'])}, β₀ {format_number(dear['beta0'])}, ε {format_number(dear['epsilon'])};"
            " and least "
            f"in {cheap['scenario']} at T = {cheap['horizon']}: {_range(cheap, 'cost')}."
        )
    better = [row for row in costs if row["defaults_regret"] < row["advised_regret"]]
    out.append(
        f"The policy's defaults, which know nothing of the scenario, have less regret than the advice in {len(better)} "
        f"of {len(costs)} cases."
    )
    return out


def _lines(costs: Table) -> ShownTable:
    return ShownTable(
        caption="The advice, line by line.",
        columns=["advice", "scenario", "T", "protocol", "advised", "recommended", "advice costs more", "verdict"],
        rows=[
            [
                f"({row['advice']}) {row['context']}, {row['term']}",
                row["scenario"],
                str(row["horizon"]),
                f"as {row['protocol']}",
                f"α₀ {row['advised_alpha0']:g}, β₀ {row['advised_beta0']:g}",
                f"α₀ {format_number(row['alpha0'])}, β₀ {format_number(row['beta0'])}, ε"
                f" {format_number(row['epsilon'])}",
                _range(row, "cost"),
                row["verdict"],
            ]
            for row in costs
        ],
        numbers=(2, 6),
    )


def _regrets(costs: Table) -> ShownTable:
    def regret(row: dict[str, Any], name: str) -> str:
        return (
            f"{format_number(row[name])} ({format_number(row[f'{name}_low'])} to {format_number(row[f'{name}_high'])})"
        )

    return ShownTable(
        caption="Mean regrets with 95 % intervals, all in the same fresh worlds.",
        columns=["scenario", "T", "protocol", "recommended", "advice", "defaults", "defaults cost more"],
        rows=[
            [
                row["scenario"],
                str(row["horizon"]),
                f"as {row['protocol']}",
                regret(row, "recommended_regret"),
                regret(row, "advised_regret"),
                regret(row, "defaults_regret"),
                _range(row, "defaults_cost"),
            ]
            for row in costs
        ],
        numbers=(1, 3, 4, 5, 6),
        folded=True,
    )


def _range(row: dict[str, Any], name: str) -> str:
    value, low, high = (100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"
