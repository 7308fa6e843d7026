"""Methods and limitations: how the numbers of the report were obtained and what they do not show."""

import platform
from importlib.metadata import version

from ravenlab.common.text import format_range
from ravenlab.dashboards.pages.report.data import ReportData, count_curve_worlds
from ravenlab.studies.storage.keys import project_version

LIBRARIES = ("numpy", "numba", "scipy", "optuna", "plotly")

REGRET = (
    "The loss relative to always pulling the available arm with the highest mean at that step, summed over T steps."
    " Regret compares means, not rewards, so noise in the rewards does not enter it."
)
COMMON_RANDOM_NUMBERS = (
    "All candidates of a study are evaluated on the same worlds with the same noise, and differences are paired by"
    " world. A world is determined by the seed, the stream and the number of the replication."
)
STREAMS = (
    "Search, selection and report use disjoint streams of worlds. The search proposes candidates. The best candidates,"
    " the paper's advice and the defaults are compared on the selection worlds, which determine the recommendation."
    " The recommendation and both baselines are then evaluated on the held-out report worlds. All regrets, intervals"
    " and differences in the recommendations and the table come from the report worlds."
)
INTERVALS = (
    "95 % confidence intervals from a studentized bootstrap over worlds, because regret is skewed. A difference whose"
    " interval contains 0 is not significant."
)
CORRECTIONS = (
    "The set of candidates that are statistically indistinguishable from the best is determined by a step-down"
    " procedure on studentized differences, which controls the family-wise error rate at 5 %. The comparisons with the"
    " paper's advice and the defaults are not corrected for the number of studies: if no difference existed, about one"
    " comparison in 20 would still appear significant."
)
TRACES = (
    "On a trace, windows of rows replace worlds, and segments of the trace replace streams: the search uses the first"
    " half of the rows, the selection the next fifth, the report the rest. Windows overlap and rows are"
    " autocorrelated, so intervals come from a moving-block bootstrap of the rows, of all segments, with blocks of at"
    " least one window, scaled to the number of report rows. Differences that these rows cannot resolve are"
    " inconclusive. Curves over time show report windows, without bands. Means are unknown, so"
    " regret compares rewards: that of an arm that is best in nearby rows, without the row itself, minus that of the"
    " pulled arm."
)
LOGS = (
    "On a log, policies are evaluated by local resampling: at each step the policy selects any arm and receives the"
    " reward of a random event of that arm close to that step. The search uses the first half of the events, the"
    " selection the next fifth, the report the rest. The bias of the replay score and its interval are estimated on"
    " resampled logs, in which the reward of each event is drawn again. Regret is the mean reward of the logging"
    " policy minus the replay score."
)
IMPORTANCE = (
    "The importance of a parameter is computed with PED-ANOVA from complete trials; it is omitted for fewer than 20"
    " trials."
)

LIMITATIONS = (
    "The recommended parameters are the best found by a search of this size, not the global optimum. Candidates that"
    " are statistically indistinguishable from them may be equally good.",
    "Results do not transfer to other scenarios, horizons, numbers of arms or reward scales: RAVEN-UCB is not"
    " scale-free.",
    "The simulated worlds change in known ways. Whether an application changes in the same way must be judged by the"
    " reader.",
    "The best value of a search is optimistically biased, because it is the minimum of many noisy means. It is shown"
    " only for searches without a recommendation.",
)


def describe_methods(data: ReportData) -> list[tuple[str, str]]:
    """List the terms of the methods section with their explanations."""
    specs = [study.spec for study in data.studies]
    sources = {spec.source.kind for spec in specs}
    terms = [("Regret", REGRET), ("Common random numbers", COMMON_RANDOM_NUMBERS)]
    if specs:
        budgets = (
            f"Search: {format_range(spec.trials for spec in specs)} trials per study with"
            f" {format_range(spec.replications for spec in specs)} worlds per trial. Selection:"
            f" {format_range(spec.selection for spec in specs)} worlds. Report:"
            f" {format_range(spec.report for spec in specs)} worlds. Seed: {format_range(spec.seed for spec in specs)}."
        )
        terms += [
            ("Streams", STREAMS),
            ("Replications", budgets),
            ("Intervals", INTERVALS),
            ("Multiple comparisons", CORRECTIONS),
        ]
    if "trace" in sources:
        terms.append(("Traces", TRACES))
    if "log" in sources:
        terms.append(("Logs", LOGS))
    if data.grids:
        counts = format_range(part.grid.spec.replications for part in data.grids)
        terms.append(
            (
                "Grids",
                f"All cells of a grid are evaluated on the same {counts} worlds of a separate stream. The cells that"
                " are statistically indistinguishable from the best are determined as described above. Box plots show"
                " the best cells on a few other worlds.",
            )
        )
    curves = count_curve_worlds(data.studies)
    if curves is not None:
        terms.append(
            (
                "Curves",
                f"Regret over time was simulated for this report on {format_range(curves)} worlds of a separate stream."
                " The curves show when regret arises. They are too imprecise for a ranking; use the table for that.",
            )
        )
    if specs:
        terms.append(("Importance", IMPORTANCE))
    terms.append(("Versions", describe_versions(data)))
    terms.append(("Storage", f"{data.where}. The report has no timestamp, so the same studies give the same report."))
    return terms


def describe_versions(data: ReportData) -> str:
    """List the versions that rendered this report, and those that made its recommendations if they differ."""
    current = project_version()
    others = sorted({recommendation.version for recommendation in data.recommendations} - {current})
    versions = [
        f"ravenlab {current}",
        f"Python {platform.python_version()}",
        *(f"{name} {version(name)}" for name in LIBRARIES),
    ]
    text = f"{', '.join(versions)}."
    return text + (f" Some recommendations were made by version {', '.join(others)}." if others else "")
