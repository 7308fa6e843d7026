"""Synthetic example files: a log of clicks on banners and a trace of response times of servers."""

from __future__ import annotations

import numpy as np

from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.trace_file import Trace

EVENTS = 20_000
BANNERS = ("autumn", "blue", "classic", "dots", "empty")
LOG_SEED = 6


def example_log(events: int = EVENTS) -> Log:
    """Create a log of the banner shown at each visit, whether it was clicked, and the propensity.

    With probability 1/3 a favourite banner is shown, else a random one. The click rate of one banner drops half-way.

    >>> log = example_log()
    >>> log.events, log.arms, round(float(log.reward.mean()), 2)
    (20000, 5, 0.13)
    """
    rng = np.random.default_rng(LOG_SEED)
    favourite = 2
    shares = np.full(len(BANNERS), 2 / 15)
    shares[favourite] += 1 / 3
    arm = rng.choice(len(BANNERS), events, p=shares)
    rate = np.array([0.12, 0.22, 0.13, 0.16, 0.06])[arm]
    rate = np.where((arm == 1) & (np.arange(events) > 0.45 * events), 0.15, rate)
    clicked = (rng.random(events) < rate).astype(np.float64)
    return Log.from_columns([BANNERS[k] for k in arm], clicked, np.round(shares[arm], 6))


def log_to_csv(log: Log) -> str:
    """Format a log as CSV.

    >>> log_to_csv(example_log(events=600)).splitlines()[0]
    'step,arm,reward,propensity'
    """
    known = log.propensity is not None
    lines = ["step,arm,reward,propensity" if known else "step,arm,reward"]
    for i in range(log.events):
        cells = [f"{log.step[i]:.15g}", log.names[log.arm[i]], f"{log.reward[i]:.15g}"]
        lines.append(",".join([*cells, f"{log.propensity[i]:.15g}"] if log.propensity is not None else cells))
    return "\n".join(lines) + "\n"


ROWS = 2000
SERVERS = ("amsterdam", "berlin", "cairo", "delhi", "essen")
TRACE_SEED = 6


def example_trace(rows: int = ROWS) -> Trace:
    """Create a trace of response times in milliseconds, one column per server; smaller is better.

    Means vary over the day, noise is skewed to the right, one server becomes slower half-way, and one is switched off
    at times, where its cells are missing.

    >>> trace = example_trace()
    >>> trace.rows, trace.arms, sum(count > 0 for count in trace.missing)
    (2000, 5, 1)
    """
    rng = np.random.default_rng(TRACE_SEED)
    t = np.arange(rows)[:, None] / rows
    base = np.array([62.0, 58.0, 66.0, 74.0, 55.0])
    day = 8.0 * np.sin(2.0 * np.pi * (4.0 * t + rng.random(len(SERVERS))))
    slow = np.where((t > 0.45) & (np.arange(len(SERVERS)) == 4), 18.0, 0.0)
    values = (base + day + slow) * rng.gamma(8.0, 1.0 / 8.0, (rows, len(SERVERS)))
    for first in rng.integers(0, rows, 9):
        values[first : first + rows // 60, 1] = np.nan
    return Trace.from_values(SERVERS, np.round(values, 2))


def trace_to_csv(trace: Trace) -> str:
    """Format a trace as CSV with a step column.

    >>> trace_to_csv(example_trace()).splitlines()[0]
    'step,amsterdam,berlin,cairo,delhi,essen'
    """
    lines = [",".join(["step", *trace.names])]
    for step, row in enumerate(trace.values, start=1):
        lines.append(",".join([str(step), *("" if np.isnan(cell) else repr(float(cell)) for cell in row)]))
    return "\n".join(lines) + "\n"
