"""Loading a policy from an exported recommendation.

The file is read as plain data and every field is validated; nothing in it is unpickled or executed.
"""

import json
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ravenlab.common.checks import MAX_STEPS, check_dotted_keys, check_integer, check_number
from ravenlab.common.errors import InputError
from ravenlab.common.text import escape_unprintable, format_bytes, format_count
from ravenlab.environments.reward_scale import RewardScale, scale_value
from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import MAX_POLICY_BYTES, Policy
from ravenlab.policies.engine.parameters import Value, Values

SCHEMA = 2  # version of exported files; version 1 does not say whether rewards or costs are passed
FEEDBACK = ("rewards", "costs")  # what a policy may take in `update`
FORMATS = {".json": "JSON", "": "JSON", ".toml": "TOML"}  # by suffix
LARGEST_FILE = 100_000_000  # maximum size of an exported file in bytes
MOST_LISTED = 8  # recommendations listed in an error message

KIND_NAMES: dict[type, str] = {
    str: "text",
    int: "a whole number",
    dict: "a mapping of names to values",
    list: "a list",
}

P = TypeVar("P", bound=Policy)


@dataclass(frozen=True)
class Entry:
    """The fields of a recommendation that define a policy."""

    study: str
    policy: str
    scenario: str
    horizon: int
    arms: int
    params: Mapping[str, Value]
    feedback: str | None = None
    """"rewards" or "costs"; None in a file of schema 1, which does not say it."""
    names: Sequence[str] | None = None
    extra_arms: int = 0
    """Arms that open later."""
    instead: tuple[str, Mapping[str, Value]] | None = None
    """The better policy that is advised, and its parameters."""

    @property
    def advised(self) -> "Entry":
        """The entry with the policy that is advised."""
        if self.instead is None:
            return self
        policy, params = self.instead
        return replace(self, policy=policy, params=params, instead=None)

    def __str__(self) -> str:
        return (
            f"{self.policy} on {self.scenario}, horizon {format_count(self.horizon)}, {self.arms} arms ({self.study!r})"
        )


def load_policy(
    cls: type[P],
    path: str | Path,
    wanted: Mapping[str, Any],
    arms: int | None,
    seed: int | None,
    scale: float | None,
    names: Sequence[str] | None,
) -> P:
    """Create the policy of the only recommendation with the wanted fields; see `Policy.load`."""
    entries = read_entries(Path(path))
    entry = _find_entry(cls, path, entries, {key: value for key, value in wanted.items() if value is not None}, arms)
    if issubclass(find_policy(entry.advised.policy), cls):
        entry = entry.advised
    elif entry.instead is not None:
        warnings.warn(
            f"{escape_unprintable(str(path))} advises {entry.instead[0]} instead of {cls.__name__}, because it is"
            " better; Policy.load creates it.",
            stacklevel=3,
        )
    policy = find_policy(entry.policy)
    if not issubclass(policy, cls):
        raise InputError(f"{path} has a recommendation for {policy.name}, not for {cls.__name__}.")
    first = check_integer("arms", entry.arms if arms is None else arms, least=1, most=MAX_STEPS)
    count = first + check_integer("extra_arms", entry.extra_arms, least=0, most=MAX_STEPS)
    check_integer("horizon", entry.horizon, least=1, most=MAX_STEPS)
    values = policy.resolve(entry.params, count, entry.horizon)
    size = policy.sizes(count, values).bytes(count)
    if size > MAX_POLICY_BYTES:
        raise InputError(
            f"{path} has a recommendation for {policy.name} with {format_count(count)} arms, which takes"
            f" {format_bytes(size)} of memory, more than the maximum of {format_bytes(MAX_POLICY_BYTES)}."
        )
    values = scale_params(policy, values, 1.0 if scale is None else scale)
    steps = values.pop("horizon", None)
    loaded = policy(
        count,
        names=entry.names if names is None else names,
        minimize=entry.feedback == "costs",
        seed=seed,
        horizon=None if steps is None else int(float(steps)),
        **values,
    )
    for arm in range(first, count):
        loaded.close(arm)
    if entry.feedback is None:
        warnings.warn(
            f"{escape_unprintable(str(path))} was exported by an earlier version: pass rewards to the policy, or the"
            " negative of costs if it was tuned on costs; a policy of a new export takes costs as they are.",
            stacklevel=3,
        )
    return loaded


def scale_params(policy: type[Policy], values: Mapping[str, Value], scale: float) -> Values:
    """Convert parameters to rewards that are `scale` times as large.

    >>> from ravenlab.policies import RavenUCB
    >>> scale_params(RavenUCB, {"alpha0": 1.0, "beta0": 5.0, "epsilon": 0.1}, 2.0)
    {'alpha0': 2.0, 'beta0': 5.0, 'epsilon': 0.4}
    """
    factor = check_number("scale", scale)
    if factor <= 0.0:
        raise InputError(f"scale must be above 0 but got {scale!r}.")
    if factor == 1.0:
        return dict(values)
    if not policy.scalable:
        raise InputError(f"scale must be 1 for {policy.name}, which cannot be converted, but got {scale!r}.")
    powers = {param.name: param.power for param in policy.parameters}
    return {
        name: value if isinstance(value, str) or not powers[name] else scale_value(value, factor, powers[name])
        for name, value in values.items()
    }


def scale_defaults(policy: type[Policy], values: Mapping[str, Value], scale: RewardScale) -> Values:
    """Convert defaults, which are made for rewards in [0, 1], to rewards of another scale and range.

    A policy that maps rewards to [0, 1] gets their range as `low` and `high`; what it observes is then
    factor/(high − low) times as large. Policies that cannot be converted keep their defaults.

    >>> from ravenlab.policies import UCB1
    >>> scale_defaults(UCB1, {"c": 2.0}, RewardScale(low=0.0, high=1.0, factor=0.5))
    {'c': 0.5}
    """
    if not policy.scalable or scale.factor <= 0.0 or scale.high <= scale.low:
        return dict(values)
    factor, bounds = scale.factor, {"low": scale.low, "high": scale.high}
    unit_factor = factor / (scale.high - scale.low)
    scaled: Values = dict(values)
    for param in policy.parameters:
        value = values[param.name]
        if param.name in bounds:
            scaled[param.name] = bounds[param.name]
        elif not isinstance(value, str):
            scaled[param.name] = scale_value(value, factor, param.power) * unit_factor**param.unit_power
    return scaled


def read_entries(path: Path) -> list[Entry]:
    """Read an export in file order: recommendations, those for several scenarios, and parameters of laws."""
    document = _read_document(path)
    if not isinstance(document, dict) or "recommendations" not in document or "schema" not in document:
        raise InputError(f"{path} is not an exported file: schema or recommendations is missing.")
    schema = document["schema"]
    if isinstance(schema, bool) or schema not in (1, SCHEMA):
        raise InputError(f"{path} has schema {str(schema)[:40]}; this version reads schema 1 and {SCHEMA}.")
    parsed = []
    for key in ("recommendations", "robust", "expected"):
        entries = document.get(key, [])
        if not isinstance(entries, list):
            raise InputError(f"{key} in {path} must be a list but got {type(entries).__name__}.")
        parsed += [_parse_entry(f"{key}[{index}] in {path}", entry, schema) for index, entry in enumerate(entries)]
    return parsed


def _read_document(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path} is larger than {format_bytes(LARGEST_FILE)}, too large for an exported file.")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    kind = FORMATS.get(path.suffix.lower())
    try:
        text = content.decode("utf-8")
        if kind != "TOML":
            return json.loads(text)
        check_dotted_keys(text)
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if kind is None:
            raise InputError(f"{path} cannot be loaded: policies load from exports in JSON or TOML.") from None
        reason = str(error).splitlines()[0][:100].rstrip(".")
        raise InputError(f"{path} is not a valid {kind} file ({reason}); export it again.") from None


def _parse_entry(where: str, entry: object, schema: int) -> Entry:
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table but got {type(entry).__name__}.")
    fields: dict[str, Any] = {}
    kinds = {"study": str, "policy": str, "scenario": str, "horizon": int, "arms": int, "params": dict}
    optional = {"names": list, "extra_arms": int} if schema == SCHEMA else {}
    for name, kind in {**kinds, **optional}.items():
        if name in optional and name not in entry:
            continue
        value = entry.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{name} of {where} must be {KIND_NAMES[kind]} but got {str(value)[:40]!r}.")
        fields[name] = value
    instead = entry.get("instead")
    if instead is not None:
        if not isinstance(instead, dict) or not isinstance(instead.get("policy"), str):
            raise InputError(f"instead of {where} must name a policy but got {str(instead)[:40]!r}.")
        if not isinstance(instead.get("params"), dict):
            raise InputError(f"params of instead of {where} must be a mapping of names to values.")
        fields["instead"] = (instead["policy"], instead["params"])
    for name, value in [*fields["params"].items(), *({} if instead is None else instead["params"]).items()]:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InputError(f"{name} of {where} must be a number or text but got {str(value)[:40]!r}.")
    feedback = entry.get("feedback")
    if schema == SCHEMA and feedback not in FEEDBACK:
        raise InputError(f"feedback of {where} must be {' or '.join(FEEDBACK)} but got {str(feedback)[:40]!r}.")
    return Entry(**fields, feedback=feedback if schema == SCHEMA else None)


def _find_entry(
    cls: type[Policy], path: str | Path, entries: list[Entry], wanted: dict[str, object], arms: int | None
) -> Entry:
    name = getattr(cls, "name", None)
    of_class = [entry for entry in entries if name is None or entry.policy == name]
    matching = [entry for entry in of_class if all(getattr(entry, key) == value for key, value in wanted.items())]
    if arms is not None and len(matching) > 1:
        matching = [entry for entry in matching if entry.arms == arms] or matching
    if len(matching) == 1:
        return matching[0]
    conditions = ", ".join(f"{key} {value!r}" for key, value in wanted.items())
    query = f"{name or 'any policy'}{' with ' + conditions if conditions else ''}"
    if not matching:
        raise InputError(f"{path} has no recommendation for {query}. Available: {_list_entries(of_class or entries)}.")
    raise InputError(
        f"{path} has {len(matching)} recommendations for {query}; give scenario, horizon, arms or study. "
        f"Available: {_list_entries(matching)}."
    )


def find_entries(path: Path, scenario: str, horizon: int) -> list[Entry]:
    """Return the only recommendation of an export or, if there are several, those for a scenario and a horizon."""
    entries = read_entries(path)
    matching = [entry for entry in entries if (entry.scenario, entry.horizon) == (scenario, horizon)]
    if len(entries) != 1 and not matching:
        problem = f"{scenario}, horizon {format_count(horizon)}"
        raise InputError(f"{path} has no recommendation for {problem}. Available: {_list_entries(entries)}.")
    return [entry.advised for entry in matching or entries]


def _list_entries(entries: list[Entry]) -> str:
    more = f" and {len(entries) - MOST_LISTED} more" if len(entries) > MOST_LISTED else ""
    return "; ".join(str(entry) for entry in entries[:MOST_LISTED]) + more or "none"
