"""A policy from an exported file: find its entry, convert it to the size of the rewards, build it.

The file is read as plain data and checked here field by field; nothing in it is unpickled or executed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from environments.checks import check_integer, check_number
from environments.errors import InputError
from policies import find_policy
from policies.engine.base import Policy, Value, Values

SCHEMA = 1
"""The version of exported files that is read."""

LARGEST_FILE = 100_000_000
"""Bytes; a file beyond this is not an export."""

P = TypeVar("P", bound=Policy)


@dataclass(frozen=True)
class Entry:
    """What a policy needs to know of a recommendation."""

    study: str
    policy: str
    scenario: str
    horizon: int
    arms: int
    params: Mapping[str, Value]

    def __str__(self) -> str:
        return f"{self.policy} in {self.scenario} at horizon {self.horizon} with {self.arms} arms ({self.study!r})"


def load(
    cls: type[P],
    path: str | Path,
    scenario: str | None,
    horizon: int | None,
    arms: int | None,
    seed: int | None,
    scale: float | None,
    study: str | None,
) -> P:
    """The policy of the one entry that fits."""
    entries = read_entries(Path(path))
    wanted = {"scenario": scenario, "horizon": horizon, "study": study}
    entry = _choose(cls, path, entries, {key: value for key, value in wanted.items() if value is not None}, arms)
    found = find_policy(entry.policy)
    if not issubclass(found, cls):
        raise InputError(f"{path} has {found.name}, not {cls.__name__}.")
    count = entry.arms if arms is None else check_integer("arms", arms, least=1)
    values = found.resolve(entry.params, count, entry.horizon)
    values = scaled(found, values, 1.0 if scale is None else scale)
    steps = values.pop("horizon", None)
    return found(count, seed=seed, horizon=None if steps is None else int(float(steps)), **values)


def scaled(policy: type[Policy], values: Mapping[str, Value], scale: float) -> Values:
    """The same policy for rewards that are `scale` times as large.

    >>> from policies import RavenUCB
    >>> scaled(RavenUCB, {"alpha0": 1.0, "beta0": 5.0, "epsilon": 0.1}, 2.0)
    {'alpha0': 2.0, 'beta0': 5.0, 'epsilon': 0.4}
    """
    factor = check_number("scale", scale)
    if factor <= 0.0:
        raise InputError(f"scale must be above 0 but got {scale!r}.")
    if factor == 1.0:
        return dict(values)
    if not policy.scalable:
        raise InputError(f"scale must be 1 for {policy.name}, made for rewards of one size, but got {scale!r}.")
    powers = {param.name: param.power for param in policy.parameters}
    return {
        name: value if isinstance(value, str) or not powers[name] else value * factor ** powers[name]
        for name, value in values.items()
    }


def read_entries(path: Path) -> list[Entry]:
    """All entries of an export, in its order; those for several scenarios go by all names, joined by commas."""
    document = _read(path)
    if not isinstance(document, dict) or "recommendations" not in document or "schema" not in document:
        raise InputError(f"{path} is not an export of recommendations: it has no schema and recommendations.")
    schema = document["schema"]
    if isinstance(schema, bool) or schema != SCHEMA:
        raise InputError(f"{path} has schema {str(schema)[:40]}; this version reads schema {SCHEMA}.")
    entries = document["recommendations"]
    if not isinstance(entries, list):
        raise InputError(f"recommendations in {path} must be a list but got {type(entries).__name__}.")
    several = document.get("robust", [])
    if not isinstance(several, list):
        raise InputError(f"robust in {path} must be a list but got {type(several).__name__}.")
    return [
        _entry(f"{key}[{place}] in {path}", entry)
        for key, some in (("recommendations", entries), ("robust", several))
        for place, entry in enumerate(some)
    ]


def _read(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path} is too large to be an export of recommendations.")
        text = path.read_bytes().decode("utf-8")
        return tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        reason = str(error).splitlines()[0][:100]
        raise InputError(f"{path} is not a whole {kind} file ({reason}); export it again.") from None


def _entry(where: str, entry: object) -> Entry:
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table but got {type(entry).__name__}.")
    fields: dict[str, Any] = {}
    kinds = {"study": str, "policy": str, "scenario": str, "horizon": int, "arms": int, "params": dict}
    for name, kind in kinds.items():
        value = entry.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{name} of {where} must be {_KIND[kind]} but got {str(value)[:40]!r}.")
        fields[name] = value
    for name, value in fields["params"].items():
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InputError(f"{name} of {where} must be a number or a word but got {str(value)[:40]!r}.")
    return Entry(**fields)


_KIND: dict[type, str] = {str: "text", int: "a whole number", dict: "names with values"}


def _choose(
    cls: type[Policy], path: str | Path, entries: list[Entry], wanted: dict[str, object], arms: int | None
) -> Entry:
    name = getattr(cls, "name", None)
    mine = [entry for entry in entries if name is None or entry.policy == name]
    fitting = [entry for entry in mine if all(getattr(entry, key) == value for key, value in wanted.items())]
    if arms is not None and len(fitting) > 1:
        fitting = [entry for entry in fitting if entry.arms == arms] or fitting
    if len(fitting) == 1:
        return fitting[0]
    asked = ", ".join(f"{key} {value!r}" for key, value in wanted.items())
    what = f"{name or 'any policy'}{' with ' + asked if asked else ''}"
    if not fitting:
        there = _listed(mine or entries)
        raise InputError(f"{path} has no recommendation for {what}; it has {there or 'none at all'}.")
    raise InputError(
        f"{path} has {len(fitting)} recommendations for {what}; say scenario, horizon, arms or study. "
        f"It has {_listed(fitting)}."
    )


def _listed(entries: list[Entry], most: int = 8) -> str:
    more = f" and {len(entries) - most} more" if len(entries) > most else ""
    return "; ".join(str(entry) for entry in entries[:most]) + more
