"""`ravenlab report`: selection of studies, and figures as files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ravenlab.dashboards.pages.report import page
from ravenlab.tuning.cli.app import run
from tests.command import refused
from tests.dashboards.outline import Outline
from tests.dashboards.storages import RECOMMENDATIONS
from tests.messages import assert_names
from tests.studies.examples import WILD, store_recommendations

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_recommendations(tmp_path_factory.mktemp("report") / "s.sqlite3", *RECOMMENDATIONS)


def test_names_choose_studies(storage: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "some.html"
    assert run(["report", "raven-ucb/variance-drift/T400/K10", "-o", str(path), "--storage", storage]) == 0
    assert_names(capsys.readouterr().out, "1", "2")
    page = Outline(path.read_text(encoding="utf-8"))
    assert len([row for row in page.items["tr"] if row.get("data-study")]) == 1
    assert WILD not in page.words
    for words, fragment in (
        (["report", "nothing", "--storage", storage], "'nothing'"),
        (["report", "--storage", "sqlite:///missing.sqlite3"], "missing.sqlite3"),
        (["report", "-o", str(tmp_path / "no" / "x.html"), "--storage", storage], "x.html"),
        (["report", "-o", str(tmp_path / "y.html"), "--figures", str(path), "--storage", storage], path),
        (["report", "-o", str(tmp_path / "y.html"), "--figures", f"{tmp_path}/new/{'x' * 300}"], "x" * 30),
    ):
        assert str(fragment) in refused(*words)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["some.html"]


def test_figures_as_files(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(page, "_check_image_export", lambda: "kaleido is missing")
    folder = tmp_path / "figures"
    words = ["report", WILD, "-o", str(tmp_path / "r.html"), "--figures", str(folder), "--storage", storage]
    assert run(words) == 0
    captured = capsys.readouterr()
    assert captured.err == "ravenlab: kaleido is missing\n"
    names = sorted(path.name for path in folder.iterdir())
    assert "plotly.min.js" in names
    assert len(names) == 3
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}\.html|plotly\.min\.js", name) for name in names)
