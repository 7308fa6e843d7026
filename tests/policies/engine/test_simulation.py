from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.environments import InputError, find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies.engine.simulation import simulate


def test_independent_of_number_of_threads() -> None:
    results = [
        simulate(policy, "localized-jump", horizon=400, arms=6, replications=7, seed=3, jobs=jobs, pulls=True)
        for policy in ("raven-ucb", "epsilon-greedy")
        for jobs in (1, 2, 5)
    ]
    for group in (results[:3], results[3:]):
        for other in group[1:]:
            assert group[0].regret.tobytes() == other.regret.tobytes()
            assert group[0].reward.tobytes() == other.reward.tobytes()
            np.testing.assert_array_equal(group[0].pulls, other.pulls)


def test_more_replications_keep_the_first_ones() -> None:
    few = simulate("thompson", "blips", horizon=300, arms=4, replications=3, seed=5)
    many = simulate("thompson", "blips", horizon=300, arms=4, replications=9, seed=5)
    assert few.regret.tobytes() == many.regret[:3].tobytes()


def test_a_single_checkpoint_is_the_last_step() -> None:
    result = simulate("ucb1", "blips", horizon=50, replications=2, checkpoints=1)
    assert result.curve is not None
    assert result.curve.steps.tolist() == [50]
    np.testing.assert_array_equal(result.curve.regret[:, 0], result.regret)


def test_curves_end_at_the_totals() -> None:
    result = simulate("ucb1", "periodic", horizon=500, arms=5, replications=4, seed=1, checkpoints=[1, 100, 500])
    assert result.curve is not None
    assert result.curve.steps.tolist() == [1, 100, 500]
    assert (np.diff(result.curve.regret, axis=1) >= 0).all()
    np.testing.assert_array_equal(result.curve.regret[:, -1], result.regret)
    np.testing.assert_array_equal(result.curve.reward[:, -1], result.reward)


def test_frame_has_one_row_per_replication() -> None:
    frame = simulate("ucb1", "published-logistics", horizon=200, replications=3).to_frame()
    assert list(frame.columns) == ["replication", "regret", "reward", "suboptimal_pulls", "regret_constant"]
    assert len(frame) == 3


def test_regret_against_a_constant() -> None:
    """Before the first shift the best mean equals the constant; later it may be smaller."""
    early = simulate("ucb1", "published-logistics", horizon=5000, replications=2)
    assert early.regret_constant is not None
    np.testing.assert_allclose(early.regret_constant, early.regret, atol=1e-6)
    late = simulate("ucb1", "published-logistics", horizon=12000, replications=8)
    assert late.regret_constant is not None
    assert (late.regret_constant > late.regret - 1e-6).all()
    assert (late.regret_constant > late.regret + 1.0).any()


def test_ucb1_regret_is_logarithmic() -> None:
    """Each tenfold increase of the horizon adds about the same regret."""
    means = [
        simulate("ucb1", "stationary", horizon=horizon, replications=60, seed=4).regret.mean()
        for horizon in (1000, 10_000, 100_000)
    ]
    assert means[2] - means[1] < 2.5 * (means[1] - means[0])


def test_curve_against_a_constant() -> None:
    marks = [1, 700, 5001, 6000]
    result = simulate("ucb1", "published-logistics", horizon=6000, arms=7, replications=3, seed=2, checkpoints=marks)
    assert result.curve is not None
    assert result.curve.regret_constant is not None
    assert result.regret_constant is not None
    best = draw_worlds(find_scenario("published-logistics"), 6000, 7, seed=2, replications=3).best
    for i, t in enumerate(marks):
        expected = 0.8 * t - best[:, :t].sum(axis=1) + result.curve.regret[:, i]
        np.testing.assert_allclose(result.curve.regret_constant[:, i], expected, atol=1e-8)
    np.testing.assert_allclose(result.curve.regret_constant[:, -1], result.regret_constant, atol=1e-8)


@pytest.mark.parametrize("checkpoints", [[0], [501], 0, -3])
def test_rejects_checkpoints_outside_the_horizon(checkpoints: list[int] | int) -> None:
    with pytest.raises(InputError, match="checkpoints"):
        simulate("ucb1", "stationary", horizon=500, checkpoints=checkpoints)


def test_public_module_exports_policies() -> None:
    assert ravenlab.RavenUCB(arms=3, alpha0=1.0, beta0=5.0, epsilon=0.1).select() == 0
    run: dict[str, Any] = {"horizon": 50, "replications": 2}
    result = ravenlab.simulate("ucb1", "stationary", **run)
    assert result.regret.tolist() == simulate("ucb1", "stationary", **run).regret.tolist()
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = ravenlab.NoSuchThing
