"""Statistical comparison of the entries: means, all pairs, and ranks.

- Means: studentized bootstrap intervals, and paired t-tests of all pairs, corrected for skewness and for unseen
  failures, with Holm's correction (Holm 1979). Correcting for all pairs keeps statements about the best entry valid
  although the same worlds selected it.
- Ranks over worlds: Friedman's test, and if it is significant Nemenyi's critical difference q·√(k(k+1)/(6R)), with q
  the 95 % quantile of the studentized range over √2 (Demšar 2006, *Statistical Comparisons of Classifiers over
  Multiple Data Sets*, JMLR 7).
- On a trace or log, windows overlap and rows are autocorrelated, so differences are tested by a block bootstrap of the
  rows of a trace and by the resampled logs of a log. All pairs are corrected together by Holm's method. Below the least
  effective sample size no difference is significant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

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
from ravenlab.studies.statistics.bootstrap import row_autocorrelation, sum_interval, sum_p_value
from ravenlab.studies.statistics.failures import (
    FailureSample,
    include_unseen,
    include_unseen_in_mean,
    include_unseen_in_ratio,
)
from ravenlab.studies.statistics.intervals import mean_interval, paired_interval, relative_interval
from ravenlab.studies.statistics.paired import holm_adjust, skewed_t_test
from ravenlab.studies.statistics.resampled_logs import MIN_DEGREES, estimate_interval

MIN_MEAN = 1e-9  # mean regret of the best policy below which relative differences are not computed


def analyze_comparison(comparison: Comparison) -> ComparisonResult:
    """Rank the entries of a comparison, separately for each kind of setting."""
    return ComparisonResult(comparison, tuple(rank_entries(comparison, setting) for setting in comparison.settings))


def rank_entries(comparison: Comparison, setting: SettingKind) -> Leaderboard:
    """Rank the entries of one kind of setting."""
    spec, description, entries = comparison.spec, comparison.describe(setting), comparison.of(setting)
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
    raw, corrected = pairwise_p_values(samples, failures)
    standings = []
    for i, entry in enumerate(listed):
        behind = None if i == 0 else _compare_entries(entry, listed[0], raw[0, i], corrected[0, i], seed)
        standings.append(Standing(i + 1, entry, _mean_with_unseen(entry, seed), behind, float(mean_ranks[i])))
    for entry in anchors:
        p = pairwise_p_values(np.stack([listed[0].regret, entry.regret]), [failures[0], entry.failure_sample])[0][0, 1]
        behind = _compare_entries(entry, listed[0], p, p, seed)
        rank = 1.0 + float((samples < entry.regret).sum(axis=0).mean())
        standings.append(Standing(0, entry, _mean_with_unseen(entry, seed), behind, rank, anchor=True))
    return Leaderboard(setting, description, tuple(standings), ranks)


def _compare_entries(
    entry: ComparisonEntry, best: ComparisonEntry, p: float, holm: float, seed: int
) -> DifferenceFromBest:
    """Return the paired difference of an entry from the best."""
    difference, share = paired_interval(entry.regret, best.regret, seed), None
    if best.regret.mean() > MIN_MEAN:
        share = relative_interval(entry.regret, best.regret, seed)
    own, other = entry.failure_sample, best.failure_sample
    if own is not None and other is not None:
        difference = include_unseen(difference, own, other)
        share = None if share is None else include_unseen_in_ratio(share, own, other)
    return DifferenceFromBest(difference, share, p, holm)


def _mean_with_unseen(entry: ComparisonEntry, seed: int) -> Interval:
    """Return the mean regret of an entry with its interval, which includes unseen failures."""
    mean, sample = mean_interval(entry.regret, seed), entry.failure_sample
    return mean if sample is None else include_unseen_in_mean(mean, sample)


def needs_worlds(entries: Sequence[ComparisonEntry]) -> bool:
    """Return whether the failures of an entry are not well represented yet.

    The decision depends on failures and on the scale of regrets, not on differences: a sample that grows until a
    difference is significant would show significant differences too often.
    """
    return not all(entry.reliable for entry in entries)


def pairwise_p_values(
    samples: Floats, failures: Sequence[FailureSample | None] = ()
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Return the p-values of the paired tests of all pairs of rows, before and after Holm's correction.

    Two explanations of a difference must be implausible: sampling error, and failures of the better row that the sample
    has missed. The p-value is the larger of the two.

    >>> raw, corrected = pairwise_p_values(np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [2.0, 3.0, 5.0]]))
    >>> raw
    {(0, 1): 1.0, (0, 2): 0.0, (1, 2): 0.0}
    """
    pairs = list(combinations(range(len(samples)), 2))
    means = samples.mean(axis=1)
    raw = []
    for i, j in pairs:
        p = skewed_t_test(samples[i], samples[j])
        better = failures[i if means[i] < means[j] else j] if failures else None
        if better is not None:
            p = max(p, better.p_value(abs(float(means[i] - means[j]))))
        raw.append(p)
    return dict(zip(pairs, raw, strict=True)), dict(zip(pairs, holm_adjust(raw), strict=True))


def analyze_ranks(names: Sequence[str], samples: Floats) -> tuple[Floats, RankTest | None]:
    """Return the mean ranks [C] over worlds of samples [C, R], lower being better, and their tests.

    >>> worlds = np.random.default_rng(1).normal(size=(3, 100)) + [[0], [0], [9]]
    >>> analyze_ranks(["a", "b", "c"], worlds)[1].groups
    (('b', 'a'),)
    """
    from scipy.stats import rankdata, studentized_range

    count, worlds = samples.shape
    mean_ranks = np.asarray(rankdata(samples, axis=0).mean(axis=1))
    if count < 2:
        return mean_ranks, None
    quantile = float(studentized_range.ppf(1.0 - ERROR_RATE, count, math.inf)) / math.sqrt(2.0)
    critical = quantile * math.sqrt(count * (count + 1) / (6.0 * worlds))
    friedman = _friedman(samples) if count > 2 else None
    order = sorted(range(count), key=lambda i: (float(mean_ranks[i]), i))
    if friedman is not None and friedman >= ERROR_RATE:
        return mean_ranks, RankTest(friedman, critical, (tuple(names[i] for i in order),))
    groups = rank_groups([float(mean_ranks[i]) for i in order], critical)
    return mean_ranks, RankTest(friedman, critical, tuple(tuple(names[order[i]] for i in group) for group in groups))


def _friedman(samples: Floats) -> float:
    """Return the p-value of Friedman's test; 1 if all rows are equal."""
    from scipy.stats import friedmanchisquare

    if np.ptp(samples, axis=0).max() == 0.0:
        return 1.0
    return float(friedmanchisquare(*samples).pvalue)


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


class RecordedEstimate(NamedTuple):
    """A mean with its interval, the p-value of its difference from 0, and whether rows suffice."""

    interval: Interval
    p: float
    enough: bool


def build_recorded_board(
    spec: ComparisonSpec, setting: SettingKind, description: str, entries: Sequence[ComparisonEntry]
) -> Leaderboard:
    """Order entries by mean regret, and test their differences on the held-out segment.

    Ranks are not tested, because replications are not independent.
    """
    from scipy.stats import rankdata

    means = [_estimate_on_recording(spec, entry, None) for entry in entries]
    order = sorted(range(len(entries)), key=lambda i: (means[i].interval.mean, i))
    listed = [entries[i] for i in order]
    mean_ranks = rankdata(np.stack([entry.regret for entry in listed]), axis=0).mean(axis=1)
    pairs = list(combinations(range(len(listed)), 2))
    differences = {(i, j): _estimate_on_recording(spec, listed[j], listed[i]) for i, j in pairs}
    adjusted = dict(zip(pairs, holm_adjust([differences[pair].p for pair in pairs]), strict=True))
    standings = []
    for place, entry in enumerate(listed):
        own, behind = means[order[place]], None
        if place > 0:
            found = differences[0, place]
            difference = found.interval.as_difference()
            behind = DifferenceFromBest(difference, None, found.p, adjusted[0, place], found.enough)
        standings.append(Standing(place + 1, entry, own.interval, behind, float(mean_ranks[place])))
    return Leaderboard(setting, description, tuple(standings), None)


def _estimate_on_recording(
    spec: ComparisonSpec, entry: ComparisonEntry, other: ComparisonEntry | None
) -> RecordedEstimate:
    """Estimate the mean regret of an entry, or its difference from the regret of another entry."""
    assert entry.recorded is not None
    sample, parts, inconclusive = entry.regret, entry.recorded.parts, entry.recorded.inconclusive
    if other is not None:
        assert other.recorded is not None
        sample = sample - other.regret
        inconclusive = inconclusive or other.recorded.inconclusive
        parts = None if parts is None or other.recorded.parts is None else parts - other.recorded.parts
    if parts is not None:
        mean = float(sample.mean())
        dependence = row_autocorrelation(entry.recorded.rows, spec.horizon, parts, Stream.REPORT)
        interval = sum_interval(mean, parts, dependence, spec.seed)
        p = sum_p_value(mean, parts, dependence, spec.seed)
        return RecordedEstimate(interval, p, dependence.enough)
    interval = estimate_interval(sample, entry.recorded.simulated)
    return RecordedEstimate(interval, _p_value(interval), inconclusive is None)


def _p_value(difference: Interval) -> float:
    """Return the p-value of a difference with a 95 % interval, by Student's distribution with the least degrees.

    >>> round(_p_value(Interval(1.0, 0.0, 2.0)), 3), _p_value(Interval(0.0, 0.0, 0.0))
    (0.05, 1.0)
    """
    from scipy.stats import t

    if difference.half_width == 0.0:
        return 1.0 if difference.mean == 0.0 else 0.0
    return float(2.0 * t.sf(abs(difference.mean) / difference.half_width * t.ppf(0.975, MIN_DEGREES), MIN_DEGREES))
