"""Candidates in the worlds of several scenarios at once, for the same search as that of one scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from environments.errors import InputError
from environments.streams import Stream
from environments.world import Floats
from policies.engine.base import Value, Values
from policies.engine.play import REGRET
from studies.spec.robust import Measure, RobustSpec
from tuning.workers.local import SERIAL, Workers
from tuning.workers.problem import Evaluator


class ScenariosEvaluator(Evaluator):
    """Regrets in every scenario: what is played is [C, R, S], and a trial has a value a scenario.

    >>> from studies.spec.robust import parse_robust_spec
    >>> spec = parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 50, "arms": 3})
    >>> worlds = ScenariosEvaluator(spec)
    >>> played = worlds.play([spec.base.values({})], stream=1, first=0, count=5)
    >>> played.shape, worlds.sample(played).shape
    ((1, 5, 2), (1, 2, 5))
    """

    def __init__(self, spec: RobustSpec, workers: Workers = SERIAL) -> None:
        super().__init__(spec.base, workers)
        self.each = [Evaluator(own, workers) for own in spec.scenario_specs()]

    def play(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Regret [C, count, S] in worlds first … first + count − 1 of a stream, of each scenario."""
        return np.stack([each.play(candidates, stream, first, count)[..., REGRET] for each in self.each], axis=-1)

    def sample(self, played: Floats) -> Floats:
        """Regrets [C, S, R]: scenarios stay apart."""
        return np.moveaxis(played, -1, 1)


class RelativeEvaluator(ScenariosEvaluator):
    """Relative regrets made one by a measure: an ordinary search of one value, whose sample is [C, R]."""

    def __init__(
        self,
        spec: RobustSpec,
        measure: Measure,
        tuned: Sequence[Values],
        workers: Workers = SERIAL,
    ) -> None:
        super().__init__(spec, workers)
        self.measure = measure
        self.least = knowing(spec, self, tuned, Stream.SEARCH, spec.base.replications)

    def sample(self, played: Floats) -> Floats:
        """In each replication the mean relative regret of the scenarios that count."""
        return self.measure.sample(played / self.least)


def knowing(
    spec: RobustSpec, worlds: ScenariosEvaluator, tuned: Sequence[Values], stream: Stream, count: int
) -> Floats:
    """Mean regrets [S] of those who know the world, in the worlds that everyone else plays."""
    means = [
        float(each.play([values], stream, 0, count)[0, :, REGRET].mean())
        for each, values in zip(worlds.each, tuned, strict=True)
    ]
    return positive(spec.scenarios, np.array(means))


def positive(scenarios: Sequence[str], means: Floats) -> Floats:
    """The means, where regret can be relative to them."""
    for name, mean in zip(scenarios, means, strict=True):
        if not mean > 0.0:
            raise InputError(f"scenario {name} can't be one of robust: the setting tuned for it has regret {mean:.3g}.")
    return means
