"""Study files: reading, the shipped files, and the template."""

import tomllib
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from string import Template
from typing import Any

from ravenlab.common.checks import check_dotted_keys, parse_count
from ravenlab.common.errors import InputError, unknown_name
from ravenlab.common.text import format_count, join_words, shorten_value
from ravenlab.environments import combine, find_scenario
from ravenlab.environments.noise import DEFAULT_NOISE, NOISES
from ravenlab.environments.recorded.recording import recording_name
from ravenlab.studies.registry import OBJECTIVES, PRUNERS, SAMPLERS, Choice, StudyDefaults, format_choices
from ravenlab.studies.spec.descriptions import STUDY
from ravenlab.studies.spec.parse import (
    STUDY_FIELDS,
    check_plain_data,
    parse_study_spec,
    prefix_errors,
    unknown_key_error,
)
from ravenlab.studies.spec.robust import RobustSpec, parse_robust_spec
from ravenlab.studies.spec.study import StudySpec

MAX_FILE_BYTES = 1_000_000
MAX_STUDIES = 1000

TABLES = ("study", "robust")

# Keys of a scenario table that names a file.
FILE_KEYS = {
    "trace": ("trace", "window", "keep_state", "minimize"),
    "log": ("log", "minimize", "estimator", "columns"),
}

HORIZON_ERRORS = {
    "trace": "horizon cannot be given for a trace; set window or keep_state = true in the scenario's table.",
    "log": "horizon cannot be given for a log: it follows from the number of matching events.",
}

# Placeholders in the name of a table that creates several studies.
PLACEHOLDERS = ("{policy}", "{scenario}", "{horizon}")


def read_tables(path: Path, kind: str) -> list[Mapping[str, Any]]:
    """Return the [[study]] or [[robust]] tables of a file.

    >>> [table["name"] for table in read_tables(find_study_file("quick"), "study")]
    ['quick/{scenario}']
    """
    text = _read_text(path)
    with prefix_errors(str(path)):
        check_dotted_keys(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}.") from None
    except RecursionError:
        raise InputError(f"{path}: not TOML: nested too deeply.") from None
    except ValueError:
        raise InputError(f"{path}: not TOML: a number has too many digits.") from None
    for key in document:
        if key not in TABLES:
            hint = "; it belongs in a [[study]] table" if key in STUDY_FIELDS else ""
            raise InputError(f"{path}: {str(unknown_key_error(key, TABLES)).removesuffix('.')}{hint}.")
    for name in TABLES:
        tables = document.get(name, [])
        if isinstance(tables, Mapping):
            raise InputError(f"{path}: {name} must be written [[{name}]], with double brackets.")
        if not isinstance(tables, list):
            raise InputError(f"{path}: {name} must be a [[{name}]] table but got {shorten_value(tables)}.")
    if not any(document.get(name) for name in TABLES):
        raise InputError(f"{path}: must have at least one [[study]] or [[robust]] table.")
    tables = document.get(kind, [])
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            raise InputError(f"{path}: {kind} {number}: must be a table but got {shorten_value(table)}.")
    return list(tables)


def _read_text(path: Path) -> str:
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a study file.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is a device or a pipe, not a study file.")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shorten_value(str(path))}: is not a valid file name.") from None
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"{path}: must have at most {format_count(MAX_FILE_BYTES)} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}: not UTF-8 (line {line}).") from None


def read_scenario(value: Any, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of a scenario, and the fields of its study. Paths of data files are relative to `folder`.

    >>> read_scenario({"effects": ["blips", "periodic"], "blips": {"every": 50}}, Path())
    ('blips+periodic', {'scenario': 'blips+periodic', 'settings': {'every': 50}})
    """
    if not isinstance(value, Mapping):
        if not isinstance(value, str):
            raise InputError(f"scenario must be a name, a table or a list of these but got {shorten_value(value)}.")
        return value, {"scenario": value}
    for kind in FILE_KEYS:
        if kind in value:
            return _read_recorded(kind, value, folder)
    settings = dict(value)
    name = settings.pop("name", None)
    effects = settings.pop("effects", None)
    if (name is None) == (effects is None):
        raise InputError(f"scenario must have a name, effects, a trace or a log but got {shorten_value(dict(value))}.")
    if name is None:
        if not isinstance(effects, list) or not effects or not all(isinstance(effect, str) for effect in effects):
            raise InputError(f"scenario.effects must be a list of names but got {shorten_value(effects)}.")
        name = combine(effects).name
    elif not isinstance(name, str):
        raise InputError(f"scenario.name must be text but got {shorten_value(name)}.")
    return name, {"scenario": name, "settings": _flatten(settings, name)}


def _read_recorded(kind: str, table: Mapping[str, Any], folder: Path) -> tuple[str, dict[str, Any]]:
    """Read `scenario = { trace = "file.csv", window = 100, minimize = true }` or `{ log = … }`."""
    for key in table:
        if key not in FILE_KEYS[kind]:
            raise InputError(f"scenario: {unknown_key_error(key, FILE_KEYS[kind])}")
    path = table[kind]
    if not isinstance(path, str):
        raise InputError(f"scenario.{kind} must be a file name but got {shorten_value(path)}.")
    if "window" in table and table.get("keep_state"):
        raise InputError("scenario.window is for a policy that is restarted, so keep_state must not be true.")
    fields = {kind: str(folder / path), "minimize": table.get("minimize", False)}
    fields |= {"horizon": table["window"]} if "window" in table else {}
    fields |= {key: table[key] for key in ("estimator", "keep_state", "columns") if key in table}
    return recording_name(kind, path), fields


def _flatten(settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Turn the nested table of `blips.every = 5` into the setting "blips.every", or "every" if it is unambiguous."""
    known = find_scenario(name).parameters()
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        nested = {f"{key}.{field}": inner for field, inner in value.items()} if isinstance(value, Mapping) else {}
        for full, inner in (nested or {key: value}).items():
            effect, _, field = full.partition(".")
            setting = field if full not in known and field in known and effect in name.split("+") else full
            if setting in flat:
                raise InputError(f"scenario.{setting} is given twice.")
            flat[setting] = inner
    return flat


def load_study_file(path: str | Path) -> list[StudySpec]:
    """Load the studies of a file in its order; the scenarios of a table vary before its horizons.

    >>> [spec.study_name() for spec in load_study_file(find_study_file("quick"))]
    ['quick/variance-drift', 'quick/incremental-drift', 'quick/blips']
    """
    specs: list[StudySpec] = []
    seen: dict[str, int] = {}
    for number, table in enumerate(read_tables(Path(path), "study"), start=1):
        where = f"{path}: study {number}"
        for spec in _load_table(table, where, Path(path).parent):
            name = spec.study_name()
            if name in seen:
                other = f"study {seen[name]}" if seen[name] != number else "another study of the same table"
                raise InputError(f"{where}: name {name!r} is also the name of {other}; names must be unique.")
            seen[name] = number
            specs.append(spec)
            if len(specs) > MAX_STUDIES:
                raise InputError(f"{where}: a file must have at most {format_count(MAX_STUDIES)} studies.")
    return specs


def load_robust_studies(path: str | Path) -> list[RobustSpec]:
    """Load the robust searches of a file in its order, one per horizon.

    >>> load_robust_studies(find_study_file("quick"))
    []
    """
    specs: dict[str, RobustSpec] = {}
    for number, table in enumerate(read_tables(Path(path), "robust"), start=1):
        where = f"{path}: robust {number}"
        with prefix_errors(where):
            horizons = _as_list(table, "horizon")
        for fields in [{**table, "horizon": horizon} for horizon in horizons] or [dict(table)]:
            spec = parse_robust_spec(fields, where=where)
            if spec.study_name() in specs:
                raise InputError(f"{where}: name {spec.study_name()!r} is used twice; names must be unique.")
            specs[spec.study_name()] = spec
    return list(specs.values())


def _load_table(table: Mapping[str, Any], where: str, folder: Path) -> Iterator[StudySpec]:
    """Create one study per scenario and horizon of a table."""
    with prefix_errors(where):
        check_plain_data(table)
        scenarios = [read_scenario(value, folder) for value in _as_list(table, "scenario")]
        horizons = [parse_count(horizon) for horizon in _as_list(table, "horizon")]
        for kind, message in HORIZON_ERRORS.items():
            if horizons and any(kind in fields and not fields.get("keep_state") for _, fields in scenarios):
                raise InputError(message)
        _check_name(table.get("name"), len(scenarios), len(horizons))
    files = {kind: str(folder / table[kind]) for kind in FILE_KEYS if isinstance(table.get(kind), str)}
    variants: list[tuple[str | None, dict[str, Any]]] = [*scenarios] or [(None, {})]
    for scenario, scenario_fields in variants:
        location = f"{where} ({scenario})" if len(scenarios) > 1 else where
        with prefix_errors(location):
            settings = _merge_settings(table, scenario_fields.get("settings", {}))
        for horizon in horizons or [None]:
            fields = {**table, **files, "scenario": None, "horizon": horizon, **scenario_fields, "settings": settings}
            if isinstance(table.get("name"), str):
                values = (table.get("policy", StudyDefaults.policy), scenario, horizon)
                for placeholder, value in zip(PLACEHOLDERS, values, strict=True):
                    fields["name"] = fields["name"].replace(placeholder, str(value))
            yield parse_study_spec({key: value for key, value in fields.items() if value is not None}, location)


def _check_name(name: object, scenarios: int, horizons: int) -> None:
    """Raise InputError if the names of the studies of a table would be equal or incomplete."""
    if not isinstance(name, str):
        return
    count = max(1, scenarios) * max(1, horizons)
    if count > 1 and not any(placeholder in name for placeholder in PLACEHOLDERS):
        raise InputError(
            f"name must contain {' or '.join(PLACEHOLDERS[1:])}, because the table creates {count} studies, "
            f"but got {shorten_value(name)}."
        )
    for placeholder, values in (("{scenario}", scenarios), ("{horizon}", horizons)):
        if placeholder in name and not values:
            raise InputError(
                f"name must not contain {placeholder} without a {placeholder[1:-1]} in the table but got"
                f" {shorten_value(name)}."
            )


def _merge_settings(table: Mapping[str, Any], scenario_settings: Mapping[str, Any]) -> Any:
    """Add the settings in a scenario's table to those of the study."""
    settings = table.get("settings", {})
    if not isinstance(settings, Mapping):
        return settings
    for name in sorted(scenario_settings):
        if name in settings or (name == "noise" and "noise" in table):
            raise InputError(f"{name} is given twice: in the scenario's table and outside.")
    return {**settings, **scenario_settings}


def _as_list(table: Mapping[str, Any], key: str) -> list[Any]:
    """Return the value of a key as a list; an empty list if it is absent."""
    if key not in table:
        return []
    value = table[key]
    if value == [] or (isinstance(value, list) and len(value) > MAX_STUDIES):
        raise InputError(f"{key} must have 1 to {format_count(MAX_STUDIES)} values but got {len(value)}.")
    return value if isinstance(value, list) else [value]


FOLDER = Path(__file__).parent / "shipped"
TEMPLATE = FOLDER.parent / "template.toml"


def shipped_studies() -> dict[str, str]:
    """Return the shipped study files by name, each with the comment at its top.

    >>> list(shipped_studies())
    ['quick', 'paper', 'all-scenarios', 'logistics', 'figure2']
    """
    order = ["quick", "paper", "all-scenarios", "logistics", "figure2"]
    names = sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda name: ([*order, name].index(name), name))
    comments = {}
    for name in names:
        lines = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").splitlines()
        first = takewhile(lambda line: line.startswith("#") and line.strip() != "#", lines)
        comments[name] = " ".join(line.removeprefix("#").strip() for line in first)
    return comments


def find_study_file(name: str | Path) -> Path:
    """Return the path of a shipped study file or of a user's file. Shipped names take precedence; ./quick is a path.

    >>> find_study_file("quick").name
    'quick.toml'
    """
    if isinstance(name, str) and name in shipped_studies():
        return FOLDER / f"{name}.toml"
    path = Path(name)
    try:
        exists = path.exists()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from None
    if exists:
        return path
    if path.suffix or len(path.parts) != 1:
        raise InputError(f"{path}: no such file.")
    raise unknown_name("study", str(name), shipped_studies())


def study_template() -> str:
    """Return a commented study file with the registered names and defaults.

    >>> '# sampler = "tpe"' in study_template()
    True
    """
    defaults = {name: value for name, value in vars(StudyDefaults).items() if not name.startswith("_")}
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        defaults,
        **{f"about_{field}": description for field, description in STUDY.items()},
        noise=DEFAULT_NOISE,
        noises=join_words(list(NOISES)),
        objectives=_describe_choices(OBJECTIVES),
        samplers=_describe_choices(SAMPLERS),
        pruners=_describe_choices(PRUNERS),
    )


def _describe_choices(choices: Mapping[str, Choice]) -> str:
    """Write one line of comment per choice."""
    names = format_choices(choices)
    width = max(map(len, names)) + 2
    rows = zip(names, choices.values(), strict=True)
    return "\n".join(f"#   {name:{width}}{choice.description}" for name, choice in rows)
