"""Study files that come with the project, and the template of a new one. The folder is the list of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from environments.errors import InputError, unknown
from environments.noise import DEFAULT_NOISE, NOISES
from environments.text import join_words
from studies.registry import OBJECTIVES, PRUNERS, SAMPLERS, Choice, StudyDefaults, written

FOLDER = Path(__file__).parent
TEMPLATE = FOLDER.parent / "template.toml"


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


def study_template() -> str:
    """A commented study file, with the registered names and defaults filled in.

    >>> '# sampler = "tpe"' in study_template()
    True
    """
    defaults = {name: value for name, value in vars(StudyDefaults).items() if not name.startswith("_")}
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        defaults,
        noise=DEFAULT_NOISE,
        noises=join_words(list(NOISES)),
        objectives=_described(OBJECTIVES),
        samplers=_described(SAMPLERS),
        pruners=_described(PRUNERS),
    )


def _described(choices: Mapping[str, Choice]) -> str:
    """One line of comment per choice."""
    names = written(choices)
    width = max(map(len, names)) + 2
    rows = zip(names, choices.values(), strict=True)
    return "\n".join(f"#   {name:{width}}{choice.description}" for name, choice in rows)


def _comment(path: Path) -> str:
    """The first paragraph of the comment on top of a file."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)
