"""One browser for all tests of a process, a fresh page for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.dashboards.browser import launched, needed_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OURS = ("file:", "data:", "blob:")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched(needed_browser()) as started:
        yield started


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page of 1400 × 900 that remembers nothing of other tests."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def offline_page(browser_page: Page) -> Iterator[Page]:
    """A page for a file of ours: whatever it complains about or asks of a network is a failure."""
    troubles: list[str] = []
    browser_page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    browser_page.on("pageerror", lambda error: troubles.append(str(error)))
    browser_page.on("request", lambda each: None if each.url.startswith(OURS) else troubles.append(each.url))
    yield browser_page
    assert troubles == []
