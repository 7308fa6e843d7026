"""A new page of the browser for each test; `tests.dashboards.browser` opens pages that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.dashboards.browser import open_page, record_problems

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    with open_page(browser) as page:
        yield page


@pytest.fixture
def offline_page(browser_page: Page) -> Iterator[Page]:
    """A page for a local file; errors in the console and network requests fail the test."""
    problems = record_problems(browser_page)
    yield browser_page
    assert problems == []
