"""Statistics of a comparison against SciPy and plain arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ravenlab.environments.world import Floats
from ravenlab.studies.results.comparison import ComparisonEntry, Leaderboard, RegretCurve
from ravenlab.studies.results.describe_comparison import describe_anchor, describe_best, describe_margin
from ravenlab.studies.results.ranking import analyze_ranks, build_board, needs_worlds, pairwise_p_values, rank_groups
from ravenlab.studies.statistics.paired import paired_t_test, skewed_t_test

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
    raw, corrected = pairwise_p_values(samples)
    assert raw == {pair: skewed_t_test(samples[pair[0]], samples[pair[1]]) for pair in raw}
    ordered = sorted(raw, key=raw.__getitem__)
    largest = 0.0
    for left, pair in zip((3, 2, 1), ordered, strict=True):
        largest = max(largest, min(1.0, left * raw[pair]))
        assert corrected[pair] == pytest.approx(largest)


def test_rounding_errors_are_no_difference(worlds: Floats) -> None:
    for test in (paired_t_test, skewed_t_test):
        assert test(worlds, worlds * (1.0 + 1e-13)) == 1.0
        assert test(worlds, worlds + 1.0) == 0.0


def test_paired_tests_match_scipy(worlds: Floats) -> None:
    """Without skewness, Hall's transformation hardly changes the t-test."""
    other = worlds + noise(1.0, 1) + 0.15
    symmetric = np.concatenate([worlds - other, other - worlds]) + 0.1
    assert paired_t_test(worlds, other) == pytest.approx(stats.ttest_rel(worlds, other).pvalue, rel=1e-9)
    p = skewed_t_test(symmetric, np.zeros(400))
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
        _, corrected = pairwise_p_values(samples[order])
        significant += any(corrected[0, i] < 0.05 for i in range(1, 6))
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
