"""Statistics of a comparison against SciPy and plain arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ravenlab.environments.world import Floats
from ravenlab.studies.results.comparison import ComparisonEntry, Leaderboard, RegretCurve
from ravenlab.studies.results.describe_comparison import describe_anchor, describe_best, describe_margin
from ravenlab.studies.results.ranking import analyze_ranks, build_board, compare_pairs, needs_worlds, rank_groups
from ravenlab.studies.statistics.failures import FailureSample
from ravenlab.studies.statistics.paired import SkewedEstimate, estimate_difference, paired_tests

CURVE = RegretCurve((1,), (0.0,), (0.0,))


def make_board(**regrets: Floats) -> Leaderboard:
    names = {"a": "ucb1", "b": "ccb", "c": "softmax", "d": "ucb-v"}
    entries = [ComparisonEntry(names[key], "defaults", {}, regret, CURVE) for key, regret in regrets.items()]
    return build_board("defaults", "all policies at their defaults", entries, seed=0)


@pytest.fixture
def worlds() -> Floats:
    return np.asarray(np.random.default_rng(3).gamma(4.0, 5.0, size=200))


def noise(scale: float, seed: int) -> Floats:
    return np.asarray(np.random.default_rng(seed).normal(0.0, scale, 200))


def entry_with_failures(policy: str, regret: Floats, failures: int) -> ComparisonEntry:
    return ComparisonEntry(policy, "defaults", {}, regret, CURVE, failures=failures, uniform=4000.0)


def test_worlds_are_added_until_the_failures_of_all_entries_are_represented(worlds: Floats) -> None:
    """The decision does not depend on the differences between entries."""
    best, worse = entry_with_failures("ucb1", worlds, 10), entry_with_failures("ccb", worlds + 30.0, 10)
    assert not needs_worlds([best, worse])
    assert needs_worlds([replace(best, failures=9), worse])
    assert needs_worlds([best, replace(worse, failures=9)])
    assert not needs_worlds([best, replace(worse, failures=None)])


def test_unseen_failures_may_explain_a_difference(worlds: Floats) -> None:
    """One failure in 200 worlds with the regret of uniform choice would add 20 to the mean regret."""
    entries = [entry_with_failures("ucb1", worlds, 0), entry_with_failures("ccb", worlds + 30.0 + noise(1.0, 1), 0)]
    best, other = build_board("defaults", "all policies at their defaults", entries, seed=0).standings
    assert other.behind is not None
    assert other.behind.p == pytest.approx(
        2.0 * stats.poisson.cdf(0, 200 * (other.regret.mean - best.regret.mean) / 4000.0)
    )
    assert not other.behind.significant
    assert other.behind.difference.low < 0.0 < other.behind.difference.mean < other.behind.difference.high
    assert other.behind.share is not None
    assert other.behind.share.low < 0.0


def test_pairwise_p_values_with_holm_correction(worlds: Floats) -> None:
    samples = np.stack([worlds, worlds + noise(1.0, 1) + 0.15, worlds + noise(1.0, 2) + 0.3])
    tests = compare_pairs(samples)
    raw = {(i, j): SkewedEstimate.of(samples[j], samples[i]).p_value for i, j in tests}
    assert {pair: test.p for pair, test in tests.items()} == raw
    ordered = sorted(raw, key=raw.__getitem__)
    largest = 0.0
    for left, pair in zip((3, 2, 1), ordered, strict=True):
        largest = max(largest, min(1.0, left * raw[pair]))
        assert tests[pair].holm == pytest.approx(largest)


@pytest.mark.parametrize("seed", range(20))
def test_intervals_exclude_zero_exactly_if_the_corrected_test_rejects(seed: int) -> None:
    """Also if samples are skewed, if Holm's later steps reject, and if unseen failures may explain a difference."""
    rng = np.random.default_rng(seed)
    worlds = rng.gamma(2.0, 5.0, 80)
    samples = [worlds + rng.normal(shift, 1.0, 80) + 40.0 * (rng.random(80) < 0.02) for shift in (0.0, 0.3, 0.6, 3.0)]
    counted = [FailureSample(80, count, float(sample.mean()), 20.0) for count, sample in enumerate(samples)]
    for failures in ([], counted):
        for test in compare_pairs(samples, failures).values():
            assert test.difference.excludes_zero == (test.holm < 0.05)
    for paired in paired_tests(samples[0], {str(k): sample for k, sample in enumerate(samples[1:])}):
        assert paired.difference.excludes_zero == paired.significant


def test_intervals_hold_together() -> None:
    """The intervals of all pairs contain all true differences in 95 % of the cases, also if some are rejected late."""
    rng = np.random.default_rng(5)
    true = np.array([0.0, 0.0, 0.4, 0.5, 3.0])
    held, tries = 0, 400
    for _ in range(tries):
        tests = compare_pairs(true[:, None] + rng.normal(size=(5, 60)))
        held += all(test.difference.contains(true[j] - true[i]) for (i, j), test in tests.items())
    assert held / tries >= 0.95 - 3 * (0.05 * 0.95 / tries) ** 0.5


def test_rounding_errors_are_no_difference(worlds: Floats) -> None:
    for estimate in (estimate_difference, SkewedEstimate.of):
        assert estimate(worlds, worlds * (1.0 + 1e-13)).p_value == 1.0
        assert estimate(worlds, worlds + 1.0).p_value == 0.0


def test_paired_tests_match_scipy(worlds: Floats) -> None:
    """Without skewness, Hall's transformation hardly changes the t-test."""
    other = worlds + noise(1.0, 1) + 0.15
    symmetric = np.concatenate([worlds - other, other - worlds]) + 0.1
    expected = stats.ttest_rel(worlds, other)
    assert estimate_difference(worlds, other).p_value == pytest.approx(expected.pvalue, rel=1e-9)
    interval = estimate_difference(worlds, other).interval(0.9)
    assert [interval.low, interval.high] == pytest.approx(list(expected.confidence_interval(0.9)), rel=1e-9)
    p = SkewedEstimate.of(symmetric, np.zeros(400)).p_value
    assert p == pytest.approx(stats.ttest_1samp(symmetric, 0.0).pvalue, rel=1e-6)


def test_leaderboard_order_and_significance(worlds: Floats) -> None:
    board = make_board(a=worlds + 5.0 + noise(1.0, 1), b=worlds + noise(1.0, 2), c=worlds + 0.05 + noise(1.0, 4))
    assert [standing.policy for standing in board.standings] == ["ccb", "softmax", "ucb1"]
    assert [standing.among_the_best for standing in board.standings] == [True, True, False]
    best, near, far = board.standings
    assert best.behind is None
    assert near.behind is not None
    assert far.behind is not None
    assert far.behind.difference.mean == pytest.approx(far.regret.mean - best.regret.mean)
    assert far.behind.difference.low < far.behind.difference.mean < far.behind.difference.high
    assert far.behind.share is not None
    assert far.behind.share.mean == pytest.approx(far.regret.mean / best.regret.mean - 1.0)
    assert best.regret.low < best.regret.mean < best.regret.high
    assert "ccb has the lowest regret" in describe_best(board, "held-out worlds")
    assert describe_margin(board).startswith("Statistically indistinguishable from it: softmax (")
    assert describe_margin(board).endswith(" 1 other policy is significantly worse.")
    assert "All other policies are significantly worse." in describe_margin(
        make_board(a=worlds + 5.0 + noise(1.0, 1), b=worlds)
    )


def test_equal_policies_rarely_differ_significantly() -> None:
    """At most 5 % of boards of six equal policies show a significant difference (within 3 standard errors)."""
    rng, significant, tries = np.random.default_rng(8), 0, 200
    for _ in range(tries):
        samples = rng.normal(size=(6, 60))
        order = np.argsort(samples.mean(axis=1))
        tests = compare_pairs(samples[order])
        significant += any(tests[0, i].holm < 0.05 for i in range(1, 6))
    assert significant / tries <= 0.05 + 3 * (0.05 * 0.95 / tries) ** 0.5


def test_ranks_match_friedman_and_nemenyi(worlds: Floats) -> None:
    samples = np.stack([worlds + noise(3.0, 1), worlds + noise(3.0, 2), worlds + noise(3.0, 5) + 4.0])
    mean_ranks, ranks = analyze_ranks(["a", "b", "c"], samples)
    assert ranks is not None
    assert ranks.friedman == pytest.approx(stats.friedmanchisquare(*samples).pvalue)
    assert ranks.critical == pytest.approx(2.343 * (3 * 4 / (6 * 200)) ** 0.5, rel=1e-3)  # Demšar's Table 5
    assert mean_ranks.sum() == pytest.approx(6.0)
    assert {frozenset(group) for group in ranks.groups} == {frozenset("ab")}


def test_nothing_to_rank() -> None:
    same = np.ones((3, 5))
    _, ranks = analyze_ranks(["a", "b", "c"], same)
    assert ranks is not None
    assert ranks.friedman == 1.0
    assert ranks.groups == (("a", "b", "c"),)
    assert analyze_ranks(["a"], same[:1])[1] is None
    board = make_board(a=np.zeros(5), b=np.zeros(5))
    assert all(standing.among_the_best for standing in board.standings)
    assert board.standings[1].behind is not None
    assert board.standings[1].behind.share is None


def test_rank_groups_are_maximal() -> None:
    assert rank_groups([1.0, 1.2, 1.4, 3.0, 3.1], 0.5) == [range(0, 3), range(3, 5)]
    assert rank_groups([1.0, 2.0, 3.0], 0.5) == []
    assert rank_groups([1.0, 1.5, 2.0], 1.0) == [range(0, 3)]


def test_anchors_are_compared_with_the_best_but_not_ranked(worlds: Floats) -> None:
    """An oracle has no place, and the statements about the other policies do not depend on it."""
    entries = [
        ComparisonEntry(name, "defaults", {}, regret, CURVE)
        for name, regret in (("oracle-ucb1", 0.5 * worlds), ("ucb1", worlds + 9.0 + noise(1.0, 1)), ("ccb", worlds))
    ]
    board, without = (build_board("defaults", "at defaults", part, seed=0) for part in (entries, entries[1:]))
    assert board.ranked == without.standings
    assert board.ranks == without.ranks
    assert describe_margin(board) == describe_margin(without)
    (anchor,) = board.anchors
    assert (anchor.policy, anchor.place, anchor.among_the_best) == ("oracle-ucb1", 0, False)
    assert anchor.behind is not None
    assert anchor.behind.share is not None
    assert anchor.behind.share.mean == pytest.approx(-0.5)
    assert "avoids 50 %" in describe_anchor(anchor, board.best)
