"""A new page of the browser for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOCAL = ("file:", "data:", "blob:")


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page of 1400 × 900 pixels in a new browser context."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def offline_page(browser_page: Page) -> Iterator[Page]:
    """A page for a local file; errors in the console and network requests fail the test."""
    problems: list[str] = []
    browser_page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    browser_page.on("pageerror", lambda error: problems.append(str(error)))
    browser_page.on("request", lambda request: None if request.url.startswith(LOCAL) else problems.append(request.url))
    yield browser_page
    assert problems == []
