"""What was measured: an entry is a policy with its parameters, a comparison all entries of one world."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from environments.world import Floats
from policies import find_policy
from policies.base import Value
from studies.comparison.spec import ResolvedComparisonSpec, SettingOf


@dataclass(frozen=True)
class RegretCurve:
    """Mean cumulative regret over time, with its standard error."""

    steps: tuple[int, ...]
    mean: tuple[float, ...]
    stderr: tuple[float, ...]

    @staticmethod
    def of(steps: Floats | list[int], regret: Floats) -> RegretCurve:
        """From cumulative regrets [R, steps].

        >>> RegretCurve.of([1, 5], np.array([[0.0, 1.0], [0.0, 3.0]]))
        RegretCurve(steps=(1, 5), mean=(0.0, 2.0), stderr=(0.0, 1.0))
        """
        error = regret.std(axis=0, ddof=1) / np.sqrt(regret.shape[0])
        return RegretCurve(tuple(int(t) for t in steps), tuple(regret.mean(axis=0).tolist()), tuple(error.tolist()))


@dataclass(frozen=True)
class Entry:
    """One policy, at its defaults or tuned, in the worlds of the comparison."""

    policy: str
    setting: SettingOf
    params: dict[str, Value]
    """All of them."""
    regret: Floats
    """What it lost in each world; the worlds are the same for all entries."""
    curve: RegretCurve
    trials: int = 0
    """Of the search that tuned it, each in `search_replications` worlds."""
    search_replications: int = 0
    nanoseconds: float | None = field(default=None, compare=False)
    """CPU time of a step as it was measured: it differs from run to run, so no file that must not differ holds it."""

    def shown_params(self) -> dict[str, Value]:
        """The parameters that a search may choose; those of a policy that has none are all shown."""
        wanted = {param.name for param in find_policy(self.policy).parameters if param.low is not None}
        return {name: value for name, value in self.params.items() if name in wanted or not wanted}


@dataclass(frozen=True)
class Comparison:
    """All entries in the order of `ComparisonSpec.entries()`."""

    spec: ResolvedComparisonSpec
    study: str
    entries: tuple[Entry, ...]

    def of(self, setting: SettingOf) -> list[Entry]:
        """The entries that meet each other on one board."""
        return [entry for entry in self.entries if entry.setting == setting]

    @property
    def settings(self) -> tuple[SettingOf, ...]:
        """The boards there are, the more telling one first."""
        return ("tuned", "defaults") if self.spec.tune else ("defaults",)
