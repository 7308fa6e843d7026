"""Baselines of a recommendation: how each relates to the recommended parameters, decided and worded in one place.

`Recommendation.comparisons` and `Recommendation.alternative_comparisons` give the comparisons; the functions of this
module are the only ones that write them as text.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ravenlab.common.interval import TIE_MARGIN, Interval
from ravenlab.common.text import (
    capitalize_first,
    format_ends,
    format_interval,
    format_mean,
    format_number,
    format_percent,
    format_signed,
)
from ravenlab.studies.symbols import format_params

Relation = Literal["same", "tied", "better", "worse", "inconclusive"]

IDENTICAL = "identical"
SIMULTANEOUS = "simultaneous "
USUAL = "the scenario at its default settings"
UNDECIDED: tuple[Relation, ...] = ("tied", "inconclusive")
"""Relations that a text states after the difference; the others follow from its sign."""

TITLES = {"paper": "the paper's advice", "as constructed": "the class as constructed", "defaults": "the defaults"}
"""The baselines with parameters, in the order of tables."""


def name_defaults(unit: float) -> str:
    """Return what the defaults are called: they are scaled if the rewards have another scale."""
    return "defaults" if unit == 1.0 else "scaled defaults"


def describe_scale(
    scale: float, reference: str = "simulated worlds", scaled: str = "ranges, defaults and the paper's advice"
) -> str:
    """Describe the scale of the rewards relative to that of other worlds, and what follows it, in one sentence."""
    relative = f"{format_number(scale)} times that of {reference}"
    return f"The scale of the rewards is {relative}; {scaled} are scaled accordingly."


def shorten_title(title: str) -> str:
    """Return the name of a baseline in tables and figures.

    >>> shorten_title(TITLES["paper"]), shorten_title(TITLES["as constructed"])
    ("paper's advice", 'as constructed')
    """
    return title.removeprefix("the ").removeprefix("class ")


def relate(
    difference: Interval,
    reference: float,
    *,
    same_params: bool = False,
    conclusive: bool = True,
    margin: float = TIE_MARGIN,
) -> Relation:
    """Relate a baseline to the recommended parameters.

    Args:
        difference: Regret of the baseline minus that of the recommended parameters, on the same held-out data.
        reference: What the margin is relative to: the recommended regret, or the mean reward on a log.
        same_params: Whether the baseline has the recommended parameters.
        conclusive: Whether the data suffice for a conclusion.
        margin: Relative difference up to which two candidates are tied.

    >>> relate(Interval(5.0, 3.0, 7.0, of="difference"), 100.0), relate(Interval(1.0, 0.5, 1.5, of="difference"), 100.0)
    ('worse', 'tied')
    """
    if same_params or difference.is_zero:
        return "same"
    if not conclusive:
        return "inconclusive"
    if difference.is_within(margin * abs(reference)):
        return "tied"
    if difference.excludes_zero:
        return "worse" if difference.mean > 0.0 else "better"
    return "inconclusive"


@dataclass(frozen=True)
class BaselineComparison:
    """A baseline compared with the recommended parameters on the same held-out data."""

    name: str
    """Key of the baseline: paper, as constructed, defaults, fixed arm, logging policy or an untuned policy."""
    title: str
    """Its name in texts, such as "the scaled defaults"."""
    relation: Relation
    """What the baseline is, compared with the recommended parameters."""
    difference: Interval
    """Regret of the baseline minus that of the recommended parameters."""
    reference: float | None = None
    """The recommended regret, of which the difference is stated as a share; None where shares have no meaning."""
    unit: str = ""
    """What the difference is measured for, after a space, such as " per step"."""
    quantity: Literal["regret", "mean reward", "mean cost"] = "regret"
    """What a log estimates is the mean reward or cost."""
    params: Mapping[str, float | str] | None = None
    """None for a baseline that is not the policy: one arm, or the logging policy."""
    same_params: bool = False
    simultaneous: bool = False
    """Whether the interval holds together with those of the other comparisons."""

    @property
    def short_title(self) -> str:
        """Its name in tables and figures."""
        return shorten_title(self.title)

    @property
    def heading(self) -> str:
        """Its name at the beginning of a sentence or row; names of policies keep their case."""
        return self.title if self.title.startswith(self.name) else capitalize_first(self.title)

    @property
    def stated(self) -> Interval:
        """The difference in its own quantity: that of a mean reward is negative for a worse baseline."""
        return -self.difference if self.quantity == "mean reward" else self.difference

    @property
    def extra(self) -> str:
        """What the difference is, for a column: extra regret, or the difference in what a log estimates."""
        return "extra regret" if self.quantity == "regret" else f"difference in {self.quantity}"

    @property
    def share(self) -> Interval | None:
        """The difference as a share of the recommended regret; None where shares have no meaning."""
        return None if self.reference is None else self.difference / self.reference


def format_change(comparison: BaselineComparison) -> str:
    """Format how a baseline differs, without the interval: in percent, or in the units of recorded data.

    >>> format_change(BaselineComparison("paper", "the paper's advice", "worse", Interval(5.0, 3.0, 7.0), 50.0))
    '+10 %'
    """
    if comparison.relation == "same":
        return IDENTICAL
    stated, format_value = _state(comparison)
    return format_value(stated.mean)


def format_difference(comparison: BaselineComparison, *, interval: bool = True) -> str:
    """Format the extra regret of a baseline for a table or figure, with its interval and whether it is decided.

    >>> format_difference(BaselineComparison("defaults", "the defaults", "worse", Interval(5.0, 3.0, 7.0), 50.0))
    '+10 % (+6.0 % to +14 %)'
    >>> format_difference(BaselineComparison("defaults", "the defaults", "tied", Interval(0.1, -0.2, 0.4), 50.0))
    '+0.2 % (−0.4 % to +0.8 %), tied'
    """
    if comparison.relation == "same":
        return IDENTICAL
    stated, format_value = _state(comparison)
    text = format_interval(stated, "", format_value) if interval else format_value(stated.mean)
    return f"{text}{_qualify(comparison, ', ')}"


def describe_baseline(comparison: BaselineComparison) -> str:
    """Describe in one sentence how a baseline compares with the recommended parameters."""
    title = comparison.heading
    params = "" if comparison.params is None else f" ({format_params(comparison.params)})"
    verb = "are" if title.endswith("defaults") else "is"
    if comparison.same_params:
        return f"{title} {verb} {IDENTICAL} to this recommendation."
    if comparison.relation == "same":
        return f"{title}{params}: {comparison.quantity} {IDENTICAL} to that of this recommendation."
    difference = comparison.stated
    amount = format_mean(difference if difference.mean >= 0.0 else -difference)
    direction = "higher" if difference.mean >= 0.0 else "lower"
    share = "" if comparison.share is None else f"{format_percent(comparison.share.mean, signed=True)}; "
    measured = f"{comparison.quantity} {amount}{comparison.unit} {direction}"
    if difference.mean == 0.0 and comparison.relation == "inconclusive":
        measured = f"the same {comparison.quantity} in these data, which do not decide"
    return (
        f"{title}{params}: {measured}"
        f" ({share}{SIMULTANEOUS if comparison.simultaneous else ''}95 % CI of the difference {format_ends(difference)}"
        f"{_qualify(comparison, '; ')})."
    )


def describe_stake(comparison: BaselineComparison) -> str:
    """State in one sentence by how much a baseline is worse; empty if it is not."""
    if comparison.relation != "worse":
        return ""
    verb = "have" if comparison.title.endswith("defaults") else "has"
    params = (
        f" ({format_params(comparison.params)})" if comparison.name == "as constructed" and comparison.params else ""
    )
    unit = comparison.unit if comparison.share is None else ""
    stake = f"{format_change(comparison).removeprefix('+')} more regret{unit}"
    if comparison.quantity != "regret":
        amount = f"{format_number(abs(comparison.stated.mean))}{unit}"
        stake = f"a {comparison.quantity} that is {amount} {'higher' if comparison.stated.mean > 0.0 else 'lower'}"
    return f"{capitalize_first(comparison.title)}{params} {verb} {stake}."


def _state(comparison: BaselineComparison) -> tuple[Interval, Callable[[float], str]]:
    """Return the difference, as a share if shares have a meaning, and the function that formats it."""
    if comparison.share is None:
        return comparison.stated, format_signed
    return comparison.share, partial(format_percent, signed=True)


def _qualify(comparison: BaselineComparison, separator: str) -> str:
    """Return the relation after a separator if the difference alone does not state it."""
    return f"{separator}{comparison.relation}" if comparison.relation in UNDECIDED else ""
