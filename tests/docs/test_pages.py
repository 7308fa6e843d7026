"""Links, anchors, images, and the commands, files and names mentioned in the text exist."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import ravenlab
from policies import policy_names
from tests.docs.markdown import Page, pages, read_page
from tests.project import DOCS, ROOT
from tools.benchmarks.__main__ import GROUPS
from tools.docs.pages import made, stale
from tuning.cli.app import COMMANDS, app_for

ELSEWHERE = ("http://", "https://", "mailto:")
SIZE_OF_ALL_IMAGES = 3_000_000
SHORTEST_ALT = 15

each_page = pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())


@cache
def parsed(path: Path) -> Page:
    """Every page is taken apart once."""
    return read_page(path)


@each_page
def test_links_resolve(path: Path) -> None:
    for link in parsed(path).links:
        if link.startswith(ELSEWHERE):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), f"{path.name}: there is no {link}"
        assert target.is_relative_to(ROOT), f"{path.name}: {link} leads out of the project"
        if anchor:
            assert anchor in parsed(target).anchors, f"{path.name}: {target.name} has no heading #{anchor}"


@each_page
def test_images_exist_and_say_what_they_show(path: Path) -> None:
    for source, alt in parsed(path).images:
        assert (path.parent / source).is_file(), f"{path.name}: there is no {source}"
        assert len(alt) >= SHORTEST_ALT, f"{path.name}: {source} needs an alt text"


def test_no_image_is_an_orphan_and_all_are_small() -> None:
    shown = {(path.parent / source).resolve() for path in pages() for source, _ in parsed(path).images}
    files = {path for path in (DOCS / "images").rglob("*") if path.is_file()}
    assert files == {path for path in shown if path.is_relative_to(DOCS / "images")}
    assert sum(path.stat().st_size for path in files) < SIZE_OF_ALL_IMAGES


def test_every_page_is_in_the_index() -> None:
    index = {(DOCS / link.partition("#")[0]).resolve() for link in parsed(DOCS / "README.md").links}
    for path in DOCS.glob("*.md"):
        assert path.name == "README.md" or path in index, f"docs/README.md does not lead to {path.name}"
    examples = set((DOCS / "examples").glob("*.py"))
    assert examples <= {target.resolve() for path in pages() for target in _targets(path)}


def _targets(path: Path) -> list[Path]:
    return [path.parent / link.partition("#")[0] for link in parsed(path).links if not link.startswith(ELSEWHERE)]


def test_made_parts_are_current() -> None:
    names = [path.name for path in stale()]
    assert not names, f"run python -m tools.docs: {', '.join(names)}"
    assert len(made()) >= 20


def test_every_benchmark_has_a_place_on_the_page() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    for group in GROUPS:
        assert f"<!-- {group} -->" in text, group


def test_every_policy_has_a_formula() -> None:
    text = (DOCS / "policies.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(policy_names())
    for name, section in sections.items():
        own_words = section.partition("<!--")[0]
        assert "$" in own_words or "`thompson`" in own_words, f"{name} has no formula"


@pytest.mark.parametrize("name", ["policies.md", "scenarios.md"])
def test_formulas_survive_markdown(name: str) -> None:
    """Markdown takes the backslash from before a punctuation mark, so that GitHub would show another formula."""
    text = (DOCS / name).read_text(encoding="utf-8")
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", text, re.DOTALL)
    assert len(formulas) > 15
    assert text.count("$") % 2 == 0
    for formula in formulas:
        assert not re.search(r"\\[^a-zA-Z\s]", formula), formula
        assert formula.count("{") == formula.count("}"), formula


@each_page
def test_what_is_named_in_passing_exists(path: Path) -> None:
    """Commands with their options, modules, targets of make, files and names of the API, within sentences."""
    for span in parsed(path).spans:
        wrong = _wrong(span)
        assert wrong is None, f"{path.name}: `{span}`: {wrong}"


def _wrong(span: str) -> str | None:
    words = span.split()
    if not words:
        return None
    if words[0].removeprefix(".venv/bin/") == "ravenlab" and len(words) > 1:
        return _wrong_command(words[1:])
    if words[:2] == ["python", "-m"] and len(words) > 2 and words[2].startswith(("tests", "tools", "studies")):
        return None if find_spec(words[2]) else "there is no such module"
    if words[0] == "make" and len(words) == 2 and "=" not in words[1]:
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return None if words[1] in targets else "there is no such target"
    called = re.match(r"ravenlab\.([A-Za-z_]+)", span)
    if called and len(words) == 1 and not span.endswith((".py", ".policies", ".scenarios")):
        return None if hasattr(ravenlab, called[1]) else "there is no such name"
    is_file = re.fullmatch(r"[\w.-]+(/[\w.-]+)+\.(py|md|toml|json|css)", span)
    if is_file and span.split("/")[0] in _folders() and "my_" not in span:
        return None if (ROOT / span).exists() else "there is no such file"
    return None


def _folders() -> set[str]:
    return {path.name for path in ROOT.iterdir() if path.is_dir()}


def _wrong_command(words: list[str]) -> str | None:
    if words[0].startswith("-") or not re.fullmatch(r"[\w-]+", words[0]):
        return None
    if words[0] not in {*COMMANDS, "list"}:
        return "there is no such command"
    group = typer.main.get_command(app_for(words))
    command = group.commands[words[0]]  # type: ignore[attr-defined]
    command = getattr(command, "commands", {}).get(words[1] if words[1:] else "", command)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    given = {word.split("=")[0] for word in words[1:] if word.startswith("-")}
    missing = given - known - {"--help"}
    return f"there is no {', '.join(sorted(missing))}" if missing else None


def test_the_checks_can_fail() -> None:
    assert _wrong("ravenlab tune --trails 5")
    assert _wrong("ravenlab tnue blips")
    assert _wrong("python -m tests.nothing")
    assert _wrong("make coffee")
    assert _wrong("ravenlab.tun(trace)")
    assert _wrong("policies/nobody.py")
