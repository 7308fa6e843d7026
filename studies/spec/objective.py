"""Objectives: one number from the regrets or rewards of a candidate's replications."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ravenlab.common.checks import parse_steps
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count
from ravenlab.environments.world import Floats
from ravenlab.studies.registry import OBJECTIVES, parse_choice, parse_level


@dataclass(frozen=True)
class Objective:
    """A registered objective with its argument."""

    kind: str
    level: float = 0.0
    time: str | int = 0

    @property
    def maximize(self) -> bool:
        """Whether larger values are better."""
        return OBJECTIVES[self.kind].maximize

    @property
    def by_rank(self) -> bool:
        """Whether it depends on the order of the sample instead of its mean."""
        return OBJECTIVES[self.kind].by_rank

    def label(self) -> str:
        """Return the name of a trial's value.

        >>> Objective("mean").label(), Objective("cvar", level=0.9).label()
        ('mean regret', 'mean of the worst 10 % of regrets')
        """
        percent = f"{100 * self.level:g}"
        tail = f"{100 * (1 - self.level):.4g}"
        return OBJECTIVES[self.kind].label.format(percent=percent, tail=tail, time=self.time)

    def check(self, horizon: int) -> None:
        """Raise InputError if the burn-in does not end before the horizon."""
        if self.burn_in(horizon) >= horizon:
            raise InputError(
                f"the burn-in of objective after:{self.time} must be shorter than the horizon, {format_count(horizon)}."
            )

    def burn_in(self, horizon: int) -> int:
        """Return the step after which regret counts; 0 without a burn-in."""
        return parse_steps("objective", self.time, horizon) if self.kind == "after" else 0

    def sample(self, regret: Floats, reward: Floats) -> Floats:
        """Return the numbers [..., R] that are averaged or ranked: rewards or regrets."""
        return reward if self.maximize else regret

    def value(self, sample: Floats) -> Floats:
        """Compute the objective over the last axis.

        >>> Objective("cvar", level=0.5).value(np.array([1.0, 2.0, 3.0, 4.0]))
        array(3.5)
        """
        return STATISTICS[self.kind](sample, self.level)


def _mean(sample: Floats, level: float) -> Floats:
    return np.asarray(sample.mean(axis=-1))


# The function that computes each registered objective over the last axis of a sample.
STATISTICS: dict[str, Callable[[Floats, float], Floats]] = {
    "mean": _mean,
    "reward": _mean,
    "quantile": lambda sample, level: np.asarray(np.quantile(sample, level, axis=-1)),
    "cvar": lambda sample, level: mean_of_largest(sample, tail_count(sample.shape[-1], level)),
    "after": _mean,
}


def tail_count(count: int, level: float) -> int:
    """Return the number of values above a quantile level, at least one.

    >>> tail_count(200, 0.9), tail_count(3, 0.9)
    (20, 1)
    """
    return max(1, round(count * (1.0 - level)))


def mean_of_largest(sample: Floats, count: int) -> Floats:
    """Return the mean of the `count` largest numbers over the last axis.

    >>> mean_of_largest(np.array([1.0, 4.0, 2.0, 2.0]), 2)
    array(3.)
    """
    return np.asarray(np.sort(sample, axis=-1)[..., sample.shape[-1] - count :].mean(axis=-1))


def parse_objective(text: str) -> Objective:
    """Parse an objective as written in study files.

    >>> parse_objective("quantile:0.9")
    Objective(kind='quantile', level=0.9, time=0)
    """
    kind, argument = parse_choice("objective", text, OBJECTIVES)
    if kind == "after":
        parse_steps("objective", argument, 1_000_000)
        return Objective(kind, time=argument)
    return Objective(kind, level=parse_level("objective", kind, argument)) if argument else Objective(kind)
