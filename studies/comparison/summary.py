"""A comparison summarised in sentences: the best policy, its margin, and whether the margin is significant."""

from __future__ import annotations

from collections.abc import Sequence

from environments.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    join_words,
    plural,
)
from studies.comparison.boards import Behind, Board, Result, Standing
from studies.comparison.spec import SLOW_REPLICATIONS, SLOW_TRIALS
from studies.symbols import format_params

MOST_NAMES = 4
"""Maximal number of policies that a sentence lists by name."""

SETTINGS = {"tuned": "all policies tuned", "defaults": "all policies at their defaults"}

LEGEND = (
    "★ best, ≈ statistically indistinguishable from the best (paired t-tests of all pairs, Holm correction, 5 % level)."
)


def describe_result(result: Result) -> list[str]:
    """Describe the main board, and the effect of tuning on the best policy."""
    board = result.main
    lines = [describe_best(board, result.comparison.spec.replications)]
    if len(board.standings) > 1:
        lines.append(describe_margin(board))
    untuned = result.board("defaults")
    if board.setting == "tuned" and untuned is not None:
        lines.append(_describe_tuning(board.best, untuned))
    return lines


def describe_best(board: Board, worlds: int) -> str:
    """Name the policy with the lowest mean regret."""
    best = board.best
    params = f" ({format_params(best.entry.shown_params())})" if board.setting == "tuned" else ""
    regret = f"mean regret {format_interval(best.mean, best.low, best.high)} on {plural(worlds, 'held-out world')}"
    if len(board.standings) == 1:
        return f"{best.policy}{params} is the only policy: {regret}."
    return f"With {SETTINGS[board.setting]}, {best.policy}{params} has the lowest regret: {regret}."


def describe_margin(board: Board) -> str:
    """Describe the distance of the other policies from the best, and which are indistinguishable from it."""
    close = [standing for standing in board.standings[1:] if standing.among_the_best]
    if not close:
        return f"Second is {_describe_standing(board.standings[1])}. All other policies are significantly worse."
    worse = len(board.standings) - 1 - len(close)
    rest = f" {capitalize_first(plural(worse, 'other policy is', 'other policies are'))} significantly worse."
    return f"Statistically indistinguishable from it: {_list_standings(close)}.{rest if worse else ''}"


def describe_distance(behind: Behind) -> str:
    """Describe the distance of a policy from the best.

    >>> describe_distance(Behind(5.0, 4.0, 6.0, (0.05, 0.04, 0.06), 0.001, 0.01))
    '5.0 % above the best, 95 % CI 4.0 % to 6.0 %'
    """
    values = (behind.difference, behind.low, behind.high)
    if behind.share is None:
        mean, low, high = (format_number(value) for value in values)
    else:
        mean, low, high = (format_percent(share) for share in behind.share)
    return f"{mean} above the best, 95 % CI {low} to {high}"


def describe_search(result: Result) -> str | None:
    """Describe the search budget of each policy; None if nothing was tuned."""
    spec = result.comparison.spec
    if spec.tune == 0:
        return None
    reduced = [policy for policy in spec.policies if spec.budget(policy) != (spec.tune, spec.search_replications)]
    budget = (
        f"Search budget per policy: {format_count(spec.tune)} trials × {format_count(spec.search_replications)} worlds"
    )
    if not reduced:
        return f"{budget}."
    cap = f"{min(spec.tune, SLOW_TRIALS)} × {min(spec.search_replications, SLOW_REPLICATIONS)}"
    return (
        f"{budget}; {cap} for {join_words(reduced, 'and')}, which are slow because they draw random numbers for each"
        " arm."
    )


def describe_overview(results: Sequence[Result]) -> str:
    """Describe which policies are best most often over several scenarios and horizons."""
    wins: dict[str, int] = {}
    among: dict[str, int] = {}
    for result in results:
        wins[result.main.best.policy] = wins.get(result.main.best.policy, 0) + 1
        for standing in result.main.standings:
            among[standing.policy] = among.get(standing.policy, 0) + standing.among_the_best
    ordered = sorted(among, key=lambda policy: (-wins.get(policy, 0), -among[policy], policy))
    sentences = [
        f"{policy} is best in {wins[policy]} of {len(results)} cases and best or indistinguishable from the best in"
        f" {among[policy]}"
        for policy in ordered[:3]
        if policy in wins
    ]
    return f"With {SETTINGS[results[0].main.setting]}: {'; '.join(sentences)}."


def _describe_tuning(best: Standing, untuned: Board) -> str:
    """Describe how tuning changed the regret of the best policy, and which policy is best without tuning."""
    before = untuned.find(best.policy)
    if before.mean > best.mean:
        change = (
            f"Tuning reduced the regret of {best.policy} from {format_number(before.mean)} to"
            f" {format_number(best.mean)}"
        )
    else:
        change = f"Tuning did not reduce the regret of {best.policy} ({format_number(before.mean)} at its defaults)"
    same = untuned.best.policy == best.policy
    leader = "it is also best" if same else f"{untuned.best.policy} is best"
    return f"{change}; with {SETTINGS['defaults']} {leader}."


def _list_standings(standings: Sequence[Standing]) -> str:
    named = [_describe_standing(standing) for standing in standings[:MOST_NAMES]]
    more = len(standings) - len(named)
    return f"{', '.join(named)} and {more} more" if more else join_words(named, "and")


def _describe_standing(standing: Standing) -> str:
    behind = standing.behind
    if behind is None:
        return standing.policy
    p = format_p_value(behind.holm)
    return f"{standing.policy} ({describe_distance(behind)}, {f'p {p}' if p.startswith('<') else f'p = {p}'})"
