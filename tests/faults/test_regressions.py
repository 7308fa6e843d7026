"""Single findings of attacks, end to end: extreme rewards, results without a recommendation, escape sequences."""

import json
from pathlib import Path
from unicodedata import category

import numpy as np
import pytest
from sqlalchemy import text

import ravenlab
from ravenlab.common.errors import InputError
from ravenlab.dashboards.optuna_dashboard.access import restrict_access
from ravenlab.studies.export import FORMATS
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import write_recommendation
from tests.command import run_command
from tests.faults.template import COMPARE, GRID, make_storage
from tests.messages import assert_names
from tests.studies.examples import make_recommendation, store_study

ESCAPES = "\x1b[31m\x1b]0;title\x07"
TUNE_LOG = ["tune", "--log=log.csv", "--trials=3", "--replications=2", "--jobs=1", "--quiet"]
EVENTS = 600


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("reward", ["1e80", "-1e80", "1e100"])
@pytest.mark.parametrize("place", [0.1, 0.6, 0.9], ids=["search", "selection", "report"])
def test_huge_reward_in_a_segment_of_a_log(place: float, reward: str, tmp_path: Path) -> None:
    rewards = [f"{number:.3f}" for number in np.random.default_rng(0).random(EVENTS)]
    rewards[int(place * EVENTS)] = reward
    rows = [f"{step},{'ab'[step % 2]},{text}\n" for step, text in enumerate(rewards)]
    (tmp_path / "log.csv").write_text("step,arm,reward\n" + "".join(rows))
    code, _, err = run_command(TUNE_LOG)
    assert (code, len(err.splitlines())) in ((0, 0), (2, 1)), err
    for words in (["studies"], ["export"], ["show", "*"]):
        code, _, err = run_command(words)
        assert code in (0, 2), err
        assert len(err.splitlines()) <= 1


def test_export_without_a_recommendation_is_one_line(tmp_path: Path) -> None:
    make_storage(tmp_path / "studies.sqlite3")
    for name in ("cells", "compared", "stranger", "running", "wide"):
        code, out, err = run_command(["export", name])
        assert (code, out, len(err.splitlines())) == (2, "", 1), err
        assert_names(err, f"'{name}'")
    for file, words in (("grid", GRID), ("compare", COMPARE)):
        storage = f"--storage=sqlite:///{file}.sqlite3"
        assert run_command([*words, storage])[0] == 0
        code, out, err = run_command(["export", storage])
        assert (code, out, len(err.splitlines())) == (2, "", 1), err


@pytest.mark.parametrize("field", ["trace", "log"])
@pytest.mark.parametrize("words", [["validate", "study.toml"], ["tune", "--study=study.toml"]])
@pytest.mark.parametrize("content", [None, "step,arm\n1,\x1b[31m\n"], ids=["missing", "invalid"])
def test_paths_of_study_files_are_escaped(content: str | None, words: list[str], field: str, tmp_path: Path) -> None:
    name = f"{ESCAPES}.csv"
    (tmp_path / "study.toml").write_text(f"[[study]]\n{field} = {json.dumps(name)}\n")
    if content is not None:
        (tmp_path / name).write_text(content)
    code, out, err = run_command(words)
    assert code in (1, 2), err
    assert "\\x1b[31m" in out + err
    assert not {"\x1b", "\x07"} & {*out, *err}


@pytest.mark.parametrize("content", [None, "{", '{"schema": 2, "recommendations": []}'])
def test_paths_of_exports_are_escaped(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / f"{ESCAPES}.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError) as caught:
        ravenlab.RavenUCB.load(path)
    assert_names(str(caught.value), "\\x1b[31m")
    assert not {"\x1b", "\x07"} & {*str(caught.value)}


@pytest.mark.parametrize("query", ["after=", "after=x", "after", "after=1&after=", "a=1&after=%20"])
def test_number_of_a_trial_that_is_not_one_is_refused(query: str) -> None:
    """The dashboard would answer such a request with a traceback in its terminal."""
    statuses: list[str] = []
    application = restrict_access(lambda *_: pytest.fail("the request was passed on"), writable=False, names=[])
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/api/studies/1", "QUERY_STRING": query}
    (body,) = application(environ, lambda status, _: statuses.append(status))
    assert statuses == ["400 Bad Request"]
    assert json.loads(body) == {"reason": "after must be the number of a trial."}


def test_documents_on_standard_output_contain_no_control_characters(tmp_path: Path) -> None:
    """JSON escapes only those of ASCII; the names of studies, and what is stored with them, may contain others."""
    name = f"{ESCAPES}\x9b31m\u202e\u2028"
    storage = open_storage(f"sqlite:///{tmp_path}/studies.sqlite3", create=True)
    spec = StudySpec(scenario="blips", horizon=20, arms=3, trials=3)
    study = store_study(storage, spec, 3, make_recommendation(scenario="blips", horizon=20, arms=3))
    stored = make_recommendation(study=name, scenario="blips", horizon=20, arms=3)
    write_recommendation(study, stored)
    with storage.engine.begin() as connection:
        connection.execute(text("UPDATE studies SET study_name = :name"), {"name": name})
    storage.remove_session()
    storage.engine.dispose()
    for words in (
        ["studies", "--json"],
        ["show", name, "--json"],
        *(["export", f"--format={kind}"] for kind in FORMATS),
    ):
        code, out, err = run_command(words)
        assert (code, err) == (0, ""), words
        assert not [letter for letter in out if category(letter) == "Cc" and letter not in "\n\t"], words
    code, out, _ = run_command(["studies", "--json"])
    assert name in json.loads(out)[0].values()
