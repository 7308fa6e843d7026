"""Sensitivity maps: the same bytes everywhere, the worlds of grids, axes around the recommended values."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import use_storage
from ravenlab.tuning.grid_run import grid_problem, play_cells
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.validation import worlds
from ravenlab.tuning.validation.candidates import list_baselines, make_candidate
from ravenlab.tuning.validation.held_out import ChosenParameters, Selection
from ravenlab.tuning.validation.sensitivity import CELLS, MIN_WORLDS, choose_names, choose_values, measure_sensitivity
from ravenlab.tuning.workers.local import SERIAL, LocalWorkers, Workers
from ravenlab.tuning.workers.problem import EvaluatedCandidates, Evaluator
from tests.messages import raises_naming


def small(**fields: Any) -> StudySpec:
    usual = {"scenario": "blips", "horizon": 80, "arms": 3, "trials": 4, "replications": 5}
    return parse_study_spec({**usual, "selection": 20, "report": 20, **fields})


def tune(folder: Path, workers: Workers = SERIAL, **fields: Any) -> Recommendation:
    result = run_study(small(**fields), f"sqlite:///{folder}/studies.sqlite3", workers).result
    assert result is not None
    return result


def map_of(recommendation: Recommendation) -> Grid:
    assert recommendation.sensitivity is not None
    return recommendation.sensitivity


def selection_of(spec: StudySpec, params: Mapping[str, float], **more: Any) -> Selection:
    candidate = make_candidate(spec, params)
    choice = ChosenParameters(candidate.values)
    baselines = list_baselines(spec)
    evidence: dict[str, Any] = {"indistinguishable": [], "ranges": None, "importance": None, **more}
    return Selection("small", spec, 4, 4, candidate, choice, baselines, **evidence)


def test_the_map_does_not_depend_on_workers_and_is_read_back_unchanged(tmp_path: Path) -> None:
    first = tune(tmp_path)
    (tmp_path / "other").mkdir()
    assert tune(tmp_path / "other", LocalWorkers(2)).as_object() == first.as_object()
    assert tune(tmp_path) == first
    assert Recommendation.model_validate(first.as_object()) == first


def test_cells_are_those_of_a_grid_in_the_same_worlds(tmp_path: Path) -> None:
    grid = map_of(tune(tmp_path))
    spec = grid.spec
    assert spec.replications == MIN_WORLDS
    assert grid.mean.shape == tuple(map(len, spec.axes.values())) == CELLS
    same = GridSpec(
        scenario="blips",
        horizon=80,
        arms=3,
        alpha0=spec.axes["alpha0"],
        beta0=spec.axes["beta0"],
        epsilon=float(spec.fixed["epsilon"]),
        unit=spec.unit,
        replications=spec.replications,
    )
    samples = play_cells(same, Evaluator(grid_problem(same)))
    np.testing.assert_allclose(samples.mean(axis=1).reshape(CELLS), grid.mean, rtol=1e-5)
    assert grid.params(grid.reference) == tune(tmp_path).params


def test_a_map_can_be_left_out_and_is_added_when_asked_for(tmp_path: Path) -> None:
    without = tune(tmp_path, map=False)
    assert without.sensitivity is None
    assert "sensitivity" not in without.as_object()
    with_map = tune(tmp_path)
    assert with_map.model_copy(update={"sensitivity": None}) == without
    assert tune(tmp_path, map=False) == with_map


def test_a_killed_map_is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "whole").mkdir()
    whole = tune(tmp_path / "whole")

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(worlds, "measure_sensitivity", kill)
        with pytest.raises(KeyboardInterrupt):
            tune(tmp_path)
    assert tune(tmp_path) == whole


class Bowl(Evaluator):
    """The regret has its minimum at α₀ = 2, and does not depend on β₀."""

    def play(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        assert stream == Stream.GRID
        noise = np.random.default_rng(1).normal(size=count)
        levels = np.array([10.0 + abs(np.log(float(values["alpha0"]) / 2.0)) for values in candidates])
        regret = levels[:, None] + noise
        return EvaluatedCandidates.join(regret, -regret, regret)


def test_tied_cells_cost_at_most_two_percent() -> None:
    spec = small()
    grid = measure_sensitivity(selection_of(spec, {"alpha0": 2.0, "beta0": 0.5}), Bowl(spec))
    assert grid is not None
    levels = np.abs(np.log(np.array(grid.spec.axes["alpha0"]) / 2.0))
    excess = levels / grid.mean[grid.reference]
    np.testing.assert_array_equal(grid.indistinguishable, np.tile((excess <= 0.02)[:, None], CELLS[1]))
    assert grid.difference(grid.reference).is_zero
    assert grid.difference((0, 0)).low == pytest.approx(levels[0] - levels[grid.reference[0]], rel=1e-3)


@pytest.mark.parametrize("alpha0", [0.01, 0.3, 2.0, 10.0])
def test_axes_hold_the_recommended_value_and_the_defaults(alpha0: float) -> None:
    spec = small()
    values = choose_values(selection_of(spec, {"alpha0": alpha0}), "alpha0", CELLS[0])
    defaults = list_baselines(spec)["defaults"].values
    assert {alpha0, float(defaults["alpha0"])} <= set(values)
    assert list(values) == sorted(values)
    assert len(values) == CELLS[0]
    assert len({f"{value:.2g}" for value in values}) == len(values)


def test_axes_cover_the_tied_range() -> None:
    ranges = {"alpha0": (0.05, 9.0), "beta0": (0.5, 1.5), "epsilon": (0.1, 0.1)}
    values = choose_values(selection_of(small(), {"alpha0": 2.0}, ranges=ranges), "alpha0", CELLS[0])
    assert values[0] < 0.05
    assert values[-1] > 9.0


def test_axes_of_other_policies_are_the_most_important_parameters() -> None:
    spec = small(policy="d-ucb")
    shares = {name: 0.1 * place for place, name in enumerate(spec.space)}
    assert choose_names(selection_of(spec, {}, importance=shares)) == list(reversed(spec.space))[:2]
    fixed = small(fixed={"alpha0": 1.0})
    assert choose_names(selection_of(fixed, {})) == ["beta0", "epsilon"]


def test_one_searched_parameter_gives_a_line(tmp_path: Path) -> None:
    grid = map_of(tune(tmp_path, policy="ucb1"))
    assert grid.mean.shape == (CELLS[0],)
    assert list(grid.to_frame().columns[:2]) == ["study", "c"]


def test_recorded_data_have_no_map(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(400, 3)).round(3)
    trace = tmp_path / "trace.csv"
    trace.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows))
    spec = parse_study_spec({"trace": str(trace), "horizon": 50, "trials": 2, "selection": 20, "report": 20})
    result = run_study(spec, f"sqlite:///{tmp_path}/studies.sqlite3").result
    assert result is not None
    assert result.sensitivity is None


def test_too_small_studies_have_no_map() -> None:
    spec = small(horizon=200_000)
    assert measure_sensitivity(selection_of(spec, {}), Bowl(spec)) is None
    assert StudyDefaults.report >= MIN_WORLDS


@pytest.mark.parametrize(
    ("field", "value"),
    [("mean", [1.0]), ("low", None), ("tied", [[True]]), ("recommended", [99, 0]), ("axes", 3), ("high", float("nan"))],
)
def test_damaged_maps_are_reported(tmp_path: Path, field: str, value: object) -> None:
    tune(tmp_path)
    with use_storage(f"sqlite:///{tmp_path}/studies.sqlite3") as storage:
        import optuna

        study = optuna.load_study(study_name=small().study_name(), storage=storage)
        stored = dict(study.user_attrs[keys.RECOMMENDATION])
        stored["sensitivity"] = {**stored["sensitivity"], field: value}
        study.set_user_attr(keys.RECOMMENDATION, stored)
        with raises_naming(InputError, "recommendation that this version cannot read"):
            keys.read_recommendation(study)
