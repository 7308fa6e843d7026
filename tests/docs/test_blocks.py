"""Every code block of README and docs runs; `substitutions.py` lists the differences."""

from pathlib import Path

import pytest

from tests.docs.markdown import Block, pages, read_page
from tests.docs.page_runner import PageRunner, exact, missing, shape
from tests.project import ROOT

pytestmark = pytest.mark.usefixtures("plugins_unloaded")

WITH_CODE = [path for path in pages() if any(block.language != "text" for block in read_page(path).blocks)]


def shown_output(blocks: list[Block], i: int) -> str | None:
    """Return the output shown for a block: the text block that follows it in the same section."""
    if i + 1 == len(blocks) or blocks[i].language not in ("sh", "console", "python"):
        return None
    following = blocks[i + 1]
    return following.text if following.language == "text" and following.section == blocks[i].section else None


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runner, blocks = PageRunner(tmp_path, monkeypatch, capsys), read_page(path).blocks
    for i, block in enumerate(blocks):
        try:
            printed = runner.run(block)
        except BaseException as error:
            error.add_note(f"{path.name}, line {block.line}")
            raise
        shown = shown_output(blocks, i)
        if shown is not None:
            absent = missing(shape(shown), shape(printed))
            assert not absent, f"{path.name}, line {block.line}: these lines are not printed: {absent}\n{printed}"


@pytest.mark.stress
@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_shown_outputs_are_exact(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs at full size; results are exact on the processor architecture used for the page."""
    runner, blocks = PageRunner(tmp_path, monkeypatch, capsys, full=True), read_page(path).blocks
    for i, block in enumerate(blocks):
        shown = shown_output(blocks, i)
        if shown is not None:
            absent = missing(exact(shown), exact(runner.run(block)))
            assert not absent, f"{path.name}, below line {block.line}: {absent}"
