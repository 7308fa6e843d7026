"""Registries: an added entry appears on all surfaces."""

import inspect
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import optuna
import pytest

import ravenlab
from ravenlab.common.errors import InputError
from ravenlab.common.text import join_words
from ravenlab.environments import find_scenario
from ravenlab.environments.noise import DEFAULT_NOISE, NOISES, Noise
from ravenlab.studies import export
from ravenlab.studies.registry import (
    MEASURES,
    OBJECTIVES,
    PRUNERS,
    SAMPLERS,
    Choice,
    ObjectiveChoice,
    SamplerChoice,
    StudyDefaults,
    format_choices,
)
from ravenlab.studies.spec import objective, robust
from ravenlab.studies.spec.files import study_template
from ravenlab.studies.spec.robust import parse_robust_spec
from ravenlab.studies.spec.schema import study_file_schema
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.search import pruning, samplers
from ravenlab.tuning.workers import local
from tests.project import ROOT
from tools.docs import scenarios, study_files
from tools.docs.commands import list_commands


def option(command: str, name: str) -> Any:
    return next(param for param in list_commands()[command][0].params if name in param.opts)


def completions(command: str, name: str, text: str) -> list[str]:
    return [item.value for item in option(command, name).shell_complete(list_commands()[command][1], text)]


def field_schema(field: str, table: str = "Study") -> Any:
    return study_file_schema()["$defs"][table]["properties"][field]


def test_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*samplers.OPTUNA_SAMPLERS, *samplers.POINT_SAMPLERS} == set(SAMPLERS)
    assert not set(samplers.OPTUNA_SAMPLERS) & set(samplers.POINT_SAMPLERS)
    assert option("tune", "--sampler").help.endswith(
        f": {join_words(list(SAMPLERS))}. [default: {StudyDefaults.sampler}]"
    )
    monkeypatch.setitem(SAMPLERS, "shuffled", SamplerChoice("an added sampler", robust=True))
    monkeypatch.setitem(samplers.OPTUNA_SAMPLERS, "shuffled", samplers.OPTUNA_SAMPLERS["random"])
    spec = StudySpec(scenario="blips", horizon=100, sampler="shuffled")
    plain = spec.model_copy(update={"sampler": "random"})
    batches = [
        [trial.params for trial in samplers.ask_batch(each_spec, optuna.create_study(), 1)]
        for each_spec in (spec, plain)
    ]
    assert batches[0] == batches[1]
    assert parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 100, "sampler": "shuffled"})
    assert "shuffled" in field_schema("sampler")["enum"]
    assert "shuffled" in field_schema("sampler", "Robust")["enum"]
    assert completions("tune", "--sampler", "sh") == ["shuffled"]
    assert "an added sampler" in study_template()
    assert "an added sampler" in "\n".join(study_files.parts()["samplers"])
    with pytest.raises(ValueError, match=r"unknown sampler 'shufled'; did you mean 'shuffled'\? Known: .*shuffled"):
        StudySpec(scenario="blips", sampler="shufled")


def test_pruners(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(pruning.PLAY_BATCH) == set(PRUNERS)
    assert option("tune", "--pruner").help.endswith(f": {join_words(list(PRUNERS))}. [default: {StudyDefaults.pruner}]")
    monkeypatch.setitem(PRUNERS, "median", Choice("an added pruner"))
    assert StudySpec(scenario="blips", pruner="median").pruner == "median"
    assert "median" in field_schema("pruner")["enum"]
    assert completions("tune", "--pruner", "me") == ["median"]
    assert "an added pruner" in study_template()
    assert "an added pruner" in "\n".join(study_files.parts()["pruners"])
    with pytest.raises(ValueError, match=r"unknown pruner 'medium'; did you mean 'median'\?"):
        StudySpec(scenario="blips", pruner="medium")


def test_objectives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(objective.STATISTICS) == set(OBJECTIVES)
    choices = join_words(format_choices(OBJECTIVES))
    assert option("tune", "--objective").help.endswith(f": {choices}. [default: {StudyDefaults.objective}]")
    added = ObjectiveChoice("an added objective", label="median regret", by_rank=True)
    monkeypatch.setitem(OBJECTIVES, "median", added)
    monkeypatch.setitem(objective.STATISTICS, "median", lambda sample, level: np.median(sample, axis=-1))
    parsed = objective.parse_objective("median")
    assert parsed.value(np.array([1.0, 2.0, 9.0])) == 2.0
    assert parsed.by_rank
    assert parsed.label() == "median regret"
    assert StudySpec(scenario="blips", objective="median").objective == "median"
    assert re.search(field_schema("objective")["pattern"], "median")
    assert completions("tune", "--objective", "me") == ["mean", "median"]
    assert "an added objective" in study_template()
    assert "an added objective" in "\n".join(study_files.parts()["objectives"])
    with pytest.raises(InputError, match=r"^objective must be mean, .* or median but got 'mode'\.$"):
        objective.parse_objective("mode")


def test_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(robust.WORST_COUNTS) == set(MEASURES)
    assert option("tune", "--measure").help.endswith(
        f"{join_words(format_choices(MEASURES))}. [default: {StudyDefaults.measure}]"
    )
    monkeypatch.setitem(MEASURES, "two-worst", Choice("an added measure"))
    monkeypatch.setitem(robust.WORST_COUNTS, "two-worst", lambda scenarios, level: 2)
    assert robust.parse_measure("two-worst").value(np.array([1.0, 4.0, 2.0])) == 3.0
    assert re.search(field_schema("measure", "Robust")["pattern"], "two-worst")
    assert completions("tune", "--measure", "tw") == ["two-worst"]
    assert "an added measure" in "\n".join(study_files.parts()["measures"])
    with pytest.raises(InputError, match=r"two-worst but got 'best'"):
        robust.parse_measure("best")


def test_noises(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("tune", "simulate", "grid", "compare"):
        assert option(command, "--noise").help == f"Noise distribution: {join_words(list(NOISES))}."
    assert find_scenario("blips").noise == DEFAULT_NOISE
    monkeypatch.setitem(NOISES, "silent", Noise("an added noise", lambda rng, n: np.zeros(n)))
    assert find_scenario("blips", {"noise": "silent"}).noise == "silent"
    assert "silent" in field_schema("noise")["enum"]
    assert completions("simulate", "--noise", "si") == ["silent"]
    assert "silent" in study_template()
    assert "an added noise" in "\n".join(scenarios.noises())
    with pytest.raises(InputError, match=r"did you mean 'silent'\?"):
        find_scenario("blips", {"noise": "silence"})


def test_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("tune", "grid", "compare", "reproduce"):
        backend_option = option(command, "--backend")
        assert (backend_option.help, backend_option.default) == (
            f"Workers on this machine: {join_words(list(local.BACKENDS))}.",
            local.DEFAULT_BACKEND,
        )
    for function in (ravenlab.tune, ravenlab.grid, ravenlab.compare, ravenlab.reproduce):
        assert inspect.signature(function).parameters["backend"].default == local.DEFAULT_BACKEND
        assert all(f'"{name}"' in (function.__doc__ or "") for name in local.BACKENDS)
    monkeypatch.setitem(local.BACKENDS, "fibers", local.Backend("an added backend", local.BACKENDS["threads"].run))
    assert local.LocalWorkers(2, "fibers").run(divmod, [(7, 2), (9, 4)]) == [(3, 1), (2, 1)]
    assert completions("tune", "--backend", "fi") == ["fibers"]
    with pytest.raises(InputError, match=r"backend must be threads, loky or fibers but got 'fibres'"):
        local.LocalWorkers(2, "fibres")


def test_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    format_option = option("export", "--format")
    assert (format_option.help, format_option.default) == (
        f"Format: {join_words(list(export.FORMATS))}.",
        export.DEFAULT_FORMAT,
    )
    assert inspect.signature(ravenlab.export).parameters["form"].default == export.DEFAULT_FORMAT
    for text in (ravenlab.export.__doc__ or "", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert all(name in text for name in export.FORMATS)
    monkeypatch.setitem(export.FORMATS, "count", export.Format("an added format", "count_file.write"))
    monkeypatch.setitem(
        sys.modules, "ravenlab.studies.export.count_file", SimpleNamespace(write=lambda all_: f"{len(all_)}\n")
    )
    assert export.export([], "count") == "0\n"
    assert completions("export", "--format", "co") == ["count"]
    with pytest.raises(InputError, match=r"did you mean 'count'\?"):
        export.export([], "cuont")
