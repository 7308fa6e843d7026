"""What is minimised: one number from the regrets and rewards of a candidate's replications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from environments.errors import InputError
from environments.times import steps
from environments.world import Floats


@dataclass(frozen=True)
class Objective:
    """mean, reward, quantile:q, cvar:q (mean of the worst 1 − q), or after:time (regret after a burn-in)."""

    kind: str
    level: float = 0.0
    time: str | int = 0

    @property
    def maximise(self) -> bool:
        """Rewards are to be large, regrets small."""
        return self.kind == "reward"

    def check(self, horizon: int) -> None:
        """Raise InputError when a burn-in does not end before the horizon."""
        if self.burn_in(horizon) >= horizon:
            raise InputError(f"objective must leave steps after the burn-in but got after:{self.time} of {horizon}.")

    def burn_in(self, horizon: int) -> int:
        """The step after which regret counts; 0 for all of it."""
        return steps("objective", self.time, horizon) if self.kind == "after" else 0

    def sample(self, regret: Floats, reward: Floats) -> Floats:
        """The numbers [..., R] that are averaged or ranked: rewards or regrets."""
        return reward if self.kind == "reward" else regret

    def value(self, sample: Floats) -> Floats:
        """The objective over the last axis.

        >>> Objective("cvar", level=0.5).value(np.array([1.0, 2.0, 3.0, 4.0]))
        array(3.5)
        """
        if self.kind == "quantile":
            return np.asarray(np.quantile(sample, self.level, axis=-1))
        if self.kind == "cvar":
            return mean_of_largest(sample, worst(sample.shape[-1], self.level))
        return np.asarray(sample.mean(axis=-1))


def worst(count: int, level: float) -> int:
    """How many the worst 1 − level of so many are: one at least.

    >>> worst(200, 0.9), worst(3, 0.9)
    (20, 1)
    """
    return max(1, round(count * (1.0 - level)))


def mean_of_largest(sample: Floats, count: int) -> Floats:
    """Over the last axis, of the `count` largest numbers of it.

    >>> mean_of_largest(np.array([1.0, 4.0, 2.0, 2.0]), 2)
    array(3.)
    """
    return np.asarray(np.sort(sample, axis=-1)[..., sample.shape[-1] - count :].mean(axis=-1))


def parse_level(text: str) -> float | None:
    """A level between 0 and 1; None for what is none.

    >>> parse_level("0.9"), parse_level("90 %")
    (0.9, None)
    """
    try:
        level = float(text)
    except ValueError:
        return None
    return level if 0.0 < level < 1.0 else None


def parse_objective(text: str) -> Objective:
    """Read an objective as study files write it.

    >>> parse_objective("quantile:0.9")
    Objective(kind='quantile', level=0.9, time=0)
    """
    kind, colon, rest = text.partition(":")
    if kind in ("mean", "reward") and not colon:
        return Objective(kind)
    if kind in ("quantile", "cvar") and colon:
        level = parse_level(rest)
        if level is None:
            raise InputError(f"objective {kind} must have a level between 0 and 1 but got {rest!r}.")
        return Objective(kind, level=level)
    if kind == "after" and rest:
        steps("objective", rest, 1_000_000)
        return Objective(kind, time=rest)
    raise InputError(
        f"objective must be mean, reward, quantile:0.9, cvar:0.9 or after:10% (any numbers) but got {text!r}."
    )


def describe_objective(text: str) -> str:
    """Describe the value of a trial under an objective.

    >>> describe_objective("mean"), describe_objective("cvar:0.9")
    ('mean regret', 'mean of the worst 10 % of regrets')
    """
    objective = parse_objective(text)
    names = {
        "mean": "mean regret",
        "reward": "mean reward",
        "quantile": f"{100 * objective.level:g} % quantile of regret",
        "cvar": f"mean of the worst {100 * (1 - objective.level):.4g} % of regrets",
        "after": f"mean regret after {objective.time}",
    }
    return names[objective.kind]
