"""Rules that derive a verdict from measurements; `rules.toml` states each of them in words.

Throughout, values "among the best" are those of the cells that are statistically indistinguishable from the cell with
the lowest mean regret.
"""

import math
import tomllib
from collections.abc import Callable, Collection, Sequence, Set
from functools import cache
from itertools import combinations

from ravenlab.common.interval import Interval
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.numbers import FOLDER

CONFIRMED, NOISE, REFUTED, INCONCLUSIVE = ClaimVerdict

MAX_STANDARD_ERRORS = 3.0  # combined standard errors by which two runs of the same experiment may differ
EQUATION_TOLERANCE = 0.01  # relative difference at which the two sides of an equation no longer agree
FLAT = (0.5, 2.0)
"""Regret per step has stopped falling if its ratio between decades is in this range; growth like ln T gives 0.1."""

WIDEST_SHARE = 0.5  # an interval wider than this share of a printed number is inconclusive
MIN_BEST_SHARE = 0.05
"""A suboptimal cell that the paper's design selects at least this often is within sampling noise."""

ABOUT = 1.0  # tolerance of "about x", in units of the last printed digit: the paper prints whole percentages
WIDEST_ABOUT = 6.0 * ABOUT  # an interval wider than this is inconclusive for "about x"
MAX_COST = 0.05  # excess regret, as a share, up to which a recommendation is considered good
JOINT_LEVEL = 0.05
JOINT_REFUTED = 0.0027
"""Probabilities below which several printed numbers are jointly not within sampling noise, and are jointly refuted."""
Cell = tuple[float, float]  # α₀ and β₀


@cache
def read_rules() -> dict[str, str]:
    """Read the rules in words; they name the constants of this module.

    >>> read_rules()["definition"].startswith("“The worlds satisfy the definition” is confirmed if")
    True
    """
    rules = tomllib.loads((FOLDER / "rules.toml").read_text(encoding="utf-8"))
    return {name: " ".join(text.split("\n")).strip().format(**globals()) for name, text in rules.items()}


def judge_number(printed: float, ours: Interval, error: float, paper_error: float) -> ClaimVerdict:
    """Judge a printed number, given our standard error and that of a sample of the paper's size.

    >>> judge_number(1717.8, Interval(1640.0, 1440.0, 1850.0), 104.0, 114.0).value
    'confirmed'
    >>> judge_number(6.55, Interval(13.4, 12.9, 13.9), 0.26, 2.6).value
    'within sampling noise'
    >>> judge_number(100.0, Interval(13.4, 12.9, 13.9), 0.26, 2.6).value
    'refuted'
    >>> judge_number(6.55, Interval(13.4, 4.0, 40.0), 5.0, 2.6).value
    'inconclusive'
    """
    inside = ours.low <= printed <= ours.high
    near = abs(printed - ours.mean) <= MAX_STANDARD_ERRORS * math.hypot(error, paper_error)
    if not inside and not near:
        return REFUTED
    if ours.high - ours.low > WIDEST_SHARE * abs(printed):
        return INCONCLUSIVE
    return CONFIRMED if inside else NOISE


def judge_about(printed: float, ours: Interval, error: float, paper_error: float | None) -> ClaimVerdict:
    """Judge "about x"; `paper_error` is None if the paper made no run whose noise could explain a difference.

    >>> judge_about(84.0, Interval(84.4, 84.1, 84.7), 0.15, 3.0).value
    'confirmed'
    >>> judge_about(84.0, Interval(85.5, 84.6, 86.4), 0.45, None).value
    'inconclusive'
    >>> judge_about(84.0, Interval(80.7, 79.8, 81.6), 0.45, 3.0).value
    'within sampling noise'
    >>> judge_about(84.0, Interval(80.7, 79.8, 81.6), 0.45, None).value
    'refuted'
    """
    low = printed - ABOUT
    high = printed + ABOUT
    overlaps = ours.low <= high and ours.high >= low
    if overlaps and ours.high - ours.low > WIDEST_ABOUT:
        return INCONCLUSIVE
    if ours.low <= printed <= ours.high or (low <= ours.low and ours.high <= high):
        return CONFIRMED
    if overlaps:
        return INCONCLUSIVE
    distance = max(low - ours.mean, ours.mean - high)
    if paper_error is not None and distance <= MAX_STANDARD_ERRORS * math.hypot(error, paper_error):
        return NOISE
    return REFUTED


def judge_all_above(threshold: float, ours: Sequence[Interval]) -> ClaimVerdict:
    """Judge whether all values are above a threshold.

    >>> judge_all_above(0.8, [Interval(0.19, 0.15, 0.23), Interval(0.85, 0.84, 0.86)]).value
    'refuted'
    """
    if any(measurement.high < threshold for measurement in ours):
        return REFUTED
    return CONFIRMED if all(measurement.low > threshold for measurement in ours) else INCONCLUSIVE


def judge_best(lowest: bool, beats: Sequence[bool], beaten: Sequence[bool]) -> ClaimVerdict:
    """Judge whether a policy is the best: whether its mean is, which others it beats, and which beat it.

    >>> judge_best(lowest=True, beats=[True, False], beaten=[False, False]).value
    'within sampling noise'
    """
    if any(beaten):
        return REFUTED
    if all(beats):
        return CONFIRMED
    return NOISE if lowest else INCONCLUSIVE


def judge_cell(among_best: bool, best_share: float) -> ClaimVerdict:
    """Judge a best cell, given how often the paper's number of replications would select it.

    >>> judge_cell(among_best=False, best_share=0.2).value
    'within sampling noise'
    """
    if among_best:
        return CONFIRMED
    return NOISE if best_share >= MIN_BEST_SHARE else REFUTED


def judge_costs(costs: Sequence[Interval]) -> ClaimVerdict:
    """Judge excess regrets, as shares: all must be small, and one large one refutes.

    >>> judge_costs([Interval(0.01, 0.0, 0.02), Interval(0.3, 0.25, 0.35)]).value
    'refuted'
    """
    if any(cost.low > MAX_COST for cost in costs):
        return REFUTED
    return CONFIRMED if all(cost.high < MAX_COST for cost in costs) else INCONCLUSIVE


def judge_smallest(printed: float, ours: Interval, low: float, high: float) -> ClaimVerdict:
    """Judge the regret printed for a best cell, given the range of the smallest of all cell means.

    >>> judge_smallest(6.55, Interval(16.9, 16.1, 17.8), low=3.7, high=14.9).value
    'within sampling noise'
    """
    if ours.low <= printed <= ours.high:
        return CONFIRMED
    return NOISE if low <= printed <= high else REFUTED


def two_sided(below: float, above: float, resamples: int) -> float:
    """Return the two-sided probability of a printed number, given how often resampled ones are at most or at least it.

    The printed number counts as one of the resamples, so that the probability is never 0.

    >>> round(two_sided(0.005, 0.995, resamples=10_000), 4)
    0.0102
    """
    return min(1.0, 2.0 * (min(below, above) * resamples + 1.0) / (resamples + 1.0))


def combine_probabilities(probabilities: Sequence[float]) -> float:
    """Combine the p-values of independent tests by Fisher's method: −2·Σ ln p is χ² with 2n degrees of freedom.

    >>> round(combine_probabilities([0.01, 0.6, 0.4]), 3)
    0.061
    """
    half = -math.fsum(math.log(p) for p in probabilities)  # exact, as Python 3.12 sums in another way than 3.11
    return math.exp(-half) * math.fsum(half**i / math.factorial(i) for i in range(len(probabilities)))


def judge_joint(probability: float) -> ClaimVerdict:
    """Judge several printed numbers, given their joint probability.

    >>> judge_joint(0.2).value
    'within sampling noise'
    """
    if probability >= JOINT_LEVEL:
        return NOISE
    return REFUTED if probability < JOINT_REFUTED else INCONCLUSIVE


def judge_same(regret_hashes: Sequence[str]) -> ClaimVerdict:
    """Refute that problems differ if hashes of all regrets are equal; inconclusive if another rule must decide.

    >>> judge_same(["3f9a", "3f9a", "3f9a"]).value
    'refuted'
    """
    return REFUTED if len(set(regret_hashes)) == 1 else INCONCLUSIVE


def judge_different(best: Sequence[Set[Cell]]) -> ClaimVerdict:
    """Judge whether problems have different best cells, given the cells among the best of each.

    >>> judge_different([{(1.0, 0.5), (1.0, 1.0)}, {(1.0, 1.0)}]).value
    'refuted'
    """
    if set.intersection(*map(set, best)):
        return REFUTED
    return CONFIRMED if all(not (first & second) for first, second in combinations(best, 2)) else INCONCLUSIVE


def judge_rises(best: Sequence[tuple[Collection[float], Collection[float]]]) -> ClaimVerdict:
    """Judge whether the best value grows, given the values among the best at the shorter and the longer horizon.

    >>> judge_rises([({1.0}, {5.0}), ({1.0}, {1.0})]).value
    'refuted'
    """
    if any(max(longer) <= min(shorter) for shorter, longer in best):
        return REFUTED
    return CONFIRMED if all(min(longer) > max(shorter) for shorter, longer in best) else INCONCLUSIVE


def judge_range(best: Sequence[Collection[float]], ranges: Sequence[tuple[float, float]]) -> ClaimVerdict:
    """Judge whether the best values are in the claimed ranges.

    >>> judge_range([{0.5, 1.0}, {1.0, 5.0}], [(0.5, 1.0), (5.0, 10.0)]).value
    'inconclusive'
    """
    inside = [[low <= value <= high for value in values] for values, (low, high) in zip(best, ranges, strict=True)]
    if not all(any(grid) for grid in inside):
        return REFUTED
    return CONFIRMED if all(all(grid) for grid in inside) else INCONCLUSIVE


def judge_growth(change: Interval) -> ClaimVerdict:
    """Judge whether a quantity grows, given its change.

    >>> judge_growth(Interval(0.1, -0.1, 0.3)).value
    'inconclusive'
    """
    return judge_all_above(0.0, [change])


def judge_definition(violations: float) -> ClaimVerdict:
    """Judge whether worlds satisfy a definition, given the share of worlds that violate it.

    >>> judge_definition(0.0).value
    'confirmed'
    """
    return CONFIRMED if violations == 0.0 else REFUTED


def judge_typical(share: Interval) -> ClaimVerdict:
    """Judge whether a property is typical, given the share of cases that have it.

    >>> judge_typical(Interval(0.406, 0.397, 0.416)).value
    'refuted'
    """
    return judge_all_above(0.5, [share])


def judge_equation(ratios: Sequence[float]) -> ClaimVerdict:
    """Judge an equation, given the ratios of its two sides.

    >>> judge_equation([1.001, 0.26]).value
    'refuted'
    """
    return CONFIRMED if all(abs(ratio - 1.0) < EQUATION_TOLERANCE for ratio in ratios) else REFUTED


def find_tail(ratios: Sequence[Interval | None]) -> int | None:
    """Find the index from which a rate no longer falls, given its ratios to the preceding rate; None if it still falls.

    The first ratio is None because nothing precedes it.

    >>> find_tail([None, Interval(0.2, 0.1, 0.3), Interval(0.9, 0.8, 1.1), Interval(1.0, 0.9, 1.1)])
    1
    """
    start = None
    for index in range(len(ratios) - 1, 0, -1):
        ratio = ratios[index]
        if ratio is None or not (FLAT[0] < ratio.low and ratio.high < FLAT[1]):
            break
        start = index - 1
    return start


def is_still_falling(ratios: Sequence[Interval | None]) -> bool:
    """Whether the last rate is clearly lower than the preceding one.

    >>> is_still_falling([None, Interval(0.9, 0.8, 1.1), Interval(0.1, 0.08, 0.12)])
    True
    """
    last = ratios[-1]
    return last is not None and last.high < FLAT[0]


def judge_order(tails: Sequence[bool], falling: Sequence[bool], above: Sequence[bool]) -> ClaimVerdict:
    """Judge a bound of lower order than T by problem: linear tails, falling rates, regrets above the bound.

    >>> judge_order(tails=[False, True], falling=[True, False], above=[False, False]).value
    'refuted'
    """
    if any(tails) or any(above):
        return REFUTED
    return CONFIRMED if all(falling) else INCONCLUSIVE


JUDGES: dict[str, Callable[..., ClaimVerdict]] = {
    "number": judge_number,
    "about": judge_about,
    "all above": judge_all_above,
    "best": judge_best,
    "cell": judge_cell,
    "cost": judge_costs,
    "smallest": judge_smallest,
    "joint": judge_joint,
    "different": judge_different,
    "rises": judge_rises,
    "range": judge_range,
    "insensitive": judge_costs,
    "growth": judge_growth,
    "same": judge_same,
    "definition": judge_definition,
    "typical": judge_typical,
    "equation": judge_equation,
    "order": judge_order,
}
"""The function of each rule."""
