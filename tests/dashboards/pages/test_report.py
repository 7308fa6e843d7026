"""The report without a browser: links, numbers, escaping, slugs and titles."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ravenlab.common.text import format_number
from ravenlab.dashboards.pages.html import Slugs, escape_json, slugify
from ravenlab.dashboards.pages.report.studies import MAX_SUFFIX_LENGTH, StudyLabel, make_short_titles
from ravenlab.studies.export import export
from ravenlab.studies.results.describe import describe_verdict
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import read_recommendations
from ravenlab.tuning.api import report
from tests.dashboards.outline import Outline
from tests.dashboards.storages import RECOMMENDATIONS, store_examples
from tests.studies.examples import LINES, WILD


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
    assert not outline.items.get("img")
    assert not outline.items.get("iframe")
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
        for value in (*recommendation.params.values(), regret.mean, regret.low, regret.high):
            assert format_number(value) in first
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


def test_slugs_are_unique_and_safe() -> None:
    names = [WILD, LINES, "a/b", "a-b", "A b", "🦅", "../..", "x" * 200, ""]
    slugs = Slugs()
    ids = [slugs.new(name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}", each) for each in ids)
    assert slugify(WILD) == slugify(WILD)
    assert json.loads(escape_json(json.dumps(WILD + "\u2028</script>", ensure_ascii=False))) == WILD + "\u2028</script>"


def test_short_titles_of_searches() -> None:
    labels = [
        StudyLabel("mine.py:Mine~617164b4/blips/T500/K10", "blips", 500, 10, {}, "mine.py:Mine~617164b4"),
        StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        StudyLabel("compare/localized-jump/T1000/K10/sw-ucb", "localized-jump", 1000, 10, {}, "sw-ucb"),
        StudyLabel("night shift", "periodic", 500, 10),
    ]
    assert make_short_titles(labels) == [
        "blips, T = 500, mine.py:Mine",
        "blips, T = 500",
        "localized-jump, T = 1,000, sw-ucb",
        "periodic, T = 500",
    ]
    assert make_short_titles(labels[2:3]) == ["localized-jump, T = 1,000"]


def test_equal_short_titles_get_distinguishing_fields() -> None:
    labels = [
        StudyLabel("raven-ucb/blips/T500/K4~aaaa", "blips", 500, 4),
        StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        StudyLabel("raven-ucb/blips/T500/K10~bbbb", "blips", 500, 10),
        StudyLabel("compare/blips/T500/K10/raven-ucb~cccccc", "blips", 500, 10),
        StudyLabel("raven-ucb/blips/T500/K10~dddd", "blips", 500, 10, {"every": 50}),
        StudyLabel(WILD, "blips", 500, 10),
    ]
    titles = make_short_titles(labels)
    assert titles[:5] == [
        "blips, T = 500, K = 4",
        "blips, T = 500, K = 10",
        "blips, T = 500, K = 10, ~bbbb",
        "blips, T = 500, K = 10, compare ~cccccc",
        "blips, T = 500, K = 10, every = 50",
    ]
    assert len(set(titles)) == len(titles)
    assert len(titles[5]) == len("blips, T = 500, K = 10, ") + MAX_SUFFIX_LENGTH


def test_studies_that_differ_only_in_seed_or_name_are_distinguished() -> None:
    labels = [
        StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        StudyLabel("raven-ucb/blips/T500/K10/seed=3", "blips", 500, 10, seed=3),
        StudyLabel("long/blips", "blips", 500, 10, seed=3),
        StudyLabel(f"{'x' * 90}a", "blips", 500, 10, seed=3),
        StudyLabel(f"{'x' * 90}b", "blips", 500, 10, seed=3),
    ]
    titles = make_short_titles(labels)
    assert titles[:3] == ["blips, T = 500, seed 0", "blips, T = 500, seed 3", "blips, T = 500, seed 3, long"]
    assert len(set(titles)) == len(titles)


def test_grids_are_distinguished_by_their_hash() -> None:
    grids = [StudyLabel(f"grid/raven-ucb/blips/T500/K10{more}", "blips", 500, 10) for more in ("", "~aaaa")]
    assert make_short_titles(grids) == ["blips, T = 500", "blips, T = 500, ~aaaa"]
