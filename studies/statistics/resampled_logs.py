"""Estimates and intervals of values measured on a log and on logs resampled from it."""

import numpy as np

from ravenlab.common.interval import CONFIDENCE_LEVEL, Interval
from ravenlab.environments.recorded.log_world import RUNS_PER_LOG, source_log
from ravenlab.environments.world import Floats
from ravenlab.studies.statistics.paired import StudentEstimate

CORRECTED = 0.5  # share of the estimated bias that is subtracted
CHOICE_VARIANCE = 0.2  # sampling variance added for the choice of neighborhoods, which resampled logs keep
MODEL_VARIANCE = 1.0  # the same for the kinds of change of a simulator, which all its paths have in common
MIN_SAMPLING_SHARE = 0.05  # least share of the variance between resampled logs that is sampling variance
MIN_DEGREES = 6.0  # degrees of freedom of an interval


def split_by_log(values: Floats) -> tuple[Floats, Floats]:
    """Split values per replication [R] into those of the log itself and of each resampled log [logs, runs]."""
    log = np.array([source_log(r) for r in range(values.size)])
    complete = 1 + np.flatnonzero(np.bincount(log)[1:] == RUNS_PER_LOG)
    return values[log == 0], values[np.isin(log, complete)].reshape(complete.size, RUNS_PER_LOG)


def estimate_interval(values: Floats, simulated: bool = False, level: float = CONFIDENCE_LEVEL) -> Interval:
    """Return an estimate and its confidence interval for a value per replication, arranged as by `source_log`.

    The sampling variance is that between resampled logs, minus the part due to the small number of runs on each. The
    difference between resampled logs and the log estimates the bias of the mean on the log. Half of it is subtracted,
    and the other half is the standard error of this correction: on simulated logs the correction was too small with
    many arms and too large with few. Paths of a simulator are a sample of what the truth may be: the estimate is their
    mean. Their variance is doubled, since the diagnosed kinds of change may be wrong: on simulated logs, intervals
    without this covered 90 %.

    >>> rng = np.random.default_rng(1)
    >>> which = np.array([source_log(r) for r in range(2000)])
    >>> values = 5.0 + (0.1 + rng.normal(0, 0.1, 1000)[which]) * (which > 0) + rng.normal(0, 0.3, 2000)
    >>> mean, low, high = estimate_interval(values)
    >>> bool(4.6 < low < 4.8 < mean < 5.0 < high < 5.3)
    True
    >>> mean, low, high = estimate_interval(values, simulated=True)
    >>> bool(4.7 < low < 4.9 < mean < 5.2 < high < 5.5)
    True
    """
    from scipy.stats import t

    scale = 2.0 ** int(np.frexp(np.abs(values).max())[1])  # a power of 2 is exact; squares of large values overflow
    own, groups = split_by_log(values / scale)
    count = groups.shape[0]
    within = float(groups.var(axis=1, ddof=1).mean())
    between = float(groups.mean(axis=1).var(ddof=1))
    bias = float(groups.mean() - own.mean())
    sampling = max(between - within / RUNS_PER_LOG, MIN_SAMPLING_SHARE * between)
    if simulated:
        mean = float(groups.mean())
        factor = 1.0 + MODEL_VARIANCE
        variance = factor * sampling + between / count
    else:
        mean = float(own.mean()) - CORRECTED * bias
        factor = 1.0 + CHOICE_VARIANCE
        simulation = (1.0 + CORRECTED) ** 2 * within / own.size + CORRECTED**2 * between / count
        variance = factor * sampling + simulation + ((1.0 - CORRECTED) * bias) ** 2
    # Satterthwaite's degrees of freedom: the sampling variance is a difference of two estimates.
    noise = between**2 / (count - 1) + (within / RUNS_PER_LOG) ** 2 / (groups.size - count)
    degrees = variance**2 / max(1e-300, factor**2 * noise)
    half = float(t.ppf(0.5 + level / 2.0, max(MIN_DEGREES, degrees)) * np.sqrt(variance))
    return Interval(scale * mean, scale * (mean - half), scale * (mean + half), level=level)


def estimate_log_difference(values: Floats, simulated: bool = False) -> StudentEstimate:
    """Estimate the mean of differences per replication, for tests and for intervals that hold together.

    >>> values = np.random.default_rng(1).normal(1.0, 0.1, 1024)
    >>> estimate_log_difference(values).p_value < 0.05
    True
    """
    from scipy.special import stdtrit

    interval = estimate_interval(values, simulated)
    error = interval.half_width / float(stdtrit(MIN_DEGREES, 0.5 + CONFIDENCE_LEVEL / 2.0))
    return StudentEstimate(interval.mean, error, MIN_DEGREES)
