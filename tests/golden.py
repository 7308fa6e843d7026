"""Golden files in tests/golden with the wording of each surface; other tests do not compare sentences.

Set RAVENLAB_UPDATE_GOLDEN=1 to rewrite the files after a change of wording, and review the diff.
"""

import os
from pathlib import Path

import ravenlab

FOLDER = Path(__file__).parent / "golden"
UPDATE = "RAVENLAB_UPDATE_GOLDEN"


def assert_golden(name: str, text: str) -> None:
    """Assert that a text equals the golden file of this name; spaces at line ends and the version do not count."""
    text = "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
    text = text.replace(ravenlab.__version__, "VERSION")
    path = FOLDER / f"{name}.txt"
    if os.environ.get(UPDATE) == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path} is missing: run the test with {UPDATE}=1"
    assert text == path.read_text(encoding="utf-8"), f"{path} differs: run the test with {UPDATE}=1 if it should"
