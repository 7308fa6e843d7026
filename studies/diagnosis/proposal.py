"""The study file whose scenario resembles what was found: ready to run, with a comment on where each number is from."""

from __future__ import annotations

import math

import numpy as np

from environments.errors import InputError
from environments.noise import DEFAULT_NOISE, STUDENT_DEGREES
from environments.recorded.recording import BASE_QUARTILE_RANGE
from environments.world import Floats
from policies import find_policy
from policies.engine.base import ParamContext
from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.model import FittedModel
from studies.diagnosis.result import STATIONARY, Diagnosis
from studies.registry import StudyDefaults
from studies.spec.space import default_range, round_digits

ANOTHER_SIZE = 2.0
"""Rewards so many times as large or as small get ranges of their own."""


def propose_study(diagnosis: Diagnosis, source: str = "", horizon: int | None = None) -> str:
    """A study file in TOML.

    >>> print(propose(Diagnosis(("a", "b"), 1000, (), base={"mean_low": 0.3})).splitlines()[-1])
    name = "stationary"
    """
    if not diagnosis.conclusive:
        raise InputError(f"there is no study file to propose: {diagnosis.reason}")
    found = [each for each in diagnosis.findings if each.found]
    came = any(each.numbers.get("came") for each in found)
    lines = [
        f"# A world that resembles {_one_line(source) or 'the trace'}: {diagnosis.verdict}.",
        *(f"# - {each.kind}: {_one_line(each.strength)}." for each in found),
        "# Times are shares of the horizon. Check it with `ravenlab validate`, run it with `ravenlab tune --study`.",
        "",
        "[[study]]",
        f'policy = "{StudyDefaults.policy}"',
        f"horizon = {diagnosis.rows if horizon is None else horizon}",
        f"arms = {diagnosis.arms - came}",
        f'noise = "{diagnosis.noise}"',
        "trials = 200",
        "replications = 200",
        "",
        "# Levels and variances of the arms are drawn from the ranges that the trace shows.",
        "[study.settings]",
        *(f"{name} = {value!r}" for name, value in diagnosis.base.items()),
        "",
        *_space(diagnosis),
        "[study.scenario]",
    ]
    if not found:
        return "\n".join([*lines, f'name = "{STATIONARY}"', ""])
    lines.append(f"effects = [{', '.join(_text(each.kind) for each in found)}]")
    for each in found:
        lines += ["", f"[study.scenario.{each.kind}]"]
        if each.settings.get("growth") == 0.0:
            lines.append("# The variance shrinks, which the scenario can't; its growth is left out.")
        lines += [f"{name} = {_text(value)}" for name, value in each.settings.items()]
    return "\n".join([*lines, ""])


def _space(diagnosis: Diagnosis) -> list[str]:
    """Ranges for rewards of another size, which α₀ and ε follow as their powers say."""
    factor = diagnosis.spread / BASE_QUARTILE_RANGE
    if 1.0 / ANOTHER_SIZE <= factor <= ANOTHER_SIZE:
        return []
    setting = ParamContext(diagnosis.rows, diagnosis.arms, {})
    searched = [param for param in find_policy(StudyDefaults.policy).parameters if param.low is not None]
    ranges = {param.name: default_range(param, setting, factor**param.power) for param in searched}
    return [
        f"# Rewards spread {factor:.3g} times as far as those that the usual ranges are for.",
        "[study.space]",
        *(f"{name} = [{range_.low!r}, {range_.high!r}]" for name, range_ in ranges.items()),
        "",
    ]


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _one_line(text: str) -> str:
    """For a comment: names come from a file."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


FRESH = ("gradual-drift", "localized-jump", "blips")
"""Kinds whose new levels are draws from the same ranges."""
MANY, FAR = 40, 0.025
"""Levels from which on so many at either end are left out."""
STILL = 1e-3
"""Smallest variance, as a share of the mean one."""


def estimate_base_ranges(blocks: TraceBlocks, fitted: FittedModel) -> dict[str, float]:
    """mean_low, mean_high, variance_low and variance_high.

    >>> from studies.diagnosis.model import fit
    >>> blocks = Blocks.of(np.random.default_rng(0).normal(size=(2000, 2)))
    >>> sorted(base_ranges(blocks, fit(blocks, [])))
    ['mean_high', 'mean_low', 'variance_high', 'variance_low']
    """
    means = _range(_levels(fitted, fitted.base_mean, fitted.mean_weights, "mean_used"))
    if blocks.binary:
        return {"mean_low": max(0.0, means[0]), "mean_high": min(1.0, means[1])}
    levels = _levels(fitted, fitted.base_variance, fitted.variance_weights, "variance_used")
    levels = levels[levels > 0] if (levels > 0).any() else blocks.noise.mean(axis=0)
    # Rewards that stand still for a while have no variance to speak of, but a scenario needs one.
    levels = np.maximum(levels, STILL * float(levels.mean()))
    low, high = _range(levels)
    low = max(low, 0.5 * float(levels.min()))
    return {
        "mean_low": means[0],
        "mean_high": means[1],
        "variance_low": round_digits(low),
        "variance_high": high,
    }


def _levels(fitted: FittedModel, base: Floats, weights: list[Floats], used: str) -> Floats:
    """The base levels of the arms, and every level that a jump, a blip or a gradual drift leads to."""
    out = [base]
    for term, weight in zip(fitted.terms, weights, strict=True):
        if term.kind in FRESH:
            new = base + (np.cumsum(weight, axis=0) if term.kind == "localized-jump" else weight)
            out.append(new[getattr(term, used)])
    return np.concatenate([each.ravel() for each in out])


def _range(levels: Floats) -> tuple[float, float]:
    """Ends of a uniform draw: a little beyond the extremes, the less the more draws there are.

    Of many levels a few far ones are left out, as one odd arm would set the range for all.
    """
    if levels.size >= MANY:
        low, high = (float(end) for end in np.quantile(levels, [FAR, 1.0 - FAR]))
        beyond = FAR / (1.0 - 2.0 * FAR) * (high - low)
        return round_digits(low - beyond), round_digits(high + beyond)
    low, high = float(levels.min()), float(levels.max())
    beyond = (high - low) / max(levels.size - 1, 1)
    return round_digits(low - beyond), round_digits(high + beyond)


MOST_ROWS = 4000
"""That are looked at."""
FARTHEST = 10.0
"""Standard deviations: what lies beyond says no more of the shape."""
OUTSIDE = -100.0
"""Log-density of what a uniform noise can't be; the variance is only estimated, so a little is forgiven."""


def estimate_noise(blocks: TraceBlocks, fitted: FittedModel) -> str:
    """The name of a noise; normal unless another is clearly likelier.

    >>> from studies.diagnosis.model import fit
    >>> blocks = Blocks.of(np.random.default_rng(0).laplace(size=(2000, 2)))
    >>> noise_shape(blocks, fit(blocks, []))
    'laplace'
    """
    if blocks.binary:
        return "bernoulli"
    rows = np.linspace(0, blocks.rows - 1, min(blocks.rows, MOST_ROWS)).astype(np.int64)
    block = np.searchsorted(blocks.starts, rows, side="right") - 1
    z = np.clip(fitted.residuals[rows] / np.sqrt(fitted.variance[block]), -FARTHEST, FARTHEST)
    of_row = {name: _mean_over_arms(density) for name, density in _log_densities(z).items()}
    normal = of_row.pop(DEFAULT_NOISE)
    best = max(of_row, key=lambda name: float(of_row[name].mean()))
    ahead = of_row[best] - normal
    error = float(ahead.std()) / math.sqrt(ahead.size)
    return best if float(ahead.mean()) > 3.0 * error else DEFAULT_NOISE


def _mean_over_arms(table: Floats) -> Floats:
    """One value a row: arms may share their noise, so that rows are counted and not cells."""
    seen = ~np.isnan(table)
    rows = seen.any(axis=1)
    return np.asarray(np.where(seen, table, 0.0).sum(axis=1)[rows] / seen.sum(axis=1)[rows])


def _log_densities(z: Floats) -> dict[str, Floats]:
    """Of the standardised noises that a scenario knows (mean 0, variance 1)."""
    size, width = np.abs(z), math.sqrt(3.0) / math.pi
    v = STUDENT_DEGREES
    constant = math.lgamma((v + 1) / 2) - math.lgamma(v / 2) - 0.5 * math.log((v - 2) * math.pi)
    inside = np.where(size <= math.sqrt(3.0) * 1.02, -math.log(2.0 * math.sqrt(3.0)), OUTSIDE)
    return {
        "normal": -0.5 * z**2 - 0.5 * math.log(2.0 * math.pi),
        "laplace": -math.sqrt(2.0) * size - 0.5 * math.log(2.0),
        "logistic": -size / width - math.log(width) - 2.0 * np.log1p(np.exp(-size / width)),
        "uniform": np.where(np.isnan(z), np.nan, inside),
        "student-t": constant - (v + 1) / 2 * np.log1p(z**2 / (v - 2)),
    }
