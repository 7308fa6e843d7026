"""Statistical comparison of the entries: means, all pairs, and ranks.

- Means: studentized bootstrap intervals, and paired t-tests of all pairs, corrected for skewness and for unseen
  failures, with Holm's correction (Holm 1979). Correcting for all pairs keeps statements about the best entry valid
  although the same worlds selected it. Intervals of differences are simultaneous and belong to these tests.
- Ranks over worlds: Friedman's test, and if it is significant Nemenyi's critical difference q·√(k(k+1)/(6R)), with q
  the 95 % quantile of the studentized range over √2 (Demšar 2006, *Statistical Comparisons of Classifiers over
  Multiple Data Sets*, JMLR 7).
- On a trace or log, windows overlap and rows are autocorrelated, so differences are tested by a block bootstrap of the
  rows of a trace and by the resampled logs of a log. All pairs are corrected together by Holm's method. Below the least
  effective sample size no difference is significant.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.studies.results.comparison import (
    Comparison,
    ComparisonEntry,
    ComparisonResult,
    DifferenceFromBest,
    Leaderboard,
    RankTest,
    Standing,
)
from ravenlab.studies.spec.comparison import ComparisonSpec, SettingKind
from ravenlab.studies.statistics.bootstrap import estimate_sum, row_autocorrelation, sum_interval
from ravenlab.studies.statistics.failures import FailureSample, include_unseen, include_unseen_in_mean
from ravenlab.studies.statistics.files import FileEstimate
from ravenlab.studies.statistics.intervals import level_interval
from ravenlab.studies.statistics.paired import SkewedEstimate, StudentEstimate, holm_adjust, simultaneous_levels
from ravenlab.studies.statistics.resampled_logs import estimate_interval, estimate_log_difference

MIN_MEAN = 1e-9  # mean regret of the best policy below which relative differences are not computed


def analyze_comparison(comparison: Comparison) -> ComparisonResult:
    """Rank the entries of a comparison, separately for each kind of setting."""
    return ComparisonResult(comparison, tuple(rank_entries(comparison, setting) for setting in comparison.settings))


def rank_entries(comparison: Comparison, setting: SettingKind) -> Leaderboard:
    """Rank the entries of one kind of setting."""
    spec = comparison.spec
    description = comparison.describe(setting)
    entries = comparison.of(setting)
    if spec.is_recorded:
        return build_recorded_board(spec, setting, description, entries)
    return build_board(setting, description, entries, spec.seed)


def build_board(setting: SettingKind, description: str, entries: Sequence[ComparisonEntry], seed: int) -> Leaderboard:
    """Order entries by mean regret, and test their differences on the same worlds.

    Anchors, which cannot be deployed, come last. They are compared with the best entry, but are not ranked.
    """
    secrets = [find_policy(entry.policy).hidden_knowledge() for entry in entries]
    anchors = [entry for entry, secret in zip(entries, secrets, strict=True) if secret is not None]
    listed = [entry for entry, secret in zip(entries, secrets, strict=True) if secret is None]
    listed.sort(key=lambda entry: float(entry.regret.mean()))
    samples = np.stack([entry.regret for entry in listed])
    mean_ranks, ranks = analyze_ranks([entry.policy for entry in listed], samples)
    failures = [entry.failure_sample for entry in listed]
    tests = compare_pairs(samples, failures)
    standings = []
    for i, entry in enumerate(listed):
        standings.append(
            Standing(i + 1, entry, _mean_with_unseen(entry, seed), tests.get((0, i)), float(mean_ranks[i]))
        )
    for entry in anchors:
        pair = compare_pairs([listed[0].regret, entry.regret], [failures[0], entry.failure_sample])
        rank = 1.0 + float((samples < entry.regret).sum(axis=0).mean())
        standings.append(Standing(0, entry, _mean_with_unseen(entry, seed), pair[0, 1], rank, anchor=True))
    return Leaderboard(setting, description, tuple(standings), ranks)


def _mean_with_unseen(entry: ComparisonEntry, seed: int) -> Interval:
    """Return the mean regret of an entry with its interval, which includes unseen failures."""
    mean = level_interval(entry.regret, seed)
    sample = entry.failure_sample
    return mean if sample is None else include_unseen_in_mean(mean, sample)


def needs_worlds(entries: Sequence[ComparisonEntry]) -> bool:
    """Return whether the failures of an entry are not well represented yet.

    The decision depends on failures and on the scale of regrets, not on differences: a sample that grows until a
    difference is significant would show significant differences too often.
    """
    return not all(entry.reliable for entry in entries)


def compare_pairs(
    samples: Floats | Sequence[Floats], failures: Sequence[FailureSample | None] = ()
) -> dict[tuple[int, int], DifferenceFromBest]:
    """Test the differences (second minus first) of all pairs of samples [R] together, worlds being the same.

    Differences are also stated as shares of the mean of the first sample.

    Two explanations of a difference must be implausible: sampling error, and failures of the better one that its
    sample has missed. The p-value is the larger of the two.

    >>> tests = compare_pairs(np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [2.0, 3.0, 5.0]]))
    >>> {pair: test.p for pair, test in tests.items()}
    {(0, 1): 1.0, (0, 2): 0.0, (1, 2): 0.0}
    """
    pairs = list(combinations(range(len(samples)), 2))
    failed = {(i, j): (failures[i], failures[j]) if failures else (None, None) for i, j in pairs}
    estimates = {(i, j): SkewedEstimate.of(samples[j], samples[i]) for i, j in pairs}
    p = []
    for pair, estimate in estimates.items():
        better = failed[pair][0 if estimate.mean > 0.0 else 1]
        p.append(max(estimate.p_value, 0.0 if better is None else better.p_value(abs(estimate.mean))))
    tests = {}
    for pair, raw, level, holm in zip(pairs, p, simultaneous_levels(p), holm_adjust(p), strict=True):
        difference = estimates[pair].interval(level)
        first, second = failed[pair]
        if first is not None and second is not None:
            difference = include_unseen(difference, second, first, 1.0 - level)
        reference = float(samples[pair[0]].mean())
        share = difference / reference if reference > MIN_MEAN else None
        if share is not None and samples[pair[1]].min() >= 0.0:
            share = share.limited(-1.0)
        tests[pair] = DifferenceFromBest(difference, share, raw, holm)
    return tests


def analyze_ranks(names: Sequence[str], samples: Floats) -> tuple[Floats, RankTest | None]:
    """Return the mean ranks [C] over worlds of samples [C, R], lower being better, and their tests.

    >>> worlds = np.random.default_rng(1).normal(size=(3, 100)) + [[0], [0], [9]]
    >>> analyze_ranks(["a", "b", "c"], worlds)[1].groups
    (('b', 'a'),)
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    count, worlds = samples.shape
    mean_ranks = np.asarray(rankdata(samples, axis=0).mean(axis=1))
    if count < 2:
        return mean_ranks, None
    quantile = float(studentized_range.ppf(1.0 - ERROR_RATE, count, math.inf)) / math.sqrt(2.0)
    critical = quantile * math.sqrt(count * (count + 1) / (6.0 * worlds))
    friedman = None
    if count > 2:
        friedman = float(friedmanchisquare(*samples).pvalue) if np.ptp(samples, axis=0).max() > 0.0 else 1.0
    order = sorted(range(count), key=lambda i: (float(mean_ranks[i]), i))
    if friedman is not None and friedman >= ERROR_RATE:
        return mean_ranks, RankTest(friedman, critical, (tuple(names[i] for i in order),))
    groups = rank_groups([float(mean_ranks[i]) for i in order], critical)
    return mean_ranks, RankTest(friedman, critical, tuple(tuple(names[order[i]] for i in group) for group in groups))


def rank_groups(ranks: Sequence[float], critical: float) -> list[range]:
    """Return maximal runs of increasing ranks within the critical difference, of at least two.

    >>> rank_groups([1.0, 1.5, 2.2, 4.0], critical=1.0)
    [range(0, 2), range(1, 3)]
    """
    groups: list[range] = []
    for first in range(len(ranks)):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - ranks[first] <= critical)
        if last > first and (not groups or last >= groups[-1].stop):
            groups.append(range(first, last + 1))
    return groups


def build_recorded_board(
    spec: ComparisonSpec, setting: SettingKind, description: str, entries: Sequence[ComparisonEntry]
) -> Leaderboard:
    """Order entries by mean regret, and test their differences on the held-out segment.

    Ranks are not tested, because replications are not independent.
    """
    from scipy.stats import rankdata

    means = [_estimate_mean(spec, entry) for entry in entries]
    order = sorted(range(len(entries)), key=lambda i: (means[i].mean, i))
    listed = [entries[i] for i in order]
    mean_ranks = rankdata(np.stack([entry.regret for entry in listed]), axis=0).mean(axis=1)
    pairs = list(combinations(range(len(listed)), 2))
    found = [_estimate_difference(spec, listed[j], listed[i]) for i, j in pairs]
    p = [estimate.p_value for estimate, _ in found]
    tests = zip(found, p, simultaneous_levels(p), holm_adjust(p), strict=True)
    differences = [
        DifferenceFromBest(estimate.interval(level), None, raw, holm, enough)
        for (estimate, enough), raw, level, holm in tests
    ]
    behind = [None, *differences[: len(listed) - 1]]  # pairs of the best come first
    standings = [
        Standing(i + 1, entry, means[order[i]], behind[i], float(mean_ranks[i])) for i, entry in enumerate(listed)
    ]
    return Leaderboard(setting, description, tuple(standings), None)


def _estimate_mean(spec: ComparisonSpec, entry: ComparisonEntry) -> Interval:
    """Estimate the mean regret of an entry."""
    assert entry.recorded is not None
    parts = entry.recorded.parts
    if parts is not None and entry.recorded.files:
        return FileEstimate.of(entry.regret, parts).interval()
    if parts is None:
        return estimate_interval(entry.regret, entry.recorded.simulated)
    dependence = row_autocorrelation(entry.recorded.rows, spec.horizon, parts, Stream.REPORT)
    return sum_interval(float(entry.regret.mean()), parts, dependence, spec.seed)


def _estimate_difference(
    spec: ComparisonSpec, entry: ComparisonEntry, other: ComparisonEntry
) -> tuple[StudentEstimate | FileEstimate, bool]:
    """Estimate the mean regret of an entry minus that of another one, and whether the data suffice for a conclusion."""
    own = entry.recorded
    theirs = other.recorded
    assert own is not None
    assert theirs is not None
    sample = entry.regret - other.regret
    if own.parts is None or theirs.parts is None:
        enough = own.inconclusive is None and theirs.inconclusive is None
        return estimate_log_difference(sample, own.simulated), enough
    parts = own.parts - theirs.parts
    if own.files:
        return FileEstimate.of(sample, parts), True
    dependence = row_autocorrelation(own.rows, spec.horizon, parts, Stream.REPORT)
    return estimate_sum(float(sample.mean()), parts, dependence, spec.seed), dependence.enough
