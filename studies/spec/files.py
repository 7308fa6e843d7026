"""The tables of a study file as TOML gives them, before anyone asks what they mean."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from environments import combine, find_scenario
from environments.errors import InputError, unknown_name
from environments.noise import DEFAULT_NOISE, NOISES
from environments.recorded.recording import recording_name
from environments.text import join_words, shorten_value
from studies.registry import OBJECTIVES, PRUNERS, SAMPLERS, Choice, StudyDefaults, format_choices
from studies.spec.parse import STUDY_FIELDS, check_plain_data, parse_study_spec, prefix_errors, unknown_key_error
from studies.spec.robust import RobustSpec, parse_robust_spec
from studies.spec.study import StudySpec

LARGEST_FILE = 1_000_000
"""Bytes."""

KINDS = ("study", "robust")
"""Tables of a file."""


def read_tables(path: Path, kind: str) -> list[Mapping[str, Any]]:
    """The [[study]] or [[robust]] tables of a file.

    >>> from studies.spec.files import find_study_file
    >>> [table["name"] for table in read_tables(find_study_file("quick"), "study")]
    ['quick/{scenario}']
    """
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}.") from None
    except RecursionError:
        raise InputError(f"{path}: not TOML: nested too deeply.") from None
    except ValueError:
        raise InputError(f"{path}: not TOML: it holds a number of thousands of digits.") from None
    for key in document:
        if key not in KINDS:
            hint = "; it belongs below a line [[study]]" if key in STUDY_FIELDS else ""
            raise InputError(f"{path}: {str(unknown_key_error(key, KINDS)).removesuffix('.')}{hint}.")
    for name in KINDS:
        tables = document.get(name, [])
        if isinstance(tables, Mapping):
            raise InputError(f"{path}: {name} must be written [[{name}]], with double brackets.")
        if not isinstance(tables, list):
            raise InputError(f"{path}: {name} must be a [[{name}]] table but got {shorten_value(tables)}.")
    if not any(document.get(name) for name in KINDS):
        raise InputError(f"{path}: there is no [[study]] in it.")
    found: list[Mapping[str, Any]] = document.get(kind, [])
    for number, table in enumerate(found, start=1):
        if not isinstance(table, Mapping):
            raise InputError(f"{path}: {kind} {number}: must be a table but got {shorten_value(table)}.")
    return found


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a study file.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is a device or a pipe, not a study file.")
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shorten_value(str(path))}: is not the name of a file.") from None
    if len(content) > LARGEST_FILE:
        raise InputError(f"{path}: must be at most {LARGEST_FILE} bytes long.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}: not UTF-8 (at line {line}).") from None


FILE_KEYS = {"trace": ("trace", "window", "minimize"), "log": ("log", "minimize")}
"""What the table of a scenario that is a file may hold."""


class RecordedTable:
    """`scenario = { trace = "file.csv", window = 100, minimize = true }`, or `{ log = … }`, beside the study file."""

    def __init__(self, kind: str, given: Mapping[str, Any]) -> None:
        for key in given:
            if key not in FILE_KEYS[kind]:
                raise InputError(f"scenario: {unknown_key_error(key, FILE_KEYS[kind])}")
        if not isinstance(given[kind], str):
            raise InputError(f"scenario.{kind} must be the name of a file but got {shorten_value(given[kind])}.")
        self.kind, self.given = kind, given

    def __str__(self) -> str:
        return recording_name(self.kind, self.given[self.kind])

    @property
    def no_horizon(self) -> str:
        """Why no horizon stands beside it."""
        if self.kind == "log":
            return "horizon can't be given for a log: how many events match tells it."
        return "horizon is called window on a trace, and stands in the scenario's table."

    def fields(self, folder: Path) -> dict[str, Any]:
        """The fields of the study."""
        out = {self.kind: str(folder / self.given[self.kind]), "minimize": self.given.get("minimize", False)}
        return {**out, **({"horizon": self.given["window"]} if "window" in self.given else {})}


def read_scenario(given: Any) -> tuple[str | RecordedTable, dict[str, Any]]:
    """A scenario's name, or its file, and its own settings.

    >>> read_scenario({"effects": ["blips", "periodic"], "blips": {"every": 50}})
    ('blips+periodic', {'every': 50})
    """
    if not isinstance(given, Mapping):
        if not isinstance(given, str):
            raise InputError(f"scenario must be a name, a table or a list of these but got {shorten_value(given)}.")
        return given, {}
    for kind in FILE_KEYS:
        if kind in given:
            return RecordedTable(kind, given), {}
    settings = dict(given)
    name, effects = settings.pop("name", None), settings.pop("effects", None)
    if (name is None) == (effects is None):
        raise InputError(f"scenario must have a name, effects, a trace or a log but got {shorten_value(dict(given))}.")
    if name is not None:
        if not isinstance(name, str):
            raise InputError(f"scenario.name must be text but got {shorten_value(name)}.")
        return name, _flat(settings, name)
    if not isinstance(effects, list) or not effects or not all(isinstance(effect, str) for effect in effects):
        raise InputError(f"scenario.effects must be a list of names but got {shorten_value(effects)}.")
    name = combine(effects).name
    return name, _flat(settings, name)


def _flat(settings: dict[str, Any], name: str) -> dict[str, Any]:
    """`blips.every = 5`, a table within the table, is the setting "blips.every", or "every" where no other has it."""
    known = find_scenario(name).parameters()
    out: dict[str, Any] = {}
    for key, value in settings.items():
        inner = {f"{key}.{field}": given for field, given in value.items()} if isinstance(value, Mapping) else {}
        for full, given in (inner or {key: value}).items():
            owner, _, field = full.partition(".")
            place = field if full not in known and field in known and owner in name.split("+") else full
            if place in out:
                raise InputError(f"scenario.{place} is given twice.")
            out[place] = given
    return out


MOST_STUDIES = 1000
"""Of one file."""

PLACES = ("{policy}", "{scenario}", "{horizon}")
"""What a name may hold so that it fits every study of a product."""


def load_study_file(path: str | Path) -> list[StudySpec]:
    """The studies of a file, in its order: scenarios first, then horizons.

    >>> from studies.spec.files import find_study_file
    >>> [spec.study_name() for spec in load_study_file(find_study_file("quick"))]
    ['quick/variance-drift', 'quick/incremental-drift', 'quick/blips']
    """
    specs: list[StudySpec] = []
    seen: dict[str, int] = {}
    for number, table in enumerate(read_tables(Path(path), "study"), start=1):
        where = f"{path}: study {number}"
        for spec in _product(table, where, Path(path).parent):
            name = spec.study_name()
            if name in seen:
                before = f"study {seen[name]}" if seen[name] != number else "another of the same table"
                raise InputError(f"{where}: name {name!r} is also that of {before}; give each a name of its own.")
            seen[name] = number
            specs.append(spec)
            if len(specs) > MOST_STUDIES:
                raise InputError(f"{where}: a file must hold at most {MOST_STUDIES} studies.")
    return specs


def load_robust_studies(path: str | Path) -> list[RobustSpec]:
    """The searches over several scenarios of a file, in its order; a list of horizons makes several.

    >>> from studies.spec.files import find_study_file
    >>> load_robust_studies(find_study_file("quick"))
    []
    """
    specs: dict[str, RobustSpec] = {}
    for number, table in enumerate(read_tables(Path(path), "robust"), start=1):
        where = f"{path}: robust {number}"
        with prefix_errors(where):
            horizons = _several(table, "horizon")
        for fields in [{**table, "horizon": horizon} for horizon in horizons] or [dict(table)]:
            spec = parse_robust_spec(fields, where=where)
            if spec.study_name() in specs:
                raise InputError(f"{where}: name {spec.study_name()!r} is that of two; give each a name of its own.")
            specs[spec.study_name()] = spec
    return list(specs.values())


def _product(table: Mapping[str, Any], where: str, folder: Path) -> Iterator[StudySpec]:
    """Every scenario of a table at every horizon of it."""
    with prefix_errors(where):
        check_plain_data(table)
        scenarios = [read_scenario(each) for each in _several(table, "scenario")]
        horizons = _several(table, "horizon")
        for given, _ in scenarios:
            if isinstance(given, RecordedTable) and horizons:
                raise InputError(given.no_horizon)
        name, settings = table.get("name"), table.get("settings", {})
        count = max(1, len(scenarios)) * max(1, len(horizons))
        if count > 1 and isinstance(name, str) and not any(place in name for place in PLACES):
            places = " or ".join(PLACES[1:])
            raise InputError(
                f"name must hold {places}, as the table makes {count} studies, but got {shorten_value(name)}."
            )
        if isinstance(name, str) and "{horizon}" in name and not horizons:
            raise InputError(f"name must not hold {{horizon}} where no horizon is given but got {shorten_value(name)}.")
    beside = {kind: str(folder / table[kind]) for kind in FILE_KEYS if isinstance(table.get(kind), str)}
    asked: list[tuple[str | RecordedTable | None, dict[str, Any]]] = [*scenarios] or [(None, {})]
    for scenario, own in asked:
        here = f"{where} ({scenario})" if len(scenarios) > 1 else where
        for horizon in horizons or [None]:
            fields = {**table, **beside, "scenario": scenario, "horizon": horizon}
            if isinstance(scenario, RecordedTable):
                fields |= {"scenario": None, **scenario.fields(folder)}
            if own and isinstance(settings, Mapping):
                twice = sorted(set(own) & {*settings, *(["noise"] if "noise" in table else [])})
                if twice:
                    raise InputError(f"{here}: {twice[0]} is given twice, once in the scenario's table.")
                fields["settings"] = {**settings, **own}
            if isinstance(name, str):
                said = (table.get("policy", StudyDefaults.policy), scenario, horizon)
                fields["name"] = _filled(name, [str(value) for value in said])
            yield parse_study_spec({key: value for key, value in fields.items() if value is not None}, here)


def _several(table: Mapping[str, Any], key: str) -> list[Any]:
    """What a key holds as a list; nothing where it is absent."""
    if key not in table:
        return []
    given = table[key]
    if given == [] or (isinstance(given, list) and len(given) > MOST_STUDIES):
        raise InputError(f"{key} must hold 1 to {MOST_STUDIES} values but got {len(given)}.")
    return given if isinstance(given, list) else [given]


def _filled(name: str, values: list[str]) -> str:
    for place, value in zip(PLACES, values, strict=True):
        name = name.replace(place, value)
    return name


FOLDER = Path(__file__).parent / "shipped"
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
    raise unknown_name("study", str(name), shipped_studies())


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
    names = format_choices(choices)
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
