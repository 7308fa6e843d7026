"""A real browser for the tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.requirements import skip_or_fail

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, ViewportSize


VIEWPORT: ViewportSize = {"width": 1400, "height": 900}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
]
"""No background traffic, no sandbox (tests may run as root), WebGL in software and the rest without a GPU; the name
evil.example belongs to this machine."""


def find_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def require_browser() -> str:
    """Return the path of Chromium; skip the test if it is not installed."""
    path = find_browser()
    if path is None:
        skip_or_fail("no Chromium was found (apt-get install chromium)")
    return path


@contextmanager
def launch_browser(path: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Browser) -> Iterator[Page]:
    """Open a page of 1400 × 900 pixels in a new browser context."""
    context = browser.new_context(viewport=VIEWPORT)
    try:
        yield context.new_page()
    finally:
        context.close()


def record_problems(page: Page, local: tuple[str, ...] = ("file:", "data:", "blob:")) -> list[str]:
    """Return a list to which errors in the console and requests of addresses that do not begin as local are added."""
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(local) else problems.append(request.url))
    return problems


def assert_visible(locator: Locator) -> None:
    """Assert that an element is visible, or becomes visible within a few seconds."""
    from playwright.sync_api import expect

    expect(locator).to_be_visible(timeout=30_000)


def find_violations(page: Page) -> list[tuple[str, str]]:
    """Return the rule and the first element of every accessibility violation that axe-core finds."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
