"""Each kind of change in plain words and units, with the parameters of the scenario that does the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from environments.text import plural
from environments.world import Floats
from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.change_points import MAX_CHANGE_POINTS
from studies.diagnosis.model import Bools, FittedModel, NoiseScale, Term
from studies.spec.space import round_digits

Z95 = 1.959964
NONE_SEEN = "none seen"
ONCE = 0.51
"""Of the rows: what comes every so often comes once."""


@dataclass(frozen=True)
class KindDescription:
    """A kind of change as a person is told of it."""

    strength: str
    numbers: dict[str, Any]
    settings: dict[str, Any]
    arms: tuple[str, ...] = ()


@dataclass(frozen=True)
class FittedTerm:
    """A term with its coefficients [p, K] and their standard errors."""

    term: Term
    weights: Floats
    errors: Floats
    names: Sequence[str]
    rows: int

    @staticmethod
    def of(term: Term, fitted: FittedModel, scale: NoiseScale, blocks: TraceBlocks, names: Sequence[str]) -> FittedTerm:
        """Of one term of a model."""
        place = next(i for i, each in enumerate(fitted.terms) if each is term)
        if term.mean.shape[1]:
            return FittedTerm(
                term,
                fitted.mean_weights[place],
                fitted.mean_errors[place] * np.sqrt(scale.mean),
                names,
                blocks.rows,
            )
        errors = fitted.variance_errors[place] * np.sqrt(scale.variance / 2.0)
        return FittedTerm(term, fitted.variance_weights[place], errors, names, blocks.rows)

    def moving(self) -> tuple[str, ...]:
        """Arms in which it shows, each corrected for the number of arms."""
        from scipy.stats import norm

        least = float(norm.isf(0.025 / len(self.names)))
        large: Bools = np.abs(self.weights) > least * np.maximum(self.errors, 1e-300)
        shows = np.asarray((large & self.term.mean_used_or_variance()).any(axis=0))
        return tuple(name for name, yes in zip(self.names, shows, strict=True) if yes)

    def strongest(self) -> tuple[str, float, float, float]:
        """Name, value and 95 % interval of the arm that moves most, of terms with one column."""
        # An arm that was hardly seen says nothing.
        known = self.errors[0] <= 10.0 * np.median(self.errors[0])
        k = int(np.argmax(np.where(known, np.abs(self.weights[0]), -1.0)))
        value, error = float(self.weights[0, k]), float(self.errors[0, k])
        return self.names[k], value, value - Z95 * error, value + Z95 * error

    def typical(self) -> float:
        """Root of the mean square over arms, without what noise adds."""
        known = self.errors[0] <= 10.0 * np.median(self.errors[0])
        return math.sqrt(max(0.0, float((self.weights[0] ** 2 - self.errors[0] ** 2)[known].mean())))


def figure(value: float) -> str:
    """Three digits that count.

    >>> figure(0.123456), figure(-3.0)
    ('0.123', '−3')
    """
    return f"{value:.3g}".replace("-", "−")


def percent(share: float) -> str:
    """A share of the horizon as a study file says it.

    >>> percent(0.0998), percent(0.25), percent(0.9999)
    ('9.98%', '25%', '100%')
    """
    return f"{100 * share:.3g}%"


def _interval(low: float, high: float) -> str:
    return f"{figure(low)} to {figure(high)}"


def _drift(seen: FittedTerm) -> KindDescription:
    arm, value, low, high = seen.strongest()
    typical = seen.typical()
    text = f"means move by {figure(typical)} over the stretch (root mean square); {arm} most: {figure(value)}"
    return KindDescription(
        f"{text} ({_interval(low, high)})",
        {"typical": typical, "largest": value, "largest_interval": [low, high], "largest_arm": arm},
        {"drift": round_digits(math.sqrt(3.0) * typical), "over": "100%"},
        seen.moving(),
    )


def _growth(seen: FittedTerm) -> KindDescription:
    arm, value, low, high = seen.strongest()
    average = float(seen.weights[0].mean())
    text = f"σ² grows by {figure(average)} over the stretch on average; {arm} most: {figure(value)}"
    return KindDescription(
        f"{text} ({_interval(low, high)})",
        {"average": average, "largest": value, "largest_interval": [low, high], "largest_arm": arm},
        {"growth": round_digits(2.0 * max(average, 0.0)), "over": "100%"},
        seen.moving(),
    )


def _gradual(seen: FittedTerm) -> KindDescription:
    start, end = (seen.term.about[name] for name in ("start", "end"))
    arm, value, low, high = seen.strongest()
    typical = seen.typical()
    first, last = (max(1, round(share * seen.rows)) for share in (start, end))
    text = f"a new level takes over between steps {first} and {last}, {figure(typical)} away (root mean square)"
    return KindDescription(
        f"{text}; {arm} most: {figure(value)} ({_interval(low, high)})",
        {"start": first, "end": last, "typical": typical, "largest": value, "largest_interval": [low, high]},
        {"start": percent(max(start, 1.0 / seen.rows)), "end": percent(end)},
        seen.moving(),
    )


def _periodic(seen: FittedTerm) -> KindDescription:
    period = seen.term.about["period"]
    size = np.hypot(*seen.weights)
    error = seen.errors.mean(axis=0)
    size = np.sqrt(np.maximum(size**2 - error**2, 0.0))
    k = int(np.argmax(size))
    low, high = max(0.0, size[k] - Z95 * error[k]), size[k] + Z95 * error[k]
    text = f"period {period:.0f} steps, amplitude {figure(float(size.mean()))} on average"
    return KindDescription(
        f"{text}; {seen.names[k]} most: {figure(float(size[k]))} ({_interval(float(low), float(high))})",
        {"period": period, "amplitude": float(size.mean()), "largest": float(size[k])},
        {"amplitude": round_digits(2.0 * float(size.mean())), "period": percent(period / seen.rows)},
        seen.moving(),
    )


def _jumps(seen: FittedTerm) -> KindDescription:
    at = [cut + 1 for cut in seen.term.about["at"]]
    used = seen.term.mean_used
    sizes = np.abs(seen.weights[used])
    share = float((used | seen.term.variance_used).mean())
    # One jump alone must not come again within the horizon.
    every = spacing(at) if len(at) > 1 else max(float(at[0]), ONCE * seen.rows)
    typical = float(sizes.mean()) if sizes.size else 0.0
    arms = f"{figure(share * len(seen.names))} of {len(seen.names)} arms each"
    many = f"at least {len(at)} jumps" if len(at) >= MAX_CHANGE_POINTS else plural(len(at), "jump")
    text = f"{many} of {arms}, by {figure(typical)} on average, every {every:.0f} steps"
    return KindDescription(
        text if len(at) > 1 else f"1 jump of {arms}, by {figure(typical)} on average, at step {at[0]}",
        {"at": at, "typical": typical, "share_of_arms": share},
        {
            "every": percent(every / seen.rows),
            "fraction": round_digits(min(1.0, max(share, 1.0 / len(seen.names)))),
        },
        seen.moving(),
    )


def _blips(seen: FittedTerm) -> KindDescription:
    spans = seen.term.about["spans"]
    at = [start + 1 for start, _ in spans]
    lasting = float(np.median([end - start for start, end in spans]))
    every = max(spacing(at) if len(at) > 1 else max(float(at[0]), ONCE * seen.rows), 1.1 * lasting + 1.0)
    sizes = np.abs(seen.weights[seen.term.mean_used])
    typical = float(sizes.mean()) if sizes.size else 0.0
    text = f"{plural(len(spans), 'blip')} of {lasting:.0f} steps, {figure(typical)} away on average"
    return KindDescription(
        f"{text}, every {every:.0f} steps" if len(at) > 1 else f"{text}, at step {at[0]}",
        {"at": at, "until": [end + 1 for _, end in spans], "typical": typical},
        {"every": percent(every / seen.rows), "lasting": percent(lasting / seen.rows)},
        seen.moving(),
    )


DESCRIBERS: dict[str, Callable[[FittedTerm], KindDescription]] = {
    "incremental-drift": _drift,
    "variance-drift": _growth,
    "gradual-drift": _gradual,
    "periodic": _periodic,
    "localized-jump": _jumps,
    "blips": _blips,
}


def spacing(at: Sequence[int]) -> float:
    """Steps from one change to the next, the start of the trace being one: the median, as some may have been missed.

    >>> spacing([1000, 2000, 4000, 5000])
    1000.0
    """
    return float(np.median(np.diff([0, *at])))
