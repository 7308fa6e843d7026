"""Study files: TOML with [[study]] tables, each of them one study or a product of several, and [[robust]] tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from environments.errors import InputError
from environments.text import shorten_value
from studies.explaining import standing_in
from studies.reading import check_plain, spec_from
from studies.registry import StudyDefaults
from studies.robust import RobustSpec, robust_spec_from
from studies.scenario_table import FILE_KEYS, FileTable, read_scenario
from studies.spec import StudySpec
from studies.toml_tables import tables_of

MOST_STUDIES = 1000
"""Of one file."""

PLACES = ("{policy}", "{scenario}", "{horizon}")
"""What a name may hold so that it fits every study of a product."""


def load_study_file(path: str | Path) -> list[StudySpec]:
    """The studies of a file, in its order: scenarios first, then horizons.

    >>> from studies.shipped import find_study_file
    >>> [spec.study_name() for spec in load_study_file(find_study_file("quick"))]
    ['quick/variance-drift', 'quick/incremental-drift', 'quick/blips']
    """
    specs: list[StudySpec] = []
    seen: dict[str, int] = {}
    for number, table in enumerate(tables_of(Path(path), "study"), start=1):
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


def load_robust_tables(path: str | Path) -> list[RobustSpec]:
    """The searches over several scenarios of a file, in its order; a list of horizons makes several.

    >>> from studies.shipped import find_study_file
    >>> load_robust_tables(find_study_file("quick"))
    []
    """
    specs: dict[str, RobustSpec] = {}
    for number, table in enumerate(tables_of(Path(path), "robust"), start=1):
        where = f"{path}: robust {number}"
        with standing_in(where):
            horizons = _several(table, "horizon")
        for fields in [{**table, "horizon": horizon} for horizon in horizons] or [dict(table)]:
            spec = robust_spec_from(fields, where=where)
            if spec.study_name() in specs:
                raise InputError(f"{where}: name {spec.study_name()!r} is that of two; give each a name of its own.")
            specs[spec.study_name()] = spec
    return list(specs.values())


def _product(table: Mapping[str, Any], where: str, folder: Path) -> Iterator[StudySpec]:
    """Every scenario of a table at every horizon of it."""
    with standing_in(where):
        check_plain(table)
        scenarios = [read_scenario(each) for each in _several(table, "scenario")]
        horizons = _several(table, "horizon")
        for given, _ in scenarios:
            if isinstance(given, FileTable) and horizons:
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
    asked: list[tuple[str | FileTable | None, dict[str, Any]]] = [*scenarios] or [(None, {})]
    for scenario, own in asked:
        here = f"{where} ({scenario})" if len(scenarios) > 1 else where
        for horizon in horizons or [None]:
            fields = {**table, **beside, "scenario": scenario, "horizon": horizon}
            if isinstance(scenario, FileTable):
                fields |= {"scenario": None, **scenario.fields(folder)}
            if own and isinstance(settings, Mapping):
                twice = sorted(set(own) & {*settings, *(["noise"] if "noise" in table else [])})
                if twice:
                    raise InputError(f"{here}: {twice[0]} is given twice, once in the scenario's table.")
                fields["settings"] = {**settings, **own}
            if isinstance(name, str):
                said = (table.get("policy", StudyDefaults.policy), scenario, horizon)
                fields["name"] = _filled(name, [str(value) for value in said])
            yield spec_from({key: value for key, value in fields.items() if value is not None}, here)


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
