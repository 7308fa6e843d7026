"""The report without a browser: what it says, what it escapes, and that it makes sense of any storage."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import optuna
import pytest

from dashboards.grid_marks import recommended_in
from dashboards.html import in_script
from dashboards.report import pictures
from dashboards.report.gather import gather
from dashboards.report.page import build
from dashboards.report.render import render
from dashboards.report.slugs import Slugs, slug
from dashboards.report.summary import judge, overview, sentence
from dashboards.report.trials import read_trials, thinned
from environments.errors import InputError
from studies.export import export
from studies.grid import GridSpec
from studies.library import recommendations
from studies.recommendation import Estimate, Rival
from studies.spec import StudySpec
from studies.storage import open_storage
from studies.words import short
from tests.dashboards.made import GIVEN, add_grid, full
from tests.studies.made import EVEN, LINES, WILD, recommendation, store, stored, url
from tuning.api import report
from tuning.cli import run

Captured = pytest.CaptureFixture[str]


class Outline(HTMLParser):
    """What a browser would find: elements with their attributes, text outside scripts, scripts by their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words = ""
        self.items: dict[str, list[dict[str, str | None]]] = {}
        self._in: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.items.setdefault(tag, []).append(found)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if tag in ("script", "style"):
            self._in = tag
        if tag == "script":
            self.scripts.append((found, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._in = None

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif self._in is None:
            self.words += data

    def script(self, id: str) -> str:
        return next(text for attributes, text in self.scripts if attributes.get("id") == id)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> str:
    return full(tmp_path_factory.mktemp("report") / "s.sqlite3", grids=2)


@pytest.fixture(scope="module")
def text(storage: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report(output=path, storage=storage).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


def made(where: str) -> Outline:
    opened = open_storage(where, create=False)
    try:
        return Outline(render(gather(opened, "here")))
    finally:
        opened.engine.dispose()


def test_the_same_storage_gives_the_same_page(storage: str, text: str, tmp_path: Path) -> None:
    assert report(output=tmp_path / "again.html", storage=storage).read_text(encoding="utf-8") == text


def test_every_link_leads_somewhere_and_ids_are_unique(outline: Outline) -> None:
    assert len(outline.ids) == len(set(outline.ids))
    assert {link for link in outline.links if not link.startswith("#")} == set()
    assert {link[1:] for link in outline.links} <= set(outline.ids)
    for section in ("summary", "parameters", "scenarios", "grids", "search", "methods"):
        assert f"#{section}" in outline.links


def test_nothing_is_asked_of_a_network(outline: Outline) -> None:
    assert "http" not in "".join(str(value) for each in outline.items["link"] for value in each.values())
    assert not outline.items.get("img")
    assert not outline.items.get("iframe")
    assert all("src" not in attributes for attributes, _ in outline.scripts)
    policy = next(each["content"] for each in outline.items["meta"] if each.get("http-equiv"))
    assert str(policy).startswith("default-src 'none'")


def test_wild_names_are_text(outline: Outline) -> None:
    assert WILD in outline.words
    assert not [text for attributes, text in outline.scripts if text.startswith("alert")]
    allowed = {"exports", "themes", "plotly"}
    for attributes, text in outline.scripts:
        if attributes.get("type") == "application/json":
            assert attributes.get("id") in allowed or attributes.get("data-for") in outline.ids
            assert "<" not in text
            json.loads(text)


def test_the_buttons_give_what_the_export_gives(outline: Outline, storage: str) -> None:
    held = json.loads(outline.script("exports"))
    found = recommendations(open_storage(storage, create=False))
    rows = {row["data-study"]: str(row["id"]) for row in outline.items["tr"] if row.get("data-study")}
    assert len(rows) == len(found) == 3
    for each in found:
        assert held[rows[each.study]] == {form: export([each], form) for form in ("json", "toml")}
    names = [str(button["data-name"]) for button in outline.items["button"] if button.get("data-name")]
    assert len(set(names)) == 6
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}\.(json|toml)", name) for name in names)


def test_the_summary_says_the_exports_numbers(outline: Outline) -> None:
    for each in GIVEN:
        said = str(sentence(each, 10))
        assert said in outline.words
        for value in (*each.params.values(), each.regret.mean, each.regret.low, each.regret.high):
            assert short(value) in said


def test_every_figure_has_words(outline: Outline) -> None:
    plots = [each for each in outline.items["div"] if each.get("class") == "plot"]
    assert len(plots) == len(outline.items["figure"]) == len(outline.items["figcaption"]) >= 12
    for plot in plots:
        assert plot["role"] == "img"
        assert len(str(plot["aria-label"])) > 30
    assert sum("data-scenes" in plot for plot in plots) == 2


def test_rivals_are_put_with_care() -> None:
    paper, defaults = recommendation().versus
    each = recommendation()
    assert [judge(each, rival) for rival in each.versus] == ["worse", "unclear"]
    said = str(sentence(each, 10))
    assert said.startswith(
        "In variance-drift at T = 1000 use α₀ = 0.25, β₀ = 4, ε = 0.0001: regret 41.5 (40.25 to 42.75)"
    )
    assert (
        "; the paper's advice costs 45 % more; the policy's defaults can't be told from it (−4.8 % to +2.4 % more)."
        in said
    )
    assert "ε lies on the edge" in said
    better = defaults.model_copy(update={"high": -0.1})
    assert "cost 1.2 % less on the fresh worlds, so prefer them" in str(sentence(recommendation(versus=[better])))
    same = Rival(name="paper", params=each.params, regret=41.5, difference=0.0, low=0.0, high=0.0)
    assert "that is the paper's advice itself" in str(sentence(recommendation(versus=[same])))
    none = recommendation(regret=Estimate(mean=0.0, low=0.0, high=0.0, replications=5), versus=[paper])
    assert "costs 18.5 more" in str(sentence(none))
    other = recommendation(objective="cvar:0.9", policy="sw-raven", settings={"every": "5%"}, arms=3)
    assert "K = 3 (every = 5%), sw-raven use" in str(sentence(other, 10))
    assert "chosen by cvar:0.9, not by mean regret" in str(sentence(other, 10))
    assert overview([each, each])[0].endswith("what is recommended is clearly better in 2.")


def test_no_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    assert run(["report"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("ravenlab: there are no studies in sqlite:///studies.sqlite3 yet;")
    assert captured.err.count("\n") == 1
    page = Outline((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "There is nothing to report yet" in page.words
    assert "ravenlab tune variance-drift" in page.words
    assert not (tmp_path / "studies.sqlite3").exists()
    open_storage(url(tmp_path / "empty.sqlite3"), create=True)
    assert "There is nothing to report yet" in made(url(tmp_path / "empty.sqlite3")).words


def test_half_finished_studies_say_what_is_missing(tmp_path: Path) -> None:
    where = url(tmp_path / "s.sqlite3")
    opened = open_storage(where, create=True)
    for scenario, done in (("blips", 0), ("periodic", 1), ("stationary", 4)):
        store(opened, StudySpec(scenario=scenario, horizon=200, trials=4 if done == 4 else 9), done)
    study = store(opened, StudySpec(scenario="arm-churn", horizon=200, trials=3), 0)
    for _ in range(3):
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.PRUNED, value=1.0, params={"alpha0": 1.0}, distributions={"alpha0": EVEN}
            )
        )
    optuna.create_study(study_name="someone else's", storage=opened)
    add_grid(where, 100, cells=2)
    words = made(where).words
    assert "4 studies at T = 200, with no recommendations." in words
    assert "No trial has finished yet; 9 are asked for." in words
    assert "The search is unfinished: 1 of 9 trials." in words
    assert "The search is done but was not validated" in words
    assert "all 3 trials were pruned" in words
    assert "someone else's: Not a study of ravenlab" in words
    assert "The grid is unfinished" in words
    assert "too good to be true" in words


def test_what_this_version_does_not_know(tmp_path: Path) -> None:
    where = url(tmp_path / "s.sqlite3")
    opened = open_storage(where, create=True)
    store(opened, StudySpec(scenario="blips", horizon=200, name=LINES[:40].strip()), 3, recommendation(scenario=WILD))
    store(opened, StudySpec(scenario="blips", horizon=200), 3).set_user_attr("ravenlab:spec", {"scenario": "gone"})
    words = made(where).words
    assert f"In {WILD} at T = 1000 use" in words
    assert "for a scenario that this version does not know" in words
    assert "of a version that this one can't read" in words


def test_names_choose_studies(storage: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "some.html"
    assert run(["report", "raven-ucb/variance-drift/T400/K10", "-o", str(path), "--storage", storage]) == 0
    assert "1 recommendation, 3 figures" in capsys.readouterr().out
    page = Outline(path.read_text(encoding="utf-8"))
    assert len([row for row in page.items["tr"] if row.get("data-study")]) == 1
    assert WILD not in page.words
    for words, fragment in (
        (["report", "nothing", "--storage", storage], "unknown study 'nothing'"),
        (["report", "--storage", "sqlite:///missing.sqlite3"], "does not exist"),
        (["report", "-o", str(tmp_path / "no" / "x.html"), "--storage", storage], "there is no folder"),
        (["report", "-o", str(tmp_path / "y.html"), "--figures", str(path), "--storage", storage], "is a file"),
    ):
        assert run(words) == 2
        captured = capsys.readouterr()
        assert fragment in captured.err
        assert captured.err.count("\n") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["some.html"]


def test_figures_as_files(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(pictures, "_without", lambda: "figures were written as HTML only: kaleido is missing.")
    folder = tmp_path / "figures"
    words = ["report", WILD, "-o", str(tmp_path / "r.html"), "--figures", str(folder), "--storage", storage]
    assert run(words) == 0
    captured = capsys.readouterr()
    assert captured.err == "ravenlab: figures were written as HTML only: kaleido is missing.\n"
    names = sorted(path.name for path in folder.iterdir())
    assert "plotly.min.js" in names
    assert len(names) >= 4
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}\.html|plotly\.min\.js", name) for name in names)


def test_long_searches_are_thinned(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    study = store(opened, StudySpec(scenario="blips", horizon=200, trials=60), 60)
    found = read_trials(opened, study._study_id, StudySpec(scenario="blips"), most=20)
    assert (found.complete, found.pruned, found.failed) == (59, 1, 0)
    assert len(found.shown) == 20
    assert found.shown[0].number == 0
    assert found.shown[-1].number == 59
    assert found.shown[-1].params["alpha0"] == pytest.approx(6.0)
    assert found.shown[-1].stderr == 1.5
    falling = [100.0 - place for place in range(1000)]
    assert len(thinned(falling, 400)) == 400
    assert thinned([5.0] * 500 + [1.0] + [5.0] * 499, 10).count(500) == 1


def test_a_search_without_a_recommendation_is_drawn_by_its_objective(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    store(opened, StudySpec(scenario="blips", horizon=200, trials=9, objective="reward"), 3)
    (shown,) = build(gather(opened, "here")).searches[0].panels
    best = next(trace for trace in shown.figure.data if trace.name == "best so far")
    assert list(best.y) == [50, 50], "of 50 and 48 the larger one"
    assert shown.figure.layout.yaxis.title.text == "mean reward (reward units)"
    assert shown.context.endswith("3 trials")


def test_trials_have_parameters_of_their_own_names(tmp_path: Path) -> None:
    opened = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    spec = StudySpec(scenario="blips", horizon=200, policy="d-ucb", fixed={"xi": 0.5})
    study = store(opened, spec, 0)
    held = {"one_minus_gamma": 0.25}
    study.add_trial(optuna.trial.create_trial(value=9.0, params=held, distributions={"one_minus_gamma": EVEN}))
    assert read_trials(opened, study._study_id, spec).shown[0].params == {"gamma": 0.75}


def test_a_grid_that_cant_be_read_is_left_out(tmp_path: Path) -> None:
    where = full(tmp_path / "s.sqlite3", grids=2)
    opened = open_storage(where, create=False)
    first, second = (name for name in optuna.get_all_study_names(opened) if name.startswith("grid"))
    optuna.load_study(study_name=first, storage=opened).set_user_attr("ravenlab:grid", {"scenario": "gone"})
    elsewhere = {"scenario": "mine.py:world~0a1b2c3d"}
    optuna.load_study(study_name=second, storage=opened).set_user_attr("ravenlab:grid", elsewhere)
    material = gather(opened, "here")
    assert (len(material.studies), material.grids, material.unfinished_grids) == (3, [], [])
    assert set(material.strangers) == {first, second}


def test_what_is_marked_in_a_grid() -> None:
    grid = GridSpec(scenario="variance-drift", horizon=1000)
    mine = recommendation(study="b")
    others = [
        recommendation(study="a", objective="cvar:0.9"),
        recommendation(study="a", horizon=2000),
        recommendation(study="a", policy="sw-raven"),
        recommendation(study="a", settings={"growth": 0.5}),
    ]
    assert recommended_in(grid, [*others, recommendation(study="c"), mine]) == mine
    assert recommended_in(grid, others) is None


def test_slugs_and_scripts() -> None:
    names = [WILD, LINES, "a/b", "a-b", "A b", "🦅", "../..", "x" * 200, ""]
    given = Slugs()
    found = [given.new(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}", each) for each in found)
    assert slug(WILD) == slug(WILD)
    assert json.loads(in_script(json.dumps(WILD + "\u2028</script>", ensure_ascii=False))) == WILD + "\u2028</script>"


def test_a_policy_without_curves_in_time(tmp_path: Path) -> None:
    huge = recommendation(scenario="stationary", horizon=2_000_000, arms=50)
    opened = open_storage(stored(tmp_path / "s.sqlite3", huge), create=False)
    page = build(gather(opened, "here"))
    assert "would take too long" in page.missing[0].text
    with pytest.raises(InputError, match="unknown study"):
        gather(opened, "here", ["nothing"])
