"""A study file whose simulated scenario resembles the data: noise, ranges of levels, effects and search space."""

from __future__ import annotations

import math

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.text import escape_unprintable
from ravenlab.environments.noise import DEFAULT_NOISE, STUDENT_DEGREES
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.block_means import Bools, TraceBlocks
from ravenlab.studies.diagnosis.model import FittedModel
from ravenlab.studies.diagnosis.result import STATIONARY, Diagnosis
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.spec.space import round_digits

REDRAWN_KINDS = ("gradual-drift", "localized-jump", "blips")
"""Kinds whose new levels are drawn from the base ranges."""
MIN_LEVELS_TO_TRIM = 40
TRIMMED_SHARE = 0.025
"""From this many levels on, this share is trimmed at either end of the range."""
MIN_RELATIVE_VARIANCE = 1e-3
"""Smallest variance, as a share of the mean variance; a scenario needs positive variances."""
MAX_NOISE_ROWS = 4000  # maximal number of rows used to identify the noise
MAX_RESIDUAL = 10.0  # standard deviations at which residuals are clipped
LOG_ZERO = -100.0
"""Log-density of uniform noise outside its support; finite because the variance is only estimated."""


def propose_study(diagnosis: Diagnosis, source: str = "", horizon: int | None = None) -> str:
    """Write a study file in TOML with a comment on the source of each number.

    Raises:
        InputError: The diagnosis is inconclusive.

    >>> print(propose_study(Diagnosis(("a", "b"), 1000, (), base={"mean_low": 0.3})).splitlines()[-1])
    name = "stationary"
    """
    if not diagnosis.conclusive:
        raise InputError(f"there is no study file to propose: {diagnosis.reason}")
    if diagnosis.mismatch:
        raise InputError(f"simulated worlds of the scenario do not resemble the data: {diagnosis.mismatch}.")
    findings = [finding for finding in diagnosis.findings if finding.modeled]
    opened = any(finding.numbers.get("came") for finding in findings)
    lines = [
        f"# A scenario that resembles {escape_unprintable(source) or 'the trace'}: {diagnosis.verdict}.",
        *(f"# - {finding.kind}: {escape_unprintable(finding.strength)}." for finding in findings),
        "# Times are shares of the horizon. Check the file with `ravenlab validate`; run it with `ravenlab tune`.",
        "",
        "[[study]]",
        f'policy = "{StudyDefaults.policy}"',
        f"horizon = {diagnosis.rows if horizon is None else horizon}",
        f"arms = {diagnosis.arms - opened}",
        f'noise = "{diagnosis.noise}"',
        "trials = 200",
        "replications = 200",
        "",
        "# Means and variances of the arms are drawn from ranges estimated from the data.",
        "[study.settings]",
        *(f"{name} = {value!r}" for name, value in diagnosis.base.items()),
        "",
        "[study.scenario]",
    ]
    if not findings:
        return "\n".join([*lines, f'name = "{STATIONARY}"', ""])
    lines.append(f"effects = [{', '.join(_format_toml(finding.kind) for finding in findings)}]")
    for finding in findings:
        lines += ["", f"[study.scenario.{finding.kind}]"]
        if finding.settings.get("growth") == 0.0:
            lines.append("# The variance decreases, which this scenario does not support; its growth is set to 0.")
        lines += [f"{name} = {_format_toml(value)}" for name, value in finding.settings.items()]
    return "\n".join([*lines, ""])


def estimate_base_ranges(blocks: TraceBlocks, fitted: FittedModel) -> dict[str, float]:
    """Estimate the settings mean_low, mean_high, variance_low and variance_high from all levels of a model.

    >>> from ravenlab.studies.diagnosis.model import fit_model
    >>> blocks = TraceBlocks.of(np.random.default_rng(0).normal(size=(2000, 2)))
    >>> sorted(estimate_base_ranges(blocks, fit_model(blocks, [])))
    ['mean_high', 'mean_low', 'variance_high', 'variance_low']
    """
    mean_used = [term.mean_used for term in fitted.terms]
    means = _estimate_range(_collect_levels(fitted, fitted.base_mean, fitted.mean_weights, mean_used))
    if blocks.binary:
        return {"mean_low": max(0.0, means[0]), "mean_high": min(1.0, means[1])}
    variance_used = [term.variance_used for term in fitted.terms]
    levels = _collect_levels(fitted, fitted.base_variance, fitted.variance_weights, variance_used)
    levels = levels[levels > 0] if (levels > 0).any() else blocks.noise.mean(axis=0)
    levels = np.maximum(levels, MIN_RELATIVE_VARIANCE * float(levels.mean()))
    low, high = _estimate_range(levels)
    low = max(low, 0.5 * float(levels.min()))
    return {"mean_low": means[0], "mean_high": means[1], "variance_low": round_digits(low), "variance_high": high}


def _collect_levels(fitted: FittedModel, base: Floats, weights: list[Floats], used: list[Bools]) -> Floats:
    """Collect the base levels and the new levels after jumps, blips and gradual drifts."""
    levels = [base.ravel()]
    for term, weight, columns in zip(fitted.terms, weights, used, strict=True):
        if term.kind in REDRAWN_KINDS and not term.is_outage:
            new = base + (np.cumsum(weight, axis=0) if term.kind == "localized-jump" else weight)
            levels.append(new[columns].ravel())
    return np.concatenate(levels)


def _estimate_range(levels: Floats) -> tuple[float, float]:
    """Estimate the ends of a uniform distribution, slightly beyond the extremes; many levels are trimmed first."""
    if levels.size >= MIN_LEVELS_TO_TRIM:
        low, high = (float(end) for end in np.quantile(levels, [TRIMMED_SHARE, 1.0 - TRIMMED_SHARE]))
        margin = TRIMMED_SHARE / (1.0 - 2.0 * TRIMMED_SHARE) * (high - low)
    else:
        low = float(levels.min())
        high = float(levels.max())
        margin = (high - low) / max(levels.size - 1, 1)
    return round_digits(low - margin), round_digits(high + margin)


def estimate_noise(blocks: TraceBlocks, fitted: FittedModel) -> str:
    """Name the most likely noise distribution; normal unless another one is clearly more likely.

    >>> from ravenlab.studies.diagnosis.model import fit_model
    >>> blocks = TraceBlocks.of(np.random.default_rng(0).laplace(size=(2000, 2)))
    >>> estimate_noise(blocks, fit_model(blocks, []))
    'laplace'
    """
    if blocks.binary:
        return "bernoulli"
    rows = np.linspace(0, blocks.rows - 1, min(blocks.rows, MAX_NOISE_ROWS)).astype(np.int64)
    block = np.searchsorted(blocks.starts, rows, side="right") - 1
    z = np.clip(fitted.residuals[rows] / np.sqrt(fitted.variance[block]), -MAX_RESIDUAL, MAX_RESIDUAL)
    by_row = {name: _mean_over_arms(density) for name, density in _log_densities(z).items()}
    normal = by_row.pop(DEFAULT_NOISE)
    best = max(by_row, key=lambda name: float(by_row[name].mean()))
    gain = by_row[best] - normal
    error = float(gain.std()) / math.sqrt(gain.size)
    return best if float(gain.mean()) > 3.0 * error else DEFAULT_NOISE


def _mean_over_arms(table: Floats) -> Floats:
    """Average each row over its observed arms: arms may share their noise, so rows are the independent units."""
    observed = ~np.isnan(table).all(axis=1)
    return np.asarray(np.nanmean(table[observed], axis=1))


def _log_densities(z: Floats) -> dict[str, Floats]:
    """Compute the log-densities of all noise distributions, standardized to mean 0 and variance 1."""
    from scipy.stats import laplace, logistic, norm, t

    end = math.sqrt(3.0)
    inside = np.abs(z) <= 1.02 * end
    return {
        "normal": norm.logpdf(z),
        "laplace": laplace.logpdf(z, scale=math.sqrt(0.5)),
        "logistic": logistic.logpdf(z, scale=math.sqrt(3.0) / math.pi),
        "uniform": np.where(np.isnan(z), np.nan, np.where(inside, -math.log(2.0 * end), LOG_ZERO)),
        "student-t": t.logpdf(z, STUDENT_DEGREES, scale=math.sqrt(1.0 - 2.0 / STUDENT_DEGREES)),
    }


def _format_toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
