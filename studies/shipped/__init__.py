"""Study files that come with the project. The folder is the list of them."""

from __future__ import annotations

from pathlib import Path

from environments.errors import InputError, unknown

FOLDER = Path(__file__).parent


def shipped_studies() -> dict[str, str]:
    """The shipped study files by name, each with what the comment on its top says.

    >>> list(shipped_studies())
    ['quick', 'paper', 'all-scenarios', 'logistics', 'figure2']
    """
    order = ["quick", "paper", "all-scenarios", "logistics", "figure2"]
    names = sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda name: ([*order, name].index(name), name))
    return {name: _comment(FOLDER / f"{name}.toml") for name in names}


def find_study_file(name: str | Path) -> Path:
    """The file of a shipped name or of a path; a shipped name comes first, and ./quick is always a path.

    >>> find_study_file("quick").name
    'quick.toml'
    """
    if isinstance(name, str) and name in shipped_studies():
        return FOLDER / f"{name}.toml"
    path = Path(name)
    try:
        there = path.exists()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    if there:
        return path
    if path.suffix or len(path.parts) != 1:
        raise InputError(f"{path}: there is no such file.")
    raise unknown("study", str(name), shipped_studies())


def _comment(path: Path) -> str:
    """The first paragraph of the comment on top of a file."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)
