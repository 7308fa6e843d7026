"""The play page in a browser: playing, scrubbing, keys, touch, changes and worlds, without network requests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ravenlab
from tests.dashboards.browser import find_violations, open_page, record_problems
from tests.messages import assert_names
from tests.tuning.cli.test_play import read_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HORIZON = 800
POLICIES = ("raven-ucb", "ucb1", "thompson")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose first policy never recovers in some of the worlds."""
    path = tmp_path_factory.mktemp("play") / "play.html"
    ravenlab.play("localized-jump", POLICIES, path, horizon=HORIZON, arms=5, replications=60, seed=3, jobs=1)
    assert path.stat().st_size < 3_000_000
    return path


@pytest.fixture
def shown(page_file: Path, offline_page: Page) -> Page:
    messages: list[str] = []
    offline_page.on("console", lambda message: messages.append(message.text))
    offline_page.goto(page_file.as_uri())
    offline_page.evaluate("document.activeElement.blur()")
    assert messages == []
    return offline_page


def step(page: Page) -> int:
    return int(re.sub(r"\D", "", page.locator("#step").inner_text()))


def numbers(page: Page) -> list[list[str]]:
    return [row.locator("td").all_inner_texts() for row in page.locator("#table tbody tr").all()]


def point(page: Page, canvas: str, share: float) -> tuple[float, float]:
    """Return the place on the screen of a share of the horizon."""
    page.locator(canvas).scroll_into_view_if_needed()
    box = page.locator(canvas).bounding_box()
    assert box is not None
    return box["x"] + share * (box["width"] - 128), box["y"] + box["height"] / 2


def color_at(page: Page, canvas: str, share: float, y: int) -> list[int]:
    """Return the color that is drawn at a share of the horizon."""
    script = """([selector, share, y]) => {
        const canvas = document.querySelector(selector), ratio = canvas.width / canvas.clientWidth;
        const x = share * (canvas.clientWidth - 128) * ratio;
        return [...canvas.getContext("2d").getImageData(x, y * ratio, 1, 1).data];
    }"""
    found: list[int] = page.evaluate(script, [canvas, share, y])
    return found


def test_the_page_opens_with_the_whole_run(shown: Page, page_file: Path) -> None:
    run = read_run(page_file)
    world = run["worlds"][0]
    assert step(shown) == HORIZON
    for policy, (arm, share, regret) in enumerate(numbers(shown)):
        assert arm == f"arm {world['pulls'][policy][-1] + 1}"
        assert float(share.removesuffix(" %")) == pytest.approx(100 * world["hits"][policy][-1] / HORIZON, abs=0.51)
        assert float(regret.replace(",", "")) == pytest.approx(world["regret"][policy][-1], abs=0.06)
    best = world["best"][HORIZON // 2]
    found = {0: color_at(shown, ".ribbon", 0.5003, 2), 1: color_at(shown, ".ribbon", 0.5003, 29)}
    assert found[0] == found[1] != [0, 0, 0, 0]
    inside = color_at(shown, ".ribbon", 0.5003, 16)
    assert (inside == found[0]) == (world["pulls"][0][HORIZON // 2] == best)


def test_it_plays_and_pauses(shown: Page) -> None:
    play = shown.locator("#play")
    shown.locator("#speed").select_option("4")
    play.click()
    assert play.inner_text() == "Pause"
    shown.wait_for_function(
        "() => +document.querySelector('#at').value > 60 && +document.querySelector('#at').value < 700"
    )
    play.click()
    assert play.inner_text() == "Play"
    paused = step(shown)
    shown.wait_for_timeout(150)
    assert step(shown) == paused
    play.click()
    shown.wait_for_function(f"() => document.querySelector('#at').value === '{HORIZON - 1}'")
    assert play.inner_text() == "Play"


def test_speed_changes_how_fast_it_plays(shown: Page) -> None:
    moved = {}
    for speed in ("0.25", "4"):
        shown.keyboard.press("Home")
        shown.locator("#speed").select_option(speed)
        shown.evaluate("document.activeElement.blur()")
        shown.keyboard.press("Space")
        shown.wait_for_timeout(500)
        shown.keyboard.press("Space")
        moved[speed] = step(shown)
    assert moved["4"] > 4 * moved["0.25"]


def test_keys(shown: Page) -> None:
    for key, expected in (
        ("Home", 1),
        ("ArrowRight", 2),
        ("Shift+ArrowRight", 12),
        ("ArrowLeft", 11),
        ("End", HORIZON),
    ):
        shown.keyboard.press(key)
        assert step(shown) == expected
    shown.locator("#at").focus()
    shown.keyboard.press("ArrowLeft")
    assert step(shown) == HORIZON - 1
    shown.keyboard.press("Home")
    assert step(shown) == 1
    shown.keyboard.press("Space")
    assert shown.locator("#stage").get_attribute("data-playing") == "yes"
    shown.keyboard.press("Space")
    assert shown.locator("#stage").get_attribute("data-playing") == "no"
    shown.keyboard.press("Space")
    shown.locator("#play").focus()
    shown.keyboard.press("Space")  # the button is pressed once, not twice
    assert shown.locator("#stage").get_attribute("data-playing") == "no"


def test_scrubbing_and_hovering(shown: Page, page_file: Path) -> None:
    world = read_run(page_file)["worlds"][0]
    x, y = point(shown, "#regret", 0.25)
    shown.mouse.move(x, y)
    tip = shown.locator("#tip")
    assert_names(tip.inner_text(), "Step 200", "raven-ucb", f"arm {world['pulls'][1][199] + 1}")
    assert step(shown) == HORIZON  # hovering does not move the cursor
    shown.mouse.down()
    assert step(shown) == 200
    x, y = point(shown, "#regret", 0.5)
    shown.mouse.move(x, y)
    assert step(shown) == 400
    shown.mouse.up()
    shown.mouse.move(x - 50, y)
    assert step(shown) == 400
    assert [cells[0] for cells in numbers(shown)] == [f"arm {world['pulls'][p][399] + 1}" for p in range(3)]
    assert color_at(shown, ".ribbon", 0.75, 16)[3] == 0  # later pulls are not shown yet
    shown.mouse.move(5, 5)
    assert not tip.is_visible()


def check_change(page: Page, change: dict[str, Any]) -> None:
    text = page.locator("#recovery").inner_text()
    assert_names(text, f"{change['step']}", f"arm {change['after'] + 1}", f"arm {change['before'] + 1}")
    for name, steps in zip(POLICIES, change["recovery"], strict=True):
        assert re.search(rf"recovered before.*{name}" if steps is None else rf"recover:.*{name} {steps}\b", text)


def test_a_click_on_a_change_shows_the_recovery(shown: Page, page_file: Path) -> None:
    world = read_run(page_file)["worlds"][0]
    changes = world["changes"]
    assert len(changes) > 1
    assert_names(shown.locator("#recovery").inner_text(), "Select a change")
    before = shown.locator(".ribbon").first.screenshot()
    shown.locator("#changes button").first.click()
    check_change(shown, changes[0])
    assert shown.locator("#changes [aria-pressed=true]").count() == 1
    assert changes[0]["step"] <= step(shown) < changes[1]["step"]
    assert shown.locator(".ribbon").first.screenshot() != before
    shown.locator("#next").click()
    check_change(shown, changes[1])
    shown.evaluate("document.activeElement.blur()")
    shown.keyboard.press(",")
    check_change(shown, changes[0])
    shown.locator("#changes button").first.click()
    assert_names(shown.locator("#recovery").inner_text(), "Select a change")
    shown.locator("#all-recoveries summary").click()
    rows = shown.locator("#recoveries tbody tr")
    assert rows.count() == len(changes)
    rows.nth(1).locator("button").click()
    check_change(shown, changes[1])
    cells = rows.nth(1).locator("td").all_inner_texts()
    assert cells == ["–" if steps is None else str(steps) for steps in changes[1]["recovery"]]


def test_worlds(shown: Page, page_file: Path) -> None:
    run = read_run(page_file)
    labels = shown.locator(".worlds label")
    assert labels.count() == len(run["worlds"]) > 1
    finals = []
    for number, world in enumerate(run["worlds"]):
        labels.nth(number).click()
        assert shown.locator(".why:visible").count() == 1
        finals.append(float(numbers(shown)[0][2].replace(",", "")))
        assert finals[-1] == pytest.approx(world["regret"][0][-1], abs=0.06)
        assert shown.locator("#changes button").count() == len(world["changes"])
    assert finals[1] == max(finals) > finals[0]
    shown.locator(".worlds input").first.focus()
    shown.keyboard.press("ArrowRight")
    assert shown.locator(".worlds input").nth(1).is_checked()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_and_narrow_screens(scheme: Any, page_file: Path, browser: Browser) -> None:
    with open_page(browser) as page:
        problems = record_problems(page)
        page.emulate_media(color_scheme=scheme)
        page.goto(page_file.as_uri())
        page.locator("#next").click()
        assert find_violations(page) == []
        page.set_viewport_size({"width": 420, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= 420")
        assert find_violations(page) == []
        assert problems == []


def test_reduced_motion_and_touch(page_file: Path, browser: Browser) -> None:
    context = browser.new_context(
        viewport={"width": 420, "height": 800}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        page.goto(page_file.as_uri())
        box = page.locator("#means").bounding_box()
        assert box is not None
        page.touchscreen.tap(box["x"] + 0.5 * (box["width"] - 52), box["y"] + 40)
        assert abs(step(page) - 400) <= 3
        assert not page.locator("#tip").is_visible()
        page.locator("#play").tap()
        page.wait_for_timeout(300)
        assert abs(step(page) - 400) <= 3  # it moves once a second, not in every frame
        page.wait_for_function("() => +document.querySelector('#at').value > 420")
        page.locator("#play").tap()
    finally:
        context.close()


def test_costs_are_shown_as_they_are(tmp_path: Path, offline_page: Page) -> None:
    path = tmp_path / "costs.csv"
    values = np.random.default_rng(0).normal([5.0, 3.0], 0.1, (300, 2))
    np.savetxt(path, values, delimiter=",", header="a,b", comments="", fmt="%.4f")
    ravenlab.play(policies="raven-ucb,ucb1", output=tmp_path / "play.html", trace=path, minimize=True)
    offline_page.goto((tmp_path / "play.html").as_uri())
    assert_names(offline_page.locator("#means-title").inner_text(), "Mean cost of each arm", "lowest at the top")
    x, y = point(offline_page, "#means", 0.5)
    offline_page.mouse.move(x, y)
    found = re.search(r"best: b\s+mean (\S+)", offline_page.locator("#tip").inner_text())
    assert found is not None
    assert float(found[1]) == pytest.approx(3.0, abs=0.1)


def test_names_are_text(tmp_path: Path, offline_page: Page) -> None:
    names = "</script><b>x</b>", "a&amp;b"
    values = np.random.default_rng(0).normal([1.0, 3.0], 0.1, (300, 2))
    path = tmp_path / "trace.csv"
    np.savetxt(path, values, delimiter=",", header=",".join(names), comments="", fmt="%.4f")
    ravenlab.play(policies="raven-ucb,ucb1", output=tmp_path / "play.html", trace=path)
    offline_page.goto((tmp_path / "play.html").as_uri())
    assert_names(offline_page.locator("#caption").inner_text(), names[1])
    assert offline_page.locator(".worlds").count() == 0
    assert_names(offline_page.locator("#recovery").inner_text(), "does not change")
    assert not offline_page.locator("#all-recoveries").is_visible()
    x, y = point(offline_page, "#means", 0.5)
    offline_page.mouse.move(x, y)
    assert offline_page.locator("b").count() == 2  # the names of the policies
