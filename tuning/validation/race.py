"""A race: candidates are compared with the best on a growing number of selection worlds until each is tied or worse.

A candidate is *tied* if the upper 95 % bound of its paired excess over the best is at most `TIE_MARGIN`, and *worse* if
the lower bound is above `TIE_MARGIN`. The looks share the error rate of 5 %, so that a bound holds although the number
of worlds depends on it.

Parameters that differ by a thousandth lose the best arm in different worlds, so most of the difference between two
candidates in one world is chance, and drawing a world costs more than playing it. A candidate is therefore measured by
the mean of up to `COPIES` copies with slightly different parameters in every world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ravenlab.common.interval import ERROR_RATE, TIE_MARGIN, Interval
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.verdict import Excess
from ravenlab.studies.spec.study import ResolvedStudy
from ravenlab.studies.statistics.intervals import relative_interval, relative_value_interval
from ravenlab.tuning.validation.points import COPIES, make_copies

MIN_WORLDS = 200
"""Selection worlds below which candidates are not compared, since an interval of so few worlds is unreliable."""

FIRST_LOOK_SHARE = 40  # the first look of the race comes after one in so many selection worlds, too early for ties
TIE_SHARES = (8, 4, 2, 1)  # shares of the selection worlds at the following looks; later ones double the worlds
NEGLIGIBLE = 0.025  # standard error of the relative difference between two references below which the worse is dropped
MAX_GROWTH = 64  # largest factor by which the selection worlds are increased for the defaults
MAX_WORLD_STEPS = 160_000_000  # largest number of steps of all worlds of a race, unless `selection` is larger
DRAW_COST = 8.0  # cost of drawing a world, in plays; the number of copies depends on it

ValuesKey = tuple[tuple[str, object], ...]

Play = Callable[[Sequence[Values], int, int], Floats]
"""Returns the samples [C, count] of candidates in selection worlds first … first + count − 1; lower is better.

With several scenarios the samples are [C, count, S].
"""


class Measurements(Protocol):
    """Results of candidates on the selection data: simulated worlds, or a segment of a trace or log."""

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        """List the looks: the number of worlds, and whether a tie is accepted."""

    def extend(self, candidates: Sequence[Values], worlds: int) -> None:
        """Measure candidates on so many worlds."""

    def count(self, values: Values) -> int:
        """Return the number of worlds on which a candidate was measured."""

    def objective(self, values: Values, worlds: int) -> float:
        """Return the objective of a measured candidate; lower is better."""

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        """Return the difference from the best, relative to the best, and its standard error."""

    def excess(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        """Return the objective relative to the best, minus 1, with bounds that each fail with the error rate."""


class WorldMeasurements:
    """Candidates in simulated worlds, each measured by its copies.

    The number of copies is reduced after the first look if copies agree within worlds, so that worlds are worth more
    than copies.
    """

    def __init__(
        self,
        spec: ResolvedStudy,
        play: Play,
        first: int = 0,
        value: Callable[[Floats], Floats] | None = None,
        combine: Callable[[Floats], Floats] | None = None,
    ) -> None:
        """Take the study and a function that plays candidates.

        Args:
            spec: The study.
            play: Plays candidates.
            first: The first world of the race.
            value: The objective of samples [R], if it depends on ranks; by default the mean.
            combine: Converts samples [R, S] of several scenarios to samples [R] whose mean is the objective.
        """
        self.spec, self.play, self.first, self.value, self.combine = spec, play, first, value, combine
        self.copies = COPIES
        self.samples: dict[ValuesKey, Floats] = {}

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        """List the looks."""
        return make_looks(self.spec.selection, most)

    def extend(self, candidates: Sequence[Values], worlds: int) -> None:
        """Play the missing worlds of candidates, together where they miss the same worlds."""
        first_look = not self.samples
        for known in sorted({self.count(values) for values in candidates}):
            missing = {make_key(values): values for values in candidates if self.count(values) == known < worlds}
            if missing:
                copies = [copy for values in missing.values() for copy in make_copies(self.spec, values)[: self.copies]]
                played = self.play(copies, self.first + known, worlds - known)
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
        """Return the number of worlds that a candidate has played."""
        return self.samples[make_key(values)].shape[1] if make_key(values) in self.samples else 0

    def objective(self, values: Values, worlds: int) -> float:
        """Return the objective of a played candidate."""
        if self.value is not None:
            return float(self.value(self._sample(values, worlds).ravel()))
        return float(self._means(values, worlds).mean())

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        """Return the difference between the means and its standard error, relative to the mean of the best."""
        least = self._means(best, worlds)
        difference = self._means(values, worlds) - least
        scale = abs(float(least.mean())) or 1.0
        return float(difference.mean()) / scale, float(difference.std(ddof=1)) / worlds**0.5 / scale

    def excess(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        """Return the excess over the best with its bounds."""
        sample, least = self._means(values, worlds), self._means(best, worlds)
        if not least.mean() > 0.0:
            share = 0.0 if sample.mean() <= least.mean() else 1.0
            return Interval(share, share, share, of="difference")
        level = 1.0 - 2.0 * error_rate
        if self.value is None:
            return relative_interval(sample, least, self.spec.seed, level)
        samples = self._sample(values, worlds), self._sample(best, worlds)
        return relative_value_interval(*samples, self.spec.seed, self.value, level)

    def _sample(self, values: Values, worlds: int) -> Floats:
        return self.samples[make_key(values)][:, :worlds]

    def _means(self, values: Values, worlds: int) -> Floats:
        """Return the mean over copies in each world, combined over scenarios."""
        means = self._sample(values, worlds).mean(axis=0)
        return means if self.combine is None else self.combine(means)


class Race:
    """A race between references, any of which may be the best, and candidates.

    The best reference counts as the best. Another one is dropped when it is worse by more than the standard error of
    the difference, or when that error is negligible; no tie is accepted before.
    """

    def __init__(self, data: Measurements, references: Sequence[Values]) -> None:
        self.data, self.references = data, list(references)

    def compare(self, candidate: Values, most: int) -> Excess:
        """Compare a candidate with the best until it is tied or worse, on at most so many worlds."""
        looks = self.data.list_looks(most)
        error_rate = ERROR_RATE / sum(accept for _, accept in looks)
        for worlds, accept in looks:
            self.data.extend([*self.references, candidate], worlds)
            self._race_references(worlds, least=1 if accept else 2)
            # At the last look several references may remain: then the candidate is compared with each of them.
            last = worlds == looks[-1][0]
            rivals = self.references if last else self.references[:1]
            excesses = [self.data.excess(candidate, rival, worlds, error_rate) for rival in rivals]
            largest = excesses[0]
            if largest.low <= TIE_MARGIN:
                largest = max(excesses, key=lambda excess: excess.high)
            tied = accept and (last or len(self.references) == 1) and largest.high <= TIE_MARGIN
            worse = largest.low > TIE_MARGIN
            excess = Excess(*largest, worlds=worlds, tied=tied, worse=worse)
            if excess.tied or excess.worse:
                break
        return excess

    def settle(self, most: int) -> Values:
        """Return the best reference after at most so many worlds."""
        for worlds, accept in self.data.list_looks(most):
            if len(self.references) > 1 and worlds > self.data.count(self.references[0]):
                self.data.extend(self.references, worlds)
                self._race_references(worlds, least=1 if accept else 2)
        del self.references[1:]
        return self.references[0]

    def _race_references(self, worlds: int, least: int) -> None:
        """Put the best references first, and drop others, but keep at least so many."""
        self.references.sort(key=lambda values: self.data.objective(values, worlds))
        kept = self.references[:least]
        for values in self.references[least:]:
            difference, error = self.data.difference(values, self.references[0], worlds)
            if max(difference, NEGLIGIBLE) < error:
                kept.append(values)
        self.references = kept


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


def most_worlds(spec: ResolvedStudy, conclusive: bool = True, scenarios: int = 1) -> int:
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


def make_key(values: Values) -> ValuesKey:
    """Return parameters as a key."""
    return tuple(sorted(values.items()))
