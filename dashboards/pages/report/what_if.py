"""What-if panel of a study: predicted objective at other parameters, from a surface fitted to the trials."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboards.pages.report.data import StudyData
from environments.text import format_count, format_number, format_percent
from environments.world import Floats
from studies.spec.objective import parse_objective
from studies.spec.space import Range, find_parameters
from studies.statistics.gaussian_process import GaussianProcess, fit_gaussian_process
from studies.symbols import format_symbol

MIN_TRIALS = 50
CLIP = 0.9  # quantile of the trials at which the axis of the predictions ends
MAX_RATIO = 4.0  # to the lowest trial, where the axis ends at the latest


@dataclass(frozen=True)
class Knob:
    """A searched parameter with its slider. `start` is the position of the recommended value, 0 to 1."""

    name: str
    range: Range
    integer: bool
    start: float

    @property
    def symbol(self) -> str:
        """Its symbol."""
        return format_symbol(self.name)

    @property
    def ends(self) -> tuple[str, str]:
        """The values at both ends of the slider."""
        low, high = self.range.bounds()
        return format_number(low), format_number(high)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return {
            "name": self.name,
            "low": self.range.low,
            "high": self.range.high,
            "scale": self.range.scale,
            "integer": self.integer,
            "start": self.start,
        }


@dataclass(frozen=True)
class WhatIf:
    """Everything that the what-if panel shows."""

    id: str
    label: str
    """The predicted quantity, such as mean regret."""
    knobs: list[Knob]
    note: str
    json: str
    process: GaussianProcess


def position_in_range(value: float, bounds: Range) -> float:
    """Return the position of a value in its search range on the scale of the search, from 0 to 1.

    >>> position_in_range(1.0, Range(low=0.01, high=100.0))
    0.5
    """
    value = 1.0 - value if bounds.scale == "one-minus" else value
    if bounds.scale == "linear":
        return (value - bounds.low) / (bounds.high - bounds.low)
    return math.log(value / bounds.low) / math.log(bounds.high / bounds.low)


def locate_trials(study: StudyData) -> tuple[Floats, Floats, Floats]:
    """Return the positions in the search space [n, d], values and standard errors of the complete trials."""
    space = study.spec.space
    trials = [
        point
        for point in study.trials.drawn
        if point.state == "COMPLETE" and point.value is not None and space.keys() <= point.params.keys()
    ]
    places = [[position_in_range(float(each.params[name]), space[name]) for name in space] for each in trials]
    values = np.array([each.value for each in trials], dtype=float)
    errors = np.array([each.stderr or 0.0 for each in trials])
    return np.array(places).reshape(len(trials), len(space)), values, errors


def make_what_if(study: StudyData, id: str) -> WhatIf | None:
    """Fit a surface to the trials of a study; None if it has too few or no parameters were searched."""
    spec = study.spec
    names = list(spec.space)
    points, values, errors = locate_trials(study)
    if len(points) < MIN_TRIALS or not names:
        return None
    process = fit_gaussian_process(points, values)
    sampling = float(np.median(errors / values if process.logarithmic else errors))
    recommended = {} if study.recommendation is None else study.recommendation.params
    middle = dict(zip(names, np.median(points, axis=0), strict=True))
    integers = {param.name for param in find_parameters(spec.policy) if param.integer}
    knobs = []
    for name in names:
        value = recommended.get(name)
        start = middle[name] if value is None else position_in_range(float(value), spec.space[name])
        knobs.append(Knob(name, spec.space[name], name in integers, round(min(max(start, 0.0), 1.0), 6)))
    label = parse_objective(spec.objective).label()
    return WhatIf(
        id=id,
        label=label,
        knobs=knobs,
        note=_describe(process, len(points), spec.replications, sampling),
        json=json.dumps(_as_object(process, knobs, sampling, values, label), separators=(",", ":")),
        process=process,
    )


def _describe(process: GaussianProcess, trials: int, worlds: int, sampling: float) -> str:
    """State how the predictions were made and how accurate they are."""
    error = format_percent(process.error) if process.logarithmic else format_number(process.error)
    noise = format_percent(sampling) if process.logarithmic else format_number(sampling)
    kind = "relative" if process.logarithmic else "absolute"
    return (
        f"Predicted by a Gaussian process fitted to {format_count(trials)} trials. Median cross-validated {kind} error:"
        f" {error}. The 95 % interval also includes the standard error of the {format_count(worlds)} search worlds,"
        f" {noise}; the comparison with the recommended values does not, because both refer to the same worlds."
    )


def _as_object(
    process: GaussianProcess, knobs: list[Knob], sampling: float, values: Floats, label: str
) -> dict[str, Any]:
    """Convert to plain JSON data for the page."""
    low, high = float(values.min()), float(np.quantile(values, CLIP))
    if process.logarithmic:
        low, high = low / 1.1, min(high, MAX_RATIO * low)
    else:
        low -= 0.1 * (high - low)
    return {
        "label": label,
        "knobs": [knob.as_object() for knob in knobs],
        "lengths": process.lengths.tolist(),
        "supports": process.supports.tolist(),
        "projection": process.projection.tolist(),
        "weights": process.weights.tolist(),
        "covariance": [row[: place + 1] for place, row in enumerate(process.covariance.tolist())],
        "offset": process.offset,
        "amplitude": process.amplitude,
        "noise": process.noise,
        "logarithmic": process.logarithmic,
        "sampling": float(f"{sampling:.4g}"),
        "range": [float(f"{low:.5g}"), float(f"{max(high, low * 1.2 if low > 0 else low + 1.0):.5g}")],
    }
