"""When notes and figures are attached: notes at once, figures when the dashboard needs them."""

import time
from pathlib import Path

import optuna
import pytest
from optuna_dashboard import get_note

from ravenlab.dashboards.optuna_dashboard.attach import is_attached, load_figure
from ravenlab.studies.storage.database import use_storage
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.cli import dashboard
from ravenlab.tuning.cli.dashboard import attaching_new_results, read_results
from tests.studies.examples import make_recommendation, store_recommendations


def test_notes_are_attached_without_figures(tmp_path: Path) -> None:
    recommendation = make_recommendation()
    place = store_recommendations(tmp_path / "studies.sqlite3", recommendation)
    attach_to_studies(place, [recommendation.study], figures=False)
    study = optuna.load_study(study_name=recommendation.study, storage=place)
    note = get_note(study)
    assert recommendation.scenario in note
    assert load_figure(study, "ravenlab-card") is None
    assert not is_attached(study)
    attach_to_studies(place)
    assert get_note(study) == note
    assert load_figure(study, "ravenlab-card") is not None
    assert is_attached(study)


def test_figures_of_studies_that_finish_while_the_dashboard_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "REFRESH_SECONDS", 0.05)
    path = tmp_path / "studies.sqlite3"
    before, after = make_recommendation(), make_recommendation(study="later")
    place = store_recommendations(path, before)
    with use_storage(place) as storage, attaching_new_results(place, storage, read_results(storage)):
        store_recommendations(path, after)
        study = optuna.load_study(study_name="later", storage=place)
        deadline = time.monotonic() + 60
        while not is_attached(study):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert not is_attached(optuna.load_study(study_name=before.study, storage=place)), "known when the block began"
