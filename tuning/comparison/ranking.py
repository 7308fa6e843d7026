"""Hold all entries of a comparison against each other: means, all pairs, and ranks.

- Means: paired t-tests of all pairs with Holm's correction (Holm 1979) for as many, so that what is said about the best
  one holds though the same worlds chose it; intervals by the studentised bootstrap.
- Ranks, which ask who is ahead in most worlds: Friedman's test, and where it sees a difference the critical difference
  of Nemenyi, q·√(k(k+1)/(6R)) with q the studentised range's 95 % quantile over √2 (Demšar 2006, *Statistical
  Comparisons of Classifiers over Multiple Data Sets*, JMLR 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from environments.world import Floats
from studies.results.comparison import (
    LEVEL,
    Comparison,
    ComparisonEntry,
    ComparisonResult,
    DifferenceFromBest,
    Leaderboard,
    RankTest,
    Standing,
)
from studies.spec.comparison import SettingKind
from studies.statistics.intervals import mean_interval, paired_interval, relative_interval
from studies.statistics.paired import holm_adjust, paired_t_test

NEXT_TO_NOTHING = 1e-9
"""A mean regret below this can't be the whole of a share."""


def analyze_comparison(comparison: Comparison) -> ComparisonResult:
    """The boards of a comparison."""
    seed = comparison.spec.seed
    return ComparisonResult(
        comparison, tuple(build_board(each, comparison.of(each), seed) for each in comparison.settings)
    )


def build_board(setting: SettingKind, entries: Sequence[ComparisonEntry], seed: int) -> Leaderboard:
    """Order entries of the same worlds by their mean regret and say who can be told from whom."""
    order = sorted(range(len(entries)), key=lambda i: (float(entries[i].regret.mean()), i))
    listed = [entries[i] for i in order]
    samples = np.stack([entry.regret for entry in listed])
    mean_ranks, ranks = analyze_ranks([entry.policy for entry in listed], samples)
    raw, corrected = pairwise_p_values(samples)
    standings = []
    for i, entry in enumerate(listed):
        behind = None
        if i > 0:
            share = None
            if samples[0].mean() > NEXT_TO_NOTHING:
                share = relative_interval(samples[i], samples[0], seed)
            behind = DifferenceFromBest(
                *paired_interval(samples[i], samples[0], seed), share, raw[0, i], corrected[0, i]
            )
        standings.append(Standing(i + 1, entry, *mean_interval(samples[i], seed), behind, float(mean_ranks[i])))
    return Leaderboard(setting, tuple(standings), ranks)


def pairwise_p_values(samples: Floats) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """p of the paired t-test of every two rows, before and after Holm's correction for all of them.

    >>> raw, corrected = all_pairs(np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [2.0, 3.0, 5.0]]))
    >>> raw
    {(0, 1): 1.0, (0, 2): 0.0, (1, 2): 0.0}
    """
    pairs = list(combinations(range(len(samples)), 2))
    raw = [paired_t_test(samples[i], samples[j]) for i, j in pairs]
    return dict(zip(pairs, raw, strict=True)), dict(zip(pairs, holm_adjust(raw), strict=True))


def analyze_ranks(names: Sequence[str], samples: Floats) -> tuple[Floats, RankTest | None]:
    """Mean ranks [C] over worlds of samples [C, R], less being better, and what they tell.

    >>> worlds = np.random.default_rng(1).normal(size=(3, 100)) + [[0], [0], [9]]
    >>> judge_ranks(["a", "b", "c"], worlds)[1].groups
    (('b', 'a'),)
    """
    from scipy.stats import rankdata, studentized_range

    count, worlds = samples.shape
    mean_ranks = np.asarray(rankdata(samples, axis=0).mean(axis=1))
    if count < 2:
        return mean_ranks, None
    quantile = float(studentized_range.ppf(1.0 - LEVEL, count, math.inf)) / math.sqrt(2.0)
    critical = quantile * math.sqrt(count * (count + 1) / (6.0 * worlds))
    friedman = _friedman(samples) if count > 2 else None
    order = sorted(range(count), key=lambda i: (float(mean_ranks[i]), i))
    if friedman is not None and friedman >= LEVEL:
        return mean_ranks, RankTest(friedman, critical, (tuple(names[i] for i in order),))
    groups = rank_groups([float(mean_ranks[i]) for i in order], critical)
    return mean_ranks, RankTest(friedman, critical, tuple(tuple(names[order[i]] for i in group) for group in groups))


def _friedman(samples: Floats) -> float:
    """p of Friedman's test; 1 where all are the same in every world, which leaves nothing to rank."""
    from scipy.stats import friedmanchisquare

    if np.ptp(samples, axis=0).max() == 0.0:
        return 1.0
    return float(friedmanchisquare(*samples).pvalue)


def rank_groups(ranks: Sequence[float], critical: float) -> list[range]:
    """Runs of rising ranks that lie within the critical difference, each as long as can be, none of one alone.

    >>> joined([1.0, 1.5, 2.2, 4.0], critical=1.0)
    [range(0, 2), range(1, 3)]
    """
    found: list[range] = []
    for first in range(len(ranks)):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - ranks[first] <= critical)
        if last > first and (not found or last >= found[-1].stop):
            found.append(range(first, last + 1))
    return found
