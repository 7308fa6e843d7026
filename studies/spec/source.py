"""Sources of rewards: a simulated scenario, a recorded trace or a recorded log.

A specification names its source in one of the fields `scenario`, `trace` and `log`. `make_source` turns them into one
of three classes. Everything that depends on the kind of source is a method of that class or a `match` on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from ravenlab.environments import InputError, Scenario, find_scenario
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.log_file import Columns
from ravenlab.environments.recorded.log_world import LogScenario, open_log
from ravenlab.environments.recorded.recording import recording_name
from ravenlab.environments.recorded.trace_world import TraceScenario, open_trace
from ravenlab.environments.reward_scale import RewardScale, scenario_scale
from ravenlab.studies.registry import DEFAULT_ESTIMATOR

if TYPE_CHECKING:
    from ravenlab.studies.diagnosis.result import Diagnosis

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
    scale: float | None = None
    """Scale of the rewards relative to the scale that default ranges assume; None before the study is resolved."""

    kind: ClassVar[Literal["scenario"]] = "scenario"

    def open(self) -> Scenario:
        """Return the scenario with its settings."""
        return find_scenario(self.name, dict(self.settings))

    def size(self) -> tuple[int, int]:
        """Return the default horizon and number of arms."""
        scenario = self.open()
        return scenario.horizon, scenario.arms

    @property
    def extra_arms(self) -> int:
        """Number of arms beyond K, such as arms that open later."""
        return self.open().extra_arms

    def reward_scale(self, horizon: int | None) -> RewardScale:
        """Return the scale of the rewards relative to the scenario at its default settings."""
        scenario = self.open()
        return scenario_scale(scenario, find_scenario(self.name), scenario.horizon if horizon is None else horizon)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a specification that name this source."""
        return {"scenario": self.name}

    def resolved_fields(self) -> dict[str, Any]:
        """Return the fields of a specification that are filled in when it is resolved."""
        return {"scenario": self.open().name}


@dataclass(frozen=True)
class RecordedSource(ABC, Generic[Content]):
    """A data file, and a digest of its content when the study was created."""

    path: str
    minimize: bool
    settings: Settings
    digest: str | None = None
    """SHA-256 of the content; None before the study is resolved."""
    scale: float | None = None
    """Scale of the rewards relative to the scale that default ranges assume; None before the study is resolved."""

    kind: ClassVar[Literal["trace", "log"]]
    extra_arms: ClassVar[int] = 0

    @abstractmethod
    def read(self) -> Content:
        """Read the file without checking the digest."""

    def open(self) -> Content:
        """Return the content of the file. Raises InputError if it is missing, unreadable or has changed."""
        content = self.read()
        if self.digest is not None and content.digest != self.digest:
            raise InputError(f"{self.kind} {self.path} has changed since the study {self.name!r} was created.")
        return content.with_settings(self.settings)

    def size(self) -> tuple[int, int]:
        """Return the default horizon and the number of arms."""
        content = self.open()
        return content.horizon, content.arms

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for a horizon or a number of arms that the file does not allow."""
        self.open().check(horizon, arms)

    def find(self) -> Content | None:
        """Return the content of the file; None if it is missing, unreadable or has changed."""
        try:
            return self.open()
        except InputError:
            return None

    @property
    def name(self) -> str:
        """The name that replaces the name of a scenario."""
        return recording_name(self.kind, self.path)

    def reward_scale(self, horizon: int | None = None) -> RewardScale:
        """Return the scale of the rewards in the search segment."""
        return self.open().scale

    def fields(self) -> dict[str, Any]:
        """Return the fields of a specification that name this source."""
        return {self.kind: self.path, "minimize": self.minimize}

    def resolved_fields(self) -> dict[str, Any]:
        """Return the fields of a specification that are filled in when it is resolved."""
        if self.digest is not None:
            return {}
        return {"digest": self.open().digest}


@dataclass(frozen=True)
class TraceSource(RecordedSource[TraceScenario]):
    """A table with one row per step and one column per arm."""

    keep_state: bool = False
    """Whether the policy keeps running and is not restarted."""

    kind = "trace"

    def read(self) -> TraceScenario:
        return open_trace(self.path, self.minimize)

    def size(self) -> tuple[int, int]:
        """Return the default horizon and the number of arms; a policy that keeps running plays all rows."""
        content = self.open()
        return content.trace.rows if self.keep_state else content.horizon, content.arms

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for a horizon or a number of arms that the file does not allow."""
        content = self.open()
        if not self.keep_state:
            content.check(horizon, arms)
            return
        content.check(content.horizon, arms)
        if isinstance(content, CollectionScenario):
            raise InputError(
                "keep_state requires a single trace; each file of a collection is played with the state kept.",
                field="keep_state",
            )
        shortest = content.shortest_segment
        if horizon <= shortest:
            raise InputError(
                f"horizon must be above {shortest:,} with keep_state but got {horizon:,}; windows of as many rows are"
                " measured on more data: state them as the window, without keep_state.",
                field="horizon",
            )
        self.simulated(horizon)

    def simulated(self, horizon: int) -> Scenario:
        """Return a scenario that resembles the trace, for a policy that keeps running for so many steps."""
        from ravenlab.studies.diagnosis.simulated import resembling_scenario

        return resembling_scenario(self.diagnose(), horizon)

    def diagnose(self) -> Diagnosis:
        """Return the kinds of change that the rewards show."""
        return _diagnose_trace(self.open())

    def fields(self) -> dict[str, Any]:
        """Return the fields of a specification that name this source."""
        return super().fields() | ({"keep_state": True} if self.keep_state else {})


@lru_cache(maxsize=4)
def _diagnose_trace(content: TraceScenario) -> Diagnosis:
    from ravenlab.studies.diagnosis.analysis import diagnose

    return diagnose(content.positive_rewards, content.trace.names)


@dataclass(frozen=True)
class LogSource(RecordedSource[LogScenario]):
    """A table of events, each with the arm that was pulled and its reward."""

    estimator: str = DEFAULT_ESTIMATOR
    """How policies are evaluated."""
    columns: Columns | None = None
    """Names of the columns; None if they are recognized."""

    kind = "log"

    def read(self) -> LogScenario:
        from ravenlab.studies.diagnosis.log_estimators import LOG_ESTIMATORS

        return open_log(self.path, self.minimize, LOG_ESTIMATORS[self.estimator], self.columns)

    def fields(self) -> dict[str, Any]:
        columns = {} if self.columns is None else {"columns": self.columns}
        return {**super().fields(), "estimator": self.estimator, **columns}


Source = ScenarioSource | TraceSource | LogSource


def make_source(
    scenario: str,
    settings: Settings,
    trace: str | None = None,
    log: str | None = None,
    minimize: bool = False,
    digest: str | None = None,
    scale: float | None = None,
    estimator: str = DEFAULT_ESTIMATOR,
    keep_state: bool = False,
    columns: Columns | None = None,
) -> Source:
    """Make the source that the fields of a specification name.

    >>> make_source("log:ads", {}, log="/data/ads.csv").kind
    'log'
    """
    if trace is not None and columns is None:
        return TraceSource(trace, minimize, settings, digest, scale, keep_state)
    if log is not None:
        return LogSource(log, minimize, settings, digest, scale, estimator, columns)
    if columns is not None:
        raise ValueError("columns requires a log")
    return ScenarioSource(scenario, settings, scale)


def resolve_size(source: Source, horizon: int = 0, arms: int = 0) -> tuple[int, int]:
    """Return horizon and number of arms; the source's defaults where none are given.

    >>> resolve_size(ScenarioSource("blips", {}), 500)
    (500, 10)
    """
    if horizon and arms:
        return horizon, arms
    default_horizon, default_arms = source.size()
    return horizon or default_horizon, arms or default_arms


def name_scenario_after_file(fields: Any) -> Any:
    """Add the name that a trace or log gives to the scenario. Raises ValueError for more than one source.

    >>> name_scenario_after_file({"log": "/data/ads.csv"})["scenario"]
    'log:ads'
    >>> name_scenario_after_file({"trace": "a.csv", "scenario": "blips"})
    Traceback (most recent call last):
    ...
    ValueError: a study must have one source (scenario, trace or log) but got scenario 'blips' and trace 'a.csv'
    """
    if not isinstance(fields, Mapping):
        return fields
    files = {kind: fields[kind] for kind in ("trace", "log") if isinstance(fields.get(kind), str)}
    names = [recording_name(kind, path) for kind, path in files.items()]
    scenario = fields.get("scenario")
    sources = [f"{kind} {path!r}" for kind, path in files.items()]
    if files and scenario is not None and scenario not in names:
        sources.insert(0, f"scenario {scenario!r}")
    if len(sources) > 1:
        raise ValueError(f"a study must have one source (scenario, trace or log) but got {' and '.join(sources)}")
    return {**fields, "scenario": names[0]} if names else fields


class HasSource(Protocol):
    """A specification with a source of rewards."""

    @property
    def source(self) -> ScenarioSource | TraceSource | LogSource:
        """The source."""

    @property
    def horizon(self) -> int:
        """Number of steps."""

    @property
    def arms(self) -> int:
        """Number of arms."""


def list_warnings(specs: Iterable[HasSource]) -> list[str]:
    """List what the scenarios of specifications warn of, and what was noted about their files, each once.

    >>> from ravenlab.studies.spec.study import StudySpec
    >>> list_warnings([StudySpec(scenario="blips", horizon=100, arms=1)])
    ['blips: with 1 arm the regret of every policy is 0.']
    """
    warnings: dict[str, None] = {}
    for spec in specs:
        if isinstance(spec.source, ScenarioSource):
            warnings.update(dict.fromkeys(spec.source.open().warnings(spec.horizon, spec.arms)))
        else:
            content = spec.source.find()
            notes = () if content is None else content.notes
            warnings.update(dict.fromkeys(f"{Path(spec.source.path).name}: {note}." for note in notes))
    return list(warnings)
