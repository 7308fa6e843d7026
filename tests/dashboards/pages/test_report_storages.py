"""Reports on empty storages, unfinished studies, and studies that this version cannot read."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_percent
from ravenlab.dashboards.pages.report.data import find_recommendation, load_report_data
from ravenlab.dashboards.pages.report.page import build_report, render_report
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli.app import run
from tests.dashboards.outline import Outline
from tests.dashboards.storages import store_examples, store_small_grid
from tests.messages import assert_names
from tests.studies.examples import (
    LINES,
    LOG_DISTRIBUTION,
    WILD,
    make_recommendation,
    store_grid,
    store_recommendations,
    store_study,
    url,
)


def render_storage_report(where: str) -> Outline:
    """Render the report on a storage."""
    opened = open_storage(where, create=False)
    try:
        return Outline(render_report(load_report_data(opened, "here")))
    finally:
        opened.engine.dispose()


def test_no_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    assert run(["report"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("ravenlab: there are no studies in sqlite:///studies.sqlite3 yet")
    assert captured.err.count("\n") == 1
    page = Outline((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "No studies yet" in page.words
    assert "ravenlab tune variance-drift" in page.words
    assert not (tmp_path / "studies.sqlite3").exists()
    open_storage(url(tmp_path / "empty.sqlite3"), create=True)
    assert "No studies yet" in render_storage_report(url(tmp_path / "empty.sqlite3")).words


def test_unfinished_studies_state_what_is_missing(tmp_path: Path) -> None:
    where = url(tmp_path / "s.sqlite3")
    opened = open_storage(where, create=True)
    for scenario, done in (("blips", 0), ("periodic", 1), ("stationary", 4)):
        store_study(opened, StudySpec(scenario=scenario, horizon=200, trials=4 if done == 4 else 9), done)
    study = store_study(opened, StudySpec(scenario="arm-churn", horizon=200, trials=3), 0)
    for _ in range(3):
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.PRUNED,
                value=1.0,
                params={"alpha0": 1.0},
                distributions={"alpha0": LOG_DISTRIBUTION},
            )
        )
    optuna.create_study(study_name="someone else's", storage=opened)
    store_small_grid(where, 100, cells=2)
    words = render_storage_report(where).words
    assert "4 studies at T = 200 with 0 recommendations." in words
    assert "No trial has finished yet (0 of 9)." in words
    assert "The search is unfinished (1 of 9 trials)." in words
    assert "finished but not validated" in words
    assert "(3) were pruned" in words
    assert "someone else's: Omitted" in words
    assert "The grid is unfinished" in words
    assert "optimistically biased" in words


def test_unknown_scenarios_and_incompatible_studies(tmp_path: Path) -> None:
    where = url(tmp_path / "s.sqlite3")
    opened = open_storage(where, create=True)
    store_study(
        opened, StudySpec(scenario="blips", horizon=200, name=LINES[:40].strip()), 3, make_recommendation(scenario=WILD)
    )
    store_study(opened, StudySpec(scenario="blips", horizon=200), 3).set_user_attr(
        "ravenlab:spec", {"scenario": "gone"}
    )
    words = render_storage_report(where).words
    assert "Use α₀ 0.25, β₀ 4, ε 0.0001." in words
    assert "for a scenario that this version does not define" in words
    assert "incompatible version" in words


def test_trials_are_counted_by_state(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    store_study(opened, StudySpec(scenario="blips", horizon=200, trials=60), 60)
    (study,) = load_report_data(opened, "here").studies
    assert (study.trials.complete, study.trials.pruned, study.trials.failed) == (59, 1, 0)


def test_curves_that_would_take_too_long_are_omitted(tmp_path: Path) -> None:
    huge = make_recommendation(scenario="stationary", horizon=2_000_000, arms=50)
    opened = open_storage(store_recommendations(tmp_path / "s.sqlite3", huge), create=False)
    page = build_report(load_report_data(opened, "here"))
    assert "would take too long" in page.missing[0].text
    with pytest.raises(InputError, match="unknown study"):
        load_report_data(opened, "here", ["nothing"])


@pytest.mark.parametrize(("scenario", "restarts"), [("localized-jump", True), ("gradual-drift", False)])
def test_the_report_says_how_much_regret_restarts_at_the_true_changes_avoid(
    scenario: str, restarts: bool, tmp_path: Path
) -> None:
    recommended = make_recommendation(scenario=scenario, horizon=1000, arms=5)
    opened = open_storage(store_recommendations(tmp_path / "s.sqlite3", recommended), create=False)
    (study,) = (data := load_report_data(opened, "here")).studies
    assert study.curves is not None
    lines = [line for line in build_report(data).studies[0].lines if "at the true changes" in line]
    if not restarts:
        assert lines == []
        return
    oracle, found = (study.curves.simulations[name].regret.mean() for name in ("oracle", "recommended"))
    assert oracle < found
    assert f"has {format_percent(1.0 - oracle / found)} less regret" in lines[0]


def test_a_search_without_a_recommendation_states_its_best_trial(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    store_study(opened, StudySpec(scenario="blips", horizon=200, trials=9), 3)
    (section,) = build_report(load_report_data(opened, "here")).studies
    assert section.panels == []
    assert_names(section.lines[-1], "mean 48", "optimistically biased")  # the smaller of 50 and 48


def test_trials_have_the_parameter_names_of_the_policy(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    spec = StudySpec(scenario="blips", horizon=200, policy="d-ucb", fixed={"xi": 0.5})
    study = store_study(opened, spec, 0)
    params = {"one_minus_gamma": 0.25}
    study.add_trial(
        optuna.trial.create_trial(value=9.0, params=params, distributions={"one_minus_gamma": LOG_DISTRIBUTION})
    )
    (stored,) = load_report_data(opened, "here").studies
    assert stored.trials.best is not None
    assert stored.trials.best.params == {"gamma": 0.75}


@pytest.mark.parametrize(
    ("beta0", "alike", "sentence"),
    [
        ((0.5, 1.0), (0,), "All other cells are significantly worse."),
        ((0.5, 1.0), (0, 1), "1 of the other 3 cells is"),
    ],
)
def test_a_grid_counts_the_other_indistinguishable_cells(
    tmp_path: Path, beta0: tuple[float, ...], alike: tuple[int, ...], sentence: str
) -> None:
    where = url(tmp_path / "s.sqlite3")
    spec = GridSpec(scenario="blips", horizon=100, arms=4, alpha0=(0.5, 1.0), beta0=beta0, replications=8)
    store_grid(open_storage(where, create=True), spec, alike=alike)
    assert sentence in render_storage_report(where).words


def test_an_unreadable_grid_is_omitted(tmp_path: Path) -> None:
    where = store_examples(tmp_path / "s.sqlite3", grids=2)
    opened = open_storage(where, create=False)
    first, second = (name for name in optuna.get_all_study_names(opened) if name.startswith("grid"))
    optuna.load_study(study_name=first, storage=opened).set_user_attr("ravenlab:grid", {"scenario": "gone"})
    plugin = {"scenario": "mine.py:world~0a1b2c3d"}
    optuna.load_study(study_name=second, storage=opened).set_user_attr("ravenlab:grid", plugin)
    material = load_report_data(opened, "here")
    assert (len(material.studies), material.grids, material.unfinished_grids) == (3, [], [])
    assert set(material.unreadable) == {first, second}


def test_the_recommendation_for_the_problem_of_a_grid() -> None:
    grid = GridSpec(scenario="variance-drift", horizon=1000)
    mine = make_recommendation(study="b")
    others = [
        make_recommendation(study="a", objective="cvar:0.9"),
        make_recommendation(study="a", horizon=2000),
        make_recommendation(study="a", policy="sw-raven"),
        make_recommendation(study="a", settings={"growth": 0.5}),
    ]
    assert find_recommendation(grid, [*others, make_recommendation(study="c"), mine]) == mine
    assert find_recommendation(grid, others) is None
