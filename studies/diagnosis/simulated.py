"""Scenarios that resemble diagnosed rewards at another horizon, and diagnoses of resampled rewards.

The uncertainty of a diagnosis is shown by others: of the fitted means with blocks of residuals drawn anew.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ravenlab.common.checks import parse_steps
from ravenlab.common.errors import InputError
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.catalog import combine
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.analysis import diagnose
from ravenlab.studies.diagnosis.block_means import TraceBlocks
from ravenlab.studies.diagnosis.model_selection import ARM_CHURN, select_model
from ravenlab.studies.diagnosis.result import STATIONARY, Diagnosis

LENGTHS = ("every", "lasting", "period", "over")
"""Settings that are lengths of time: they keep their number of steps at another horizon."""
RANDOM_TIMES = "geometric"
"""Changes come at random times, because those of the future are not known."""


def resembling_scenario(diagnosis: Diagnosis, horizon: int) -> Scenario:
    """Return a scenario with the kinds of change, their rates in steps, the noise and the levels of a diagnosis.

    Absences of arms are left out.

    Raises:
        InputError: The diagnosis is inconclusive.

    >>> base = {"mean_low": 0.3, "mean_high": 0.8, "variance_low": 0.01, "variance_high": 0.09}
    >>> resembling_scenario(Diagnosis(("a", "b"), 1000, (), base=base), 5000).name
    'stationary'
    """
    if not diagnosis.conclusive:
        raise InputError(f"the rewards can't be simulated: {diagnosis.reason}", field="keep_state")
    found = [finding for finding in diagnosis.findings if finding.found and finding.kind != ARM_CHURN]
    name = combine([finding.kind for finding in found]).name if found else STATIONARY
    known = find_scenario(name).parameters()
    settings: dict[str, Any] = {**diagnosis.base, "noise": diagnosis.noise}
    for finding in found:
        rates = dict(finding.settings)
        if "every" in rates and not {"affected", "size"} & {*rates}:  # outages of some arms have no random times
            rates["times"] = RANDOM_TIMES
        for key, value in rates.items():
            full = f"{finding.kind}.{key}"
            length = key in LENGTHS
            settings[full if full in known else key] = parse_steps(key, value, diagnosis.rows) if length else value
    return find_scenario(name, {key: value for key, value in settings.items() if key in known or key == "noise"})


def resample_diagnosis(values: Floats, seed: int) -> Diagnosis:
    """Diagnose rewards [N, K] with the fitted means of others and blocks of their residuals, drawn at random.

    Rewards of 0 and 1 are drawn with the fitted rates.

    >>> rewards = np.random.default_rng(1).normal([0.2, 0.6, 0.9], 0.1, size=(600, 3))
    >>> resample_diagnosis(rewards, seed=1).verdict
    'stationary'
    """
    blocks = TraceBlocks.of(values)
    fitted = select_model(blocks).fit
    means = values - fitted.residuals
    rng = np.random.default_rng(seed)
    if blocks.binary:
        drawn = (rng.random(values.shape) < means).astype(np.float64)
        return diagnose(np.where(np.isnan(values), np.nan, drawn))
    rows = len(values)
    deviations = np.sqrt(fitted.variance)[np.searchsorted(blocks.starts, np.arange(rows), side="right") - 1]
    standardized = np.where(np.isnan(values), 0.0, fitted.residuals) / deviations
    size = math.isqrt(rows)
    starts = rng.integers(0, rows - size + 1, -(-rows // size))
    chosen = (starts[:, None] + np.arange(size)).ravel()[:rows]
    return diagnose(means + standardized[chosen] * deviations)
