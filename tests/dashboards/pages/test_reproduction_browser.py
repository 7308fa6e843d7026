"""The reproduction page in a browser: verdicts, figures, and no network requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from ravenlab.dashboards.pages.reproduction import CONCLUSIONS
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.tuning.cli import app
from ravenlab.tuning.reproduction.texts import read_claims
from tests.dashboards.browser import assert_visible, find_violations
from tests.messages import assert_names

if TYPE_CHECKING:
    from playwright.sync_api import Page


COMMAND = ["reproduce", "figure1", "table1", "figure3", "--replications", "2", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("reproduction")
    assert app.run([*COMMAND, "--jobs", "2", "-o", str(output)]) == app.DONE
    return output


def experiments(folder: Path) -> dict[str, Any]:
    """Read the experiments from the JSON file."""
    result: dict[str, Any] = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))["experiments"]
    return result


def test_numbers_depend_on_the_seed_only(folder: Path, tmp_path: Path) -> None:
    """tests/faults compares all bytes of Figure 3."""
    few, first = ["figure1"], experiments(folder)
    for seed in ("0", "1"):
        place = tmp_path / seed
        words = ["reproduce", *few, "--replications", "2", "--seed", seed, "--jobs", "1", "-o", str(place)]
        assert app.run(words) == app.DONE
        result = experiments(place)
        assert list(result) == few
        assert [result[name] == first[name] for name in few] == [seed == "0"]


def test_every_table_is_a_csv_file(folder: Path) -> None:
    for name, result in experiments(folder).items():
        for key, table in result["tables"].items():
            lines = (folder / "csv" / f"{name}-{key}.csv").read_text(encoding="utf-8").splitlines()
            assert lines[0] == ",".join(table["columns"])
            assert len(lines) > len(table["rows"])


def test_the_page_shows_the_verdicts_and_draws_offline(folder: Path, offline_page: Page) -> None:
    page = offline_page
    page.goto((folder / "reproduction.html").as_uri())
    document = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    rows = page.locator(".line[data-claim]")
    assert rows.count() == len(document["verdicts"])
    shown = {
        (row.get_attribute("data-claim"), row.locator(".protocol").text_content()): row.get_attribute("data-verdict")
        for row in rows.all()
    }
    assert shown == {(each["claim"], f"as {each['protocol']}"): each["verdict"] for each in document["verdicts"]}
    same = page.locator(".line[data-claim='figure3-three-problems']").first
    assert same.get_attribute("data-verdict") == ClaimVerdict.REFUTED
    for text in ("Claims of the paper", "Methods", "Results"):
        assert page.locator("dt").get_by_text(text, exact=True).count() == len(document["experiments"])
    for place, plot in enumerate(page.locator(".plot").all()):
        assert len(plot.get_attribute("aria-label") or "") > 40
        if place < 6:
            plot.scroll_into_view_if_needed()
            page.wait_for_function("i => document.querySelectorAll('.plot')[i].dataset.state === 'drawn'", arg=place)
    for anchor in page.locator("a[href^='#']").all():
        target = (anchor.get_attribute("href") or "#")[1:]
        assert page.locator(f"[id='{target}']").count() == 1, target
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def read_verdicts(folder: Path) -> list[dict[str, Any]]:
    verdicts: list[dict[str, Any]] = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))["verdicts"]
    return verdicts


def link_to(verdict: dict[str, Any]) -> str:
    """Return the link of a tile to the line of its verdict."""
    return f"#verdict-{verdict['claim']}-{verdict['protocol']}"


def test_tiles_show_every_verdict_conclusions_first(folder: Path, offline_page: Page) -> None:
    offline_page.goto((folder / "reproduction.html").as_uri())
    tiles = offline_page.locator("a.tile").all()
    shown = [(tile.get_attribute("href") or "", tile.inner_text()) for tile in tiles]
    signs = {link_to(each): ClaimVerdict(each["verdict"]).sign for each in read_verdicts(folder)}
    assert dict(shown) == signs
    assert len(shown) == len(signs)
    ranked = sorted((claim for claim in read_claims("figure3").values() if claim.rank), key=lambda claim: claim.rank)
    links = [link.removesuffix("-published") for link, _ in shown[: 2 * len(ranked) : 2]]
    assert links == [f"#verdict-{claim.key}" for claim in ranked]
    assert offline_page.locator("main h3").first.inner_text() == CONCLUSIONS


def test_a_tile_shows_its_numbers_under_the_pointer_and_with_the_keyboard(folder: Path, offline_page: Page) -> None:
    page = offline_page
    page.goto((folder / "reproduction.html").as_uri())
    verdict = next(each for each in read_verdicts(folder) if each["claim"] == "figure3-insensitive")
    tip = page.locator("#tip")
    assert not tip.is_visible()
    page.locator(f"a.tile[href='{link_to(verdict)}']").hover()
    assert_visible(tip)
    words = tip.inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert_names(words, verdict["text"], verdict["verdict"], verdict["reason"], "measured")
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    first, second = (page.locator("a.tile").nth(place) for place in (0, 1))
    first.focus()
    page.keyboard.press("ArrowRight")
    assert second.evaluate("tile => tile === document.activeElement")
    assert_visible(tip)
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.querySelector(':target').matches('.line')")


def test_filters_leave_the_verdicts_that_match(folder: Path, offline_page: Page) -> None:
    page = offline_page
    page.goto((folder / "reproduction.html").as_uri())
    verdicts = read_verdicts(folder)
    by_claim: dict[str, set[str]] = {}
    for each in verdicts:
        by_claim.setdefault(each["claim"], set()).add(each["verdict"])

    def check(name: str, value: str, expected: list[dict[str, Any]]) -> None:
        page.locator(f"input[name='{name}'][value='{value}']").check(force=True)
        links = {link_to(each) for each in expected}
        for selector, attribute in ((".line", "id"), ("a.tile", "href")):
            elements = [part for part in page.locator(selector).all() if part.is_visible()]
            assert {f"#{(part.get_attribute(attribute) or '').lstrip('#')}" for part in elements} == links
        assert page.locator("#board-shown").inner_text() == f"{len(links)} of {len(verdicts)} verdicts shown"

    refuted = [each for each in verdicts if each["verdict"] == ClaimVerdict.REFUTED]
    assert 0 < len(refuted) < len(verdicts)
    check("verdict", "refuted", refuted)
    check("protocol", "defined", [each for each in refuted if each["protocol"] == "defined"])
    check("protocol", "differ", [each for each in refuted if len(by_claim[each["claim"]]) > 1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scoreboard_is_accessible(folder: Path, offline_page: Page, scheme: Literal["light", "dark"]) -> None:
    offline_page.emulate_media(color_scheme=scheme)
    offline_page.goto((folder / "reproduction.html").as_uri())
    for part in offline_page.locator("details").all():
        part.evaluate("part => { part.open = true; }")
    assert find_violations(offline_page) == []
