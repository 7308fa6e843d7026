"""Sources of rewards, and the studies that they resolve to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ravenlab.environments import InputError, Scenario
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.studies.spec.parse import parse_comparison_spec, parse_grid_spec, parse_study_spec
from ravenlab.studies.spec.source import LogSource, ScenarioSource, TraceSource
from ravenlab.studies.spec.study import StudySpec


@pytest.fixture
def trace(tmp_path: Path) -> str:
    rows = np.random.default_rng(1).normal(size=(400, 3))
    path = tmp_path / "prices.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(f"{cell:.6f}" for cell in row) for row in rows) + "\n")
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    rng = np.random.default_rng(2)
    events = [f"{step},x{rng.integers(3)},{rng.normal():.6f}" for step in range(600)]
    path = tmp_path / "ads.csv"
    path.write_text("step,arm,reward\n" + "\n".join(events) + "\n")
    return str(path)


def test_a_scenario_resolves_to_its_default_size() -> None:
    study = parse_study_spec({"scenario": "blips"})
    assert isinstance(study, StudySpec)
    assert (study.horizon, study.arms) == (10000, 10)
    assert study.source == ScenarioSource("blips", {}, scale=1.0)
    assert isinstance(study.source.open(), Scenario)


def test_a_trace_resolves_to_its_window_and_columns(trace: str) -> None:
    study = parse_study_spec({"trace": trace})
    assert (study.scenario, study.horizon, study.arms) == ("trace:prices", 50, 3)
    assert isinstance(study.source, TraceSource)
    assert (study.source.kind, study.source.path, study.source.digest) == ("trace", trace, study.digest)
    assert isinstance(study.source.open(), TraceScenario)


def test_a_log_resolves_to_its_events_and_arms(log: str) -> None:
    study = parse_study_spec({"log": log})
    assert (study.scenario, study.horizon, study.arms) == ("log:ads", 300, 3)
    assert (study.replications, study.selection, study.report) == (64, 512, 1024)
    assert parse_study_spec({"log": log, "report": 200}).report == 200
    assert isinstance(study.source, LogSource)
    assert (study.source.kind, study.source.path, study.source.digest) == ("log", log, study.digest)
    assert isinstance(study.source.open(), LogScenario)


def test_a_study_is_resolved_once(trace: str) -> None:
    for fields in ({"scenario": "blips"}, {"trace": trace}):
        study = parse_study_spec(fields)
        assert study.horizon > 0
        assert StudySpec.model_validate(study.model_dump(mode="json")) == study


def test_grids_and_comparisons_resolve_too() -> None:
    for spec in (parse_grid_spec({"scenario": "blips"}), parse_comparison_spec({"scenario": "blips", "tune": 0})):
        assert (spec.horizon, spec.arms) == (10000, 10)


def test_a_stored_study_is_read_without_its_file(trace: str) -> None:
    stored = parse_study_spec({"trace": trace})
    Path(trace).unlink()
    read = StudySpec.model_validate(stored.model_dump(mode="json"))
    assert read == stored
    assert isinstance(read.source, TraceSource)
    assert read.source.find() is None


def test_a_changed_file_is_refused(trace: str) -> None:
    study = parse_study_spec({"trace": trace})
    rows = np.random.default_rng(9).normal(size=(500, 3))
    Path(trace).write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    with pytest.raises(InputError, match=r"trace .*prices\.csv"):
        study.source.open()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"scenario": "blips", "trace": "TRACE"}, ["scenario 'blips'", "trace 'TRACE'"]),
        ({"scenario": "blips", "log": "LOG"}, ["scenario 'blips'", "log 'LOG'"]),
        ({"trace": "TRACE", "log": "LOG"}, ["trace 'TRACE'", "log 'LOG'"]),
        ({"scenario": "blips", "minimize": True}, ["minimize", "true"]),
        ({"trace": "TRACE", "objective": "reward"}, ["objective", "reward"]),
        ({"trace": "TRACE", "arms": 7}, ["arms", "7"]),
        ({"log": "LOG", "selection": 10}, ["selection", "10"]),
        ({"log": "LOG", "settings": {"noise": "laplace"}}, ["log", "noise"]),
        ({}, ["scenario"]),
    ],
)
def test_inconsistent_fields_are_named_with_their_values(
    fields: dict[str, Any], named: list[str], trace: str, log: str
) -> None:
    paths = {"TRACE": trace, "LOG": log}
    resolved_fields = {
        key: paths.get(value, value) if isinstance(value, str) else value for key, value in fields.items()
    }
    with pytest.raises(InputError) as caught:
        parse_study_spec(resolved_fields)
    message = str(caught.value)
    assert "\n" not in message
    assert "--" not in message
    for part in named:
        assert part.replace("TRACE", trace).replace("LOG", log) in message
