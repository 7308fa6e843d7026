"""How the numbers came about, and what they don't say."""

from __future__ import annotations

import platform
from importlib.metadata import version

from dashboards.pages.report.data import ReportData, worlds_played
from environments.text import format_range
from studies.storage.keys import project_version

LIBRARIES = ("numpy", "numba", "scipy", "optuna", "plotly")


def methods(material: ReportData) -> list[tuple[str, list[str]]]:
    """Terms with what there is to say about each."""
    specs = [part.spec for part in material.studies]
    terms: list[tuple[str, list[str]]] = [
        (
            "Regret",
            [
                "What was lost, summed over T steps, against always pulling the open arm with the highest mean of the"
                " moment. Means are compared, not rewards, so luck in the rewards does not enter."
            ],
        ),
        (
            "Same worlds",
            [
                "All candidates of a study play the same worlds with the same noise; differences are taken world by"
                " world, so what a world is worth cancels out. A world is drawn from the seed, the stream and the"
                " number of the replication alone."
            ],
        ),
    ]
    if specs:
        terms.append(
            (
                "Streams",
                [
                    "Search, selection and report are disjoint families of worlds. The search finds candidates; the"
                    " best of them, the paper's advice and the defaults meet again on the selection worlds, which"
                    " choose; the chosen one and both rivals play the report worlds, which choose nothing and give"
                    " every regret, interval and difference of this page's summary and table.",
                ],
            )
        )
        terms.append(
            (
                "Replications",
                [
                    f"Search {format_range(spec.replications for spec in specs)} worlds a trial,"
                    f" {format_range(spec.trials for spec in specs)} trials a study;"
                    f" selection {format_range(spec.selection for spec in specs)},"
                    f" report {format_range(spec.report for spec in specs)} worlds;"
                    f" seed {format_range(spec.seed for spec in specs)}.",
                ],
            )
        )
        terms.append(
            (
                "Intervals",
                [
                    "95 %, by a studentised bootstrap of whole worlds, since regrets are skewed. A difference whose"
                    " interval holds 0 is called one that can't be told."
                ],
            )
        )
        terms.append(
            (
                "Corrections",
                [
                    "Who is as good as the best is asked of all candidates at once: a rival's studentised difference"
                    " is held against the largest one between any two still in question, step by step as in Holm's"
                    " procedure. With 95 % probability nobody who is as good as the best is left out. The paper's"
                    " advice and the defaults are compared one by one and not corrected for the number of studies on"
                    " this page: of 20 differences that are none, one will look like one.",
                ],
            )
        )
    sources = {spec.source.kind for spec in specs}
    if "trace" in sources:
        terms.append(
            (
                "Traces",
                [
                    "On a trace, windows of rows take the place of worlds, and stretches of time that of streams: the"
                    " first half of the rows is searched, the next fifth chooses, the rest reports. Windows overlap and"
                    " rows remember, so there intervals come from a moving-block bootstrap of the reported rows, with"
                    " blocks of at least half a window. A difference that those rows can't settle is called not"
                    " decidable. Curves over time are of reported windows, without bands.",
                ],
            )
        )
    if "log" in sources:
        terms.append(
            (
                "Logs",
                [
                    "On a log policies are replayed: an event counts, and is learned from, only when the policy picks"
                    " the logged arm. The first half of the events is searched, the next fifth chooses, the rest"
                    " reports. The score is the mean over orders of the log that move events by at most a tenth of the"
                    " stretch; its interval comes from logs resampled by a local block bootstrap, each in 16 such"
                    " orders: what scores differ by between these logs, less what the orders add to it. Regret is the"
                    " logging policy's mean reward less the score.",
                ],
            )
        )
    if material.grids:
        counts = format_range(part.grid.spec.replications for part in material.grids)
        terms.append(
            (
                "Grids",
                [
                    f"All cells of a grid play the same {counts} worlds, of a stream of their own. Which cells can't be"
                    " told from the best is asked as above. Box plots show the best cells in a few other worlds."
                ],
            )
        )
    curves = worlds_played([part.played for part in material.studies])
    if curves is not None:
        terms.append(
            (
                "Curves",
                [
                    f"Regret over time was played for this page in {format_range(curves)} worlds of yet another"
                    " stream: enough"
                    " to see when regret comes about, too few to rank by. Rank by the table."
                ],
            )
        )
    if specs:
        terms.append(
            (
                "Search pictures",
                [
                    "Of long searches some trials are drawn, evenly, as the legend says; the line of the best so far"
                    " knows every improvement. Importances are PED-ANOVA over complete trials; below 20 there are none."
                ],
            )
        )
    terms.append(("Versions", [versions(material)]))
    terms.append(
        ("Storage", [f"{material.where}. No time of day is on this page: the same studies give the same page."])
    )
    return terms


def versions(material: ReportData) -> str:
    """What made this page, and what made its studies where that differs."""
    here = project_version()
    made = sorted({each.version for each in material.recommendations} - {here})
    words = [
        f"ravenlab {here}",
        f"Python {platform.python_version()}",
        *(f"{name} {version(name)}" for name in LIBRARIES),
    ]
    text = f"{', '.join(words)}."
    return text + (f" Some recommendations were made by version {', '.join(made)}." if made else "")


NOT_CLAIMED = (
    "That the recommended parameters are the best there are: they are the best that a search of this size found, and"
    " candidates that could not be told from them may be as good.",
    "That they carry over to other scenarios, horizons, numbers of arms or rewards of another scale: RAVEN-UCB is not"
    " scale-free.",
    "That the simulated worlds are yours. They change in known ways; whether yours does so is for you to judge.",
    "That the search's own best value can be believed: it is the least of many noisy means, and shown only as history.",
)
