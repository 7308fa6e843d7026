"""Sentences on the results of a comparison."""

from collections.abc import Sequence

from ravenlab.common.text import (
    capitalize_first,
    describe_p_value,
    format_count,
    format_ends,
    format_interval,
    format_number,
    format_percent,
    join_words,
    plural,
)
from ravenlab.policies import find_policy
from ravenlab.studies.results.assumptions import describe_feedback, describe_windows
from ravenlab.studies.results.comparison import ComparisonResult, DifferenceFromBest, Leaderboard, Standing
from ravenlab.studies.spec.source import LogSource, TraceSource
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS
from ravenlab.studies.symbols import format_params

MAX_NAMES = 4  # maximal number of policies that a sentence lists by name

TESTS = {
    "scenario": "paired t-tests of all pairs, corrected for skewness and unseen failures",
    "trace": "block bootstrap of the rows for all pairs",
    "log": "resampled logs for all pairs",
}


def describe_marks(results: Sequence[ComparisonResult]) -> str:
    """Explain the marks of the tables, and the tests behind them."""
    test = TESTS[results[0].comparison.spec.source.kind]
    anchors = any(board.anchors for result in results for board in result.boards)
    note = " † knows the true means or changes, so it cannot be deployed; not ranked." if anchors else ""
    return (
        f"★ best, ≈ statistically indistinguishable from the best ({test}, Holm correction, 5 % level). Intervals of"
        f" differences are simultaneous: they contain 0 exactly if the test does not reject.{note}"
    )


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
    windows = [describe_windows(spec.horizon)] if isinstance(spec.source, TraceSource) else []
    return [*lines, *windows, describe_feedback([spec.scenario]), *describe_reliability(board)]


def describe_reliability(board: Leaderboard) -> list[str]:
    """Warn about intervals that rare failures make unreliable; an empty list if there are none."""
    names = [standing.policy for standing in board.standings if not standing.entry.reliable]
    if not names:
        return []
    listed = join_words(names[:MAX_NAMES], "and") if len(names) <= MAX_NAMES else f"{len(names)} policies"
    return [
        f"Warning: too few worlds for rare failures of {listed}; mean regrets may be too low and intervals too narrow."
    ]


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
    close = [standing for standing in board.ranked[1:] if standing.among_the_best]
    if not close:
        return f"Second is {_describe_standing(board.ranked[1])}. All other policies are significantly worse."
    worse = len(board.ranked) - 1 - len(close)
    rest = capitalize_first(plural(worse, "other policy is", "other policies are") if worse else "no policy is")
    return f"Statistically indistinguishable from it: {_list_standings(close)}. {rest} significantly worse."


def describe_anchor(anchor: Standing, best: Standing) -> str:
    """Describe how much of the regret of the best policy an anchor avoids."""
    regret = f"mean regret {format_interval(anchor.regret)}"
    name = f"{anchor.policy}, which {find_policy(anchor.policy).hidden_knowledge()},"
    share = None if anchor.behind is None else anchor.behind.share
    if share is None or share.high >= 0.0:
        return f"{name} does not avoid regret: {regret}."
    avoided = format_interval(-share, format_value=format_percent)
    return f"{name} avoids {avoided} of the regret of {best.policy}: {regret}."


def describe_distance(behind: DifferenceFromBest) -> str:
    """Describe the distance of a policy from the best.

    >>> from ravenlab.common.interval import Interval
    >>> describe_distance(DifferenceFromBest(Interval(5.0, 4.0, 6.0), Interval(0.05, 0.04, 0.06), 0.001, 0.01))
    '5.0 % above the best, 95 % CI 4.0 % to 6.0 %'
    """
    if behind.share is None:
        return f"{format_number(behind.difference.mean)} above the best, 95 % CI {format_ends(behind.difference)}"
    return f"{format_percent(behind.share.mean)} above the best, 95 % CI {format_ends(behind.share, format_percent)}"


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
    before = untuned.find(best.policy)
    was = format_number(before.regret.mean)
    now = format_number(best.regret.mean)
    same = untuned.best.policy == best.policy
    leader = f"has the lowest regret{' as well' if same else ''}."
    change = f"Tuning did not change the regret of {best.policy} ({now})"
    if not best.entry.trials:
        change = f"{best.policy} has no parameters to tune"
    elif before.regret.mean > best.regret.mean:
        change = f"Tuning reduced the regret of {best.policy} from {was} to {now}"
    elif before.regret.mean < best.regret.mean:  # stated together with the other policies that tuning did not help
        return f"With {untuned.description}, {untuned.best.policy} {leader}"
    return f"{change}; with {untuned.description}, {'it' if same else untuned.best.policy} {leader}"


def describe_failed_tuning(board: Leaderboard, untuned: Leaderboard) -> list[str]:
    """Name the policies that have more regret tuned than at their defaults; an empty list if there are none."""
    failed = [
        f"{standing.policy} ({format_number(standing.regret.mean)} tuned, {format_number(before)} at its defaults)"
        for standing in board.ranked
        if standing.entry.trials and (before := untuned.find(standing.policy).regret.mean) < standing.regret.mean
    ]
    if not failed:
        return []
    return [f"Tuning did not help {join_words(failed, 'and')}."]


def _list_standings(standings: Sequence[Standing]) -> str:
    named = [_describe_standing(standing) for standing in standings[:MAX_NAMES]]
    more = len(standings) - len(named)
    return f"{', '.join(named)} and {more} more" if more else join_words(named, "and")


def _describe_standing(standing: Standing) -> str:
    behind = standing.behind
    if behind is None:
        return standing.policy
    return f"{standing.policy} ({describe_distance(behind)}, {describe_p_value(behind.holm)})"
