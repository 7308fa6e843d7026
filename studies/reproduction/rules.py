"""From numbers to verdicts: each rule is a function, and `RULES` says the same to people.

*Stands*: the numbers bear it out. *Within noise*: they do not, but so few replications as the paper had could have
made it look so. *Does not stand*: they speak against it. *Not decidable*: they leave it open at this precision.
"""

from __future__ import annotations

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

RULES: dict[str, str] = {
    "number": (
        "A printed number stands when it lies in our 95 % interval; it is within noise when it lies further off but "
        f"within {NOISE:g} combined standard errors, ours and that of a sample as large as the paper's; else it does "
        f"not stand. Where our interval is wider than {WIDE:.0%} of the number, it is not decidable instead of either "
        "of the first two."
    ),
    "about": (
        f"“About x” leaves room of {ABOUT:g} in its last printed digit on either side. It stands when x lies in our "
        "95 % interval, or the interval lies wholly in that room, and is not decidable when the interval only touches "
        f"the room or is wider than {WIDEST_ABOUT:g}; further off it is within noise when the room is within "
        f"{NOISE:g} combined standard errors, ours and that of one run as large as the paper's; else, or where "
        "the paper ran nothing, it does not stand."
    ),
    "all above": (
        "“All above x” stands when every interval lies above x, does not stand when one lies below it, and is not "
        "decidable otherwise. “All below” is the same the other way round."
    ),
    "best": (
        "“A is the best” stands when A beats every other in paired tests with Holm's correction, does not stand when "
        "another beats A so; with the best mean, but not told from all others, it is within noise; else it is not "
        "decidable."
    ),
    "cell": (
        "A cell named best stands when it can't be told from the best of the grid; it is within noise when it is "
        f"worse, but as few replications as the paper's would name it at least {NAMED:.0%} of the time; else it does "
        "not stand."
    ),
    "cost": (
        f"Advice stands when it costs less than {DEAR:.0%} more regret than the validated recommendation, with 95 % "
        "confidence; it does not stand when it costs more than that with 95 % confidence; else it is not decidable. "
        "Where it is meant for several scenarios it has to stand in each, and does not stand when it fails in one."
    ),
    "smallest": (
        "The regret printed for a best cell stands when it lies in the 95 % interval of that cell's regret; it is "
        "within noise when it lies further off, but in the middle 99.7 % of what the smallest of sixteen means is, "
        "each of as few replications as the paper's; else it does not stand."
    ),
    "different": (
        "“They have different best cells” does not stand when one cell can't be told from the best in any of them; it "
        "stands when no two share such a cell; else it is not decidable."
    ),
    "rises": (
        "“The best value grows with T” stands when in each scenario all values that can't be told from the best at "
        "the longer horizon lie above all those at the shorter; it does not stand when in one scenario none of them "
        "lies above any of those; else it is not decidable."
    ),
    "range": (
        "“The best value lies in a range” stands when in each grid all values that can't be told from the best lie in "
        "it, does not stand when in one grid none of them does, and is not decidable otherwise."
    ),
    "insensitive": (
        "“Insensitive” stands when in each grid the worst value of either parameter, with the other at its best, "
        f"costs less than {DEAR:.0%} more regret than the best value, with 95 % confidence; it does not stand when one "
        "costs more than that with 95 % confidence; else it is not decidable."
    ),
    "growth": (
        "“It grows” stands when the 95 % interval of the change lies above zero, does not stand when it lies below, "
        "and is not decidable otherwise. “It falls” is the same the other way round."
    ),
    "same": (
        "“They differ” does not stand when the worlds played under both names are the same to the last digit; "
        "otherwise it is for the other rules to say."
    ),
    "definition": (
        "A run is what its definition says when the share of its worlds that break the definition is zero; it does "
        "not stand when one does."
    ),
    "typical": (
        "“Typically above x” stands when more than half lie above x with 95 % confidence, does not stand when fewer "
        "than half do, and is not decidable otherwise."
    ),
    "equation": (
        f"An equation that is to hold at every step stands when its two sides differ by less than {AGREE:.0%} at all "
        "steps looked at; it does not stand when they differ by more at one."
    ),
    "order": (
        "A bound of lower order than T does not stand where the regret lies above it with 95 % confidence, or where "
        "the regret has a linear tail: up to the end its rate per step no longer falls, each decade's being "
        f"{FLAT[0]:g} to {FLAT[1]:g} times the one's before with 95 % confidence, where growth like ln T would make it "
        "a tenth. It stands, as far as the run goes, when neither is so and the last rate is below "
        f"{FLAT[0]:g} times the one before; else it is not decidable."
    ),
}


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
    """Its key in `RULES`."""
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
    near = abs(printed - ours.value) <= NOISE * (error**2 + paper_error**2) ** 0.5
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
    if paper_error is not None and beyond <= NOISE * (error**2 + paper_error**2) ** 0.5:
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


def judge_cost(cost: Measured, dear: float = DEAR) -> Word:
    """Whether advice is good, given the share of regret that it costs beyond the recommendation.

    >>> judge_cost(Measured(0.3, 0.25, 0.35))
    'does not stand'
    """
    if cost.high < dear:
        return "stands"
    return "does not stand" if cost.low > dear else "not decidable"


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
