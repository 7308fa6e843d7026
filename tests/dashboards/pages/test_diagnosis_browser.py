"""The diagnosis page in a browser: its figure, the next command and a picture per kind of change."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from ravenlab.dashboards.pages.diagnosis import render_diagnosis
from ravenlab.studies.diagnosis import diagnose
from ravenlab.studies.diagnosis.proposal import propose_study
from ravenlab.studies.diagnosis.result import Diagnosis
from ravenlab.tuning.diagnosed import recommend_for_diagnosis, suggest_next
from tests.dashboards.browser import find_violations
from tests.messages import assert_names

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("a", "<b>", "c")


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    rng = np.random.default_rng(2)
    levels = np.repeat(rng.uniform(0.3, 0.8, (6, 3)), 300, axis=0)
    return diagnose(rng.normal(levels, 0.2), NAMES, halves=0)


@pytest.fixture(scope="module")
def page_file(diagnosis: Diagnosis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    recommendation = recommend_for_diagnosis(diagnosis)
    step = suggest_next(diagnosis, Path("jumps.csv"), None, recommendation)
    proposed = propose_study(diagnosis, "jumps.csv", None)
    path = tmp_path_factory.mktemp("page") / "diagnosis.html"
    path.write_text(
        render_diagnosis(diagnosis, "jumps.csv", proposed, recommendation.describe(), step), encoding="utf-8"
    )
    return path


def test_the_next_command_is_under_the_figure(page_file: Path, diagnosis: Diagnosis, offline_page: Page) -> None:
    page = offline_page
    page.goto(page_file.as_uri())
    page.wait_for_function("() => document.querySelector('.plot').dataset.state === 'drawn'")
    below = page.locator("figure + .next")
    words = shlex.split(below.locator("code.command").inner_text())
    assert words[:2] == ["ravenlab", "tune"]
    assert_names(below.inner_text(), "Expected effect")
    ticks = page.locator(".plot .xtick text")
    assert ticks.last.text_content() == f"{diagnosis.rows:,}"
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def test_every_kind_has_its_own_picture(page_file: Path, diagnosis: Diagnosis, offline_page: Page) -> None:
    offline_page.goto(page_file.as_uri())
    rows = offline_page.locator("tr[data-kind]")
    pictures = [row.locator("svg.glyph path").get_attribute("d") for row in rows.all()]
    assert len(pictures) == len(diagnosis.findings)
    assert len(set(pictures)) == len(pictures)
    found = offline_page.locator(".found-kinds li")
    assert found.all_inner_texts() == [finding.label for finding in diagnosis.findings if finding.found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(page_file: Path, offline_page: Page, scheme: Literal["light", "dark"]) -> None:
    offline_page.emulate_media(color_scheme=scheme)
    offline_page.goto(page_file.as_uri())
    offline_page.wait_for_function("() => document.querySelector('.plot').dataset.state === 'drawn'")
    assert find_violations(offline_page) == []


def test_the_next_command_follows_from_what_is_known(diagnosis: Diagnosis) -> None:
    file = Path("my log.csv")
    recommendation = recommend_for_diagnosis(diagnosis)
    assert recommendation.law is not None
    assert recommendation.law.better is not None
    better = suggest_next(diagnosis, file, recommendation=recommendation)
    assert better is not None
    assert_names(better.command, recommendation.law.better.policy, "localized-jump")
    unknown = suggest_next(diagnosis, file)
    assert unknown is not None
    assert (unknown.command, unknown.to_save) == ("ravenlab tune --study proposed.toml", "proposed.toml")
    written = suggest_next(diagnosis, file, Path("s.toml"))
    assert written is not None
    assert (written.command, written.to_save) == ("ravenlab tune --study s.toml", "")
    assert suggest_next(Diagnosis(NAMES, 20, (), reason="20 rows are too few."), file) is None
