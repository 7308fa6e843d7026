"""Small traces and logs for tests, drawn from a seed."""

from pathlib import Path

import numpy as np

from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.world import Floats


def table(rows: int = 400, arms: int = 4, seed: int = 1, missing: float = 0.0) -> Floats:
    """Return rewards with slowly varying means; cells are missing in runs, but never a whole row."""
    rng = np.random.default_rng(seed)
    means = 0.5 + 0.2 * np.sin(np.linspace(0, 6, rows)[:, None] + rng.uniform(0, 6, arms))
    values = np.asarray(means + 0.1 * rng.normal(size=(rows, arms)))
    for k in range(1, arms):
        for first in np.flatnonzero(rng.random(rows) < missing / 5):
            values[first : first + 5, k] = np.nan
    return values


def trace(**options: float) -> Trace:
    values = table(**options)  # type: ignore[arg-type]
    return Trace.from_values([f"arm{k}" for k in range(values.shape[1])], values)


def write_csv(path: Path, values: Floats, header: str | None = None) -> Path:
    """Write a table to a CSV file with empty missing cells."""
    names = header or ",".join(f"arm{k}" for k in range(values.shape[1]))
    rows = [",".join("" if np.isnan(cell) else repr(float(cell)) for cell in row) for row in values]
    path.write_text("\n".join([names, *rows, ""]), encoding="utf-8")
    return path


def draw_log(events: int = 1500, arms: int = 3, seed: int = 1, propensities: bool = False) -> Log:
    """A log of a policy that prefers the first arm, while the last one is the best."""
    rng = np.random.default_rng(seed)
    shares = np.array([2.0] + [1.0] * (arms - 1)) / (arms + 1)
    arm = rng.choice(arms, events, p=shares)
    reward = rng.normal(0.2 + 0.5 * arm / arms, 0.3)
    return Log.from_columns([f"a{k}" for k in arm], reward, shares[arm] if propensities else None)
