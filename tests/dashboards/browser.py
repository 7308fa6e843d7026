"""A real browser for the tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.requirements import lacking

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
]
"""Quiet, as any user, and with WebGL in software; the rest is drawn faster without a graphics card that is played."""


def find_browser() -> str | None:
    """Where a Chromium is, if anywhere."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def needed_browser() -> str:
    """Where it is; without one the test is skipped."""
    path = find_browser()
    if path is None:
        lacking("no Chromium was found (apt-get install chromium)")
    return path


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
