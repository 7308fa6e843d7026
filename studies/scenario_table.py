"""What a study file may write for a scenario: a name, a table of a name or effects with settings, or a file's table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from environments import combine, find_scenario
from environments.errors import InputError
from environments.recorded import own_name
from environments.text import shorten_value
from studies.explaining import unknown_key

FILE_KEYS = {"trace": ("trace", "window", "minimize"), "log": ("log", "minimize")}
"""What the table of a scenario that is a file may hold."""


class FileTable:
    """`scenario = { trace = "file.csv", window = 100, minimize = true }`, or `{ log = … }`, beside the study file."""

    def __init__(self, kind: str, given: Mapping[str, Any]) -> None:
        for key in given:
            if key not in FILE_KEYS[kind]:
                raise InputError(f"scenario: {unknown_key(key, FILE_KEYS[kind])}")
        if not isinstance(given[kind], str):
            raise InputError(f"scenario.{kind} must be the name of a file but got {shorten_value(given[kind])}.")
        self.kind, self.given = kind, given

    def __str__(self) -> str:
        return own_name(self.kind, self.given[self.kind])

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


def read_scenario(given: Any) -> tuple[str | FileTable, dict[str, Any]]:
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
            return FileTable(kind, given), {}
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
