"""Parameters for a policy that keeps running on a trace: replay, simulation of the diagnosis, and what is stated."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.result import Diagnosis, Finding
from ravenlab.studies.diagnosis.simulated import resample_diagnosis, resembling_scenario
from ravenlab.studies.export import export
from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.tuning.validation.kept_state import KeptStateData
from ravenlab.tuning.validation.recommend import open_held_out
from ravenlab.tuning.workers.problem import Evaluator
from tests.command import printed, refused
from tests.environments.recordings import write_csv
from tests.messages import assert_names

ROWS = 1200
SMALL: dict[str, Any] = {"trials": 6, "batch": 4, "replications": 10, "selection": 60, "report": 80, "candidates": 3}


def costs() -> Floats:
    """Three arms, of which the first jumps after a third of the rows."""
    values = np.random.default_rng(7).normal([1.0, 1.5, 2.0], 0.3, (ROWS, 3))
    values[ROWS // 3 :, 0] += 2.0
    return values


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("kept") / "costs.csv", costs())


def test_parameters_for_a_policy_that_keeps_running(file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    fields = {"trace": str(file), "minimize": True, "keep_state": True, "storage": url, **SMALL}
    result = ravenlab.tune(horizon=5000, **fields)
    assert result.study == "raven-ucb/trace:costs/T5000/K3/keep_state=True"
    kept = result.kept
    assert kept is not None
    assert (kept.model, kept.refits, kept.replayed, kept.measured) == ("localized-jump", 20, (1, ROWS), 360)
    assert result.trace is None
    assert result.regret.low < result.regret.mean < result.regret.high
    assert result.holds_for[0] == "The policy keeps its state over 5,000 steps."
    stated = repr(result)
    assert "costs.csv" in stated
    assert "localized-jump" in stated
    exported = json.loads(export([result], "json"))["recommendations"][0]
    assert (exported["feedback"], exported["names"]) == ("costs", ["arm0", "arm1", "arm2"])
    assert exported["assumptions"] == result.holds_for
    assert ravenlab.tune(horizon=5000, **fields) == result  # as read from the storage
    assert "keeps its state" in Path(ravenlab.report(output=tmp_path / "report.html", storage=url)).read_text()


def held_out(file: Path) -> KeptStateData:
    spec = parse_study_spec({"trace": str(file), "minimize": True, "keep_state": True, **SMALL})
    data = open_held_out(spec, Evaluator(spec))
    assert isinstance(data, KeptStateData)
    return data


def test_a_steady_difference_decides_and_a_single_burst_does_not(file: Path) -> None:
    data = held_out(file)
    noise = np.random.default_rng(1).normal(0.0, 1.0, ROWS)
    steady, enough = data._compare(0.5 + noise)
    assert steady.low > 0.0
    assert enough
    burst = 0.1 * noise
    burst[900:960] += 5.0
    assert data._compare(burst)[0].low < 0.0


def test_a_replay_keeps_the_state_from_row_to_row(file: Path) -> None:
    """Regret at each row of the compiled run equals that of the policy deployed on the file."""
    data = held_out(file)
    values = data.spec.resolve_params({})
    (regret,) = data._replay([values])
    policy = ravenlab.RavenUCB(arms=3, horizon=ROWS, **values)
    rewards = data.trace.rewards
    worlds = data.trace.draw_run(0)
    for row in range(ROWS):
        arm = policy.select()
        policy.update(arm, rewards[row, arm])
        assert regret[row] == pytest.approx(worlds.best[row] - rewards[row, arm], abs=1e-9)


def test_the_simulated_scenario_has_the_rate_of_the_trace_at_any_horizon() -> None:
    values = costs()
    diagnosis = resample_diagnosis(values, seed=1)
    assert diagnosis.kinds == ("localized-jump",)
    every = [resembling_scenario(diagnosis, horizon).parameters()["every"] for horizon in (ROWS, 50 * ROWS)]
    assert every[0] == every[1]
    assert 0.5 * ROWS < every[0] < ROWS


def test_outages_of_single_arms_are_simulated_at_the_times_that_their_effect_allows() -> None:
    base = {"mean_low": 40.0, "mean_high": 51.0, "variance_low": 20.0, "variance_high": 40.0}
    outage = {"every": "50%", "lasting": "1%", "affected": 0.2, "size": 40.0}
    finding = Finding("blips", found=True, p=0.001, strength="", settings=outage)
    scenario = resembling_scenario(Diagnosis(("a", "b", "c"), 4000, ("blips",), (finding,), base=base), 8000)
    assert scenario.parameters()["size"] == 40.0
    scenario.check(8000, 3)


def test_the_best_arm_is_compared_on_the_replayed_rows(file: Path) -> None:
    result = ravenlab.recommend(file, minimize=True, progress=False, jobs=1)
    assert result.study is not None
    assert result.study.kept is not None
    arm = next(each for each in result.study.alternatives if each.name == "fixed arm")
    assert arm.arm in result.study.kept.arms


def test_study_files_state_the_horizon(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[[study]]\nhorizon = [2000, 4000]\nscenario = {{ trace = "{file}", keep_state = true }}\n')
    assert [(spec.horizon, spec.keep_state) for spec in load_study_file(path)] == [(2000, True), (4000, True)]


def test_what_does_not_fit_together_is_refused(file: Path) -> None:
    trace = f"--trace={file}"
    assert_names(refused("tune", trace, "--keep-state", "--window=100"), "--window", "--keep-state")
    assert_names(refused("tune", trace, "--horizon=1000"), "--keep-state")
    assert_names(refused("tune", trace, "--keep-state", "--horizon=240"), "--horizon", "240")
    assert_names(refused("tune", "blips", "--keep-state"), "--keep-state", "--trace")
    assert_names(refused("recommend", "blips", "--horizon=500", "--keep-state"), "--keep-state")
    assert "T1200" in printed("tune", trace, "--keep-state", "--dry-run")
