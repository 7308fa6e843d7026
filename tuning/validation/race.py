"""A race: candidates are compared with the best on a growing number of selection worlds until each is tied or worse.

A candidate is *tied* if the upper 95 % bound of its paired excess over the best is at most `TIE_MARGIN`, and *worse* if
the lower bound is above `TIE_MARGIN`. The looks share the error rate of 5 %, so that a bound holds although the number
of worlds depends on it. A file has one look, at the whole selection segment.
"""

from collections.abc import Sequence
from typing import Any

from ravenlab.common.interval import ERROR_RATE, TIE_MARGIN
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.verdict import Excess
from ravenlab.tuning.validation.held_out import HeldOutData

NEGLIGIBLE = 0.025  # standard error of the relative difference between two references below which the worse is dropped


class Race:
    """A race between references, any of which may be the best, and candidates.

    The best reference counts as the best. Another one is dropped when it is worse by more than the standard error of
    the difference, or when that error is negligible; no tie is accepted before.
    """

    def __init__(self, data: HeldOutData[Any], references: Sequence[Values]) -> None:
        self.data = data
        self.references = list(references)

    def compare(self, candidate: Values, most: int) -> Excess:
        """Compare a candidate with the best until it is tied or worse, on at most so many worlds."""
        looks = self.data.list_looks(most)
        error_rate = ERROR_RATE / sum(accept for _, accept in looks)
        for worlds, accept in looks:
            self.data.measure([*self.references, candidate], worlds)
            self._race_references(worlds, least=1 if accept else 2)
            # At the last look several references may remain: then the candidate is compared with each of them.
            last = worlds == looks[-1][0]
            rivals = self.references if last else self.references[:1]
            excesses = [self.data.compare(candidate, rival, worlds, error_rate) for rival in rivals]
            largest = excesses[0]
            if largest.low <= TIE_MARGIN:
                largest = max(excesses, key=lambda excess: excess.high)
            tied = accept and (last or len(self.references) == 1) and largest.high <= TIE_MARGIN
            excess = Excess(*largest, worlds=worlds, tied=tied, worse=largest.low > TIE_MARGIN)
            if excess.tied or excess.worse:
                break
        return excess

    def settle(self, most: int) -> Values:
        """Return the best reference after at most so many worlds."""
        for worlds, accept in self.data.list_looks(most):
            if len(self.references) > 1 and worlds > self.data.count(self.references[0]):
                self.data.measure(self.references, worlds)
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
