"""Finding and listing studies."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy

from ravenlab.environments import InputError
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import SPEC
from ravenlab.studies.storage.library import find_studies, list_studies, read_recommendations
from ravenlab.studies.storage.lock import lock_studies
from tests.messages import raises_naming
from tests.studies.examples import LINES, WILD, make_recommendation, store_recommendations, store_study, url


@pytest.fixture
def storage(tmp_path: Path) -> Any:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    yield opened
    opened.engine.dispose()


def test_states_of_studies(storage: Any) -> None:
    store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=5), 3)
    store_study(storage, StudySpec(scenario="periodic", horizon=1000, trials=4), 4)
    store_study(storage, StudySpec(scenario="variance-drift", horizon=1000, trials=4), 4, make_recommendation())
    optuna.create_study(study_name="theirs", storage=storage, directions=["minimize", "maximize"])
    reward = optuna.create_study(study_name="up", storage=storage, direction="maximize")
    reward.add_trials([optuna.trial.create_trial(value=value) for value in (1.0, 3.0, float("inf"))])
    broken = optuna.create_study(study_name="broken", storage=storage)
    broken.set_user_attr(SPEC, {"policy": 3})
    rows = {row.name: row for row in list_studies(storage)}
    assert list(rows) == sorted(rows)
    blips = rows["raven-ucb/blips/T1000/K10"]
    assert (blips.policy, blips.scenario, blips.horizon, blips.arms) == ("raven-ucb", "blips", 1000, 10)
    assert (blips.finished, blips.planned, blips.best, blips.regret, blips.state) == (3, 5, 48.0, None, "interrupted")
    assert (blips.kind, blips.seed) == ("study", 0)
    assert blips.date is not None
    assert abs(datetime.now() - datetime.fromisoformat(blips.date)) < timedelta(minutes=10)
    assert rows["raven-ucb/periodic/T1000/K10"].state == "interrupted"
    tuned = rows["raven-ucb/variance-drift/T1000/K10"]
    assert (tuned.state, tuned.regret, tuned.best) == ("recommended", 41.5, 47.0)
    assert (rows["theirs"].state, rows["theirs"].best, rows["theirs"].planned) == ("external", None, None)
    assert rows["up"].best == 3.0
    assert rows["broken"].state == "external"


def test_a_study_with_a_driver_is_not_interrupted(storage: Any) -> None:
    names = [
        store_study(storage, StudySpec(scenario=name, horizon=1000, trials=4), count).study_name
        for name, count in (("blips", 3), ("periodic", 4), ("stationary", 3))
    ]
    location = storage.engine.url.render_as_string(hide_password=False)
    with lock_studies(location, *names[:2]):
        states = {row.name: row.state for row in list_studies(storage)}
    assert [states[name] for name in names] == ["searching", "validating", "interrupted"]
    assert {row.state for row in list_studies(storage)} == {"interrupted"}


def test_searches_of_comparisons_must_be_named_in_full(storage: Any) -> None:
    comparison = ComparisonSpec(scenario="blips", horizon=1000, seed=3)
    search = comparison.search_spec("ucb1")
    recommendation = make_recommendation(study=search.study_name(), policy="ucb1", scenario="blips", params={"c": 1.0})
    store_study(storage, search, 2, recommendation)
    store_study(storage, StudySpec(scenario="blips", horizon=1000, name="compare/mine"), 2)
    assert [row.name for row in list_studies(storage)] == ["compare/mine"]
    assert [row.name for row in list_studies(storage, internal=True)] == [search.study_name(), "compare/mine"]
    assert read_recommendations(storage) == []
    for names in ([search.study_name()], None):
        (found,) = read_recommendations(storage, names, internal=names is None)
        assert found.study == search.study_name()
    assert [study.study_name for study in find_studies(storage, ["compare/*"])] == ["compare/mine"]
    assert len(find_studies(storage, ["compare/*"], internal=True)) == 2


def test_running_trials_are_not_finished(storage: Any) -> None:
    study = store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=5), 1)
    study.ask()
    assert list_studies(storage)[0].finished == 1


def test_the_number_of_queries_does_not_depend_on_the_number_of_studies(storage: Any) -> None:
    def queries() -> int:
        count = 0

        def count_query(*_: object) -> None:
            nonlocal count
            count += 1

        sqlalchemy.event.listen(storage.engine, "before_cursor_execute", count_query)
        list_studies(storage)
        sqlalchemy.event.remove(storage.engine, "before_cursor_execute", count_query)
        return count

    store_study(storage, StudySpec(scenario="blips", horizon=1000), 1)
    few = queries()
    for horizon in range(2000, 2010):
        store_study(storage, StudySpec(scenario="blips", horizon=horizon), 3)
    assert queries() == few <= 8


def test_studies_are_found_by_name_pattern_and_prefix(storage: Any) -> None:
    plain = ["raven-ucb/blips/T1", "raven-ucb/blips/T10", "ucb1/blips/T1", "deep/T30/K2", "deep/T300/K2"]
    for name in (*plain, WILD, LINES[50:], "odd[1]*"):
        optuna.create_study(study_name=name, storage=storage)

    def names(*wanted: str, **options: bool) -> list[str]:
        return [study.study_name for study in find_studies(storage, wanted, **options)]

    assert names("raven-ucb/blips/T1") == ["raven-ucb/blips/T1"]
    assert names("raven-ucb/*", "raven-ucb/blips/T1") == ["raven-ucb/blips/T1", "raven-ucb/blips/T10"]
    assert names("ucb1") == ["ucb1/blips/T1"]
    assert names("deep/T30") == ["deep/T30/K2"]
    assert names(WILD) == [WILD]
    assert names("<script>") == [WILD]
    assert names("odd[1]*") == ["odd[1]*"]
    assert names(LINES[50:]) == [LINES[50:]]
    assert len(names("*")) == 8
    with raises_naming(InputError, "2", "'raven-ucb/blips/T1'", "'raven*'"):
        names("raven")
    with raises_naming(InputError, "'ucb1/blip/T1'", "'ucb1/blips/T1'"):
        names("ucb1/blip/T1")
    for wrong in ("", "nothing*", "RAVEN"):
        with raises_naming(InputError, f"'{wrong}'"):
            names(wrong)
    with raises_naming(InputError, "'ucb1'"):
        names("ucb1", prefixes=False)


def test_recommendations_are_sorted(tmp_path: Path) -> None:
    recommendations = [
        make_recommendation(horizon=10000),
        make_recommendation(policy="ucb1", params={"c": 1.0}),
        make_recommendation(horizon=1000),
        make_recommendation(arms=5, horizon=50000),
        make_recommendation(scenario="blips", study="zz"),
        make_recommendation(scenario="blips", study="aa"),
    ]
    orders = []
    for turn, stored in enumerate((recommendations, recommendations[::-1])):
        opened = open_storage(store_recommendations(tmp_path / f"{turn}.sqlite3", *stored), create=False)
        orders.append(read_recommendations(opened))
        opened.engine.dispose()
    assert orders[0] == orders[1]
    assert [recommendation.study for recommendation in orders[0]] == [
        "aa",
        "zz",
        "raven-ucb/variance-drift/T50000/K5",
        "raven-ucb/variance-drift/T1000/K10",
        "raven-ucb/variance-drift/T10000/K10",
        "ucb1/variance-drift/T1000/K10",
    ]


def test_a_recommendation_of_another_version_is_an_error(storage: Any) -> None:
    study = store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=1), 1)
    study.set_user_attr("ravenlab:recommendation", {"future": 1})
    with raises_naming(InputError, study.study_name):
        read_recommendations(storage)
