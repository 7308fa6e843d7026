"""Interleaved timings: every contender runs once per round, and the median of the ratios is reported."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Contender = Callable[[], float]
"""A function that does some work and returns its amount, for example in steps."""


@dataclass(frozen=True)
class Claim:
    """Expected ratio of the speeds of two contenders."""

    fast: str
    slow: str
    floor: float
    about: str


@dataclass
class Race:
    """Contenders in one setting, with the expected ratios."""

    name: str
    contenders: dict[str, Contender]
    claims: list[Claim]
    clock: Callable[[], float] = time.perf_counter
    """`time.process_time` for contenders that run in one thread of this process: other processes matter less."""
    speeds: dict[str, list[float]] = field(default_factory=dict)

    def run(self, rounds: int) -> list[dict[str, object]]:
        """Measure all contenders and return one row per claim."""
        for contender in self.contenders.values():
            contender()
        for _ in range(rounds):
            for name, contender in self.contenders.items():
                begin = self.clock()
                work = contender()
                self.speeds.setdefault(name, []).append(work / (self.clock() - begin))
        return [self._row(claim) for claim in self.claims]

    def _row(self, claim: Claim) -> dict[str, object]:
        pairs = list(zip(self.speeds[claim.fast], self.speeds[claim.slow], strict=True))
        ratios = [fast / slow for fast, slow in pairs]
        return {
            "race": self.name,
            "claim": claim.about,
            "ratio": statistics.median(ratios),
            "lowest": min(ratios),
            "highest": max(ratios),
            "floor": claim.floor,
            "per_second": statistics.median(self.speeds[claim.fast]),
            "rounds": len(ratios),
        }


@dataclass
class Figure:
    """An absolute measurement with an upper limit; the median of several is reported."""

    name: str
    measure: Callable[[], float]
    ceiling: float
    about: str
    times: int

    def run(self, rounds: int) -> list[dict[str, object]]:
        """Measure and return one row; `rounds` is ignored."""
        values = [self.measure() for _ in range(self.times)]
        return [
            {
                "race": self.name,
                "claim": self.about,
                "ratio": statistics.median(values),
                "lowest": min(values),
                "highest": max(values),
                "ceiling": self.ceiling,
                "rounds": self.times,
            }
        ]
