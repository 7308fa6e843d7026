"""One scenario and horizon gives one result, a sequence gives a list; mypy checks the types on this page."""

from typing import assert_type

import pytest

import ravenlab
from ravenlab import ComparisonResult, Grid, Recommendation
from ravenlab.common.documents import ResultList
from ravenlab.policies.engine.simulation import Simulation
from ravenlab.studies.export.comparison import ComparisonDocument
from ravenlab.tuning.screen import open_screen
from tests.messages import raises_naming


def test_tune(url: str) -> None:
    one = ravenlab.tune("stationary", 60, arms=2, trials=2, replications=4, selection=10, report=10, storage=url)
    assert_type(one, Recommendation)
    several = ravenlab.tune(
        "stationary", [60, 70], arms=2, trials=2, replications=4, selection=10, report=10, storage=url
    )
    assert_type(several, ResultList[Recommendation])
    listed = ravenlab.tune(
        ["stationary"], 60, arms=2, trials=2, replications=4, selection=10, report=10, storage=url, jobs=1
    )
    assert_type(listed, ResultList[Recommendation])
    assert isinstance(one, Recommendation)
    assert several[0] == one
    assert [each.horizon for each in several] == [60, 70]
    assert listed == [one]
    unfinished = ravenlab.tune("blips", 60, arms=2, trials=5000, replications=4, timeout=0.0, storage=url)
    assert_type(unfinished, Recommendation | None)
    assert unfinished is None
    assert ravenlab.tune(["blips"], 60, arms=2, trials=5000, replications=4, timeout=0.0, storage=url) == []


def test_tune_takes_specifications(url: str) -> None:
    fields = {"scenario": "stationary", "horizon": 60, "arms": 2, "trials": 2, "replications": 4}
    spec = ravenlab.StudySpec.model_validate({**fields, "selection": 10, "report": 10})
    one = ravenlab.tune(spec, storage=url)
    assert_type(one, Recommendation)
    assert ravenlab.tune([spec], storage=url) == [one]
    with raises_naming(ravenlab.InputError, "specifications", "fields"):
        ravenlab.tune(spec, trials=5, storage=url)


def test_grid_and_compare(url: str) -> None:
    grid = ravenlab.grid("stationary", 60, arms=2, replications=4, alpha0=[1.0], beta0=[1.0, 2.0], storage=url)
    assert_type(grid, Grid)
    grids = ravenlab.grid(["stationary"], 60, arms=2, replications=4, alpha0=[1.0], beta0=[1.0, 2.0], storage=url)
    assert_type(grids, ResultList[Grid])
    assert len(grids) == 1
    assert grids[0].as_object() == grid.as_object()
    one = ravenlab.compare("stationary", 60, arms=2, policies="ucb1,ccb", tune=0, replications=5, storage=url)
    assert_type(one, ComparisonResult)
    document = ravenlab.compare("stationary", [60], arms=2, policies="ucb1,ccb", tune=0, replications=5, storage=url)
    assert_type(document, ComparisonDocument)
    assert (one.as_latex(), one.as_csv(), one.as_markdown()) == (
        document.as_latex(),
        document.as_csv(),
        document.as_markdown(),
    )
    assert document.results == tuple(document)
    assert one.to_frame()["policy"].tolist() == document.to_frame()["policy"].tolist()
    assert one.main.best.policy in repr(one).splitlines()[0]
    assert one.main.best.policy in one._repr_html_()


def test_simulate() -> None:
    one = ravenlab.simulate("ucb1", "stationary", horizon=40, arms=2, replications=3)
    assert_type(one, Simulation)
    several = ravenlab.simulate(["ucb1", "ccb"], ["stationary", "blips"], horizon=40, arms=2, replications=3, jobs=1)
    assert_type(several, ResultList[Simulation])
    assert [(each.policy, each.scenario) for each in several] == [
        ("ucb1", "stationary"),
        ("ucb1", "blips"),
        ("ccb", "stationary"),
        ("ccb", "blips"),
    ]
    assert (several[0].regret == one.regret).all()


def test_recommend_and_diagnose(url: str) -> None:
    ravenlab.tune("stationary", 60, arms=2, trials=2, replications=4, selection=10, report=10, storage=url)
    result = ravenlab.recommend("stationary", 60, arms=2, storage=url)
    assert (result.kind, repr(result).splitlines()[0]) == ("stored", repr(result.study).splitlines()[0])
    with raises_naming(ravenlab.InputError, "blips"):
        ravenlab.recommend("blips", 60, storage=url, search=False)
    for data, names in (([1.0, 2.0], ["shape"]), ([["a"]], ["numbers"])):
        with raises_naming(ravenlab.InputError, *names):
            ravenlab.diagnose(data)


def test_progress_needs_a_terminal_or_a_notebook(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ravenlab.tuning import screen
    from ravenlab.tuning.progress import Reporter

    ravenlab.grid("blips", 30, arms=2, replications=4, alpha0=[1.0], beta0=[1.0, 2.0], storage=url)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(screen, "supports_bars", lambda: True)
    with open_screen(Reporter, progress=False) as closed:
        assert closed is None
    with open_screen(Reporter) as opened:
        assert isinstance(opened, Reporter)
