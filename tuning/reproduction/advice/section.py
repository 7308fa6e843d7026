"""The section of the advice in Section 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval
from ravenlab.dashboards.figures.style import BLUE, GREEN, ORANGE, VERMILION, fade, make_axis, make_shading
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.claims import Measurement
from ravenlab.studies.paper.criteria import MAX_COST
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.symbols import format_params
from ravenlab.studies.tables import to_records
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figures import DotSeries, format_worlds, make_guide_line, plot_dots, show_table
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement, to_percent

if TYPE_CHECKING:
    import plotly.graph_objects as go


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the cost of each recommendation, and the regrets behind it."""
    rows = to_records(result.tables["costs"])
    advice = {
        (row["advice"], row["context"], row["term"]): f"({row['advice']}) {row['context']}, {row['term']} horizons: "
        f"α₀ = {row['advised_alpha0']:g}, β₀ = {row['advised_beta0']:g}"
        for row in rows
    }
    return ReproductionSection(
        title="The advice of Section 5",
        claims=[f"The paper recommends parameters: {'; '.join(advice.values())}."],
        methods=_describe_methods(result, rows),
        results=[*list_reasons(result), _describe_defaults(rows)],
        figures=[("advice-costs", _plot_costs(rows))],
        tables=[_cost_table(rows), _regret_table(rows)],
    )


def _describe_methods(result: ExperimentResult, rows: list[dict[str, Any]]) -> list[str]:
    facts = result.facts
    horizons = {row["term"]: row["horizon"] for row in rows}
    worlds = " and ".join(f"{facts['held_out'][term]:,} at T = {horizon:,}" for term, horizon in horizons.items())
    return [
        f"For each recommendation of the paper, a search of {facts['trials']} candidates × {facts['replications']} "
        "worlds looked for better parameters in the scenario that it applies to. The best candidates were compared on "
        "selection worlds, and the winner is our recommendation. It, the advice (with "
        f"ε = {rows[0]['advised_epsilon']:g}) and the policy's defaults then played held-out worlds not used for "
        f"selection: {worlds}. “Gradual changes” are incremental drift and, as defined, also gradual drift.",
        f"The advice is confirmed if its regret is less than {100 * MAX_COST:g} % higher than that of our "
        "recommendation.",
    ]


def _describe_defaults(rows: list[dict[str, Any]]) -> str:
    better = sum(row["defaults_regret"] < row["advised_regret"] for row in rows)
    return (
        "The policy's defaults, which do not depend on the scenario, have lower regret than the advice in "
        f"{better} of {len(rows)} cases."
    )


def _plot_costs(rows: list[dict[str, Any]]) -> go.Figure:
    """Excess regret of the advice and of the defaults over the recommendation, with 95 % intervals."""
    limit = 100 * MAX_COST
    y, label = [-0.5, len(rows) - 0.5], f"{limit:g} %: limit for advice"
    return plot_dots(
        [f"({row['advice']}) {row['scenario']}<br>T = {row['horizon']:,}, as {row['protocol']}" for row in rows],
        [
            DotSeries.from_rows("the paper's advice", rows, "cost", {"symbol": "circle", "color": BLUE}, 100.0),
            DotSeries.from_rows("the defaults", rows, "defaults_cost", {"symbol": "square", "color": ORANGE}, 100.0),
        ],
        "Excess regret of the advice",
        ["over our recommendation", "raven-ucb", "K = 10 arms", format_worlds(rows)],
        make_axis("excess regret (%)"),
        extra_traces=[make_guide_line([limit, limit], y, label, "dash", VERMILION)],
        shapes=[make_shading(0, limit, fade(GREEN, 0.15))],
    )


def _cost_table(rows: list[dict[str, Any]]) -> PageTable:
    cells = [
        {
            "advice": f"({row['advice']}) {row['context']}, {row['term']}",
            "scenario": row["scenario"],
            "T": f"{row['horizon']:,}",
            "protocol": f"as {row['protocol']}",
            "advised": f"α₀ {row['advised_alpha0']:g}, β₀ {row['advised_beta0']:g}",
            "recommended": format_params({name: row[name] for name in ("alpha0", "beta0", "epsilon")}),
            "excess regret": format_measurement(_read_percent(row, "cost")),
            "verdict": row["verdict"],
        }
        for row in rows
    ]
    return show_table("Excess regret of the advice", cells)


def _regret_table(rows: list[dict[str, Any]]) -> PageTable:
    def regret(row: dict[str, Any], name: str) -> str:
        measured = read_measurement(row, name)
        return format_interval(Interval(*measured), name="")

    cells = [
        {
            "scenario": row["scenario"],
            "T": f"{row['horizon']:,}",
            "protocol": f"as {row['protocol']}",
            "recommended": regret(row, "recommended_regret"),
            "advice": regret(row, "advised_regret"),
            "defaults": regret(row, "defaults_regret"),
            "excess regret of defaults": format_measurement(_read_percent(row, "defaults_cost")),
        }
        for row in rows
    ]
    return show_table("Mean regrets with 95 % intervals on the same held-out worlds", cells, folded=True)


def _read_percent(row: dict[str, Any], name: str) -> Measurement:
    return to_percent(read_measurement(row, name))
