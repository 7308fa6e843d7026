"""The section of Table 3: nine policies in the logistics case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.figures._style import BLUE, GREEN, GREY, ORANGE
from dashboards.figures._titles import counts
from dashboards.reproduction._logistics import COMPARISONS, NAMES, PAPER, RAVEN, Dots, dots
from dashboards.reproduction._table3_tables import shown_tables
from dashboards.reproduction._variances import estimator_dots, variance_lines
from dashboards.reproduction.section import Section
from environments.text import capitalize_first
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


def section(outcome: Outcome, document: Document) -> Section:
    """Scores beside the paper's, defaults beside tuned, and what the variance estimators do."""
    tables, facts = outcome.tables, outcome.facts
    scores = tables["scores"]
    where = counts(facts["horizon"], facts["arms"], facts["worlds"])
    figures: list[tuple[str, go.Figure]] = []
    if "published" in document.protocols:
        figures.append(("table3-published", _published(scores, where)))
    if "defined" in document.protocols:
        figures.append(("table3-defined", _defined(scores, where)))
    figures.append(("table3-variances", variance_lines(tables["variances"])))
    figures.append(("table3-estimators", estimator_dots(tables["estimators"], facts["horizon"], facts["arms"])))
    return Section(
        title="Table 3: nine policies in the logistics case",
        claimed=[
            "100 warehouses, 50 000 orders, one warehouse an order; every 5000 orders a third of them change. "
            "The paper compares nine policies over 50 runs and prints reward, regret (the reward that was missed) and "
            "suboptimal pulls. RAVEN-UCB comes out best, CCB next; RAVEN-UCB's regret is 68 % below that of UCB. The "
            "paper says that this is because it explores by the variance of each arm.",
        ],
        did=_did(document, facts),
        found=_found(outcome),
        figures=figures,
        tables=shown_tables(tables),
    )


def _did(document: Document, facts: Any) -> list[str]:
    out = []
    if "published" in document.protocols:
        out.append(
            f"As published: what the authors' script ran, in {facts['worlds']} worlds of its kind. Its regret is "
            "against a constant 0.8 a step, the best mean before the first change; its baselines are not always the "
            "policies whose names they bear (two of them read the true means), and none was tuned. Beside it stands "
            "the regret against the best arm of the moment, which is the paper's own definition."
        )
    if "defined" in document.protocols:
        search = facts["search"]
        out.append(
            "As defined: the nine policies as their own papers define them, regret against the best arm of the moment; "
            "first at their defaults, then each tuned on the same budget: "
            f"{search['trials']} trials × {search['replications']} replications a policy, after which the best "
            f"{search['candidates']} and the defaults meet in {search['selection']} fresh worlds. All then play "
            f"the same {facts['worlds']} worlds that no search saw."
        )
    out.append(
        "The same worlds make the comparisons paired; RAVEN-UCB is held against the eight others with Holm's "
        "correction. Three recursions for the variance stand behind the paper's numbers: each was run on plain samples "
        "of N(0, 1), and RAVEN-UCB was run with each, and without its variance bonus (β₀ = 0)."
    )
    return out


def _found(outcome: Outcome) -> list[str]:
    """A sentence for each comparison, and one each for the reduction and the variance."""
    tables = outcome.tables
    scores, tests = tables["scores"], tables["tests"]
    out = []
    for comparison in scores.distinct("comparison"):
        measure = "regret_constant" if comparison == "published" else "regret"
        out.append(_ranking(scores, tests, comparison, measure))
        if comparison == "published":
            out.append(_agreement(scores))
    kinds = {"regret_constant": " (against 0.8)", "regret": ""}
    shares = [f"{COMPARISONS[row['comparison']]}{kinds[row['measure']]} {_share(row)}" for row in tables["reductions"]]
    out.append(f"RAVEN-UCB's regret against that of UCB: {'; '.join(shares)}.")
    last = max(tables["variances"].column("n"))
    at_last = {row["estimator"]: row["mean"] for row in tables["variances"].where(n=last)}
    out.append(
        f"After {last} rewards of variance 1, the recursion of Proposition 1 gives {at_last['welford']:.2f}, "
        f"Algorithm 1 as printed {at_last['printed']:.4f}, and the logistics script's {at_last['accumulated']:.2f}."
    )
    return out


def _ranking(scores: Table, tests: Table, comparison: str, measure: str) -> str:
    means = {row["policy"]: row["mean"] for row in scores.where(comparison=comparison, measure=measure)}
    order = sorted(means, key=lambda name: means[name])
    place = order.index(RAVEN) + 1
    held = tests.where(comparison=comparison, measure=measure, told_apart=True)
    worse = sum(row["difference"] > 0 for row in held)
    better = [NAMES[row["policy"]] for row in held if row["difference"] < 0]
    told = f"it is told apart from {worse} worse ones"
    told += f" and from {len(better)} better: {', '.join(better)}" if better else " and from no better one"
    other = order[1] if place == 1 else order[0]
    rival = f"{'next is' if place == 1 else 'first is'} {NAMES[other]} with {means[other]:.0f}"
    return (
        f"{capitalize_first(COMPARISONS[comparison])}, RAVEN-UCB is number {place} of {len(order)} with a mean regret"
        " of "
        f"{means[RAVEN]:.0f}; {rival}. After Holm's correction {told}."
    )


def _share(row: dict[str, Any]) -> str:
    """A reduction in words, whichever way it goes."""
    if row["percent"] >= 0:
        return f"{row['percent']:.1f} % lower ({row['low']:.1f} to {row['high']:.1f})"
    return f"{-row['percent']:.1f} % higher ({-row['high']:.1f} to {-row['low']:.1f})"


def _agreement(scores: Table) -> str:
    printed = [row for row in scores.where(comparison="published") if row["paper"] is not None]
    inside = sum(row["low"] <= row["paper"] <= row["high"] for row in printed)
    return f"Of the {len(printed)} numbers that the paper prints, {inside} lie in our 95 % intervals."


def _series(scores: Table, name: str, marker: dict[str, Any], **cells: str) -> Dots:
    rows = {row["policy"]: row for row in scores.where(**cells)}
    mean, low, high = ([rows[policy][key] for policy in NAMES] for key in ("mean", "low", "high"))
    return Dots(name, mean, low, high, marker)


def _published(scores: Table, where: list[str]) -> go.Figure:
    constant = {"comparison": "published", "measure": "regret_constant"}
    paper = [scores.one(policy=policy, **constant)["paper"] for policy in NAMES]
    series = [
        Dots("printed in the paper", paper, paper, paper, PAPER),
        _series(scores, "ours, against 0.8", {"symbol": "circle", "color": BLUE}, **constant),
        _series(
            scores,
            "ours, against the best arm of the moment",
            {"symbol": "square-open", "color": GREEN, "line": {"color": GREEN, "width": 2}},
            comparison="published",
            measure="regret",
        ),
    ]
    rows = list(NAMES.values())
    return dots(rows, series, "Table 3's regrets and ours", ["as published", *where], "cumulative regret")


def _defined(scores: Table, where: list[str]) -> go.Figure:
    series = [
        _series(
            scores,
            "at its defaults",
            {"symbol": "circle-open", "color": GREY, "line": {"color": GREY, "width": 2}},
            comparison="defaults",
            measure="regret",
        ),
        _series(
            scores,
            "tuned on the same budget",
            {"symbol": "diamond", "color": ORANGE},
            comparison="tuned",
            measure="regret",
        ),
    ]
    title = "What tuning does to each policy"
    return dots(list(NAMES.values()), series, title, ["as defined", *where], "regret of the moment")
