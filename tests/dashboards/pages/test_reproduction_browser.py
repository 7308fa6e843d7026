"""The reproduction page in a browser: verdicts, figures, and no network requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.tuning.cli import app

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
    rows = page.locator(".verdicts tr[data-claim]")
    assert rows.count() == len(document["verdicts"])
    shown = {
        (row.get_attribute("data-claim"), row.locator(".protocol").text_content()): row.get_attribute("data-verdict")
        for row in rows.all()
    }
    assert shown == {(each["claim"], f"as {each['protocol']}"): each["verdict"] for each in document["verdicts"]}
    same = page.locator("tr[data-claim='figure3-three-problems']").first
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
