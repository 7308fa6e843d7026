"""The section of the advice in Section 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from dashboards.figures.style import (
    BLUE,
    GREEN,
    ORANGE,
    VERMILION,
    PlotlyTrace,
    fade,
    format_title,
    make_axis,
    make_category_axis,
    make_error_bars,
    make_figure,
    make_shading,
    round_numbers,
)
from dashboards.pages.html import PageTable
from dashboards.pages.reproduction import ReproductionSection
from environments.text import format_number
from studies.paper.claims import Verdict
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.paper.rules import MAX_COST
from studies.tables import select, to_records

if TYPE_CHECKING:
    import plotly.graph_objects as go


TITLE = "The advice of Section 5"


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the cost of each recommendation, and the regrets behind it."""
    costs = result.tables["costs"]
    rows = to_records(costs)
    advice = {
        (row["advice"], row["context"], row["term"]): f"({row['advice']}) {row['context']}, {row['term']} horizons: "
        f"α₀ = {row['advised_alpha0']:g}, β₀ = {row['advised_beta0']:g}"
        for row in rows
    }
    return ReproductionSection(
        title=TITLE,
        claims=[f"The paper recommends parameters: {'; '.join(advice.values())}."],
        methods=_describe_methods(result, rows),
        results=_describe_results(costs, reproduction.protocols),
        figures=[("advice-costs", _plot_costs(rows))],
        tables=[_cost_table(rows), _regret_table(rows)],
    )


def _describe_methods(result: ExperimentResult, rows: list[dict[str, Any]]) -> list[str]:
    facts = result.facts
    horizons = {row["term"]: row["horizon"] for row in rows}
    worlds = " and ".join(f"{facts['fresh'][term]:,} at T = {horizon:,}" for term, horizon in horizons.items())
    return [
        f"For each recommendation of the paper, a search of {facts['trials']} candidates × {facts['replications']} "
        "worlds looked for better parameters in the scenario that it applies to. The best candidates were compared on "
        "selection worlds, and the winner is our recommendation. It, the advice (with "
        f"ε = {rows[0]['advised_epsilon']:g}) and the policy's defaults then played held-out worlds not used for "
        f"selection: {worlds}. “Gradual changes” are incremental drift and, as defined, also gradual drift.",
        f"The advice is confirmed if its regret is less than {100 * MAX_COST:g} % higher than that of our "
        "recommendation.",
    ]


def _describe_results(costs: DataFrame, protocols: tuple[str, ...]) -> list[str]:
    out = []
    for protocol in protocols:
        rows = to_records(select(costs, protocol=protocol))
        confirmed = [row for row in rows if row["verdict"] == Verdict.CONFIRMED]
        worst, best = max(rows, key=lambda row: row["cost"]), min(rows, key=lambda row: row["cost"])
        out.append(
            f"As {protocol}, the advice is confirmed in {len(confirmed)} of {len(rows)} cases. Its excess regret is "
            f"largest in {worst['scenario']} at T = {worst['horizon']:,}: {_format_range(worst, 'cost')} compared with "
            f"α₀ {format_number(worst['alpha0'])}, β₀ {format_number(worst['beta0'])}, ε "
            f"{format_number(worst['epsilon'])}. It is smallest in "
            f"{best['scenario']} at T = {best['horizon']:,}: {_format_range(best, 'cost')}."
        )
    better = [row for row in to_records(costs) if row["defaults_regret"] < row["advised_regret"]]
    out.append(
        "The policy's defaults, which do not depend on the scenario, have lower regret than the advice in "
        f"{len(better)} of {len(costs)} cases."
    )
    return out


def _plot_costs(rows: list[dict[str, Any]]) -> go.Figure:
    """Excess regret of the advice and of the defaults over the recommendation, with 95 % intervals."""
    limit: PlotlyTrace = {
        "type": "scatter",
        "mode": "lines",
        "x": [100 * MAX_COST, 100 * MAX_COST],
        "y": [-0.5, len(rows) - 0.5],
        "line": {"color": VERMILION, "width": 1.5, "dash": "dash"},
        "name": f"{100 * MAX_COST:g} %: limit for advice",
        "hoverinfo": "skip",
    }
    traces = [
        _plot_dots(rows, "cost", -0.14, BLUE, "circle", "the paper's advice"),
        _plot_dots(rows, "defaults_cost", 0.14, ORANGE, "square", "the defaults"),
        limit,
    ]
    labels = [f"({row['advice']}) {row['scenario']}<br>T = {row['horizon']:,}, as {row['protocol']}" for row in rows]
    worlds = {row["horizon"]: row["worlds"] for row in rows}
    counts = ", ".join(f"R = {count:,} at T = {horizon:,}" for horizon, count in sorted(worlds.items()))
    costs = "; ".join(
        f"advice {row['advice']} in {row['world']}, T = {row['horizon']:,}: {_format_range(row, 'cost')}"
        for row in rows
    )
    return make_figure(
        traces,
        format_title("Excess regret of the advice", "over our recommendation", "raven-ucb", "K = 10 arms", counts),
        "Dots with 95 % intervals: excess regret of the paper's advice and of the defaults over the validated "
        f"recommendation. {costs}.",
        height=170 + 46 * len(rows),
        xaxis=make_axis("excess regret (%)"),
        yaxis=make_category_axis(labels, range=[len(rows) - 0.5, -0.5], showgrid=False),
        shapes=[make_shading(0, 100 * MAX_COST, fade(GREEN, 0.15))],
    )


def _plot_dots(
    rows: list[dict[str, Any]], name: str, shift: float, colour: str, symbol: str, label: str
) -> PlotlyTrace:
    value, low, high = ([100 * row[f"{name}{end}"] for row in rows] for end in ("", "_low", "_high"))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": round_numbers(value),
        "y": [index + shift for index in range(len(rows))],
        "error_x": make_error_bars(value, low, high, colour, thickness=2, width=5),
        "marker": {"symbol": symbol, "size": 9, "color": colour},
        "name": label,
        "text": [f"{row['world']}, T = {row['horizon']:,}<br>{label}: {_format_range(row, name)}" for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _cost_table(rows: list[dict[str, Any]]) -> PageTable:
    return PageTable(
        "Excess regret of the advice",
        DataFrame(
            [
                [
                    f"({row['advice']}) {row['context']}, {row['term']}",
                    row["scenario"],
                    f"{row['horizon']:,}",
                    f"as {row['protocol']}",
                    f"α₀ {row['advised_alpha0']:g}, β₀ {row['advised_beta0']:g}",
                    f"α₀ {format_number(row['alpha0'])}, β₀ {format_number(row['beta0'])}, ε "
                    f"{format_number(row['epsilon'])}",
                    _format_range(row, "cost"),
                    row["verdict"],
                ]
                for row in rows
            ],
            columns=["advice", "scenario", "T", "protocol", "advised", "recommended", "excess regret", "verdict"],
        ),
    )


def _regret_table(rows: list[dict[str, Any]]) -> PageTable:
    def regret(row: dict[str, Any], name: str) -> str:
        return (
            f"{format_number(row[name])} ({format_number(row[f'{name}_low'])} to {format_number(row[f'{name}_high'])})"
        )

    return PageTable(
        "Mean regrets with 95 % intervals on the same held-out worlds",
        DataFrame(
            [
                [
                    row["scenario"],
                    f"{row['horizon']:,}",
                    f"as {row['protocol']}",
                    regret(row, "recommended_regret"),
                    regret(row, "advised_regret"),
                    regret(row, "defaults_regret"),
                    _format_range(row, "defaults_cost"),
                ]
                for row in rows
            ],
            columns=["scenario", "T", "protocol", "recommended", "advice", "defaults", "excess regret of defaults"],
        ),
        folded=True,
    )


def _format_range(row: dict[str, Any], name: str) -> str:
    value, low, high = (100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"
