"""Figure 2 for readers: how much less regret RAVEN-UCB has than UCB1, the longer the game."""

from __future__ import annotations

from dashboards.report.sections import ShownTable
from dashboards.reproduction._figure2_figures import curse_figure, reduction_figure
from dashboards.reproduction.section import Section
from environments.text import keep_pairs_together
from studies.reproduction.claims import claims
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table
from studies.symbols import format_params

SHOWN = (100, 1000, 5000, 15_000)
"""Horizons that the words mention."""


def section(outcome: Outcome, document: Document) -> Section:
    """What the paper says of Figure 2, what was run, and what came out."""
    reduction, facts = outcome.tables["reduction"], outcome.facts
    published, defined = ("published" in document.protocols, "defined" in document.protocols)
    figures = [("reduction", reduction_figure(reduction, facts))]
    tables = [_by_horizon(reduction)]
    did, found = [_problem(outcome)], []
    if published:
        did.append(_did_published(outcome))
        found += _found_published(outcome)
        figures.append(("winners", curse_figure(outcome.tables["curse"], facts)))
    if defined:
        did.append(_did_defined(outcome))
        found += _found_defined(outcome)
        tables.append(_winners(outcome.tables["winners"]))
    return Section("Figure 2: regret reduction against the horizon", _claimed(), did, found, figures, tables)


def _claimed() -> list[str]:
    above, at = claims()["figure2-above-80"].printed, claims()["figure2-84"].printed
    return [
        "Regret is what a policy loses against always pulling the best arm. The reduction is the share of UCB1's "
        "regret that RAVEN-UCB saves: 0 % means that both lose alike, 100 % that RAVEN-UCB loses nothing.",
        f"The paper says that the reduction is above {above:g} % at every horizon T, that it grows with T, and that "
        f"it tends to one minus the largest variance of the arms, about {at:g} %, which it is to reach near T = 5000.",
    ]


def _problem(outcome: Outcome) -> str:
    return (
        f"{outcome.facts['arms']} arms pay 1 or 0; each world draws their chances between 0.8 and 0.95, and they never "
        "change. RAVEN-UCB's parameters are searched anew for every horizon; UCB1 is the untuned one, with bonus "
        "√(2·ln t / (N+1)), in the same worlds."
    )


def _did_published(outcome: Outcome) -> str:
    facts = outcome.facts
    return (
        f"As published: {facts['trials']} candidates a horizon, each in {facts['replications']} worlds, and the best "
        "one reported with the regret of the very worlds that chose it. The authors asked Optuna's TPE for them, "
        "whose first ten candidates are random, so the search is a random one. ε was suggested but never used. One "
        f"such run is a matter of luck, so it was repeated {facts['repeats']} times; every winner was also scored in "
        f"{facts['replications']} fresh worlds."
    )


def _did_defined(outcome: Outcome) -> str:
    facts = outcome.facts
    return (
        f"As defined: {facts['trials']} candidates × {facts['search']} worlds, the first of them the policy's defaults "
        "and all of them the same at every horizon, with ε in the score and the true sample variance. The best "
        f"{facts['finalists']} and the defaults met again in {facts['selection']} other worlds, and the winner was "
        "scored in fresh ones. UCB1 got the same search for its only constant c, which is 2 in the baseline. The "
        "intervals are those of the "
        "winner that this one search found; which winner ten candidates bring is luck beyond them."
    )


def _found_published(outcome: Outcome) -> list[str]:
    line = outcome.tables["reduction"].where(line="published")
    curse = outcome.tables["curse"]
    values = "; ".join(_at(line, horizon) for horizon in SHOWN)
    widest = max(line, key=lambda row: row["run_spread"])
    lift = sum(curse.column("difference")) / len(curse)
    return [
        f"As published, averaged over repeats: {values}. Single runs scatter by up to {widest['run_spread']:.1f} "
        f"points (standard deviation, T = {widest['horizon']}).",
        f"In fresh worlds the same winners save {abs(lift):.1f} points {'less' if lift >= 0 else 'more'}, on average "
        "over the horizons, than in the worlds that chose them.",
    ]


def _found_defined(outcome: Outcome) -> list[str]:
    line, against = outcome.tables["reduction"].where(line="defined"), outcome.tables["against_tuned"]
    tuned = outcome.tables["reduction"].where(line="tuned-ucb1")
    values = "; ".join(_at(line, horizon) for horizon in SHOWN)
    beyond = "; ".join(_at(line, horizon) for horizon in line.column("horizon") if horizon > outcome.facts["longest"])
    ahead = sum(row["low"] > 0 for row in against)
    behind = sum(row["high"] < 0 for row in against)
    middle = against.one(horizon=5000)
    return [
        f"As defined: {values}.",
        f"Where the paper does not look: {beyond}.",
        f"UCB1 with nothing but c tuned saves {_at(tuned, 5000, '')} at T = 5000; RAVEN-UCB saves "
        f"{abs(middle['difference']):.1f} points {'more' if middle['difference'] >= 0 else 'less'} (95 % of the "
        f"difference: {middle['low']:.1f} to {middle['high']:.1f}). Of {len(against)} horizons RAVEN-UCB is ahead of "
        f"tuned UCB1 at {ahead}, behind at {behind}, and not told from it at {len(against) - ahead - behind}.",
    ]


def _at(line: Table, horizon: int, where: str = " at T = {}") -> str:
    row = line.one(horizon=horizon)
    return f"{row['reduction']:.1f} % ({row['low']:.1f} to {row['high']:.1f}){where.format(horizon)}"


def _by_horizon(reduction: Table) -> ShownTable:
    names = {
        "published": "as published",
        "published-fresh": "its winners in fresh worlds",
        "defined": "as defined",
        "tuned-ucb1": "UCB1, c tuned",
    }
    lines = reduction.distinct("line")
    rows = []
    for horizon in sorted(reduction.distinct("horizon")):
        cells = [reduction.where(line=line, horizon=horizon) for line in lines]
        rows.append([str(horizon), *(_at(cell, horizon, "") if len(cell) else "" for cell in cells)])
    columns = ["T", *(names[line] for line in lines)]
    caption = "Reduction of regret against untuned UCB1, with 95 % intervals"
    return ShownTable(caption, columns, rows, numbers=tuple(range(len(columns))), folded=True)


def _winners(winners: Table) -> ShownTable:
    rows = []
    for row in winners:
        raven = format_params({name: row[name] for name in ("alpha0", "beta0", "epsilon")})
        rows.append([str(row["horizon"]), *map(keep_pairs_together, (raven, format_params({"c": row["c"]})))])
    return ShownTable("What each search found, as defined", ["T", "RAVEN-UCB", "UCB1"], rows, (0,), folded=True)
