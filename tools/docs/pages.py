"""All files of the documentation that are generated, entirely or in part."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from policies import policy_names
from tests.project import DOCS
from tools.docs import commands, policies, scenarios, study_files
from tools.docs.architecture import parts_of_the_page
from tools.docs.marks import filled


@lru_cache(maxsize=1)
def made() -> dict[Path, str]:
    """The current content of every generated file: pictures, and pages with generated parts."""
    files: dict[Path, str] = {}
    worlds = {"overview": scenarios.overview(), "base": scenarios.base_part(), "noises": scenarios.noises()}
    for name, picture, alt in scenarios.pictures():
        files[DOCS / scenarios.file_name(name)] = picture
        worlds[name] = scenarios.part(name, alt)
    pages = {
        "scenarios.md": worlds,
        "policies.md": {"overview": policies.overview(), **{name: policies.part(name) for name in policy_names()}},
        "study-files.md": study_files.parts(),
        "architecture.md": parts_of_the_page(),
        "commands.md": commands.parts(),
        "plugins.md": {"falling_greedy": shown_code("falling_greedy.py")},
    }
    for page, parts in pages.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        if page == "policies.md":
            text = policies.with_sections(text)
        for name, lines in parts.items():
            text = filled(text, name, lines)
        files[DOCS / page] = text
    return files


def shown_code(example: str) -> list[str]:
    """An example script as a code block."""
    return ["```python", (DOCS / "examples" / example).read_text(encoding="utf-8").rstrip(), "```"]


def stale() -> list[Path]:
    """The files that are out of date."""
    return [path for path, text in made().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
