"""A small log of our own making, for examples and first steps: clicks on one of five banners."""

from __future__ import annotations

import numpy as np

from environments.log_file import Log

EVENTS = 20_000
BANNERS = ("autumn", "blue", "classic", "dots", "empty")
SEED = 6


def example_log(events: int = EVENTS) -> Log:
    """Which banner was shown at each visit, whether it was clicked, and how likely that banner was to be shown.

    The banner was drawn: a third of the time the house's favourite, else any of the five. One wears off half-way.

    >>> log = example_log()
    >>> log.events, log.arms, round(float(log.reward.mean()), 2)
    (20000, 5, 0.13)
    """
    rng = np.random.default_rng(SEED)
    favourite = 2
    shares = np.full(len(BANNERS), 2 / 15)
    shares[favourite] += 1 / 3
    arm = rng.choice(len(BANNERS), events, p=shares)
    rate = np.array([0.12, 0.22, 0.13, 0.16, 0.06])[arm]
    rate = np.where((arm == 1) & (np.arange(events) > 0.45 * events), 0.15, rate)
    clicked = (rng.random(events) < rate).astype(np.float64)
    return Log.of([BANNERS[k] for k in arm], clicked, np.round(shares[arm], 6))


def as_csv(log: Log) -> str:
    """A log as the text of a CSV file.

    >>> as_csv(example_log(events=600)).splitlines()[0]
    'step,arm,reward,propensity'
    """
    known = log.propensity is not None
    lines = ["step,arm,reward,propensity" if known else "step,arm,reward"]
    for i in range(log.events):
        cells = [f"{log.step[i]:.15g}", log.names[log.arm[i]], f"{log.reward[i]:.15g}"]
        lines.append(",".join([*cells, f"{log.propensity[i]:.15g}"] if log.propensity is not None else cells))
    return "\n".join(lines) + "\n"
