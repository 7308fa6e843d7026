"""Problems described in plain quantities: the difference of arms, the noise or the rate, and how often arms change.

They are converted to the settings of a scenario. What a description leaves open has the scenario's default, in units of
the difference between the arms.
"""

from dataclasses import dataclass
from typing import Any

from ravenlab.common.checks import check_number
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count, format_number, join_words
from ravenlab.environments import find_scenario
from ravenlab.environments.base import BaseDraw

DIFFERENCES_PER_RANGE = 3.0  # the expected difference of two uniform numbers is a third of their range
UNIT_POWERS = {
    **dict.fromkeys(("mean_low", "mean_high", "amplitude", "drift", "deviation"), 1),
    **dict.fromkeys(("variance_low", "variance_high", "growth"), 2),
}
"""Settings of scenarios in units of the rewards, and the power of the unit. All others are times, shares or words."""
BASE = BaseDraw()
BASE_RANGE = BASE.mean_high - BASE.mean_low
BASE_VARIANCE = (BASE.variance_low + BASE.variance_high) / 2.0
INTERVALS = ("every", "period")
"""Settings that are the steps between two changes."""


@dataclass(frozen=True)
class Quantities:
    """A description of rewards in the user's own units.

    >>> Quantities(difference=3.0, sd=8.0).settings("stationary", horizon=20_000)
    {'mean_low': 0.0, 'mean_high': 9.0, 'variance_low': 64.0, 'variance_high': 64.0}
    >>> Quantities(difference=0.01, rate=0.03, changes=4).settings("localized-jump", horizon=20_000)
    {'noise': 'bernoulli', 'mean_low': 0.015, 'mean_high': 0.045, 'every': 4000}
    """

    difference: float
    """Typical difference between the means of two arms."""
    sd: float | None = None
    """Standard deviation of the rewards of one arm; not with a rate."""
    rate: float | None = None
    """Typical rate of rewards that are 0 or 1."""
    changes: int | None = None
    """Number of changes, or of cycles, within the horizon."""

    def __post_init__(self) -> None:
        for name in ("difference", "sd", "rate"):
            value = getattr(self, name)
            if value is not None and not check_number(name, value) > 0.0:
                raise InputError(f"{name} must be above 0 but got {value:g}.", field=name)
        if (self.sd is None) == (self.rate is None):
            raise InputError(
                "a description needs either the standard deviation of the rewards, such as sd 6, or the rate of rewards"
                " that are 0 or 1, such as rate 3%.",
                field="sd",
            )
        if self.changes is not None and self.changes < 1:
            raise InputError(
                f"changes must be at least 1 but got {self.changes}; rewards that do not change are the scenario"
                " stationary.",
                field="changes",
            )
        if self.rate is not None:
            if self.rate >= 1.0:
                raise InputError(
                    f"rate must be between 0 and 1 but got {self.rate:g}; write percentages as 3% or 0.03.",
                    field="rate",
                )
            low, high = self._means()
            if low < 0.0 or high > 1.0:
                raise InputError(
                    f"difference must be at most {2.0 / 3.0 * min(self.rate, 1.0 - self.rate):.3g} with the rate"
                    f" {self.rate:g}, so that all rates are between 0 and 1, but got {self.difference:g}.",
                    field="difference",
                )

    def _means(self) -> tuple[float, float]:
        spread = DIFFERENCES_PER_RANGE * self.difference
        low = 0.0 if self.rate is None else _round(self.rate - spread / 2.0)
        return low, _round(low + spread)

    def settings(self, scenario: str, horizon: int) -> dict[str, Any]:
        """Return the settings of a scenario, as `--set` takes them, that have these quantities.

        Raises:
            InputError: The scenario is unknown, or has no changes that could be counted.
        """
        low, high = self._means()
        settings: dict[str, Any] = {"mean_low": low, "mean_high": high}
        unit = (high - low) / BASE_RANGE
        if self.sd is None:
            settings = {"noise": "bernoulli", **settings}
        else:
            settings |= {"variance_low": _round(self.sd**2), "variance_high": _round(self.sd**2)}
        counted = []
        for key, value in find_scenario(scenario).parameters().items():
            name = key.rpartition(".")[2]
            applies = name in UNIT_POWERS and (self.rate is None or not name.startswith("variance"))
            if applies and key not in settings:  # the growth is relative to the variance of the noise
                factor = (self.sd or 0.0) ** 2 / BASE_VARIANCE if name == "growth" else unit ** UNIT_POWERS[name]
                settings[key] = _round(value * factor)
            elif self.changes is not None and name in INTERVALS:
                counted.append(key)
                intervals = self.changes + (name != "period")  # n changes divide the horizon into n + 1 parts
                settings[key] = max(2, round(horizon / intervals))
        if self.changes is not None and not counted:
            kinds = ("localized-jump", "periodic", "blips")
            raise InputError(
                f"changes cannot be counted in {scenario}; a kind of change with a number is {join_words(kinds)}.",
                field="changes",
            )
        return settings

    def describe(self, scenario: str, horizon: int, arms: int) -> str:
        """Describe what was understood, in one sentence.

        >>> Quantities(difference=3.0, sd=8.0).describe("stationary", 20_000, 8)
        '8 arms for 20,000 steps; their means are spread over 9, rewards vary by 8 around them; stationary.'
        """
        low, high = self._means()
        if self.rate is None:
            around = format_number(self.sd or 0.0)
            rewards = f"their means are spread over {format_number(high)}, rewards vary by {around} around them"
        else:
            rewards = f"rewards are 0 or 1 with rates between {format_number(low)} and {format_number(high)}"
        times = ""
        if self.changes is not None:
            times = ", once" if self.changes == 1 else f", {self.changes} times"
        return f"{format_count(arms)} arms for {format_count(horizon)} steps; {rewards}; {scenario}{times}."


def _round(value: float) -> float:
    return float(f"{value:.12g}")
