"""What a setting costs in each scenario against the one that was tuned for it, with intervals that can be believed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from environments.world import Floats
from studies.measure import Measure
from studies.recommendation import Estimate
from studies.robust_recommendation import Price, World
from tuning.statistics import mean_interval, relative_interval, relative_shares

LEVEL = 0.95


def worlds_of(regret: Floats, least: Floats, scenarios: Sequence[str], seed: int) -> list[World]:
    """Regrets [R, S] of a setting, held against those of each scenario's tuned one in the same worlds."""
    out = []
    for s, name in enumerate(scenarios):
        mean, low, high = mean_interval(regret[:, s], seed)
        estimate = Estimate(mean=mean, low=low, high=high, replications=len(regret))
        price = _price(relative_interval(regret[:, s], least[:, s], seed))
        out.append(World(scenario=name, regret=estimate, price=price))
    return out


def overall_price(regret: Floats, least: Floats, measure: Measure, seed: int) -> Price:
    """The price over all scenarios, by the measure.

    Where only the worst count, which ones these are is itself a finding. So all scenarios get intervals that hold
    together (Bonferroni), and since the measure can't fall when a price rises, it lies between that of all lower
    ends and that of all upper ends. The mean needs no such care: it is one number a replication.
    """
    kinds = regret.shape[1]
    pairs = [(regret[:, s], least[:, s]) for s in range(kinds)]
    found = np.array([first.mean() / second.mean() - 1.0 for first, second in pairs])
    if measure.counted(kinds) == kinds:
        sample = np.mean([relative_shares(first, second) for first, second in pairs], axis=0)
        return _price(mean_interval(sample, seed))
    ends = [relative_interval(*pair, seed, level=1.0 - (1.0 - LEVEL) / kinds)[1:] for pair in pairs]
    low, high = (float(measure.value(np.array(end))) for end in zip(*ends, strict=True))
    return Price(mean=float(measure.value(found)), low=low, high=high)


def _price(found: tuple[float, float, float]) -> Price:
    mean, low, high = found
    return Price(mean=mean, low=low, high=high)
