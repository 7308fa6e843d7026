"""The section of Figure 5: how much single worlds differ."""

from __future__ import annotations

from dashboards.figures._titles import counts
from dashboards.reproduction._boxes import boxes
from dashboards.reproduction._logistics import COMPARISONS, NAMES, RAVEN
from dashboards.reproduction.section import Section
from environments.text import capitalize_first
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table


def section(outcome: Outcome, document: Document) -> Section:
    """Box plots of each comparison."""
    table, facts = outcome.tables["boxes"], outcome.facts
    figures, found = [], []
    for comparison in table.distinct("comparison"):
        here = table.where(comparison=comparison)
        context = [COMPARISONS[comparison], *counts(facts["horizon"], facts["arms"], facts["worlds"])]
        figures.append(
            (f"figure5-{comparison}", boxes(here, here.distinct("measure"), "How single worlds spread", context))
        )
        found.append(_spread(here, comparison))
    did = [
        f"The {facts['worlds']} worlds of each policy in Table 3, one number a world. Boxes hold half of the worlds, "
        "whiskers nine tenths; the diamond is our mean with its 95 % interval."
    ]
    if "published" in document.protocols:
        did.append("Crosses mark the means that the paper prints. It prints no quartiles.")
    return Section(
        title="Figure 5: regret, reward and suboptimal pulls world by world",
        claimed=[
            "The paper shows box plots of the regret, the reward and the suboptimal pulls (steps at which another "
            "warehouse would have been better) of its nine policies over 50 runs, without a word about them."
        ],
        did=did,
        found=found,
        figures=figures,
    )


def _spread(here: Table, comparison: str) -> str:
    """How wide RAVEN-UCB's box is, and who spreads least and most."""
    rows = {row["policy"]: row for row in here.where(measure="regret")}
    widths = {name: row["high"] - row["low"] for name, row in rows.items()}
    narrow, broad = min(widths, key=lambda name: widths[name]), max(widths, key=lambda name: widths[name])
    raven = rows[RAVEN]
    return (
        f"{capitalize_first(COMPARISONS[comparison])}, nine tenths of the worlds gave RAVEN-UCB a regret of "
        f"{raven['low']:.0f} to {raven['high']:.0f} against the best arm of the moment; {NAMES[narrow]} spreads least "
        f"({widths[narrow]:.0f} from end to end), {NAMES[broad]} most ({widths[broad]:.0f})."
    )
