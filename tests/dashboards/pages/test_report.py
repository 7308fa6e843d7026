"""The page of a report without a browser: what it says, what it escapes, and that it is whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dashboards.pages.report.summary import summarize
from environments.text import format_number
from studies.export import export
from studies.storage.database import open_storage
from studies.storage.library import read_recommendations
from tests.dashboards.outline import Outline
from tests.dashboards.storages import RECOMMENDATIONS, store_examples
from tests.studies.examples import WILD
from tuning.api import report


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
    found = read_recommendations(open_storage(storage, create=False))
    rows = {row["data-study"]: str(row["id"]) for row in outline.items["tr"] if row.get("data-study")}
    assert len(rows) == len(found) == 3
    for each in found:
        assert held[rows[each.study]] == {form: export([each], form) for form in ("json", "toml")}
    names = [str(button["data-name"]) for button in outline.items["button"] if button.get("data-name")]
    assert len(set(names)) == 6
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}\.(json|toml)", name) for name in names)


def test_the_summary_says_the_exports_numbers(outline: Outline) -> None:
    for each in RECOMMENDATIONS:
        said = str(summarize(each, 10))
        assert said in outline.words
        for value in (*each.params.values(), each.regret.mean, each.regret.low, each.regret.high):
            assert format_number(value) in said


def test_every_figure_has_words(outline: Outline) -> None:
    plots = [each for each in outline.items["div"] if each.get("class") == "plot"]
    assert len(plots) == len(outline.items["figure"]) == len(outline.items["figcaption"]) >= 12
    for plot in plots:
        assert plot["role"] == "img"
        assert len(str(plot["aria-label"])) > 30
    assert sum("data-scenes" in plot for plot in plots) == 2
