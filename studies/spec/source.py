"""Where the rewards of a study come from: a simulated scenario, a recorded trace or a recorded log.

A specification names its source in optional fields (`scenario`, `trace`, `log`), as people write them. `source_of`
turns these fields into one of three classes. Everything that depends on the kind of source is a method of that class or
a `match` on it. `resolve_size` fills in the horizon and the number of arms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from environments import InputError, Scenario, find_scenario
from environments.blocks import AnyScenario
from environments.recorded.log_world import LogScenario, open_log
from environments.recorded.recording import recording_name
from environments.recorded.trace_world import TraceScenario, open_trace
from policies.engine.base import Policy

Settings = Mapping[str, int | float | str]
Content = TypeVar("Content", TraceScenario, LogScenario)


@dataclass(frozen=True)
class ScenarioSource:
    """A simulated scenario with its settings.

    >>> ScenarioSource("blips", {}).open().horizon
    10000
    """

    name: str
    settings: Settings

    kind: ClassVar[Literal["scenario"]] = "scenario"

    def open(self) -> Scenario:
        """The scenario with its settings."""
        return find_scenario(self.name, dict(self.settings))

    @property
    def extra_arms(self) -> int:
        """Arms beyond K, such as those that open later."""
        return self.open().extra_arms

    def reward_factor(self, policy: type[Policy]) -> float:
        """Size of the rewards relative to those that the policy's own ranges are made for."""
        del policy
        return 1.0

    def reward_bounds(self) -> dict[str, float]:
        """Values of the parameters `low` and `high` that follow from the data: none for a scenario."""
        return {}

    def fields(self) -> dict[str, Any]:
        """The fields of a specification that name this source."""
        return {"scenario": self.name}

    def resolved_fields(self) -> dict[str, Any]:
        """The fields of a specification that resolution fills in."""
        return {"scenario": self.open().name}


@dataclass(frozen=True)
class RecordedSource(ABC, Generic[Content]):
    """A file of the user's own data, and what it held when the study was created."""

    path: str
    minimize: bool
    settings: Settings
    digest: str | None = None
    """SHA-256 of the content; None for a study that is not resolved yet."""
    scale: float | None = None
    """Size of the rewards relative to those that ranges are made for; None for a study that is not resolved yet."""

    kind: ClassVar[Literal["trace", "log"]]

    @abstractmethod
    def read(self) -> Content:
        """Read the file, whatever it holds now."""

    def open(self) -> Content:
        """The content of the file. Raises InputError if it is missing, unreadable or has changed."""
        content = self.read()
        if self.digest is not None and content.digest != self.digest:
            raise InputError(f"{self.kind} {self.path} holds something else than when the study {self.name!r} began.")
        return content.with_settings(self.settings)

    def find(self) -> Content | None:
        """The content of the file; None if it is missing, unreadable or has changed."""
        try:
            return self.open()
        except InputError:
            return None

    @property
    def name(self) -> str:
        """The name that takes the place of a scenario's name."""
        return recording_name(self.kind, self.path)

    @property
    def extra_arms(self) -> int:
        """Arms beyond K: none."""
        return 0

    def reward_factor(self, policy: type[Policy]) -> float:
        """Size of the rewards relative to those that the policy's own ranges are made for."""
        if not policy.scalable:
            return 1.0
        return self.open().scale.factor if self.scale is None else self.scale

    def reward_bounds(self) -> dict[str, float]:
        """1st and 99th percentile of the rewards that are searched on; none once they are among the fixed values."""
        if self.digest is not None:
            return {}
        scale = self.open().scale
        return {"low": scale.low, "high": scale.high}

    def fields(self) -> dict[str, Any]:
        """The fields of a specification that name this source."""
        return {self.kind: self.path, "minimize": self.minimize}

    def resolved_fields(self) -> dict[str, Any]:
        """The fields of a specification that resolution fills in."""
        if self.digest is not None:
            return {}
        content = self.open()
        return {"digest": content.digest, "scale": content.scale.factor}


@dataclass(frozen=True)
class TraceSource(RecordedSource[TraceScenario]):
    """A table with one row per step and one column per arm."""

    kind = "trace"

    def read(self) -> TraceScenario:
        """Read the file, whatever it holds now."""
        return open_trace(self.path, self.minimize)


@dataclass(frozen=True)
class LogSource(RecordedSource[LogScenario]):
    """A table of events, each with the arm that was pulled and its reward."""

    kind = "log"

    def read(self) -> LogScenario:
        """Read the file, whatever it holds now."""
        return open_log(self.path, self.minimize)


Source = ScenarioSource | TraceSource | LogSource


def make_source(
    scenario: str,
    settings: Settings,
    trace: str | None = None,
    log: str | None = None,
    minimize: bool = False,
    digest: str | None = None,
    scale: float | None = None,
) -> Source:
    """The source that the fields of a specification name.

    >>> make_source("log:ads", {}, log="/data/ads.csv").kind
    'log'
    """
    if trace is not None:
        return TraceSource(trace, minimize, settings, digest, scale)
    if log is not None:
        return LogSource(log, minimize, settings, digest, scale)
    return ScenarioSource(scenario, settings)


def resolve_size(source: Source, horizon: int | None, arms: int | None) -> tuple[int, int]:
    """Horizon and number of arms: the given ones, and the source's own where none are given.

    >>> resolve_size(ScenarioSource("blips", {}), 500, None)
    (500, 10)
    """
    if horizon is not None and arms is not None:
        return horizon, arms
    opened: AnyScenario = source.open()
    return (opened.horizon if horizon is None else horizon, opened.arms if arms is None else arms)


def check_one_source(given: Mapping[str, Any]) -> str | None:
    """The name in place of a scenario's name where a file is given. ValueError for more than one source.

    >>> check_one_source({"log": "/data/ads.csv"})
    'log:ads'
    >>> check_one_source({"trace": "a.csv", "scenario": "blips"})
    Traceback (most recent call last):
    ...
    ValueError: a study has one source (scenario, trace or log) but got scenario 'blips' and trace 'a.csv'
    """
    files = {kind: given[kind] for kind in ("trace", "log") if isinstance(given.get(kind), str)}
    names = {recording_name(kind, path) for kind, path in files.items()}
    scenario = given.get("scenario")
    sources = [f"{kind} {path!r}" for kind, path in files.items()]
    if files and scenario is not None and scenario not in names:
        sources.insert(0, f"scenario {scenario!r}")
    if len(sources) > 1:
        raise ValueError(f"a study has one source (scenario, trace or log) but got {' and '.join(sources)}")
    return next(iter(names), None)
