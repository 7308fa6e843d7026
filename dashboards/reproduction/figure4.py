"""The section of Figure 4: the nine policies over time."""

from __future__ import annotations

from dashboards.figures._titles import counts
from dashboards.reproduction._logistics import AXES, COMPARISONS, MEASURES, NAMES, RAVEN
from dashboards.reproduction._over_time import over_time
from dashboards.reproduction.section import Section
from environments import find_scenario
from environments.moments import moments_of_change
from environments.text import capitalize_first
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table

DRAWN = (
    ("published", ("regret_constant", "reward"), "published-logistics"),
    ("published", ("regret",), "published-logistics"),
    ("defaults", ("regret", "reward"), "logistics"),
    ("tuned", ("regret", "reward"), "logistics"),
)
"""Comparisons and their panels, the paper's own pair first."""


def section(outcome: Outcome, document: Document) -> Section:
    """Curves with bands: as the paper drew them, then against the best arm of the moment, at defaults, and tuned."""
    curves, facts = outcome.tables["curves"], outcome.facts
    printed = _printed(outcome.tables.get("printed"))
    figures = []
    for comparison, panels, scenario in DRAWN:
        here = curves.where(comparison=comparison)
        if len(here):
            context = [COMPARISONS[comparison], AXES[panels[0]]]
            context += counts(facts["horizon"], facts["arms"], facts["worlds"])
            changes = moments_of_change(find_scenario(scenario), facts["horizon"])
            marks = printed if comparison == "published" else {}
            title = "Regret and reward over time" if "reward" in panels else "Regret over time"
            figure = over_time(here, panels, title, context, changes, marks)
            figures.append((f"figure4-{comparison}-{'-'.join(panels)}".replace("_", "-"), figure))
    return Section(
        title="Figure 4: regret and reward of nine policies over time",
        claimed=[
            "In a simulated network of 100 warehouses, an order goes to one warehouse at each of 50 000 steps. "
            "Every 5000 steps a third of the warehouses change. The paper draws (a) the regret and (b) the reward that "
            "nine policies gather, and says that RAVEN-UCB ends lowest in (a) and highest in (b).",
        ],
        did=_did(document, facts["worlds"]),
        found=[sentence for each in DRAWN if (sentence := _ends(curves, each[0], each[1][0]))],
        figures=figures,
    )


def _did(document: Document, worlds: int) -> list[str]:
    out = [f"All nine policies play the same {worlds} worlds; lines are means, bands their 95 % intervals."]
    if "published" in document.protocols:
        out.append(
            "As published, regret is what is missing to a constant reward of 0.8 a step, though after the first change "
            "the best warehouse may be worse than that. So the same games are drawn against the best arm of the moment "
            "too. Crosses at the right mark the numbers printed in the paper's Table 3."
        )
    if "defined" in document.protocols:
        out.append(
            "As defined, regret is against the best arm of the moment, and the policies are those of their own papers: "
            "first at their defaults, then each tuned on the same budget (see Table 3)."
        )
    return out


def _ends(curves: Table, comparison: str, measure: str) -> str:
    """Who ends where, in a sentence; empty where it was not played."""
    here = curves.where(comparison=comparison, measure=measure)
    if not len(here):
        return ""
    last = max(here.column("step"))
    ends = {row["policy"]: row["mean"] for row in here.where(step=last)}
    order = sorted(ends, key=lambda name: ends[name])
    place = order.index(RAVEN) + 1
    first = f"RAVEN-UCB ends with {ends[RAVEN]:.0f}, number {place} of {len(order)}"
    other = order[1] if place == 1 else order[0]
    rival = f"{'next' if place == 1 else 'first'} is {NAMES[other]} with {ends[other]:.0f}"
    return f"{capitalize_first(COMPARISONS[comparison])}, in {MEASURES[measure]}: {first}; {rival}."


def _printed(table: Table | None) -> dict[str, dict[str, float]]:
    if table is None:
        return {}
    return {
        measure: {row["policy"]: row["paper"] for row in table.where(measure=measure)}
        for measure in table.distinct("measure")
    }
