"""What a trace and a log both say of the chosen parameters, from the stretch that was held out."""

from __future__ import annotations

from dataclasses import dataclass

from environments.log_world import LogScenario
from environments.recorded import STRETCHES
from environments.trace_world import TraceScenario
from studies.recommendation import Estimate, LogFacts, Scale, TraceFacts


@dataclass(frozen=True)
class Difference:
    """What a rival lost more than the chosen one."""

    regret: float
    mean: float
    low: float
    high: float
    enough: bool
    """Whether there are enough independent rows or events to decide."""


@dataclass(frozen=True)
class Reported:
    """What the last stretch says of the chosen parameters and of their rivals."""

    regret: Estimate
    rivals: list[Difference]
    facts: TraceFacts | LogFacts
    scale: Scale


def stretches_of(scenario: TraceScenario | LogScenario) -> dict[str, tuple[int, int]]:
    """First and last row of each stretch, counted from 1, by what it is for."""
    found = {stream.name.lower(): scenario.stretch(stream) for stream in STRETCHES}
    return {name: (here.first + 1, here.last) for name, here in found.items()}
