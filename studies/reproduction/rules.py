"""From numbers to verdicts: each rule is a function; `rule_words` says the same to people.

*Stands*: the numbers bear it out. *Within noise*: they do not, but so few replications as the paper had could have
made it look so. *Does not stand*: they speak against it. *Not decidable*: they leave it open at this precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Word = Literal["stands", "within noise", "does not stand", "not decidable"]

WORDS: tuple[Word, ...] = ("stands", "within noise", "does not stand", "not decidable")

NOISE = 3.0
"""Combined standard errors that two runs of one experiment may lie apart."""

AGREE = 0.01
"""The share by which the two sides of an equation may differ before it is none."""

FLAT = (0.5, 2.0)
"""Regret per step has stopped falling where its ratio from decade to decade lies in here; growth like ln T would give
a tenth."""

WIDE = 0.5
"""An interval wider than this share of a printed number neither bears it out nor excuses it."""

NAMED = 0.05
"""A cell that is worse than the best may still be named best this often before it is more than noise."""

ABOUT = 1.0
"""How far, in units of its last printed digit, a number may lie from what is said to be “about” it: the paper prints
whole per cents, and says “approximately” besides."""

WIDEST_ABOUT = 6.0 * ABOUT
"""An interval wider than this can't tell what is about a number."""

DEAR = 0.05
"""The share of regret that advice may cost before it is bad advice."""


@dataclass(frozen=True)
class Measured:
    """A number of ours with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a claim under one protocol."""

    claim: str
    """Its key in the list of claims."""
    protocol: str
    """published or defined."""
    ours: Measured | None
    word: Word
    rule: str
    """Its key in `rule_words.RULES`."""
    reason: str
    """One sentence, made of the numbers."""


def judge_number(printed: float, ours: Measured, error: float, paper_error: float) -> Word:
    """Whether a printed number is borne out, given our standard error and that of a sample as large as the paper's.

    >>> judge_number(1717.8, Measured(1640.0, 1440.0, 1850.0), 104.0, 114.0)
    'stands'
    >>> judge_number(6.55, Measured(13.4, 12.9, 13.9), 0.26, 2.6)
    'within noise'
    >>> judge_number(100.0, Measured(13.4, 12.9, 13.9), 0.26, 2.6)
    'does not stand'
    >>> judge_number(6.55, Measured(13.4, 4.0, 40.0), 5.0, 2.6)
    'not decidable'
    """
    inside = ours.low <= printed <= ours.high
    near = abs(printed - ours.value) <= NOISE * math.hypot(error, paper_error)
    if not inside and not near:
        return "does not stand"
    if ours.high - ours.low > WIDE * abs(printed):
        return "not decidable"
    return "stands" if inside else "within noise"


def judge_about(printed: float, ours: Measured, error: float, paper_error: float | None) -> Word:
    """Whether something is about what is printed; without a `paper_error` the paper had no run that noise could excuse.

    >>> judge_about(84.0, Measured(84.4, 84.1, 84.7), 0.15, 3.0)
    'stands'
    >>> judge_about(84.0, Measured(85.5, 84.6, 86.4), 0.45, None)
    'not decidable'
    >>> judge_about(84.0, Measured(80.7, 79.8, 81.6), 0.45, 3.0)
    'within noise'
    >>> judge_about(84.0, Measured(80.7, 79.8, 81.6), 0.45, None)
    'does not stand'
    """
    low, high = printed - ABOUT, printed + ABOUT
    if ours.high - ours.low > WIDEST_ABOUT and ours.low <= high and ours.high >= low:
        return "not decidable"
    if ours.low <= printed <= ours.high or (low <= ours.low and ours.high <= high):
        return "stands"
    if ours.low <= high and ours.high >= low:
        return "not decidable"
    beyond = max(low - ours.value, ours.value - high)
    if paper_error is not None and beyond <= NOISE * math.hypot(error, paper_error):
        return "within noise"
    return "does not stand"


def judge_all_above(threshold: float, ours: Sequence[Measured]) -> Word:
    """Whether all of some numbers lie above one.

    >>> judge_all_above(0.8, [Measured(0.19, 0.15, 0.23), Measured(0.85, 0.84, 0.86)])
    'does not stand'
    """
    if any(each.high < threshold for each in ours):
        return "does not stand"
    return "stands" if all(each.low > threshold for each in ours) else "not decidable"


def judge_best(lowest: bool, beats: Sequence[bool], beaten: Sequence[bool]) -> Word:
    """Whether one is the best: it has the best mean, whom it beats, and who beats it, after Holm's correction.

    >>> judge_best(lowest=True, beats=[True, False], beaten=[False, False])
    'within noise'
    """
    if any(beaten):
        return "does not stand"
    if all(beats):
        return "stands"
    return "within noise" if lowest else "not decidable"


def judge_cell(among_best: bool, named: float) -> Word:
    """Whether a cell is the best, given how often the paper's few replications would name it.

    >>> judge_cell(among_best=False, named=0.2)
    'within noise'
    """
    if among_best:
        return "stands"
    return "within noise" if named >= NAMED else "does not stand"


def judge_cost(cost: Measured) -> Word:
    """Whether advice is good, given the share of regret that it costs beyond the recommendation.

    >>> judge_cost(Measured(0.3, 0.25, 0.35))
    'does not stand'
    """
    if cost.high < DEAR:
        return "stands"
    return "does not stand" if cost.low > DEAR else "not decidable"


def judge_growth(change: Measured) -> Word:
    """Whether something grows, given its change.

    >>> judge_growth(Measured(0.1, -0.1, 0.3))
    'not decidable'
    """
    if change.low > 0.0:
        return "stands"
    return "does not stand" if change.high < 0.0 else "not decidable"


def judge_definition(broken: float) -> Word:
    """Whether worlds are what a definition says, given the share that break it.

    >>> judge_definition(0.0)
    'stands'
    """
    return "stands" if broken == 0.0 else "does not stand"


def judge_typical(share: Measured) -> Word:
    """Whether something is typical, given the share of cases in which it is so.

    >>> judge_typical(Measured(0.406, 0.397, 0.416))
    'does not stand'
    """
    if share.low > 0.5:
        return "stands"
    return "does not stand" if share.high < 0.5 else "not decidable"


def judge_equation(ratios: Sequence[float]) -> Word:
    """Whether two sides agree everywhere, given their ratios.

    >>> judge_equation([1.001, 0.26])
    'does not stand'
    """
    return "stands" if all(abs(ratio - 1.0) < AGREE for ratio in ratios) else "does not stand"


def tail_begins(ratios: Sequence[Measured | None]) -> int | None:
    """From which place on a rate no longer falls, given each one's ratio to the one before it; None if it still does.

    The first of `ratios` is None, as nothing is before it.

    >>> tail_begins([None, Measured(0.2, 0.1, 0.3), Measured(0.9, 0.8, 1.1), Measured(1.0, 0.9, 1.1)])
    1
    """
    begins = None
    for place in range(len(ratios) - 1, 0, -1):
        ratio = ratios[place]
        if ratio is None or not (FLAT[0] < ratio.low and ratio.high < FLAT[1]):
            break
        begins = place - 1
    return begins


def still_falls(ratios: Sequence[Measured | None]) -> bool:
    """Whether the last of some rates is clearly lower than the one before it.

    >>> still_falls([None, Measured(0.9, 0.8, 1.1), Measured(0.1, 0.08, 0.12)])
    True
    """
    last = ratios[-1]
    return last is not None and last.high < FLAT[0]


def judge_order(tails: Sequence[bool], falling: Sequence[bool], above: Sequence[bool]) -> Word:
    """Whether a bound of lower order than T holds in some problems: tails, rates that fall, regrets above the bound.

    >>> judge_order(tails=[False, True], falling=[True, False], above=[False, False])
    'does not stand'
    """
    if any(tails) or any(above):
        return "does not stand"
    return "stands" if all(falling) else "not decidable"
