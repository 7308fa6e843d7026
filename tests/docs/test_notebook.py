"""The notebook gives its stored outputs, and the site contains every page and every public name."""

import json
from typing import Any

import nbformat
import yaml

import ravenlab
from tests.project import DOCS, ROOT
from tools.notebook import NOTEBOOK, PICTURE, run_notebook, stored_outputs
from tools.site import CONTENTS, REFERENCE, ROOT_PAGES


def test_notebook_gives_the_stored_outputs() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    expected, found = stored_outputs(stored), stored_outputs(run_notebook())
    assert len(found) == len(expected) >= 10
    for number, (new, old) in enumerate(zip(found, expected, strict=True)):
        assert new == old, f"cell {number} has other outputs: run python -m tools.notebook"


def test_stored_outputs_are_complete_and_private() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", [])]
    assert sum(PICTURE in output.get("data", {}) for output in outputs) >= 5
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert len(text) < 1_000_000
    assert str(ROOT) not in text


def list_pages(entries: list[Any]) -> list[str]:
    values = [value for entry in entries for value in entry.values()]
    return [page for value in values for page in (list_pages(value) if isinstance(value, list) else [value])]


def test_the_site_has_every_page() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"README.md"}
    generated = {CONTENTS, *ROOT_PAGES.values(), *(f"api/{name}.md" for name in REFERENCE), "examples/notebook.md"}
    listed = list_pages(config["nav"])
    assert set(listed) == pages | generated
    assert len(listed) == len(set(listed))
    assert config["theme"]["font"] is False


def test_the_reference_has_every_public_name() -> None:
    names = [name for _, _, names in REFERENCE.values() for name in names.split()]
    assert sorted([*names, "figures"]) == sorted(ravenlab.__all__)
