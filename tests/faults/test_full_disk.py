"""A full disk: one line that names the file, and no partially written file."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ravenlab.dashboards.pages.report import page
from tests.command import printed, run_command
from tests.faults.template import SMALL_TUNE
from tests.messages import assert_names
from tests.project import environment
from tests.requirements import skip_or_fail


@pytest.fixture
def report(here: Path) -> list[str]:
    """A command that writes the figures of a study into the folder `small/figures`."""
    printed(*SMALL_TUNE)
    (here / "small").mkdir()
    return ["report", "--output=report.html", "--figures=small/figures"]


@pytest.fixture
def _small_disk(report: list[str], tmp_path: Path) -> Iterator[None]:
    words = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(tmp_path / "small")]
    mounted = subprocess.run(words, capture_output=True, check=False)
    if mounted.returncode != 0:
        skip_or_fail(f"a small disk can be mounted by root only ({mounted.stderr.decode().strip()})")
    yield
    subprocess.run(["umount", str(tmp_path / "small")], check=True)


@pytest.mark.usefixtures("_small_disk")
def test_figures_on_a_full_disk(report: list[str], tmp_path: Path) -> None:
    code, _, err = run_command(report)
    assert (code, len(err.splitlines())) == (1, 1), err
    assert_names(err, "No space left", "small/figures/plotly.min.js")
    assert "standard output" not in err
    assert list((tmp_path / "small" / "figures").iterdir()) == []


def test_images_are_complete_or_missing(report: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(_: page.ReportPage, folder: Path) -> None:
        (folder / "first.svg").write_text("<svg")
        raise OSError("No space left")

    monkeypatch.setattr(page, "_check_image_export", lambda: "")
    monkeypatch.setattr(page, "_write_images", write_half)
    code, _, err = run_command(report)
    assert (code, len(err.splitlines())) == (0, 1), err
    assert_names(err, "HTML only", "No space left")
    assert {path.suffix for path in (tmp_path / "small" / "figures").iterdir()} == {".html", ".js"}


@pytest.mark.parametrize("words", [["list", "scenarios"], ["list", "policies", "--json"], ["--help"]])
def test_standard_output_on_a_full_disk_is_named(words: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "ravenlab", *words]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment(), cwd=tmp_path, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "ravenlab: No space left on device: standard output\n")
