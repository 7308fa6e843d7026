"""Diagnosis of simulated traces with known changes, of short and of unusual tables."""

import json
from pathlib import Path

import numpy as np
import pytest

from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis import diagnose
from ravenlab.studies.diagnosis.block_means import TraceBlocks
from ravenlab.studies.diagnosis.model_selection import KINDS
from ravenlab.studies.diagnosis.proposal import propose_study
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK, fit_random_walk
from ravenlab.studies.spec.files import load_study_file
from tests.messages import assert_names
from tests.studies.diagnosis.traces import keep_one_arm_per_row, simulate_trace
from tools.evidence.diagnosis_accuracy import count_verdicts

SHARE = {"stationary": 0.95} | dict.fromkeys([*KINDS, RANDOM_WALK], 0.85)


@pytest.mark.parametrize("name", SHARE)
def test_the_right_kind_is_found_in_4_traces(name: str) -> None:
    assert count_verdicts(name, 4)[name] >= SHARE[name] * 4


@pytest.mark.parametrize("name", ["gradual-drift", "localized-jump", "blips", RANDOM_WALK])
def test_the_right_kind_is_found_with_independent_noise(name: str) -> None:
    assert count_verdicts(name, 3, independent=True)[name] >= 2


@pytest.mark.parametrize("times", ["geometric", "jittered"])
@pytest.mark.parametrize("name", ["localized-jump", "blips"])
def test_changes_at_random_times_are_found(name: str, times: str) -> None:
    assert count_verdicts(name, 3, times=times)[name] >= 2


def test_the_deviation_of_a_random_walk_is_estimated() -> None:
    estimates = [
        diagnose(simulate_trace(RANDOM_WALK, number, deviation=0.4)).finding(RANDOM_WALK).settings["deviation"]
        for number in range(3)
    ]
    assert np.mean(estimates) == pytest.approx(0.4, rel=0.1)


@pytest.mark.stress
@pytest.mark.parametrize("name", SHARE)
def test_the_right_kind_is_found_in_200_traces(name: str) -> None:
    assert count_verdicts(name, 200)[name] >= SHARE[name] * 200


def test_strengths_match_the_scenario() -> None:
    season = diagnose(simulate_trace("periodic", 0)).finding("periodic")
    assert season.numbers["period"] == pytest.approx(2000, rel=0.01)
    blips = diagnose(simulate_trace("blips", 0)).finding("blips")
    assert np.abs(np.array(blips.numbers["at"]) % 1000 - 500).min() > 400
    assert blips.settings["lasting"] == "2%"
    gradual = diagnose(simulate_trace("gradual-drift", 0)).finding("gradual-drift")
    assert gradual.numbers["start"] == pytest.approx(2500, abs=500)
    assert gradual.numbers["end"] == pytest.approx(7500, abs=500)
    churn = diagnose(simulate_trace("arm-churn", 0)).finding("arm-churn")
    assert list(churn.numbers["came"].values()) == [3300]
    assert list(churn.numbers["left"].values()) == [6700]


def test_the_interval_of_the_largest_slope_covers() -> None:
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(20):
        slopes = np.array([0.5, 0.0, -0.1])
        table = rng.normal(size=(1000, 3)) * 0.2 + np.linspace(0, 1, 1000)[:, None] * slopes
        low, high = diagnose(table).finding("incremental-drift").numbers["largest_interval"]
        inside += low <= 0.5 <= high
    # 95 % of 20 is 19; the probability of fewer than 15 is below 0.001.
    assert inside >= 15


def test_a_log_with_one_arm_per_step_is_diagnosed() -> None:
    table = keep_one_arm_per_row(simulate_trace("localized-jump", 1, arms=5), 1)
    assert diagnose(table).verdict == "localized-jump"
    assert diagnose(keep_one_arm_per_row(simulate_trace("stationary", 1, arms=5), 1)).verdict == "stationary"


@pytest.mark.parametrize("name", ["blips", "periodic", "stationary"])
def test_a_log_that_prefers_one_arm_is_diagnosed(name: str) -> None:
    rng = np.random.default_rng(1)
    verdicts = []
    for number in range(3):
        table = simulate_trace(name, number, arms=10)
        pulled = np.where(rng.random(len(table)) < 0.9, 0, rng.integers(0, 10, len(table)))
        verdicts.append(diagnose(np.where(np.arange(10) == pulled[:, None], table, np.nan)).verdict)
    assert verdicts.count(name) >= 2, verdicts


def test_autocorrelation_is_not_reported_as_a_change() -> None:
    rng = np.random.default_rng(1)
    false_positives = 0
    for _ in range(5):
        noise = rng.normal(size=(4000, 4))
        for t in range(1, 4000):
            noise[t] += 0.7 * noise[t - 1]
        false_positives += diagnose(noise).verdict != "stationary"
    assert false_positives <= 1


def test_too_few_data_are_inconclusive() -> None:
    few = diagnose(np.random.default_rng(0).normal(size=(199, 3)))
    assert few.verdict == "inconclusive"
    assert_names(few.reason, "199")
    sparse = np.full((1000, 3), np.nan)
    sparse[::100] = 1.0
    assert_names(diagnose(sparse).reason, 10)
    assert diagnose(np.ones((500, 2))).verdict == "inconclusive"
    assert "squared" in diagnose(np.random.default_rng(0).normal(size=(500, 2)) * 1e80).reason


@pytest.mark.parametrize("case", ["constant arm", "zeros and ones", "huge", "two rows apart", "one spike"])
def test_unusual_tables_are_diagnosed(case: str) -> None:
    rng = np.random.default_rng(3)
    table: Floats = rng.normal(size=(400, 3))
    if case == "constant arm":
        table[:, 1] = 7.0
    elif case == "zeros and ones":
        table = (table > 0).astype(np.float64)
    elif case == "huge":
        table *= 1e40
    elif case == "two rows apart":
        table[np.arange(400) % 3 > 0, 2] = np.nan
    else:
        table[200, 1] = 1000.0
    diagnosis = diagnose(table)
    assert diagnosis.verdict == "stationary"
    assert json.loads(json.dumps(diagnosis.to_dict()))["verdict"] == "stationary"
    if case == "zeros and ones":
        assert diagnosis.noise == "bernoulli"


def test_random_halves_agree() -> None:
    diagnosis = diagnose(simulate_trace("periodic", 2), halves=3)
    assert (diagnosis.agreeing_halves, diagnosis.halves) == (3, 3)
    assert diagnosis.finding("periodic").found_in_halves == 3


@pytest.mark.parametrize(
    "name", ["stationary", *KINDS, RANDOM_WALK, "localized-jump+blips", "periodic+variance-drift+arm-churn"]
)
def test_the_proposed_study_is_valid_and_similar(name: str, tmp_path: Path) -> None:
    diagnosis = diagnose(simulate_trace(name, 3, horizon=5000, arms=6))
    path = tmp_path / "proposed.toml"
    path.write_text(propose_study(diagnosis, "mine.csv\n[evil]", horizon=7000), encoding="utf-8")
    (spec,) = load_study_file(path)
    assert (spec.horizon, spec.arms) == (7000, 6)
    assert set(spec.scenario.split("+")) == set(diagnosis.verdict.split("+"))
    base = diagnosis.base
    assert 0.15 < base["mean_low"] < 0.5
    assert 0.6 < base["mean_high"] < 0.95


@pytest.mark.parametrize("moving", [False, True])
def test_an_arm_without_observations_changes_nothing(moving: bool) -> None:
    """A segment of a log may contain no event of a rare arm. Warnings are errors in tests."""
    rng = np.random.default_rng(1)
    means = np.cumsum(rng.normal(scale=0.02 * moving, size=(3000, 3)), axis=0)
    table = keep_one_arm_per_row(means + rng.normal(scale=0.2, size=(3000, 3)), seed=1)
    found = diagnose(table)
    with_rare_arm = diagnose(np.column_stack([table, np.full(3000, np.nan)]))
    assert found.kinds == ((RANDOM_WALK,) if moving else ())
    assert set(found.kinds) <= set(with_rare_arm.kinds)
    assert with_rare_arm.noise == found.noise == "normal"


def test_an_arm_without_observations_has_a_constant_path() -> None:
    rows = np.column_stack([np.cumsum(np.random.default_rng(0).normal(size=1000)), np.full(1000, np.nan)])
    walk = fit_random_walk(TraceBlocks.of(rows))
    assert walk.gain[0] > 10.0
    assert walk.gain[1] == walk.step_variance[1] == np.abs(walk.path[:, 1]).max() == 0.0
