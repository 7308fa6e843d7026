"""Figure 3 on the page: the grids, the six optima, and what ten replications a cell can and can't say."""

from __future__ import annotations

from typing import Any

from dashboards.report.sections import ShownTable
from dashboards.reproduction._figure3_figures import heat_maps, landscape, lines, named_best
from dashboards.reproduction._figure3_spread import boxes, printed_against
from dashboards.reproduction.section import Section
from environments.text import format_number
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table


def section(outcome: Outcome, document: Document) -> Section:
    """Words, figures and tables of Figure 3."""
    cells, optima = outcome.tables["cells"], outcome.tables["optima"]
    few, main = outcome.facts["few"], document.protocols[0]
    figures = []
    for protocol in document.protocols:
        figures.append((f"figure3-lines-{protocol}", lines(cells, optima, protocol)))
        figures.append((f"figure3-heat-maps-{protocol}", heat_maps(cells, protocol)))
        if protocol == main:
            figures.append((f"figure3-printed-{protocol}", printed_against(optima, protocol, few)))
            figures.append((f"figure3-named-best-{protocol}", named_best(cells, protocol, few)))
            figures.append((f"figure3-spread-{protocol}", boxes(cells, protocol)))
            figures.append((f"figure3-surface-{protocol}", landscape(cells, protocol)))
    return Section(
        title="Figure 3: which parameters are best",
        claimed=_claimed(optima),
        did=_did(outcome, document),
        found=[*_found(outcome, document), *_beyond_the_grid(document)],
        figures=figures,
        tables=[*(_optima(optima, protocol, few) for protocol in document.protocols), _sensitivity(outcome)],
    )


def _claimed(optima: Table) -> list[str]:
    first = list(optima.where(protocol=optima.distinct("protocol")[0]))
    cells = "; ".join(
        f"{row['scenario']}, T = {row['horizon']}: α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g} with regret "
        f"{row['printed_regret']:g}"
        for row in first
    )
    return [
        "RAVEN-UCB has two weights: α₀ for exploration in general, β₀ for exploring arms whose rewards vary. The paper "
        "tries four values of each, sixteen cells, in three kinds of change and at two horizons, and names a best cell "
        f"in each of the six grids ({cells}).",
        "It reads three patterns off them: the best α₀ grows with the horizon, the best β₀ is low where variances are "
        "high and high where means drift, and the regret hardly depends on β₀.",
    ]


def _did(outcome: Outcome, document: Document) -> list[str]:
    cells, few = outcome.tables["cells"], outcome.facts["few"]
    worlds = {row["horizon"]: row["worlds"] for row in cells}
    played = " and ".join(f"{count} worlds at T = {horizon}" for horizon, count in sorted(worlds.items()))
    out = [
        f"The authors played each cell {few} times. Here all sixteen cells play the same {played}, so that cells "
        "differ by their parameters and not by their luck. A cell is called among the best when it can't be told from "
        "the lowest one, all cells considered at once, with 95 % confidence.",
        f"To see what {few} replications can say, {few} of these worlds were drawn at random for each cell, "
        f"{outcome.facts['draws']} times over: how often is each cell named best, and what regret would be printed?",
    ]
    if "published" in document.protocols:
        out.append("As published, a change happens at t = 5000, 10000, … and at no other time, and a blip never ends.")
    if "defined" in document.protocols:
        out.append("As defined, variances and means drift all the time, and blips come every tenth of T and end.")
    return out


def _found(outcome: Outcome, document: Document) -> list[str]:
    optima, few = outcome.tables["optima"], outcome.facts["few"]
    out = []
    for protocol in document.protocols:
        mine = list(optima.where(protocol=protocol))
        if outcome.facts["one_problem"][protocol]:
            out.append(_one_problem(mine, protocol, few))
        among = sum(row["among_best"] for row in mine)
        low, high = min(row["named_best"] for row in mine), max(row["named_best"] for row in mine)
        others = "; another run would most likely have named others" if high < 0.5 else ""
        out.append(
            f"As {protocol}, {among} of the {len(mine)} printed cells can't be told from the best. With {few} "
            f"replications a cell they would be named best {100 * low:.0f} % to {100 * high:.0f} % of the time{others}."
        )
        below = [row for row in mine if row["printed_regret"] < row["regret_low"]]
        inside = [row for row in mine if row["smallest_least"] <= row["printed_regret"] <= row["smallest_most"]]
        ratio = [row["regret"] / row["printed_regret"] for row in mine]
        out.append(
            f"As {protocol}, {len(below)} of the {len(mine)} printed regrets lie below what their cell really gets: "
            f"true means are {min(ratio):.1f} to {max(ratio):.1f} times as large. The smallest of sixteen noisy means "
            f"is bound to be too low; for {len(inside)} of the {len(mine)} that alone explains what was printed."
        )
    reasons = [verdict for verdict in outcome.verdicts if verdict.claim in _PATTERNS]
    return out + [f"{_PATTERNS[each.claim]}, as {each.protocol}: {each.word}. {each.reason}" for each in reasons]


def _one_problem(mine: list[dict[str, Any]], protocol: str, few: int) -> str:
    horizon = min(row["horizon"] for row in mine)
    same = [row for row in mine if row["horizon"] == horizon]
    printed = len({(row["alpha0"], row["beta0"]) for row in same})
    named = ", ".join(f"{100 * row['named_best']:.0f} %" for row in same)
    return (
        f"As {protocol}, at T = {horizon} nothing ever changes: the {len(same)} scenarios are one and the same "
        f"problem, with regrets equal to the last digit. The paper prints {printed} different best cells for it, so "
        f"their differences are noise: {few} replications a cell would name them best {named} of the time. The "
        f"lowest cell is α₀ = {same[0]['best_alpha0']:g}, β₀ = {same[0]['best_beta0']:g}."
    )


_PATTERNS = {
    "figure3-alpha-grows": "α₀ grows with the horizon",
    "figure3-beta-volatility": "β₀ goes with volatility",
    "figure3-insensitive": "Insensitive to its parameters",
}


def _beyond_the_grid(document: Document) -> list[str]:
    """What searches without a grid say of α₀ and T, where the advice was run too: a coarse grid hides it."""
    if "advice" not in document.outcomes:
        return []
    costs = document.outcomes["advice"].tables["costs"]
    parts = []
    for world in costs.distinct("world"):
        rows = sorted(costs.where(world=world), key=lambda row: row["horizon"])
        if len(rows) > 1:
            parts.append(
                f"{rows[0]['alpha0']:.2g} at T = {rows[0]['horizon']} and {rows[-1]['alpha0']:.2g} at T = "
                f"{rows[-1]['horizon']} in {world}"
            )
    return [f"Off the grid, where α₀ was searched freely (see the advice below), the best α₀ is {'; '.join(parts)}."]


def _optima(optima: Table, protocol: str, few: int) -> ShownTable:
    return ShownTable(
        caption=f"The six optima, as {protocol}. “Smallest of 16”: where the smallest of sixteen means of {few} lies.",
        columns=[
            "scenario",
            "T",
            "printed cell",
            "lowest cell here",
            "costs more",
            "named best",
            "cell",
            "printed regret",
            "true mean of the cell",
            "smallest of 16 (95 %)",
            "regret",
        ],
        rows=[
            [
                row["scenario"],
                str(row["horizon"]),
                _cell(row["alpha0"], row["beta0"]),
                _cell(row["best_alpha0"], row["best_beta0"]),
                f"{100 * row['cost']:.0f} %",
                f"{100 * row['named_best']:.0f} %",
                row["cell_verdict"],
                f"{row['printed_regret']:g}",
                f"{format_number(row['regret'])} ({format_number(row['regret_low'])} to"
                f" {format_number(row['regret_high'])})",
                f"{format_number(row['smallest_low'])} to {format_number(row['smallest_high'])}",
                row["regret_verdict"],
            ]
            for row in optima.where(protocol=protocol)
        ],
        numbers=(1, 4, 5, 7, 8, 9),
    )


def _sensitivity(outcome: Outcome) -> ShownTable:
    names = {"alpha0": "α₀", "beta0": "β₀"}
    return ShownTable(
        caption="What the worst value of a parameter costs more than its best one, with the other at its best; chosen "
        "on half of the worlds, measured on the other half.",
        columns=["protocol", "scenario", "T", "parameter", "best", "worst", "costs more", "95 %"],
        rows=[
            [
                f"as {row['protocol']}",
                row["scenario"],
                str(row["horizon"]),
                names[row["param"]],
                f"{row['best']:g}",
                f"{row['worst']:g}",
                f"{100 * row['cost']:.0f} %",
                f"{100 * row['cost_low']:.0f} to {100 * row['cost_high']:.0f} %",
            ]
            for row in outcome.tables["sensitivity"]
        ],
        numbers=(2, 4, 5, 6, 7),
        folded=True,
    )


def _cell(alpha0: float, beta0: float) -> str:
    return f"α₀ {alpha0:g}, β₀ {beta0:g}"
