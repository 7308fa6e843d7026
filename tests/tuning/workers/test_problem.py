"""Ranges of worlds: regret after the burn-in, and failing worlds as they are defined."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.streams import Stream
from ravenlab.policies import find_policy
from ravenlab.policies.engine.play import last_mark, play, uniform_regret
from ravenlab.tuning.workers.problem import EvaluatedCandidates, Problem, play_range, play_range_with_failures

HORIZON, ARMS, WORLDS, SEED = 400, 4, 60, 5


@pytest.mark.parametrize(("name", "params"), [("raven-ucb", {"alpha0": 0.05}), ("epsilon-greedy", {"epsilon": 0.3})])
@pytest.mark.parametrize("burn_in", [0, 100, 380])
def test_failures_are_those_of_the_definition(name: str, params: dict[str, float], burn_in: int) -> None:
    policy, first = find_policy(name), 7
    scenario = find_scenario("stationary")
    worlds = draw_worlds(scenario, HORIZON, ARMS, SEED, first, WORLDS, Stream.REPORT)
    values = policy.resolve(params, ARMS, HORIZON)
    marks = np.unique([max(burn_in, 1), last_mark(HORIZON)])
    played = play(policy, values, worlds, SEED, first, Stream.REPORT, marks, fast=False)
    regret, curve = played.regret, dict(zip(marks.tolist(), played.regret_curve.T, strict=True))
    expected = regret - curve[last_mark(HORIZON)] > 0.5 * uniform_regret(worlds)
    problem = Problem(name, scenario, HORIZON, ARMS, SEED, burn_in)
    found = EvaluatedCandidates(play_range_with_failures(problem, [values], Stream.REPORT, first, WORLDS))
    assert found.failed[0].tolist() == expected.tolist()
    assert 0 < expected.sum() < WORLDS
    counted = regret if burn_in == 0 else regret - curve[burn_in]
    np.testing.assert_allclose(found.counted_regret[0], counted, rtol=0, atol=1e-8)
    assert np.array_equal(found.columns[..., :3], play_range(problem, [values], Stream.REPORT, first, WORLDS))
