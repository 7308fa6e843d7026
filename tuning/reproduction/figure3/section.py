"""The section of Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval, format_range
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.symbols import format_symbol
from ravenlab.studies.tables import select, to_records, unique
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figure3.figures import (
    plot_boxes,
    plot_heat_maps,
    plot_lines,
    plot_printed,
    plot_selection,
)
from ravenlab.tuning.reproduction.figure3.run import PAPER_REPLICATIONS, RESAMPLES
from ravenlab.tuning.reproduction.figure3.verdicts import format_cell, format_probability
from ravenlab.tuning.reproduction.figures import show_table

if TYPE_CHECKING:
    from pandas import DataFrame


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the grids, the printed optima and their sampling distribution."""
    cells, optima = result.tables["cells"], result.tables["optima"]
    figures = []
    for index, protocol in enumerate(reproduction.protocols):
        figures.append((f"figure3-lines-{protocol}", plot_lines(cells, optima, protocol)))
        figures.append((f"figure3-heat-maps-{protocol}", plot_heat_maps(cells, protocol)))
        if index == 0:
            figures.append((f"figure3-printed-{protocol}", plot_printed(optima, protocol)))
            figures.append((f"figure3-selection-{protocol}", plot_selection(cells, protocol)))
            figures.append((f"figure3-spread-{protocol}", plot_boxes(cells, protocol)))
    return ReproductionSection(
        title="Figure 3: the best parameters",
        claims=_describe_claims(optima),
        methods=_describe_methods(cells, reproduction.protocols),
        results=[
            *list_reasons(result),
            *_describe_optima(optima, result.facts["joint_probability"], reproduction.protocols),
            *_describe_free_search(reproduction),
        ],
        figures=figures,
        tables=[
            *(_optimum_table(optima, protocol) for protocol in reproduction.protocols),
            _sensitivity_table(result.tables["sensitivity"]),
        ],
    )


def _describe_claims(optima: DataFrame) -> list[str]:
    rows = to_records(select(optima, protocol=optima["protocol"].iloc[0]))
    cells = "; ".join(
        f"{row['scenario']}, T = {row['horizon']:,}: {format_cell(row['alpha0'], row['beta0'])} with regret "
        f"{row['printed_regret']:g}"
        for row in rows
    )
    return [
        "RAVEN-UCB has two weights: α₀ for exploration in general and β₀ for exploration of arms with variable "
        "rewards. The paper tries four values of each (sixteen cells) in three scenarios at two horizons and reports "
        f"the best cell of each of the six grids ({cells}).",
        "It concludes that the best α₀ grows with the horizon, that the best β₀ is low under high variance and high "
        "under drifting means, and that the regret hardly depends on β₀.",
    ]


def _describe_methods(cells: DataFrame, protocols: tuple[str, ...]) -> list[str]:
    worlds = dict(zip(cells["horizon"], cells["worlds"], strict=True))
    counts = " and ".join(f"{count:,} worlds at T = {horizon:,}" for horizon, count in sorted(worlds.items()))
    out = [
        f"The authors ran {PAPER_REPLICATIONS} replications per cell. Here all sixteen cells play the same {counts}, "
        "so cells differ only by their parameters. A cell is among the best if it is statistically indistinguishable "
        "from the lowest cell at 95 % confidence, simultaneously over all cells.",
        f"To simulate the paper's design, {PAPER_REPLICATIONS} of these worlds were drawn at random for each cell, "
        f"{RESAMPLES:,} times. This gives the probability that each cell is selected and the "
        "distribution of the regret that would be printed.",
    ]
    if "published" in protocols:
        out.append("As published, changes happen only at t = 5,000, 10,000, …, and a blip never ends.")
    if "defined" in protocols:
        out.append("As defined, variances and means drift at every step, and blips start every T/10 steps and end.")
    return out


def _describe_optima(optima: DataFrame, joint: Mapping[str, float], protocols: tuple[str, ...]) -> list[str]:
    out = []
    for protocol in protocols:
        rows = to_records(select(optima, protocol=protocol))
        among_best = sum(row["among_best"] for row in rows)
        low, high = min(row["selected"] for row in rows), max(row["selected"] for row in rows)
        others = "; another run would probably have selected other cells" if high < 0.5 else ""
        out.append(
            f"As {protocol}, {among_best} of the {len(rows)} printed cells are statistically indistinguishable from "
            f"the best. With {PAPER_REPLICATIONS} replications per cell they would be selected {100 * low:.0f} % to "
            f"{100 * high:.0f} % of the time{others}."
        )
        below = sum(row["printed_regret"] < row["regret_low"] for row in rows)
        explained = sum(row["smallest_least"] <= row["printed_regret"] <= row["smallest_most"] for row in rows)
        ratios = [row["regret"] / row["printed_regret"] for row in rows]
        out.append(
            f"As {protocol}, {below} of the {len(rows)} printed regrets are below the interval of their cell; the "
            f"measured means are {min(ratios):.1f} to {max(ratios):.1f} times the printed ones. The smallest of "
            f"sixteen noisy means is optimistically biased, which alone explains {explained} of the {len(rows)} "
            "printed regrets, each by itself at 99.7 %. The joint probability of all of them (Fisher's method) is "
            f"{format_probability(joint[protocol])}."
        )
    return out


def _describe_free_search(reproduction: ReproductionResult) -> list[str]:
    """The best α₀ of searches without a grid, if the advice was run too: a coarse grid hides its dependence on T."""
    if "advice" not in reproduction.experiments:
        return []
    costs = reproduction.experiments["advice"].tables["costs"]
    parts = []
    for scenario in unique(costs, "world"):
        rows = sorted(to_records(select(costs, world=scenario)), key=lambda row: row["horizon"])
        if len(rows) > 1:
            first, last = rows[0], rows[-1]
            parts.append(
                f"{first['alpha0']:.2g} at T = {first['horizon']:,} and {last['alpha0']:.2g} at "
                f"T = {last['horizon']:,} in {scenario}"
            )
    return [f"Without the grid, in the searches for the advice below, the best α₀ is {'; '.join(parts)}."]


def _optimum_table(optima: DataFrame, protocol: str) -> PageTable:
    rows = [
        {
            "scenario": row["scenario"],
            "T": f"{row['horizon']:,}",
            "printed cell": f"α₀ {row['alpha0']:g}, β₀ {row['beta0']:g}",
            "lowest cell here": f"α₀ {row['best_alpha0']:g}, β₀ {row['best_beta0']:g}",
            "excess regret": f"{100 * row['cost']:.0f} %",
            "selected": f"{100 * row['selected']:.0f} %",
            "verdict on the cell": row["cell_verdict"],
            "printed regret": f"{row['printed_regret']:g}",
            "mean of the cell": format_interval(
                Interval(row["regret"], row["regret_low"], row["regret_high"]), name=""
            ),
            "smallest of 16 (95 %)": format_range((row["smallest_low"], row["smallest_high"])),
            "P(smallest ≤ printed)": format_probability(row["smallest_below_printed"]),
            "verdict on the regret": row["regret_verdict"],
        }
        for row in to_records(select(optima, protocol=protocol))
    ]
    return show_table(
        f"The six optima, as {protocol}. “Smallest of 16”: the smallest of sixteen means of {PAPER_REPLICATIONS}.", rows
    )


def _sensitivity_table(sensitivity: DataFrame) -> PageTable:
    rows = [
        {
            "protocol": f"as {row['protocol']}",
            "scenario": row["scenario"],
            "T": f"{row['horizon']:,}",
            "parameter": format_symbol(row["param"]),
            "best": f"{row['best']:g}",
            "worst": f"{row['worst']:g}",
            "excess regret": f"{100 * row['cost']:.0f} %",
            "95 %": f"{100 * row['cost_low']:.0f} to {100 * row['cost_high']:.0f} %",
        }
        for row in to_records(sensitivity)
    ]
    caption = (
        "Excess regret of the worst over the best value of a parameter, with the other at its best value; selected on "
        "one half of the worlds, measured on the other"
    )
    return show_table(caption, rows, folded=True)
