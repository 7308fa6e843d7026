"""The simulator of a log: paths of means are reproducible, and differ as much as the log leaves them open."""

import numpy as np

from ravenlab.environments.recorded.log_file import Arms
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.simulator import ChangeModel, Simulator
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.log_estimators import LOG_ESTIMATORS
from tests.environments.recordings import draw_log

NONE = np.empty(0, dtype=np.int64)


def make_model(events: int, arms: int, **fields: object) -> ChangeModel:
    parts = {"kinds": (), "cuts": NONE, "spans": (), "columns": np.empty((events, 0)), "groups": NONE}
    return ChangeModel(**{**parts, "variance": np.full((1, arms), 0.09), **fields})  # type: ignore[arg-type]


def draw_events(means: Floats, shares: list[float], seed: int = 1) -> tuple[Arms, Floats]:
    """Draw events of an arm with the given shares; means [n, K], standard deviation 0.3."""
    rng = np.random.default_rng(seed)
    arm = np.asarray(rng.choice(len(shares), means.shape[0], p=shares), dtype=np.int32)
    return arm, rng.normal(means[np.arange(arm.size), arm], 0.3)


def deviations(simulator: Simulator, means: Floats, count: int = 60) -> tuple[Floats, Floats]:
    """Return the error of the mean path in standard deviations of the paths [K, C], and these deviations."""
    middle = (simulator.edges[1:] + simulator.edges[:-1]) // 2
    paths = simulator.draw_paths(1, 0, range(1, count + 1)).reshape(count, simulator.arms, -1)
    spread = paths.std(axis=0)
    return (paths.mean(axis=0) - means[middle].T) / spread, spread


def test_paths_vary_as_much_as_they_are_uncertain() -> None:
    """Slopes, seasons and jumps of arms that are logged rarely and often."""
    n, errors = 4000, []
    time = np.arange(n) / n
    rng = np.random.default_rng(3)
    for seed in range(6):
        level, slope = rng.normal(0.5, 0.2, 4), rng.normal(0.0, 0.3, 4)
        jumped = np.where(rng.random(4) < 0.5, level, rng.normal(0.5, 0.2, 4))
        drift = level + slope * time[:, None]
        jump = np.where(time[:, None] < 0.4, level, jumped)
        for means, model in (
            (drift, make_model(n, 4, columns=time[:, None], groups=np.array([0]))),
            (jump, make_model(n, 4, cuts=np.array([int(0.4 * n)]))),
        ):
            arm, reward = draw_events(means, [0.01, 0.04, 0.15, 0.8], seed)
            errors.append(deviations(Simulator.of(arm, reward, 4, model), means)[0].ravel())
    assert 0.6 < np.sqrt(np.mean(np.concatenate(errors) ** 2)) < 1.5


def test_a_level_without_events_is_uncertain() -> None:
    means = np.tile([0.2, 0.5, 0.8], (3000, 1))
    arm, reward = draw_events(means, [0.3, 0.3, 0.4])
    arm[1500:][arm[1500:] == 0] = 1
    reward[1500:] = np.random.default_rng(2).normal(means[np.arange(1500), arm[1500:]] + 0.3, 0.3)
    simulator = Simulator.of(arm, reward, 3, make_model(3000, 3, cuts=np.array([1500])))
    spread = deviations(simulator, means)[1]
    assert spread[0, -1] > 5 * spread[0, 0]
    assert spread[0, -1] > 5 * spread[1, -1]


def test_temporary_levels_return() -> None:
    means = np.tile([0.2, 0.8], (3000, 1))
    means[1000:1200] = [0.9, 0.1]
    arm, reward = draw_events(means, [0.5, 0.5])
    simulator = Simulator.of(arm, reward, 2, make_model(3000, 2, spans=((1000, 1200),)))
    assert simulator.slots.tolist() == [0, 1, 0]
    middle = (simulator.edges[1:] + simulator.edges[:-1]) // 2
    assert np.abs(simulator.mean_path.reshape(2, -1) - means[middle].T).max() < 0.15


def test_bounds_move_to_where_the_levels_change() -> None:
    means = np.where(np.arange(4000)[:, None] < 2000, [0.2, 0.8], [0.8, 0.2])
    arm, reward = draw_events(means, [0.5, 0.5])
    simulator = Simulator.of(arm, reward, 2, make_model(4000, 2, cuts=np.array([1600])))
    middle = (simulator.edges[1:] + simulator.edges[:-1]) // 2
    assert np.abs(simulator.mean_path.reshape(2, -1) - means[middle].T).max() < 0.1


def test_paths_do_not_depend_on_how_they_are_split() -> None:
    scenario = LogScenario(draw_log(), "log:t", estimator=LOG_ESTIMATORS["simulator"])
    for stream in (Stream.SEARCH, Stream.REPORT):
        whole = scenario.draw(10, 3, 0, 40, stream)
        for first in (0, 20):
            part = scenario.draw(10, 3, first, 20, stream)
            np.testing.assert_array_equal(part.key, whole.key[first : first + 20])
            np.testing.assert_array_equal(part.mean[part.log], whole.mean[whole.log[first : first + 20]])
    assert len(scenario.draw(10, 3, 0, 5, Stream.SEARCH).mean) == 5


def test_the_simulator_is_used_where_expansion_is_not_possible() -> None:
    """Each of three rare arms has about 60 of 4,000 events; at event 2,000 the frequent arms change."""
    means = np.where(np.arange(4000)[:, None] < 2000, [0.2, 0.3, 0.4, 0.8], [0.2, 0.3, 0.4, 0.5])
    arm, reward = draw_events(means, [0.015, 0.015, 0.015, 0.955])
    for estimator, simulated in (("automatic", True), ("expansion", False), ("simulator", True)):
        prepared = LOG_ESTIMATORS[estimator].prepare(arm, reward, 4)
        assert (prepared.simulator is not None) == simulated
    arm, reward = draw_events(means, [0.25, 0.25, 0.25, 0.25])
    assert LOG_ESTIMATORS["automatic"].prepare(arm, reward, 4).simulator is None
