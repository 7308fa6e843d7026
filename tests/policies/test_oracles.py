"""Restart oracles: the base policy on the rewards since the last true change of each arm."""

from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate
from tests.environments import reference_world
from tests.policies.reference import SEED, TIE
from tests.policies.test_raven_ucb import ReferenceRavenUCB
from tests.policies.test_ucb1 import ReferenceUCB1

REFERENCES: dict[str, type[Any]] = {"oracle-ucb1": ReferenceUCB1, "oracle-raven-ucb": ReferenceRavenUCB}
HORIZON, ARMS = 500, 4


@pytest.mark.parametrize("scenario", ["localized-jump", "blips", "blips+arm-churn"])
@pytest.mark.parametrize("name", REFERENCES)
def test_restarts_arms_whose_means_change(name: str, scenario: str) -> None:
    """Means are constant between changes in these scenarios, so a change is a difference from the step before."""
    result = simulate(name, scenario, horizon=HORIZON, arms=ARMS, replications=2, seed=SEED, pulls=True)
    world = find_scenario(scenario)
    worlds, total = draw_worlds(world, HORIZON, ARMS, SEED, 0, 2), ARMS + world.extra_arms
    reference = REFERENCES[name](total, HORIZON, result.params, np.random.default_rng(0))
    begin, restarts, before = 0, 0, [reference_world.mean(worlds, 1, k, 1) for k in range(total)]
    assert result.pulls is not None
    for t in range(1, HORIZON + 1):
        means = [reference_world.mean(worlds, 1, k, t) for k in range(total)]
        changed = [k for k in range(total) if means[k] != before[k]]
        for k in changed:
            reference.rewards[k] = []
        if len(changed) == total:
            begin = t - 1
        restarts, before = restarts + len(changed), means
        open_arms = reference_world.open_arms(worlds, 1, t)
        untried = [k for k in open_arms if not reference.rewards[k]]
        pulled = int(result.pulls[1, t - 1])
        if untried:
            assert pulled == untried[0]
        else:
            scores = reference.decide(t - begin, open_arms)
            assert scores[pulled] >= max(scores.values()) - TIE
        reference.rewards[pulled].append(reference_world.reward(worlds, 1, pulled, t))
    assert restarts > 0


@pytest.mark.parametrize("scenario", ["stationary", "variance-drift", "periodic", "gradual-drift", "random-walk"])
def test_without_change_points_equals_the_base_policy(scenario: str) -> None:
    for name in REFERENCES:
        base = name.removeprefix("oracle-")
        runs = [simulate(each, scenario, horizon=300, arms=4, replications=3, pulls=True) for each in (name, base)]
        assert runs[0].pulls is not None
        assert runs[1].pulls is not None
        assert np.array_equal(runs[0].pulls, runs[1].pulls), name


def test_blips_restart_in_a_random_walk() -> None:
    run: dict[str, Any] = {"scenario": "random-walk+blips", "horizon": 300, "arms": 4, "replications": 3}
    oracle, base = (simulate(name, **run).regret for name in ("oracle-ucb1", "ucb1"))
    assert not np.array_equal(oracle, base)


def test_exists_in_simulations_only() -> None:
    for name in REFERENCES:
        with pytest.raises(InputError, match="knows the true changes"):
            find_policy(name)(3, horizon=10)
