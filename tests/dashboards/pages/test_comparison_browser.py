"""The page of a comparison in a real browser: everything is drawn, nothing is asked of a network, nothing overflows."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboards.pages.comparison import build_comparison, render_comparison
from studies.export.comparison import ComparisonDocument
from studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from studies.spec.comparison import ComparisonSpec
from tuning.comparison.ranking import analyze_comparison

if TYPE_CHECKING:
    from playwright.sync_api import Page


POLICIES = ("raven-ucb", "sw-raven", "ucb1", "thompson", "epsilon-greedy", "ccb", "softmax", "d-ucb", "ucb-v")


def made(scenario: str, shift: int) -> Comparison:
    """A comparison as it could have come out: policies apart by a few percent, in twelve worlds."""
    spec = ComparisonSpec(scenario=scenario, horizon=1000, policies=POLICIES, tune=20, replications=12).resolved()
    rng = np.random.default_rng(shift)
    worlds = rng.gamma(9.0, 4.0, size=12)
    entries = []
    for number, (policy, setting) in enumerate(spec.entries()):
        place = (number + shift) % len(POLICIES)
        regret = worlds * (1.0 + 0.1 * place + 0.5 * (setting == "defaults")) + rng.normal(0.0, 1.0, 12)
        steps = list(range(50, 1001, 50))
        curve = RegretCurve.of(steps, regret[:, None] * np.sqrt(np.array(steps) / 1000.0))
        trials, replications = spec.budget(policy) if setting == "tuned" else (0, 0)
        params = spec.resolve_params(policy, {})
        entries.append(ComparisonEntry(policy, setting, params, regret, curve, trials, replications, 100.0 + number))
    return Comparison(spec, spec.study_name(), tuple(entries))


@pytest.fixture(scope="module")
def document() -> ComparisonDocument:
    return ComparisonDocument(
        tuple(analyze_comparison(made(name, i)) for i, name in enumerate(("blips", "periodic", "arm-churn")))
    )


@pytest.fixture(scope="module")
def page_file(document: ComparisonDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "compare.html"
    path.write_text(render_comparison(document), encoding="utf-8")
    return path


def test_it_draws_offline_and_fits(page_file: Path, offline_page: Page) -> None:
    page = offline_page
    page.goto(page_file.as_uri())
    plots = page.locator(".plot")
    assert plots.count() == 1 + 3 * (1 + 2 * 2)
    for i in range(plots.count()):
        assert len(plots.nth(i).get_attribute("aria-label") or "") > 60
    for i in (0, 1, 2, 3):
        plots.nth(i).scroll_into_view_if_needed()
        page.wait_for_function("i => document.querySelectorAll('.plot')[i].querySelector('.main-svg')", arg=i)
    lead = page.locator(".lead").first.inner_text()
    assert "1 of 3" in lead
    first = page.locator("section table").first.locator("tbody tr")
    assert first.count() == len(POLICIES)
    assert "20 × 20" in page.locator("main").inner_text()
    heading = page.locator("section table").first.locator("thead th").first
    page.emulate_media(media="print")
    assert heading.inner_text() == "Policy"
    assert heading.locator("span").is_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 400")


def test_a_policy_looks_the_same_in_every_figure(document: ComparisonDocument) -> None:
    """One colour throughout the page, and one dash wherever it is a line; no two policies share both."""
    colours, lines = defaultdict(set), defaultdict(set)
    for panel in build_comparison(document).all_panels:
        for trace in json.loads(panel.json)["data"]:
            if "<b>" not in (said := str(trace.get("hovertext") or trace.get("hovertemplate"))):
                continue
            policy = said.split("<b>")[1].split("</b>")[0]
            colours[policy].add((trace.get("marker") or trace["line"])["color"])
            if trace["mode"] == "lines":
                lines[policy].add((trace["line"]["color"], trace["line"]["dash"]))
    assert set(colours) == set(lines) == set(POLICIES)
    assert all(len(found) == 1 for found in (*colours.values(), *lines.values()))
    assert len(set.union(*lines.values())) == len(POLICIES)
