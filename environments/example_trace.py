"""A small trace of our own making, for examples and first steps: response times of servers, with their troubles."""

from __future__ import annotations

import numpy as np

from environments.trace_file import Trace

ROWS = 2000
SERVERS = ("amsterdam", "berlin", "cairo", "delhi", "essen")
SEED = 6


def example_trace(rows: int = ROWS) -> Trace:
    """Milliseconds each server would have taken, request by request; less is better.

    Means wander over the day, noise is skewed to the right, one server gets slow for good half-way, and one is
    switched off now and then, where its cells are missing.

    >>> trace = example_trace()
    >>> trace.rows, trace.arms, sum(count > 0 for count in trace.missing)
    (2000, 5, 1)
    """
    rng = np.random.default_rng(SEED)
    t = np.arange(rows)[:, None] / rows
    base = np.array([62.0, 58.0, 66.0, 74.0, 55.0])
    day = 8.0 * np.sin(2.0 * np.pi * (4.0 * t + rng.random(len(SERVERS))))
    slow = np.where((t > 0.45) & (np.arange(len(SERVERS)) == 4), 18.0, 0.0)
    values = (base + day + slow) * rng.gamma(8.0, 1.0 / 8.0, (rows, len(SERVERS)))
    for first in rng.integers(0, rows, 9):
        values[first : first + rows // 60, 1] = np.nan
    return Trace.of(SERVERS, np.round(values, 2))


def as_csv(trace: Trace) -> str:
    """A trace as the text of a CSV file with a column of steps.

    >>> as_csv(example_trace()).splitlines()[0]
    'step,amsterdam,berlin,cairo,delhi,essen'
    """
    lines = [",".join(["step", *trace.names])]
    for step, row in enumerate(trace.values, start=1):
        lines.append(",".join([str(step), *("" if np.isnan(cell) else repr(float(cell)) for cell in row)]))
    return "\n".join(lines) + "\n"
