"""What sections of studies that were tuned on a user's own data share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from dashboards.report.gather import StudyPart
from environments.any_world import RecordedScenario
from environments.errors import InputError

Kind = TypeVar("Kind", bound=RecordedScenario)


def recorded_of(part: StudyPart, kind: type[Kind]) -> Kind | None:
    """The trace or log of a study; None where the file is not at hand or holds something else by now."""
    try:
        found = part.spec.world()
    except InputError:
        return None
    return found if isinstance(found, kind) else None


def shares_by_arm(counts: Mapping[str, int], of: int) -> list[list[str]]:
    """Name, count and share of each arm that has any, most first.

    >>> shares_by_arm({"paris": 1, "oslo": 3, "rome": 0}, of=8)
    [['oslo', '3', '37.5 %'], ['paris', '1', '12.5 %']]
    """
    ordered = sorted((-count, name) for name, count in counts.items() if count)
    return [[name, str(-less), f"{-100 * less / of:.3g} %"] for less, name in ordered]
