"""How the regrets of a setting in several worlds make one number.

Regrets of different worlds can't be added: a lost reward is dear in one and cheap in another. So each is divided by
the regret of the setting that was tuned for that very world, in the same replications; 1 is as good as knowing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from environments.world import Floats
from studies.objective import mean_of_largest, worst
from studies.registry import MEASURES, parse_choice, parse_level


@dataclass(frozen=True)
class Measure:
    """One of the registered measures with its level."""

    kind: str
    level: float = 0.0

    def counted(self, scenarios: int) -> int:
        """How many of the worst worlds count."""
        return COUNTED[self.kind](scenarios, self.level)

    def value(self, relative: Floats) -> Floats:
        """Over the last axis, worlds.

        >>> float(Measure("cvar", 0.5).value(np.array([1.0, 4.0, 2.0, 2.0])))
        3.0
        """
        return mean_of_largest(relative, self.counted(relative.shape[-1]))

    def sample(self, relative: Floats) -> Floats:
        """Of [..., R, S] the mean over the worlds that count, replication by replication; its mean is the value."""
        kinds = relative.shape[-1]
        order = np.argsort(relative.mean(axis=-2), axis=-1, kind="stable")[..., kinds - self.counted(kinds) :]
        return np.asarray(np.take_along_axis(relative, order[..., None, :], axis=-1).mean(axis=-1))


COUNTED: dict[str, Callable[[int, float], int]] = {
    "worst": lambda scenarios, level: 1,
    "mean": lambda scenarios, level: scenarios,
    "cvar": worst,
}
"""How many of the worst scenarios each registered measure averages."""


def parse_measure(text: str) -> Measure:
    """Read a measure as users write it.

    >>> parse_measure("cvar:0.5")
    Measure(kind='cvar', level=0.5)
    """
    kind, argument = parse_choice("measure", text, MEASURES)
    return Measure(kind, parse_level("measure", kind, argument)) if argument else Measure(kind)
