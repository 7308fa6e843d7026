"""A comparison in sentences: who wins, by how much, and whether it can be told."""

from __future__ import annotations

from collections.abc import Sequence

from studies.comparison.boards import Behind, Board, Result, Standing
from studies.comparison.spec import SLOW_REPLICATIONS, SLOW_TRIALS
from studies.words import hundredths, listed, p_value, params_in_words, short

MOST_NAMES = 4
"""Names that a sentence lists before it only counts."""

HOW = {"tuned": "all tuned", "defaults": "all at their defaults"}
ALL = {"tuned": "All tuned", "defaults": "All at their defaults"}


def lead(result: Result) -> list[str]:
    """The main board in two or three sentences, and what was different before tuning."""
    board = result.main
    lines = [winner(board, result.comparison.spec.replications)]
    if len(board.standings) > 1:
        lines.append(margin(board))
    untuned = result.board("defaults")
    if board.setting == "tuned" and untuned is not None:
        first, own = untuned.best, untuned.find(board.best.policy)
        saved = own.mean - board.best.mean
        change = f"tuning took its regret from {short(own.mean)} to {short(board.best.mean)}"
        if saved <= 0:
            change = f"tuning gained it nothing ({short(own.mean)} at its defaults)"
        same = "it is also ahead" if first.policy == board.best.policy else f"{first.policy} is ahead"
        lines.append(f"For {board.best.policy} {change}; with all policies at their defaults {same}.")
    return lines


def winner(board: Board, worlds: int) -> str:
    """Who has the lowest mean regret."""
    best = board.best
    params = f" with {params_in_words(best.entry.shown_params())}" if board.setting == "tuned" else ""
    alone = "wins" if len(board.standings) > 1 else "was alone"
    return (
        f"{ALL[board.setting]}, {best.policy} {alone}{params}: mean regret {short(best.mean)}"
        f" (95 %: {short(best.low)} to {short(best.high)}) in {worlds} fresh worlds."
    )


def margin(board: Board) -> str:
    """How far the others lie behind, and whether that can be told."""
    others = [each for each in board.standings[1:] if each.among_the_best]
    second = board.standings[1]
    assert second.behind is not None
    if not others:
        return (
            f"The next is {second.policy} ({amount(second.behind)}, {_p(second.behind)});"
            " it can be told from the best, and so can all others."
        )
    beaten = len(board.standings) - 1 - len(others)
    rest = f"; the other {beaten} can" if beaten > 1 else "; the last one can" if beaten == 1 else ""
    return f"It can't be told from {_named(others)}{rest}."


def _named(others: Sequence[Standing]) -> str:
    told = []
    for each in others[:MOST_NAMES]:
        assert each.behind is not None
        told.append(f"{each.policy} ({amount(each.behind)}, {_p(each.behind)})")
    more = len(others) - len(told)
    if more:
        return f"{', '.join(told)} and {more} more"
    return listed(told, "and")


def amount(behind: Behind) -> str:
    """By how much one lies behind.

    >>> amount(Behind(5.0, 4.0, 6.0, (0.05, 0.04, 0.06), 0.001, 0.01))
    '5 % behind, 95 %: 4 to 6 %'
    """
    if behind.share is None:
        return f"{short(behind.difference)} behind, 95 %: {short(behind.low)} to {short(behind.high)}"
    mean, low, high = (percent(share) for share in behind.share)
    return f"{mean} % behind, 95 %: {low} to {high} %"


def percent(share: float) -> str:
    """A share in percent, without a nought behind the point.

    >>> percent(0.0512), percent(0.05), percent(-0.0001)
    ('5.1', '5', '0')
    """
    return hundredths(share).removesuffix(".0")


def _p(behind: Behind) -> str:
    """Its corrected p-value for a sentence."""
    text = p_value(behind.holm)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def search_note(result: Result) -> str | None:
    """What every search got, and who got less; None where nothing was tuned."""
    spec = result.comparison.spec
    if spec.tune == 0:
        return None
    less = [policy for policy in spec.policies if spec.budget(policy) != (spec.tune, spec.search_replications)]
    text = f"Every search had {spec.tune} trials × {spec.search_replications} replications"
    if not less:
        return f"{text}."
    cap = f"{min(spec.tune, SLOW_TRIALS)} × {min(spec.search_replications, SLOW_REPLICATIONS)}"
    return f"{text}, but those of {', '.join(less)} {cap}: they draw at random for each arm and step, which takes long."


def overview_lead(results: Sequence[Result]) -> str:
    """Who wins most often over several cases: scenarios and horizons."""
    wins: dict[str, int] = {}
    among: dict[str, int] = {}
    for result in results:
        wins[result.main.best.policy] = wins.get(result.main.best.policy, 0) + 1
        for each in result.main.standings:
            among[each.policy] = among.get(each.policy, 0) + each.among_the_best
    ordered = sorted(among, key=lambda policy: (-wins.get(policy, 0), -among[policy], policy))
    said = [
        f"{policy} is best in {wins.get(policy, 0)} of {len(results)} cases and among the best in {among[policy]}"
        for policy in ordered[:3]
        if wins.get(policy, 0)
    ]
    return f"{ALL[results[0].main.setting]}: {'; '.join(said)}."
