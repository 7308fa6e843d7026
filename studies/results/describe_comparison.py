"""What comparisons say: sentences, tables, the document of one comparison and its card."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ravenlab.common.cells import ANCHOR, BEST, NONE, TIED, Cell, Entry, Estimate, Number
from ravenlab.common.documents import Card, Document, IntervalRow, Table
from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    capitalize_first,
    describe_p_value,
    format_count,
    format_ends,
    format_interval,
    format_mean,
    format_number,
    format_p_value,
    format_percent,
    format_settings,
    join_words,
    name_problem,
    plural,
)
from ravenlab.policies import find_policy
from ravenlab.studies.results.assumptions import describe_feedback, describe_windows
from ravenlab.studies.results.comparison import ComparisonResult, DifferenceFromBest, Leaderboard, Standing
from ravenlab.studies.results.describe_recommendation import format_failures
from ravenlab.studies.spec.comparison import is_tunable
from ravenlab.studies.spec.source import LogSource, TraceSource
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS
from ravenlab.studies.statistics.intervals import relative_interval
from ravenlab.studies.symbols import format_params, list_values

MAX_NAMES = 4  # maximal number of policies that a sentence lists by name

TESTS = {
    "scenario": "paired t-tests of all pairs, corrected for skewness and unseen failures",
    "trace": "block bootstrap of the rows for all pairs",
    "log": "resampled logs for all pairs",
}

TIME = "ns per step"
"""Column of the measured time, which differs between runs, so that files do not contain it."""

TEXT_COLUMNS = ("Policy", "Parameters", "Parameters to set", "Worst case")
"""Columns of text in the tables; all others hold numbers."""


def comparison_document(result: ComparisonResult) -> Document:
    """State the best policy and the distance of the others, with the main leaderboard."""
    answer, *facts = describe_result(result)
    spec = result.comparison.spec
    search = describe_search(result)
    return Document(
        answer=answer,
        facts=facts,
        label=f"Comparison {result.comparison.study!r}",
        problem=name_problem(spec.scenario, spec.horizon, spec.arms, format_settings(spec.settings)),
        tables=[board_table(result, result.main).without(TIME)],
        details=[describe_marks([result]), *([] if search is None else [search])],
        card=comparison_card(result),
    )


def describe_boards(result: ComparisonResult) -> Document:
    """State what a comparison shows, with all leaderboards and the search budget."""
    answer, *facts = describe_result(result)
    search = describe_search(result)
    tables = [board_table(result, board) for board in result.boards]
    return Document(answer, facts=facts, tables=tables, details=[] if search is None else [search])


def comparison_card(result: ComparisonResult) -> Card:
    """Show the policy with the lowest regret, and the regrets of the others."""
    board = result.main
    spec = result.comparison.spec
    tied = [each.policy for each in board.standings[1:] if each.among_the_best]
    best = board.best
    untuned = result.board("defaults")
    explanation = "All other policies are significantly worse." if len(board.ranked) > 1 else ""
    if tied:
        names = f"{join_words(tied, 'and')} {'is' if len(tied) == 1 else 'are'}"
        explanation = f"{best.policy} has the lowest regret; {names} as good within sampling noise."
    rows = []
    for standing in board.standings:
        value = format_interval(standing.regret, name="")
        if standing.behind is not None and standing.behind.share is None:
            value = f"{format_number(standing.behind.difference.mean)} more"
        elif standing.behind is not None and standing.behind.share is not None:
            value = format_percent(standing.behind.share.mean, signed=True)
        rows.append(IntervalRow.of(f"{standing.policy}: {value}", standing.regret))
    subject = f"{len(spec.policies)} policies ({board.setting}) in {spec.scenario}"
    return Card(
        context=name_problem(subject, spec.horizon, spec.arms),
        headline="No single best policy" if tied else f"{best.policy} is best",
        explanation=explanation,
        params={} if tied else best.entry.shown_params(),
        rows=rows,
        axis=f"mean regret on {result.comparison.worlds:,} held-out {spec.replications_name}, 95 % CI",
        sure=not tied,
        hint="" if untuned is None else " ".join(describe_failed_tuning(board, untuned)),
    )


def describe_marks(results: Sequence[ComparisonResult]) -> str:
    """Explain the marks of the tables, and the tests behind them."""
    test = TESTS[results[0].comparison.spec.source.kind]
    anchors = any(board.anchors for result in results for board in result.boards)
    note = " † knows the true means or changes, so it cannot be deployed; not ranked." if anchors else ""
    return (
        f"★ best, ≈ statistically indistinguishable from the best ({test}, Holm correction, 5 % level). Intervals of"
        f" differences are simultaneous: they contain 0 exactly if the test does not reject.{note}"
    )


def describe_overview(results: Sequence[ComparisonResult]) -> str:
    """Describe which policies are best most often over several scenarios and horizons."""
    standings = [standing for result in results for standing in result.main.standings]
    wins = Counter(standing.policy for standing in standings if standing.behind is None)
    among = Counter(standing.policy for standing in standings if standing.among_the_best)
    ordered = sorted(wins, key=lambda policy: (-wins[policy], -among[policy], policy))
    sentences = [
        f"{policy} is best in {wins[policy]} of {len(results)} cases and best or indistinguishable from the best in"
        f" {among[policy]}"
        for policy in ordered[:3]
    ]
    return f"With {results[0].main.description}: {'; '.join(sentences)}."


def describe_result(result: ComparisonResult) -> list[str]:
    """Describe the main leaderboard, and the effect of tuning on the best policy."""
    board = result.main
    spec = result.comparison.spec
    worlds = f"{format_count(result.comparison.worlds)} held-out {spec.replications_name}"
    if isinstance(spec.source, LogSource):
        worlds = f"{worlds}, per step"
    elif isinstance(spec.source, TraceSource):
        worlds = f"{worlds} of {format_count(spec.horizon)} rows, per window"
    lines = [describe_best(board, worlds)]
    if len(board.ranked) > 1:
        lines.append(describe_margin(board))
    lines += [describe_anchor(anchor, board.best) for anchor in board.anchors]
    lines += describe_shortage(result)
    if board.best.entry.recorded is not None and board.best.entry.recorded.estimator:
        lines.append(f"Estimator: {board.best.entry.recorded.estimator}.")
    untuned = result.board("defaults")
    if board.setting == "tuned" and untuned is not None:
        lines.append(_describe_tuning(board.best, untuned))
        lines += describe_failed_tuning(board, untuned)
    if isinstance(spec.source, TraceSource):
        lines.append(describe_windows(spec.horizon))
    lines.append(describe_feedback([spec.scenario]))
    unreliable = [standing.policy for standing in board.standings if not standing.entry.reliable]
    if unreliable:
        few = join_words(unreliable, "and") if len(unreliable) <= MAX_NAMES else f"{len(unreliable)} policies"
        warning = f"Warning: too few worlds for rare failures of {few}"
        lines.append(f"{warning}; mean regrets may be too low and intervals too narrow.")
    return lines


def describe_best(board: Leaderboard, where: str) -> str:
    """Name the policy with the lowest mean regret."""
    best = board.best
    params = f" ({format_params(best.entry.shown_params())})" if board.setting == "tuned" else ""
    regret = f"mean regret {format_interval(best.regret)} on {where}"
    if len(board.ranked) == 1:
        return f"{best.policy}{params} is the only policy: {regret}."
    return f"With {board.description}, {best.policy}{params} has the lowest regret: {regret}."


def describe_shortage(result: ComparisonResult) -> list[str]:
    """Describe why a trace or log does not support a conclusion; nothing if it does."""
    standings = result.main.standings
    reasons = [standing.entry.recorded.inconclusive for standing in standings if standing.entry.recorded is not None]
    reason = next((reason for reason in reasons if reason is not None), None)
    if reason is not None:
        return [f"Inconclusive: {reason}."]
    few = [standing.policy for standing in standings if standing.behind is not None and not standing.behind.enough]
    if not few:
        return []
    return [
        f"Inconclusive for {join_words(few, 'and')}: the effective sample size of the difference is below"
        f" {MIN_EFFECTIVE_ROWS} rows; use more rows or a shorter window."
    ]


def describe_margin(board: Leaderboard) -> str:
    """Describe the distance of the other policies from the best, and which are indistinguishable from it."""
    others = board.ranked[1:]
    close = [standing for standing in others if standing.among_the_best]
    if not close:
        return f"Second is {_describe_standing(others[0])}. All other policies are significantly worse."
    worse = len(others) - len(close)
    rest = capitalize_first(plural(worse, "other policy is", "other policies are") if worse else "no policy is")
    named = list(map(_describe_standing, close[:MAX_NAMES]))
    more = len(close) - len(named)
    listed = f"{', '.join(named)} and {more} more" if more else join_words(named, "and")
    return f"Statistically indistinguishable from it: {listed}. {rest} significantly worse."


def _describe_standing(standing: Standing) -> str:
    behind = standing.behind
    if behind is None:
        return standing.policy
    return f"{standing.policy} ({describe_distance(behind)}, {describe_p_value(behind.holm)})"


def describe_distance(behind: DifferenceFromBest) -> str:
    """Describe the distance of a policy from the best.

    >>> from ravenlab.common.interval import Interval
    >>> describe_distance(DifferenceFromBest(Interval(5.0, 4.0, 6.0), Interval(0.05, 0.04, 0.06), 0.001, 0.01))
    '5.0 % above the best, 95 % CI 4.0 % to 6.0 %'
    """
    if behind.share is None:
        return f"{format_mean(behind.difference)} above the best, 95 % CI {format_ends(behind.difference)}"
    return f"{format_percent(behind.share.mean)} above the best, 95 % CI {format_ends(behind.share, format_percent)}"


def describe_anchor(anchor: Standing, best: Standing) -> str:
    """Describe how much of the regret of the best policy an anchor avoids."""
    regret = f"mean regret {format_interval(anchor.regret)}"
    name = f"{anchor.policy}, which {find_policy(anchor.policy).hidden_knowledge()},"
    share = None if anchor.behind is None else anchor.behind.share
    if share is None or share.high >= 0.0:
        return f"{name} does not avoid regret: {regret}."
    avoided = format_interval(-share, format_value=format_percent)
    return f"{name} avoids {avoided} of the regret of {best.policy}: {regret}."


def describe_search(result: ComparisonResult) -> str | None:
    """Describe the search budget of each policy; None if nothing was tuned."""
    spec = result.comparison.spec
    if spec.tune == 0:
        return None
    return (
        f"Search budget of every policy: {format_count(spec.tune)} trials ×"
        f" {format_count(spec.search_replications)} {spec.replications_name}."
    )


def _describe_tuning(best: Standing, untuned: Leaderboard) -> str:
    """Describe how tuning changed the regret of the best policy, and which policy is best without tuning."""
    before = untuned.find(best.policy).regret.mean
    now = best.regret.mean
    same = untuned.best.policy == best.policy
    leader = f"has the lowest regret{' as well' if same else ''}."
    change = f"Tuning did not change the regret of {best.policy} ({format_number(now)})"
    if not best.entry.trials:
        change = f"{best.policy} has no parameters to tune"
    elif before > now:
        change = f"Tuning reduced the regret of {best.policy} from {format_number(before)} to {format_number(now)}"
    elif before < now:  # stated together with the other policies that tuning did not help
        return f"With {untuned.description}, {untuned.best.policy} {leader}"
    return f"{change}; with {untuned.description}, {'it' if same else untuned.best.policy} {leader}"


def describe_failed_tuning(board: Leaderboard, untuned: Leaderboard) -> list[str]:
    """Name the policies that have more regret tuned than at their defaults; an empty list if there are none."""
    failed = [
        f"{standing.policy} ({format_number(standing.regret.mean)} tuned, {format_number(before)} at its defaults)"
        for standing in board.ranked
        if standing.entry.trials and (before := untuned.find(standing.policy).regret.mean) < standing.regret.mean
    ]
    return [f"Tuning did not help {join_words(failed, 'and')}."] if failed else []


def board_table(result: ComparisonResult, board: Leaderboard) -> Table:
    """Tabulate a leaderboard, the best first, with the measured CPU time per step."""
    untuned = result.board("defaults") if board.setting == "tuned" else None
    spec = result.comparison.spec
    rows: list[dict[str, Cell]] = []
    for standing in board.standings:
        entry = standing.entry
        behind = standing.behind
        mark = mark_standing(standing)
        row: dict[str, Cell] = {
            "Policy": Entry(standing.policy, standing.place, mark),
            "Regret (95 %)": Estimate(standing.regret, mark=mark),
        }
        if entry.recorded is not None:
            row["Cost per step" if spec.minimize else "Reward per step"] = Number(format_number(entry.recorded.reward))
        row |= {"Above the best (95 %)": NONE, "p (Holm)": NONE}
        if behind is not None:
            shared = None if behind.share is None else Estimate(behind.share, format_percent)
            row["Above the best (95 %)"] = shared or Estimate(behind.difference)
            row["p (Holm)"] = Number(format_p_value(behind.holm))
        row["Mean rank"] = NONE if standing.anchor else Number(f"{standing.mean_rank:.2f}")
        if entry.recorded is None:
            row["Failures"] = format_failures(entry.failure_rate, entry.reliable)
        if untuned is not None:
            defaults = "At scaled defaults" if spec.defaults == "scaled" else "At defaults"
            searched = f"{format_count(entry.trials)} × {format_count(entry.search_replications)}"
            row[defaults] = Number(format_number(untuned.find(standing.policy).regret.mean))
            row["Search"] = Number(searched) if entry.trials else NONE
        row[TIME] = NONE if entry.nanoseconds is None else Number(format_number(round(entry.nanoseconds)))
        row["Parameters"] = list_values(entry.shown_params())
        rows.append(row)
    cells = [list(row.values()) for row in rows]
    worlds = f"R = {format_count(result.comparison.worlds)} {spec.replications_name}"
    caption = name_problem(spec.scenario, spec.horizon, spec.arms, board.description, worlds)
    return Table(list(rows[0]), cells, caption, TEXT_COLUMNS, narrow="cut")


def overview_table(results: Sequence[ComparisonResult]) -> Table:
    """Tabulate mean regrets by policy and problem; marks show the best and those indistinguishable from it."""
    rows: list[list[Cell]] = []
    for policy in order_by_relative_regret(results):
        standings = [result.main.find(policy) for result in results]
        means = [Number(format_number(standing.regret.mean), mark_standing(standing)) for standing in standings]
        rows.append([policy, *means])
    caption = f"Mean regret, {results[0].main.description}"
    return Table(["Policy", *(result.label for result in results)], rows, caption, TEXT_COLUMNS)


def no_tuning_table(results: Sequence[ComparisonResult]) -> list[Table]:
    """Tabulate the regret of policies that are not tuned relative to the best tuned one, the lowest worst excess first.

    There is no table unless policies were tuned and some have no searched parameters, and none on recorded data, on
    which shares of a regret have no meaning.
    """
    specs = [result.comparison.spec for result in results]
    if any(spec.tune == 0 or spec.is_recorded or all(map(is_tunable, spec.policies)) for spec in specs):
        return []
    ordered: list[tuple[float, str, list[Cell]]] = []
    for policy in specs[0].policies:
        if find_policy(policy).hidden_knowledge() is None:
            cases = [_excess_over_tuned(result, policy) for result in results]
            worst, case, _ = max(cases, key=lambda compared: compared[0].mean)
            rates = [rate for _, _, rate in cases if rate is not None]
            cells: list[Cell] = [
                policy,
                "defaults" if is_tunable(policy) else "none",
                Estimate(worst, format_percent),
                case,
                format_percent(float(np.mean([share.mean for share, _, _ in cases]))),
                format_percent(float(np.mean(rates))) if rates else NONE,
            ]
            ordered.append((worst.mean, policy, cells))
    rows = [cells for _, _, cells in sorted(ordered, key=lambda row: row[:2])]
    columns = ["Policy", "Parameters to set", "Worst excess (95 %)", "Worst case", "Mean excess", "Failures"]
    caption = "No tuning: policies at their defaults, relative to the best tuned policy of each case"
    if len(results) == 1:
        columns[2] = "Excess (95 %)"
        caption = "No tuning: policies at their defaults, relative to the best tuned policy"
    table = Table(columns, rows, caption, TEXT_COLUMNS)
    return [table if len(results) > 1 else table.without("Worst case", "Mean excess")] if rows else []


def _excess_over_tuned(result: ComparisonResult, policy: str) -> tuple[Interval, str, float | None]:
    """Return the excess of a policy at its defaults as a share, the case, and the failure rate."""
    entries = result.comparison.entries
    deployable = [entry for entry in entries if find_policy(entry.policy).hidden_knowledge() is None]
    best = min(
        (entry for entry in deployable if entry.setting == "tuned"), key=lambda entry: float(entry.regret.mean())
    )
    own = next(entry for entry in deployable if (entry.policy, entry.setting) == (policy, "defaults"))
    share = relative_interval(own.regret, best.regret, result.comparison.spec.seed)
    return share, result.label, own.failure_rate


def order_by_relative_regret(results: Sequence[ComparisonResult]) -> list[str]:
    """Order the policies by their relative regret, averaged over the results."""

    def total(policy: str) -> float:
        return sum(relative_regret(result, policy) or 0.0 for result in results)

    return sorted(results[0].comparison.spec.policies, key=lambda policy: (total(policy), policy))


def relative_regret(result: ComparisonResult, policy: str) -> float | None:
    """Return the regret of a policy above the best of the main leaderboard, as a share; 0 for the best itself."""
    behind = result.main.find(policy).behind
    if behind is None:
        return 0.0
    return None if behind.share is None else behind.share.mean


def mark_standing(standing: Standing) -> str:
    """Return ★ for the best policy, ≈ for policies indistinguishable from it, and † for anchors."""
    if standing.anchor:
        return ANCHOR
    if standing.behind is None:
        return BEST
    return TIED if standing.among_the_best else ""
