"""The links, anchors, images, commands, files and names in the documentation exist."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import ravenlab
from ravenlab.policies import policy_names
from ravenlab.tuning.cli.app import COMMANDS, app_for
from tests.docs.markdown import Page, pages, read_page
from tests.project import DOCS, ROOT, python, source_files
from tools.benchmarks.__main__ import GROUPS
from tools.docs.pages import generate_files, outdated_files

EXTERNAL = ("http://", "https://", "mailto:")
MAX_IMAGE_BYTES = 3_000_000
MIN_ALT_LENGTH = 15

each_page = pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())


@cache
def parse_once(path: Path) -> Page:
    return read_page(path)


@each_page
def test_links_resolve(path: Path) -> None:
    for link in parse_once(path).links:
        if link.startswith(EXTERNAL):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), f"{path.name}: missing {link}"
        assert target.is_relative_to(ROOT), f"{path.name}: {link} points outside the project"
        if anchor:
            assert anchor in parse_once(target).anchors, f"{path.name}: {target.name} has no heading #{anchor}"


@each_page
def test_images_exist_and_have_alt_texts(path: Path) -> None:
    for source, alt in parse_once(path).images:
        assert (path.parent / source).is_file(), f"{path.name}: missing {source}"
        assert len(alt) >= MIN_ALT_LENGTH, f"{path.name}: {source} needs an alt text"


def test_all_images_are_used_and_small() -> None:
    shown = {(path.parent / source).resolve() for path in pages() for source, _ in parse_once(path).images}
    files = {path for path in (DOCS / "images").rglob("*") if path.is_file()}
    assert files == {path for path in shown if path.is_relative_to(DOCS / "images")}
    assert sum(path.stat().st_size for path in files) < MAX_IMAGE_BYTES


def test_every_page_is_in_the_index() -> None:
    index = {(DOCS / link.partition("#")[0]).resolve() for link in parse_once(DOCS / "README.md").links}
    missing = set(DOCS.rglob("*.md")) - {DOCS / "README.md", DOCS / "index.md"} - index
    assert not missing, f"docs/README.md does not link to {missing}"
    examples = set((DOCS / "examples").glob("*.py"))
    assert examples <= {target.resolve() for path in pages() for target in _targets(path)}


def _targets(path: Path) -> list[Path]:
    return [path.parent / link.partition("#")[0] for link in parse_once(path).links if not link.startswith(EXTERNAL)]


def test_generated_parts_are_current() -> None:
    names = [path.name for path in outdated_files()]
    assert not names, f"run python -m tools.docs: {', '.join(names)}"
    assert len(generate_files()) >= 20


def test_all_benchmarks_are_on_the_page() -> None:
    text = (DOCS / "evidence" / "performance.md").read_text(encoding="utf-8")
    for group in GROUPS:
        assert f"<!-- {group} -->" in text, group


def test_benchmarks_that_pages_name_need_no_packages_for_tests() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8") + (DOCS / "evidence" / "overview.md").read_text(
        encoding="utf-8"
    )
    groups = re.findall(r"python -m tools.benchmarks --only (\w+)", text)
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('pytest', 'psycopg', 'playwright', 'hypothesis')));"
        f"from tools.benchmarks.__main__ import find_group; [find_group(group) for group in {groups}]"
    )
    assert groups
    completed = python("-c", code)
    assert completed.returncode == 0, completed.stderr


def test_pages_named_in_sources_exist() -> None:
    for path in source_files():
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8")):
            assert (ROOT / page).exists(), f"{path.name} names {page}"


def test_all_policies_have_a_formula() -> None:
    pages = [DOCS / "reference" / name for name in ("policies.md", "published-policies.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(policy_names())
    for name, section in sections.items():
        description = section.partition(f"<!-- {name} -->")[0]
        assert "$" in description or "`thompson`" in description, f"{name} has no formula"


@pytest.mark.parametrize("name", ["policies.md", "scenarios.md"])
def test_formulas_are_not_changed_by_markdown(name: str) -> None:
    """Markdown removes a backslash before punctuation, so GitHub would show a different formula."""
    text = (DOCS / "reference" / name).read_text(encoding="utf-8")
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", text, re.DOTALL)
    assert len(formulas) > 15
    assert text.count("$") % 2 == 0
    for formula in formulas:
        assert not re.search(r"\\[^a-zA-Z\s]", formula), formula
        assert formula.count("{") == formula.count("}"), formula


@each_page
def test_inline_code_names_existing_things(path: Path) -> None:
    """Inline code names existing commands, options, modules, make targets, files and API names."""
    for span in parse_once(path).spans:
        error = find_error(span)
        assert error is None, f"{path.name}: `{span}`: {error}"


def find_error(span: str) -> str | None:
    words = span.split()
    if not words:
        return None
    if words[0].removeprefix(".venv/bin/") == "ravenlab" and len(words) > 1:
        return find_command_error(words[1:])
    if words[:2] == ["python", "-m"] and len(words) > 2 and words[2].startswith(("tests", "tools", "studies")):
        return None if find_spec(words[2]) else "unknown module"
    if words[0] == "make" and len(words) == 2 and "=" not in words[1]:
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return None if words[1] in targets else "unknown target"
    called = re.match(r"ravenlab\.([A-Za-z_]+)", span)
    if called and len(words) == 1 and not span.endswith((".py", ".policies", ".scenarios")):
        return None if hasattr(ravenlab, called[1]) else "unknown name"
    is_file = re.fullmatch(r"[\w.-]+(/[\w.-]+)+\.(py|md|toml|json|css)", span)
    if is_file and span.split("/")[0] in _folders() and "my_" not in span:
        return None if (ROOT / span).exists() else "missing file"
    return None


def _folders() -> set[str]:
    return {path.name for path in ROOT.iterdir() if path.is_dir()}


def find_command_error(words: list[str]) -> str | None:
    if words[0].startswith("-") or not re.fullmatch(r"[\w-]+", words[0]):
        return None
    if words[0] not in {*COMMANDS, "list"}:
        return "unknown command"
    group = typer.main.get_command(app_for(words))
    command = group.commands[words[0]]  # type: ignore[attr-defined]
    command = getattr(command, "commands", {}).get(words[1] if words[1:] else "", command)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.split("=")[0] for word in words[1:] if word.startswith("-")}
    missing = used - known - {"--help"}
    return f"unknown option {', '.join(sorted(missing))}" if missing else None


def test_errors_in_inline_code_are_found() -> None:
    assert find_error("ravenlab tune --trails 5")
    assert find_error("ravenlab tnue blips")
    assert find_error("python -m tests.nothing")
    assert find_error("make coffee")
    assert find_error("ravenlab.tun(trace)")
    assert find_error("policies/nobody.py")
