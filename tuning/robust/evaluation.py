"""Evaluators that play candidates in the worlds of several scenarios."""

from collections.abc import Mapping, Sequence

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_number
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.studies.spec.robust import Measure, RobustSpec
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator


class RelativeEvaluator(Evaluator):
    """Regret [C, R, S] in S scenarios relative to the tuned settings; a measure combines it to samples [C, R].

    >>> from ravenlab.studies.spec.robust import parse_measure, parse_robust_spec
    >>> spec = parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 50, "arms": 3})
    >>> defaults = spec.base.resolve_params({})
    >>> evaluator = RelativeEvaluator(spec, parse_measure("mean"), [defaults, defaults])
    >>> evaluator.play_scenarios([defaults], stream=1, first=0, count=5).shape
    (1, 5, 2)
    >>> evaluator.play_sample([defaults], stream=1, first=0, count=5).shape
    (1, 5)
    """

    def __init__(self, spec: RobustSpec, measure: Measure, tuned: Sequence[Values], workers: Workers = SERIAL) -> None:
        super().__init__(spec.base, workers)
        self.evaluators = [Evaluator(scenario, workers) for scenario in spec.scenario_specs()]
        self.measure = measure
        count = spec.base.replications
        means = [
            float(evaluator.play([values], Stream.SEARCH, 0, count).regret[0].mean())
            for evaluator, values in zip(self.evaluators, tuned, strict=True)
        ]
        self.tuned_regret = check_positive(spec.scenarios, np.array(means))

    def play_scenarios(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return the regret [C, count, S] in worlds first … first + count − 1 of a stream of each scenario."""
        played = [evaluator.play(candidates, stream, first, count).regret for evaluator in self.evaluators]
        return np.stack(played, axis=-1)

    def play_sample(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return the measure [C, count] of the relative regrets in each replication."""
        return self.measure.sample(self.play_scenarios(candidates, stream, first, count) / self.tuned_regret)


def check_positive(scenarios: Sequence[str], means: Floats) -> Floats:
    """Return the mean regrets of the tuned settings, which relative regret is divided by."""
    for name, mean in zip(scenarios, means, strict=True):
        if not mean > 0.0:
            raise InputError(
                f"scenario {name} can't be part of a robust study: its tuned setting has regret "
                f"{format_number(mean)}, and relative regret needs a positive one."
            )
    return means
