"""Files of the documentation that are generated entirely or in part."""

from functools import lru_cache
from pathlib import Path

from tests.project import DOCS
from tools.docs import commands, laws, no_tuning, policies, scenarios, study_files
from tools.docs.architecture import module_tree
from tools.docs.marks import filled


@lru_cache(maxsize=1)
def generate_files() -> dict[Path, str]:
    """Return the content of every generated file: pictures, and pages with generated parts."""
    files: dict[Path, str] = {}
    scenario_parts = {"overview": scenarios.overview(), "base": scenarios.base_part(), "noises": scenarios.noises()}
    for name, picture, alt in scenarios.pictures():
        files[DOCS / scenarios.file_name(name)] = picture
        scenario_parts[name] = scenarios.part(name, alt)
    files |= {DOCS / laws.file_name(name): picture for name, picture, _ in laws.figures()}
    files[DOCS / no_tuning.PICTURE] = no_tuning.picture()
    pages = {
        "reference/scenarios.md": scenario_parts,
        "reference/policies.md": policies.page_parts(published=False),
        "reference/published-policies.md": policies.page_parts(published=True),
        "reference/study-files.md": study_files.parts(),
        "architecture.md": module_tree(),
        "reference/commands.md": commands.parts(),
        "evidence/laws.md": laws.parts(),
        "evidence/no-tuning.md": no_tuning.parts(),
        "guides/plugins.md": {"falling_greedy": code_block("falling_greedy.py")},
    }
    for page, parts in pages.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        if page == "reference/policies.md":
            text = policies.with_sections(text)
        for name, lines in parts.items():
            text = filled(text, name, lines)
        files[DOCS / page] = text
    return files


def code_block(example: str) -> list[str]:
    """Return an example script as a Markdown code block."""
    return ["```python", (DOCS / "examples" / example).read_text(encoding="utf-8").rstrip(), "```"]


def outdated_files() -> list[Path]:
    """Return the files whose content differs from the generated one."""
    return [
        path for path, text in generate_files().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
