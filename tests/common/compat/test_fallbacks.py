"""What happens where a private part of a library is missing: a part that has a fallback is done without."""

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import joblib
import optuna
import pytest

from ravenlab.common import kernel_cache
from ravenlab.common.compat import joblib as compat_joblib
from ravenlab.common.compat import numba as compat_numba
from ravenlab.common.compat import optuna as compat_optuna
from ravenlab.studies.storage.rows import store_trials


def test_optuna_uses_alembic(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("optuna.storages._rdb.storage")
    monkeypatch.delattr(module, "_VersionManager")
    compat_optuna.avoid_alembic.__wrapped__()
    assert not hasattr(module, "_VersionManager")


def test_optuna_sorts_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("optuna.samplers._tpe.parzen_estimator")
    monkeypatch.delattr(module, "np")
    compat_optuna.sort_stably.__wrapped__()
    assert not hasattr(module, "np")


def test_optuna_stores_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    study = optuna.create_study(storage="sqlite:///:memory:")
    monkeypatch.setattr(compat_optuna, "has_known_tables", lambda: False)
    monkeypatch.setattr(compat_optuna, "database_tables", pytest.fail)
    store_trials(study, [optuna.create_trial(value=value) for value in (2.0, 1.0)])
    assert [trial.value for trial in study.trials] == [2.0, 1.0]


def test_missing_tables_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna.storages._rdb.models", None)
    assert not compat_optuna.has_known_tables.__wrapped__()


def test_functions_are_compiled_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_WARNED", [])
    monkeypatch.setitem(sys.modules, "ravenlab.common.compat.numba_cache", None)
    dispatcher = SimpleNamespace(_cache="in memory")
    with pytest.warns(RuntimeWarning, match="functions are compiled again"):
        compat_numba.store_on_disk(dispatcher, test_functions_are_compiled_in_memory, awaited=False)
    assert dispatcher._cache == "in memory"


def test_joblib_chooses_its_backend_for_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {}
    monkeypatch.setitem(sys.modules, "joblib._dask", None)
    monkeypatch.setattr(joblib, "parallel_config", lambda **given: arguments.update(given))
    client: Any = object()
    compat_joblib.use_dask(client, 3.0)
    assert arguments == {"backend": "dask", "client": client, "wait_for_workers_timeout": 3.0}
