"""Copying of studies."""

from pathlib import Path
from typing import Any

import optuna
import pytest

from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import rows
from ravenlab.studies.storage.copy import read_study_rows, write_study_rows
from ravenlab.studies.storage.database import open_storage
from tests.studies.examples import snapshot, store_study, url


def test_notes_of_trials_follow_their_trials(tmp_path: Path) -> None:
    """The dashboard stores notes with the study under the trial's id, which differs in the copy."""
    source, target = (open_storage(url(tmp_path / name), create=True) for name in ("a", "b"))
    store_study(target, StudySpec(scenario="periodic", horizon=1000), 3)
    study = store_study(source, StudySpec(scenario="blips", horizon=1000), 2)
    trial = study.trials[1]
    source.set_study_system_attr(study._study_id, f"dashboard:{trial._trial_id}:note_ver", 1)
    source.set_study_system_attr(study._study_id, f"dashboard:{trial._trial_id}:note_str:0", "good one")
    source.set_study_system_attr(study._study_id, "dashboard:note_ver", 2)
    write_study_rows(read_study_rows(source, study._study_id), target, "copy")
    copied = optuna.load_study(study_name="copy", storage=target)
    new_id = copied.trials[1]._trial_id
    assert new_id != trial._trial_id
    attributes = target.get_study_system_attrs(copied._study_id)
    assert attributes == {
        f"dashboard:{new_id}:note_ver": 1,
        f"dashboard:{new_id}:note_str:0": "good one",
        "dashboard:note_ver": 2,
    }
    assert snapshot(target, "copy") == snapshot(source, study.study_name)


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = (open_storage(url(tmp_path / name), create=True) for name in ("a", "b"))
    study = store_study(source, StudySpec(scenario="blips", horizon=1000), 3)
    insert = rows.insert_rows

    def insert_and_fail(connection: Any, table: Any, inserted: Any) -> None:
        insert(connection, table, inserted)
        if table.name == "trial_params":
            raise RuntimeError("gone")

    monkeypatch.setattr(rows, "insert_rows", insert_and_fail)
    with pytest.raises(RuntimeError, match="gone"):
        write_study_rows(read_study_rows(source, study._study_id), target, "copy")
    assert target.get_all_studies() == []
