"""The tables of a study file as TOML gives them, before anyone asks what they mean."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from environments.errors import InputError
from environments.text import shorten_value
from studies.explaining import unknown_key
from studies.reading import FIELDS

LARGEST_FILE = 1_000_000
"""Bytes."""

KINDS = ("study", "robust")
"""Tables of a file."""


def tables_of(path: Path, kind: str) -> list[Mapping[str, Any]]:
    """The [[study]] or [[robust]] tables of a file.

    >>> from studies.shipped import find_study_file
    >>> [table["name"] for table in tables_of(find_study_file("quick"), "study")]
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
            hint = "; it belongs below a line [[study]]" if key in FIELDS else ""
            raise InputError(f"{path}: {str(unknown_key(key, KINDS)).removesuffix('.')}{hint}.")
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
