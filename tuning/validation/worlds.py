"""Simulated worlds as held-out data: the selection worlds are played as far as a race needs them.

Parameters that differ by a thousandth lose the best arm in different worlds, so most of the difference between two
candidates in one world is chance, and drawing a world costs more than playing it. In a race a candidate is therefore
measured by the mean of up to `COPIES` copies with slightly different parameters in every world.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.threads import run_in_threads
from ravenlab.environments import Scenario
from ravenlab.environments.blocks import reward_scale
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.recommendation import Estimate, Failures, Recommendation, RewardStatistics
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.failures import include_unseen, include_unseen_in_mean
from ravenlab.studies.statistics.intervals import (
    indistinguishable,
    level_interval,
    order_best_first,
    paired_interval,
    relative_interval,
    relative_value_interval,
)
from ravenlab.studies.statistics.paired import StudentEstimate
from ravenlab.tuning.validation.candidates import COPIES, make_copies
from ravenlab.tuning.validation.held_out import (
    MIN_WORLDS,
    HeldOutData,
    Result,
    Screening,
    Selection,
    ValuesKey,
    make_key,
)
from ravenlab.tuning.validation.report import BaselineDifference, Report, Rival, list_alternatives, make_recommendation
from ravenlab.tuning.validation.sensitivity import measure_sensitivity
from ravenlab.tuning.workers.problem import Evaluator, count_failures

SCREENING_SHARE = 16  # one in so many selection worlds is used for the screening before a race
FIRST_LOOK_SHARE = 40  # the first look of the race comes after one in so many selection worlds, too early for ties
TIE_SHARES = (8, 4, 2, 1)  # shares of the selection worlds at the following looks; later ones double the worlds
MAX_GROWTH = 64  # largest factor by which the selection worlds are increased for the defaults
MAX_WORLD_STEPS = 160_000_000  # largest number of steps of all worlds of a race, unless `selection` is larger
MIN_RIVAL_WORLDS = 200
MAX_RIVAL_STEPS = 8_000_000  # of each alternative
DRAW_COST = 8.0  # cost of drawing a world, in plays; the number of copies depends on it


class WorldData(HeldOutData[Result]):
    """Held-out worlds of one or several scenarios.

    The screening plays the first selection worlds, the race the following ones. The number of copies is reduced after
    the first look if copies agree within worlds, so that worlds are worth more than copies.
    """

    scenarios: int = 1
    """Number of scenarios, each of which has so many worlds."""
    value: Callable[[Floats], Floats] | None = None
    """The objective of samples [R], if it depends on ranks; by default the mean."""

    def __init__(self, spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()) -> None:
        super().__init__(spec, evaluator, alternatives)
        self.screened = max(MIN_WORLDS // 2, spec.selection // SCREENING_SHARE) if self.raced else spec.selection
        self.copies = COPIES
        self.samples: dict[ValuesKey, Floats] = {}

    @property
    def raced(self) -> bool:
        """Whether there are enough selection worlds for a race."""
        return self.spec.selection >= MIN_WORLDS and bool(self.spec.space)

    @abstractmethod
    def play(self, candidates: Sequence[Values], first: int, count: int) -> Floats:
        """Return samples [C, count] in selection worlds first … first + count − 1, [C, count, S] of S scenarios.

        Lower is better.
        """

    def combine(self, sample: Floats) -> Floats:
        """Convert a sample [R, S] of several scenarios to a sample [R] whose mean is the objective."""
        return sample

    def most_worlds(self, conclusive: bool) -> int:
        return most_worlds(self.spec, conclusive, self.scenarios)

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        return make_looks(self.spec.selection, most)

    def measure(self, candidates: Sequence[Values], worlds: int) -> None:
        """Play the missing worlds of candidates, together where they miss the same worlds."""
        first_look = not self.samples
        for known in sorted({self.count(values) for values in candidates}):
            missing = {make_key(values): values for values in candidates if self.count(values) == known < worlds}
            if missing:
                copies = [copy for values in missing.values() for copy in make_copies(self.spec, values)[: self.copies]]
                played = self.play(copies, self.screened + known, worlds - known)
                for i, key in enumerate(missing):
                    sample = played[i * self.copies : (i + 1) * self.copies]
                    earlier = self.samples.get(key)
                    self.samples[key] = sample if earlier is None else np.concatenate([earlier, sample], axis=1)
        if first_look and len(self.samples) > 1:
            self._reduce_copies(*candidates[:2])

    def _reduce_copies(self, first: Values, second: Values) -> None:
        """Keep as many copies as minimize the cost of a given precision."""
        differences = self.samples[make_key(first)] - self.samples[make_key(second)]
        self.copies = count_copies(differences.reshape(*differences.shape[:2], -1).mean(axis=-1))
        self.samples = {key: sample[: self.copies] for key, sample in self.samples.items()}

    def count(self, values: Values) -> int:
        return self.samples[make_key(values)].shape[1] if make_key(values) in self.samples else 0

    def objective(self, values: Values, worlds: int) -> float:
        if self.value is not None:
            return float(self.value(self._sample(values, worlds).ravel()))
        return float(self._means(values, worlds).mean())

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        least = self._means(best, worlds)
        difference = self._means(values, worlds) - least
        scale = abs(float(least.mean())) or 1.0
        return float(difference.mean()) / scale, float(difference.std(ddof=1)) / worlds**0.5 / scale

    def compare(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        sample = self._means(values, worlds)
        least = self._means(best, worlds)
        level = 1.0 - 2.0 * error_rate
        if not least.mean() > 0.0:
            share = 0.0 if sample.mean() <= least.mean() else 1.0
            return Interval(share, share, share, level=level, of="difference")
        if self.value is None:
            return relative_interval(sample, least, self.spec.seed, level)
        samples = self._sample(values, worlds), self._sample(best, worlds)
        return relative_value_interval(*samples, self.spec.seed, self.value, level)

    def _sample(self, values: Values, worlds: int) -> Floats:
        return self.samples[make_key(values)][:, :worlds]

    def _means(self, values: Values, worlds: int) -> Floats:
        """Return the mean over copies in each world, combined over scenarios."""
        return self.combine(self._sample(values, worlds).mean(axis=0))


class SimulatedWorlds(WorldData[Recommendation]):
    """Held-out worlds of the scenario of a study."""

    scenario: Scenario

    def __init__(self, spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()) -> None:
        super().__init__(spec, evaluator, alternatives)
        if evaluator.objective.by_rank:
            self.value = evaluator.objective.value

    def play(self, candidates: Sequence[Values], first: int, count: int) -> Floats:
        return self.evaluator.play(candidates, Stream.SELECTION, first, count).counted_regret

    def screen(self, candidates: Sequence[Values], design: Sequence[Values]) -> Screening:
        """Play all candidates; the indistinguishable ones are found by the objective of the study."""
        objective = self.evaluator.objective
        played = self.evaluator.play([*candidates, *design], Stream.SELECTION, 0, self.screened)
        sample = self.evaluator.sample(played)[: len(candidates)]
        if self.maximize:
            sample = -sample
        _, equals = order_best_first(objective.value(sample), indistinguishable(sample, self.spec.seed, self.value))
        return Screening(objective.value(played.counted_regret), equals)

    def report(self, selection: Selection) -> Recommendation:
        """Estimate regret on the report worlds, whose number grows until rare failures are represented."""
        spec = self.spec
        played = self.evaluator.play_until_reliable(selection.evaluated, Stream.REPORT, spec.report)
        regret, *others = played.regret
        failures, *other_failures = count_failures(played)
        # The bootstrap and the scale of rewards take a fifth of a second in one thread.
        scale, interval, *intervals = run_in_threads(
            lambda task, *arguments: task(*arguments),
            [
                (measure_scale, self.scenario, spec),
                (level_interval, regret, spec.seed),
                *((paired_interval, other, regret, spec.seed) for other in others),
            ],
            self.evaluator.workers.threads,
        )
        report = Report(
            regret=Estimate(*include_unseen_in_mean(interval, failures), replications=regret.size),
            differences=[
                BaselineDifference(
                    regret=float(other.mean()),
                    difference=include_unseen(difference, failed, failures),
                    failure_rate=failed.rate,
                )
                for other, difference, failed in zip(others, intervals, other_failures, strict=True)
            ],
            scale=scale,
            failures=Failures(
                rate=failures.rate,
                count=failures.failures,
                highest_rate=failures.highest_rate,
                unseen=failures.unseen,
                reliable=failures.reliable,
            ),
            attainable=float((played.regret[0] + played.reward[0]).mean()),
            alternatives=list_alternatives(self._measure_rivals(regret, decidable=failures.reliable)),
            sensitivity=measure_sensitivity(selection, self.evaluator) if spec.map else None,
        )
        return make_recommendation(self, selection, report)

    def _measure_rivals(self, regret: Floats, decidable: bool) -> list[Rival]:
        """Play the alternatives in the first report worlds, whose number is limited because some policies are slow."""
        count = min(regret.size, max(MIN_RIVAL_WORLDS, MAX_RIVAL_STEPS // self.spec.horizon))
        rivals = []
        for evaluator, values in self.open_alternatives():
            played = evaluator.play([values], Stream.REPORT, 0, count).regret[0]
            difference = played - regret[:count]
            error = float(difference.std(ddof=1)) / count**0.5
            estimate = StudentEstimate(float(difference.mean()), error, count - 1.0)
            rivals.append(Rival(evaluator.problem.policy, estimate, decidable, params=values))
        return rivals


def measure_scale(scenario: Scenario, spec: StudySpec) -> RewardStatistics:
    """Return the scale of a scenario's rewards at the size of a study."""
    mean, spread = reward_scale(scenario, spec.horizon, spec.arms, spec.seed)
    return RewardStatistics(mean=mean, spread=spread)


def make_looks(selection: int, most: int) -> list[tuple[int, bool]]:
    """List the looks of a race: the number of worlds, and whether a tie is accepted.

    >>> make_looks(2000, 4000)
    [(50, False), (250, True), (500, True), (1000, True), (2000, True), (4000, True)]
    """
    worlds = [max(MIN_WORLDS, selection // share) for share in TIE_SHARES]
    while worlds[-1] < most:
        worlds.append(min(most, 2 * worlds[-1]))
    first = max(MIN_WORLDS // 4, selection // FIRST_LOOK_SHARE)
    return [(first, False), *((count, True) for count in sorted(set(worlds)) if count <= most)]


def most_worlds(spec: StudySpec, conclusive: bool = True, scenarios: int = 1) -> int:
    """Return the largest number of worlds of a race with the defaults.

    Args:
        spec: The study.
        conclusive: Whether the search was large enough to recommend the defaults; otherwise no worlds are added.
        scenarios: Number of scenarios, each of which has so many worlds.
    """
    if not conclusive:
        return max(MIN_WORLDS, spec.selection // TIE_SHARES[0])
    return max(spec.selection, min(MAX_GROWTH * spec.selection, MAX_WORLD_STEPS // (spec.horizon * scenarios)))


def count_copies(differences: Floats) -> int:
    """Return the number of copies that minimizes the cost of a given precision, from differences [COPIES, R].

    The variance of a difference is that between worlds plus that within worlds divided by the number of copies.

    >>> rng = np.random.default_rng(1)
    >>> count_copies(rng.normal(size=(8, 200))), count_copies(np.tile(rng.normal(size=200), (8, 1)))
    (8, 1)
    """
    within = float(differences.var(axis=0, ddof=1).mean())
    between = max(0.0, float(differences.mean(axis=0).var(ddof=1)) - within / len(differences))
    options = [copies for copies in (1, 2, 4, 8) if copies <= len(differences)]
    return min(options, key=lambda copies: (DRAW_COST + 2.0 * copies) * (between + within / copies))
