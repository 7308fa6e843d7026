"""How the regrets of a setting in several worlds make one number.

Regrets of different worlds can't be added: a lost reward is dear in one and cheap in another. So each is divided by
the regret of the setting that was tuned for that very world, in the same replications; 1 is as good as knowing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from environments.errors import InputError
from environments.world import Floats
from studies.objective import mean_of_largest, parse_level, worst


@dataclass(frozen=True)
class Measure:
    """How relative regrets of several worlds make one: worst, mean, or cvar:q (mean of the worst 1 − q of them)."""

    kind: Literal["worst", "mean", "cvar"]
    level: float = 0.0

    def counted(self, scenarios: int) -> int:
        """How many of the worst worlds count."""
        if self.kind == "worst":
            return 1
        return scenarios if self.kind == "mean" else worst(scenarios, self.level)

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


def parse_measure(text: str) -> Measure:
    """Read a measure as people write it.

    >>> parse_measure("cvar:0.5")
    Measure(kind='cvar', level=0.5)
    """
    kind, colon, rest = text.partition(":")
    if kind in ("worst", "mean") and not colon:
        return Measure(kind)  # type: ignore[arg-type]
    level = parse_level(rest) if kind == "cvar" else None
    if level is None:
        raise InputError(f"measure must be worst, mean or cvar:0.5 (any level between 0 and 1) but got {text!r}.")
    return Measure("cvar", level)
