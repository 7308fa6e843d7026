"""The report without a browser: storages, links, numbers, escaping, verdicts, tables, titles and the command."""

import json
import re
from pathlib import Path

import optuna
import pytest

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Difference
from ravenlab.common.text import format_interval, format_number, format_percent
from ravenlab.dashboards.pages.html import Slugs
from ravenlab.dashboards.pages.report import page as report_page
from ravenlab.dashboards.pages.report.data import ReportData, StudyData, Trials, find_recommendation, load_report_data
from ravenlab.dashboards.pages.report.lanes import Axis, make_lanes
from ravenlab.dashboards.pages.report.page import build_report, render_report
from ravenlab.dashboards.pages.report.scenarios import define_trace
from ravenlab.dashboards.pages.report.studies import (
    MAX_SUFFIX_LENGTH,
    StudyLabel,
    make_robust_sections,
    make_short_titles,
)
from ravenlab.dashboards.pages.report.summary import (
    VerdictRow,
    choose_axis,
    make_robust_row,
    make_verdict_row,
)
from ravenlab.dashboards.pages.report.table import make_recommendation_table
from ravenlab.dashboards.pages.report.tally import count_relations
from ravenlab.studies.export import export
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.describe_recommendation import describe_better_policy, describe_verdict
from ravenlab.studies.results.recommendation import Baseline, Estimate, Recommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import read_recommendations
from ravenlab.tuning.api import report
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.dashboards.figures.test_worlds import make_robust
from tests.dashboards.outline import Outline
from tests.dashboards.storages import LONG_PARAMS, RECOMMENDATIONS, store_examples, store_small_grid
from tests.messages import assert_names
from tests.studies.examples import (
    LINES,
    LOG_DISTRIBUTION,
    WILD,
    make_recommendation,
    make_trace_facts,
    store_grid,
    store_recommendations,
    store_study,
    url,
)

Captured = pytest.CaptureFixture[str]
DEFAULTS = {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_examples(tmp_path_factory.mktemp("report") / "s.sqlite3", grids=2)


@pytest.fixture(scope="module")
def text(storage: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report(output=path, storage=storage).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


def test_the_same_storage_gives_the_same_page(storage: str, text: str, tmp_path: Path) -> None:
    assert report(output=tmp_path / "again.html", storage=storage).read_text(encoding="utf-8") == text


def test_links_have_targets_and_ids_are_unique(outline: Outline) -> None:
    assert len(outline.ids) == len(set(outline.ids))
    assert {link for link in outline.links if not link.startswith("#")} == set()
    assert {link[1:] for link in outline.links} <= set(outline.ids)
    for section in ("summary", "studies", "grids", "parameters", "scenarios", "methods"):
        assert f"#{section}" in outline.links


def test_the_page_makes_no_network_requests(outline: Outline) -> None:
    assert "http" not in "".join(str(value) for each in outline.items["link"] for value in each.values())
    assert not {"img", "iframe"} & set(outline.items)
    assert all("src" not in attributes for attributes, _ in outline.scripts)
    policy = next(each["content"] for each in outline.items["meta"] if each.get("http-equiv"))
    assert str(policy).startswith("default-src 'none'")


def test_hostile_names_are_escaped(outline: Outline) -> None:
    assert WILD in outline.words
    assert not [text for attributes, text in outline.scripts if text.startswith("alert")]
    allowed = {"exports", "themes", "plotly"}
    for attributes, text in outline.scripts:
        if attributes.get("type") == "application/json":
            assert attributes.get("id") in allowed or attributes.get("data-for") in outline.ids
            assert "<" not in text
            json.loads(text)


def test_the_buttons_contain_the_export(outline: Outline, storage: str) -> None:
    exports = json.loads(outline.script("exports"))
    recommendations = read_recommendations(open_storage(storage, create=False))
    rows = {row["data-study"]: str(row["id"]) for row in outline.items["tr"] if row.get("data-study")}
    assert len(rows) == len(recommendations) == 3
    for recommendation in recommendations:
        assert exports[rows[recommendation.study]] == {
            form: export([recommendation], form) for form in ("json", "toml")
        }
    names = [str(button["data-name"]) for button in outline.items["button"] if button.get("data-name")]
    assert len(set(names)) == 6
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}\.(json|toml)", name) for name in names)


def test_the_first_section_shows_verdicts_and_exported_numbers(outline: Outline) -> None:
    first = outline.words[outline.words.index("Recommendations #") : outline.words.index("Studies #")]
    for recommendation in RECOMMENDATIONS:
        assert describe_verdict(recommendation) in first
        regret = recommendation.regret
        for value in recommendation.params.values():
            assert format_number(value) in first
        assert format_interval(regret) in first
    lanes = [
        str(each["aria-label"]) for each in outline.items["div"] if each.get("class") == "lanes" and "role" in each
    ]
    assert len(lanes) == 3
    assert all("Recommended: regret 41.5" in lane and "Paper's advice: +45 % (" in lane for lane in lanes)


def test_every_figure_has_a_description(outline: Outline) -> None:
    plots = [each for each in outline.items["div"] if each.get("class") == "plot"]
    assert len(plots) == len(outline.items["figure"]) == len(outline.items["figcaption"]) >= 12
    for plot in plots:
        assert plot["role"] == "group"
        assert len(str(plot["aria-label"])) > 30


TITLES = {
    "searches": {
        "blips, T = 500, mine.py:Mine": StudyLabel("mine.py:Mine~61/blips", "blips", 500, 10, {}, "mine.py:Mine~61"),
        "blips, T = 500": StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        "localized-jump, T = 1,000, sw-ucb": StudyLabel("compare/sw-ucb", "localized-jump", 1000, 10, {}, "sw-ucb"),
        "periodic, T = 500": StudyLabel("night shift", "periodic", 500, 10),
    },
    "one search": {"localized-jump, T = 1,000": StudyLabel("compare/sw-ucb", "localized-jump", 1000, 10, {}, "sw-ucb")},
    "other fields": {
        "blips, T = 500, K = 4": StudyLabel("raven-ucb/blips/T500/K4~aaaa", "blips", 500, 4),
        "blips, T = 500, K = 10": StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        "blips, T = 500, K = 10, ~bbbb": StudyLabel("raven-ucb/blips/T500/K10~bbbb", "blips", 500, 10),
        "blips, T = 500, K = 10, compare ~cccc": StudyLabel("compare/blips/K10/raven-ucb~cccc", "blips", 500, 10),
        "blips, T = 500, K = 10, every = 50": StudyLabel("raven-ucb/blips~dddd", "blips", 500, 10, {"every": 50}),
    },
    "other seeds and names": {
        "blips, T = 500, seed 0": StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        "blips, T = 500, seed 3": StudyLabel("raven-ucb/blips/T500/K10/seed=3", "blips", 500, 10, seed=3),
        "blips, T = 500, seed 3, long": StudyLabel("long/blips", "blips", 500, 10, seed=3),
    },
    "grids": {
        "blips, T = 500": StudyLabel("grid/raven-ucb/blips/T500/K10", "blips", 500, 10),
        "blips, T = 500, ~aaaa": StudyLabel("grid/raven-ucb/blips/T500/K10~aaaa", "blips", 500, 10),
    },
}


@pytest.mark.parametrize("labels", TITLES.values(), ids=TITLES)
def test_short_titles_distinguish_studies(labels: dict[str, StudyLabel]) -> None:
    assert make_short_titles(list(labels.values())) == list(labels)


def test_short_titles_of_long_names_differ() -> None:
    names = ["raven-ucb/blips/T500/K10", WILD, f"{'x' * 90}a", f"{'x' * 90}b"]
    titles = make_short_titles([StudyLabel(name, "blips", 500, 10) for name in names])
    assert len(set(titles)) == len(titles)
    assert len(titles[1]) == len("blips, T = 500, ") + MAX_SUFFIX_LENGTH


def test_names_choose_studies(storage: str, tmp_path: Path) -> None:
    path = tmp_path / "some.html"
    assert_names(
        printed("report", "raven-ucb/variance-drift/T400/K10", "-o", str(path), "--storage", storage), "1", "2"
    )
    page = Outline(path.read_text(encoding="utf-8"))
    assert len([row for row in page.items["tr"] if row.get("data-study")]) == 1
    assert WILD not in page.words
    for words, fragment in (
        (["report", "nothing", "--storage", storage], "'nothing'"),
        (["report", "--storage", "sqlite:///missing.sqlite3"], "missing.sqlite3"),
        (["report", "-o", str(tmp_path / "no" / "x.html"), "--storage", storage], "x.html"),
        (["report", "-o", str(tmp_path / "y.html"), "--figures", str(path), "--storage", storage], path),
        (["report", "-o", str(tmp_path / "y.html"), "--figures", f"{tmp_path}/new/{'x' * 300}"], "x" * 30),
    ):
        assert str(fragment) in refused(*words)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["some.html"]


def test_figures_as_files(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(report_page, "_check_image_export", lambda: "kaleido is missing")
    folder = tmp_path / "figures"
    words = ["report", WILD, "-o", str(tmp_path / "r.html"), "--figures", str(folder), "--storage", storage]
    assert run(words) == 0
    captured = capsys.readouterr()
    assert captured.err == "ravenlab: kaleido is missing\n"
    names = sorted(path.name for path in folder.iterdir())
    assert "plotly.min.js" in names
    assert len(names) == 3
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}\.html|plotly\.min\.js", name) for name in names)


@pytest.fixture
def opened(tmp_path: Path) -> optuna.storages.RDBStorage:
    return open_storage(url(tmp_path / "s.sqlite3"), create=True)


def read_report(opened: optuna.storages.RDBStorage) -> str:
    return Outline(render_report(load_report_data(opened, "here"))).words


def test_no_studies(here: Path, opened: optuna.storages.RDBStorage, capsys: Captured) -> None:
    assert run(["report"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("ravenlab: there are no studies in sqlite:///studies.sqlite3 yet")
    assert captured.err.count("\n") == 1
    page = Outline((here / "report.html").read_text(encoding="utf-8"))
    assert "No studies yet" in page.words
    assert "ravenlab tune variance-drift" in page.words
    assert not (here / "studies.sqlite3").exists()
    assert "No studies yet" in read_report(opened)


def test_unfinished_studies_state_what_is_missing(tmp_path: Path, opened: optuna.storages.RDBStorage) -> None:
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
    store_small_grid(url(tmp_path / "s.sqlite3"), 100, cells=2)
    words = read_report(opened)
    for statement in (
        "4 studies at T = 200 · Storage",
        "No trial has finished yet (0 of 9).",
        "The search is unfinished (1 of 9 trials).",
        "finished but not validated",
        "(3) were pruned",
        "someone else's: Omitted",
        "The grid is unfinished",
        "optimistically biased",
    ):
        assert statement in words


def test_unknown_scenarios_and_incompatible_studies(opened: optuna.storages.RDBStorage) -> None:
    store_study(
        opened, StudySpec(scenario="blips", horizon=200, name=LINES[:40].strip()), 3, make_recommendation(scenario=WILD)
    )
    store_study(opened, StudySpec(scenario="blips", horizon=200), 3).set_user_attr(
        "ravenlab:spec", {"scenario": "gone"}
    )
    words = read_report(opened)
    assert "Use α₀ 0.25, β₀ 4, ε 0.0001." in words
    assert "for a scenario that this version does not define" in words
    assert "incompatible version" in words


def test_trials_are_counted_by_state(opened: optuna.storages.RDBStorage) -> None:
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


def test_a_search_without_a_recommendation_states_its_best_trial(opened: optuna.storages.RDBStorage) -> None:
    store_study(opened, StudySpec(scenario="blips", horizon=200, trials=9), 3)
    (section,) = build_report(load_report_data(opened, "here")).studies
    assert section.panels == []
    assert_names(section.lines[-1], "mean 48", "optimistically biased")  # the smaller of 50 and 48


def test_trials_have_the_parameter_names_of_the_policy(opened: optuna.storages.RDBStorage) -> None:
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
    ("alike", "sentence"),
    [((0,), "All other 3 cells are significantly worse"), ((0, 1), "1 other cell is statistically indistinguishable")],
)
def test_a_grid_counts_the_other_indistinguishable_cells(
    opened: optuna.storages.RDBStorage, alike: tuple[int, ...], sentence: str
) -> None:
    spec = GridSpec(scenario="blips", horizon=100, arms=4, alpha0=(0.5, 1.0), beta0=(0.5, 1.0), replications=8)
    store_grid(opened, spec, alike=alike)
    assert sentence in read_report(opened)


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


def make_row(recommendation: Recommendation | None, better: BetterPolicy | None = None) -> VerdictRow:
    spec = StudySpec(scenario="variance-drift", horizon=1000)
    study = StudyData("name", spec, recommendation, Trials(0, 0, 0, None), better=better)
    return make_verdict_row(study, "title", "link", {})


def test_the_row_has_the_text_of_the_verdict() -> None:
    for verdict, decision in (
        (Verdict(decision="keep the defaults", set=[]), "Keep the defaults"),
        (Verdict(decision="set one parameter", set=["alpha0"]), "Set only α₀ 1"),
        (Verdict(decision="use these values", set=["alpha0"]), "Use α₀ 1, β₀ 1, ε 0.1"),
        (Verdict(decision="inconclusive", set=[], reason="9 worlds are too few"), "Inconclusive"),
    ):
        recommendation = make_recommendation(verdict=verdict, params=DEFAULTS)
        row = make_row(recommendation)
        assert row.decision == decision
        assert row.decision + row.rest == describe_verdict(recommendation)
        assert row.kind == verdict.decision.replace(" ", "-")


def test_facts_and_warnings() -> None:
    row = make_row(make_recommendation(attainable=830.0, objective="cvar:0.9"))
    assert row.facts == "Mean regret 41.5 (95 % CI 40.2 to 42.8), 5.0 % of the attainable reward."
    assert "ε is at the edge" in row.rest
    assert ["cvar:0.9" in warning for warning in row.warnings] == [True]
    assert row.better_policy is None
    better = BetterPolicy("ucb1", {"c": 0.5}, 30.0, Difference(10.0, 9.0, 11.0), 0.25, 1e-9, "raven-ucb", "mine")
    assert make_row(make_recommendation(), better).better_policy == describe_better_policy(better)
    trace = make_row(make_recommendation(trace=make_trace_facts(["a", "b"])))
    regret, scale = trace.facts.split(". ")
    assert regret == "Mean regret 41.5 (95 % CI 40.2 to 42.8) per window of 1,000 steps"
    assert scale.startswith("The scale of the rewards is 2 times")
    missing = make_row(None)
    assert (missing.kind, missing.lanes) == ("no-result", [])
    assert "No trial has finished yet" in missing.facts


def test_lanes_show_regret_relative_to_the_recommendation() -> None:
    recommended, paper, defaults = make_lanes(make_recommendation())
    assert [*(recommended.ratios or ())] == pytest.approx([1.0, 40.25 / 41.5, 42.75 / 41.5])
    assert (recommended.text, paper.text, defaults.text) == ("41.5", "+45 %", "≈ −1.2 %")
    assert [*(paper.ratios or ())] == pytest.approx([60.0 / 41.5, 57.5 / 41.5, 62.5 / 41.5])
    assert paper.detail == "+45 % (+39 % to +51 %)"
    assert defaults.detail.endswith(", inconclusive")
    same = Baseline(name="paper", params={"alpha0": 0.25}, regret=41.5, difference=0.0, low=0.0, high=0.0)
    assert make_lanes(make_recommendation(versus=[same]))[1].text == "identical"


def test_scaled_defaults_are_called_so() -> None:
    scaled = make_recommendation(unit=8.0)
    assert [lane.name for lane in make_lanes(scaled)] == ["Recommended", "Paper's advice", "Scaled defaults"]
    assert [tally.title for tally in count_relations([scaled])] == ["the paper's advice", "the scaled defaults"]
    both = count_relations([scaled, make_recommendation()])[-1]
    assert (both.title, both.studies) == ("the defaults or scaled defaults", 2)
    robust = make_robust(["blips", "periodic"]).model_copy(update={"unit": 8.0})
    assert "The scale of the rewards is 8 times" in make_robust_row(robust, "title", "link", {}).facts
    section = make_robust_sections(ReportData("here", [], robust=[robust]), Slugs())[0]
    assert section.table is not None
    assert "scaled defaults" in [row[0] for row in section.table.rows]


def test_the_best_fixed_arm_of_each_window_is_known_in_hindsight_only() -> None:
    facts = make_trace_facts(["a", "b"])
    text = " ".join(define_trace(make_recommendation(trace=facts), facts).formulas)
    assert "the best fixed arm of each window, in hindsight: " in text


def test_without_positive_regret_differences_are_absolute() -> None:
    paper = make_recommendation().versus[0]
    none = make_recommendation(regret=Estimate(mean=0.0, low=0.0, high=0.0, replications=5), versus=[paper])
    lanes = make_lanes(none)
    assert [lane.ratios for lane in lanes] == [None, None]
    assert lanes[1].text == "+18.5"
    assert choose_axis([make_row(none)]) is None


def test_the_axis_contains_all_intervals() -> None:
    axis = choose_axis([make_row(make_recommendation())])
    assert axis is not None
    assert axis.low <= 0.95
    assert axis.high >= 62.5 / 41.5
    positions = [position for position, _ in axis.ticks]
    assert positions == sorted(positions)
    assert (axis.position(1.0), "0") in axis.ticks
    assert Axis(0.5, 4.0).position(0.0) == 0.0


def defaults_cell(difference: float, low: float, high: float) -> str:
    rival = Baseline(name="defaults", params={"alpha0": 1.0}, regret=41.5, difference=difference, low=low, high=high)
    _, (row,) = make_recommendation_table([make_recommendation(versus=[rival])], ["a"], ["A"])
    return f"{row.cells[-1].text} {row.cells[-1].detail}".strip()


def test_a_difference_of_zero_has_no_sign() -> None:
    assert defaults_cell(-0.001, -1.0, 1.0) == "0.0 % ≈"
    assert defaults_cell(0.001, -1.0, 1.0) == "0.0 % ≈"
    assert defaults_cell(-0.1, -1.0, 1.0) == "−0.2 % ≈"
    assert defaults_cell(4.15, 4.0, 4.3) == "+10 %"


def test_parameters_of_several_policies_share_a_cell_and_break_between_pairs() -> None:
    recommendations = [make_recommendation(policy=policy, params=params) for policy, params in LONG_PARAMS.items()]
    columns, rows = make_recommendation_table(recommendations, ["a", "b", "c"], ["A", "B", "C"])
    assert [title for title, _ in columns][:5] == ["Study", "Policy", "T", "K", "Parameters"]
    cell = rows[2].cells[4]
    assert cell.text.split(" ") == ["α₀\xa00.004567,", "β₀\xa00.04337,", "ε\xa00.006933,", "γ\xa00.99998"]
    assert cell.value == "α₀ 0.004567, β₀ 0.04337, ε 0.006933, γ 0.99998"
    alone, _ = make_recommendation_table(recommendations[2:], ["c"], ["C"])
    assert [title for title, _ in alone][3:7] == ["α₀", "β₀", "ε", "γ"]


def test_all_baselines_are_listed() -> None:
    constructed = Baseline(name="as constructed", params={}, regret=83.0, difference=41.5, low=41.0, high=42.0)
    recommendations = [make_recommendation(versus=[constructed], unit=8.0), make_recommendation(unit=8.0)]
    columns, rows = make_recommendation_table(recommendations, ["a", "b"], ["A", "B"])
    assert [title for title, _ in columns][-3:] == ["Paper's advice", "As constructed", "Scaled defaults"]
    assert [cell.text for cell in rows[0].cells[-3:]] == ["–", "+100 %", "–"]
    assert rows[1].cells[-2].text == "–"
    usual, _ = make_recommendation_table([make_recommendation()], ["b"], ["B"])
    assert [title for title, _ in usual][-2:] == ["Paper's advice", "Defaults"]
