"""The leader run gives the results of the general loop."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.leader_run import leader_run
from ravenlab.policies.engine.parameters import Values
from ravenlab.policies.engine.play import evaluate, play
from ravenlab.policies.engine.simulation import simulate

RAVEN = find_policy("raven-ucb")
NO_MARKS = np.empty(0, dtype=np.int64)


def random_candidates(count: int, seed: int, **fixed: float | str) -> list[Values]:
    """Draw candidates log-uniformly from the search space."""
    rng = np.random.default_rng(seed)
    ranges = {"alpha0": (0.01, 10.0), "beta0": (0.01, 10.0), "epsilon": (0.001, 0.5)}
    candidates = [
        {name: float(np.exp(rng.uniform(np.log(low), np.log(high)))) for name, (low, high) in ranges.items()}
        for _ in range(count)
    ]
    return [RAVEN.resolve({**values, **fixed}, 10, None) for values in candidates]


def count_mismatches(
    scenario: str, horizon: int, arms: int, candidates: list[Values], replications: int = 4, **settings: str
) -> int:
    """Count the candidate-replication pairs whose results differ by more than rounding."""
    worlds = draw_worlds(find_scenario(scenario, settings), horizon, arms, 11, 0, replications)
    mark = horizon * 9 // 10
    fast = leader_run(worlds, np.array([RAVEN.vector(values) for values in candidates]), mark)
    assert fast is not None
    played = [play(RAVEN, values, worlds, 11, 0, 0, np.array([mark]), fast=False) for values in candidates]
    general = np.stack([np.column_stack([result.out, result.curve[:, 0, 0]]) for result in played])
    return int((np.abs(fast - general).max(axis=2) > 1e-8).sum())


@pytest.mark.parametrize(("arms", "horizon"), [(1, 300), (3, 700), (10, 9000), (100, 5000)])
@pytest.mark.parametrize(
    "scenario",
    [
        "stationary",
        "incremental-drift",
        "variance-drift",
        "gradual-drift",
        "localized-jump",
        "periodic",
        "blips",
        "arm-churn",
        "random-walk",
        "published-logistics",
        "periodic+blips+arm-churn+incremental-drift",
    ],
)
def test_equals_the_general_loop(scenario: str, arms: int, horizon: int) -> None:
    assert count_mismatches(scenario, horizon, arms, random_candidates(12, seed=arms)) == 0


@pytest.mark.parametrize("times", ["geometric", "jittered"])
@pytest.mark.parametrize("scenario", ["localized-jump", "blips"])
def test_equals_the_general_loop_at_random_change_times(scenario: str, times: str) -> None:
    assert count_mismatches(scenario, 5000, 10, random_candidates(12, seed=7), times=times) == 0


@pytest.mark.parametrize("variance", ["welford", "printed", "accumulated"])
@pytest.mark.parametrize("logarithm", ["t", "t+1"])
def test_equals_the_general_loop_for_every_estimator(variance: str, logarithm: str) -> None:
    candidates = random_candidates(10, seed=5, variance=variance, logarithm=logarithm)
    assert count_mismatches("localized-jump", 4000, 10, candidates) == 0


def test_equals_the_general_loop_at_the_corners_of_the_search_space() -> None:
    corners: list[Values] = [
        RAVEN.resolve({"alpha0": a, "beta0": b, "epsilon": e}, 10, None)
        for a in (0.0, 0.01, 10.0)
        for b in (0.0, 0.01, 10.0)
        for e in (0.001, 0.5, 2.0)
    ]
    assert count_mismatches("variance-drift", 5000, 10, corners) == 0


def test_equals_the_general_loop_with_many_arms() -> None:
    assert count_mismatches("stationary", 4000, 1000, random_candidates(6, seed=2), replications=2) == 0


def test_differs_on_bernoulli_arms_only_where_scores_tie() -> None:
    """Means of zeros and ones can be equal, and the choice between equal scores depends on rounding."""
    worlds = draw_worlds(find_scenario("bernoulli"), 4000, 10, 11, 0, 60)
    values = RAVEN.resolve({}, 10, None)
    fast = evaluate(RAVEN, [values], worlds, 11).totals[0, :, :3]
    general = play(RAVEN, values, worlds, 11, 0, 0, NO_MARKS, fast=False).out
    same = np.abs(fast - general).max(axis=1) < 1e-8
    assert same.mean() > 0.5
    difference = fast[:, 0] - general[:, 0]
    assert abs(difference.mean()) <= 4 * difference.std(ddof=1) / np.sqrt(difference.size) + 1e-9


def test_not_used_where_it_would_not_be_exact() -> None:
    """For ε = 20, c_t increases at first; delayed feedback may belong to another arm than the leader."""
    worlds = draw_worlds(find_scenario("stationary"), 500, 5, 1, 0, 3)
    increasing = RAVEN.resolve({"epsilon": 20.0}, 5, None)
    assert leader_run(worlds, RAVEN.vector(increasing)[None]) is None
    assert np.isfinite(evaluate(RAVEN, [increasing], worlds, 1).totals).all()
    delayed = draw_worlds(find_scenario("delayed"), 500, 5, 1, 0, 3)
    assert leader_run(delayed, RAVEN.vector(RAVEN.resolve({}, 5, None))[None]) is None


@pytest.mark.parametrize("mark", [0, 1, 2, 63, 64, 65, 511, 513, 2999, 3000])
def test_regret_up_to_any_step(mark: int) -> None:
    """The step may lie in the exploration, in a walk, in a skipped block, at its ends, or at the end of the run."""
    worlds = draw_worlds(find_scenario("localized-jump"), 3000, 5, 2, 0, 6)
    values = RAVEN.resolve({"alpha0": 0.3}, 5, None)
    fast = evaluate(RAVEN, [values], worlds, 2, mark=mark).totals[0]
    general = play(RAVEN, values, worlds, 2, 0, 0, np.arange(1, 3001), fast=False).curve[..., 0]
    expected = general[:, mark - 1] if mark > 0 else np.zeros(6)
    np.testing.assert_allclose(fast[:, 3], expected, rtol=0, atol=1e-8)
    assert np.array_equal(fast[:, :3], evaluate(RAVEN, [values], worlds, 2).totals[0, :, :3])


def test_curve_ends_at_the_totals_of_the_fast_path() -> None:
    fast = simulate("raven-ucb", "periodic", horizon=3000, replications=5, seed=3)
    curve = simulate("raven-ucb", "periodic", horizon=3000, replications=5, seed=3, checkpoints=7)
    assert curve.curve is not None
    np.testing.assert_allclose(curve.curve.regret[:, -1], fast.regret, rtol=0, atol=1e-8)
    np.testing.assert_allclose(curve.regret, fast.regret, rtol=0, atol=1e-8)


def test_independent_of_chunks_of_candidates_and_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = np.array([RAVEN.vector(values) for values in random_candidates(7, seed=8)])
    worlds = draw_worlds(find_scenario("incremental-drift"), 2000, 10, 4, 0, 5)
    whole = leader_run(worlds, candidates)
    monkeypatch.setattr("ravenlab.policies.engine.leader_run.TABLE_BYTES", 2 * 8 * 2002)
    chunked = leader_run(worlds, candidates)
    one = draw_worlds(find_scenario("incremental-drift"), 2000, 10, 4, 3, 1)
    single = leader_run(one, candidates[2:3])
    assert whole is not None
    assert chunked is not None
    assert single is not None
    assert whole.tobytes() == chunked.tobytes()
    assert single[0, 0].tobytes() == whole[2, 3].tobytes()
