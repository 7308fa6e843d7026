"""Reference implementation of worlds: means, variances and open arms from the definitions, step by step.

It shares nothing with the schedule except the keys of the random streams and the order of the draws.
"""

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np

from ravenlab.environments.base import most_changes
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.streams import Stream, generator


def steps(value: int | str, horizon: int) -> int:
    """Return a number of steps, such as 500 or "10%" of the horizon, with exact arithmetic."""
    if isinstance(value, int):
        return value
    return max(1, int(Fraction(value.rstrip("%")) * horizon // 100))


class PlainWorld:
    """One replication; effects are dicts of their settings by name."""

    def __init__(self, scenario: Scenario, horizon: int, arms: int, seed: int, r: int = 0) -> None:
        self.effects: dict[str, dict[str, Any]] = {
            effect.name: {field.name: getattr(effect, field.name) for field in dataclasses.fields(effect)}
            for effect in scenario.effects
        }
        self.base, self.bernoulli = scenario.base, scenario.noise == "bernoulli"
        self.horizon, self.base_arms = horizon, arms
        self.arms = arms + ("arm-churn" in self.effects)
        self.seed, self.r = seed, r
        self.draw()

    def rng(self, purpose: str) -> np.random.Generator:
        return generator(self.seed, Stream.SIMULATE, self.r, purpose)

    def at(self, effect: str, field: str) -> int:
        return steps(self.effects[effect][field], self.horizon)

    def pairs(self, rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
        """Return `count` base draws of (μ, σ²), one after the other."""
        b = self.base
        draws = []
        for _ in range(count):
            u, v = rng.random(), rng.random()
            draws.append(
                (
                    b.mean_low + (b.mean_high - b.mean_low) * u,
                    b.variance_low + (b.variance_high - b.variance_low) * v,
                )
            )
        return draws

    def times(self, effect: str) -> list[int]:
        """Return the times of changes; of random times also those after the horizon, since levels are drawn for all."""
        every, kind = self.at(effect, "every"), self.effects[effect]["times"]
        if kind == "fixed":
            return [t for t in range(2, self.horizon + 1) if t % every == 0]
        lasting = self.at(effect, "lasting") if effect == "blips" else 0
        rng, count = self.rng(f"{effect} times"), most_changes(kind, every, self.horizon)
        if kind == "jittered":
            jitter = (every - lasting - 1) // 2
            shifts = rng.integers(-jitter, jitter + 1, count)
            return [(j + 1) * every + int(shift) for j, shift in enumerate(shifts)]
        times, end = [], 1
        for gap in rng.geometric(1 / (every - lasting), count):
            times.append(end + int(gap))
            end = times[-1] + lasting
        return times

    def walk(self, k: int, t: int) -> float:
        """Return the offset of a random walk."""
        if "random-walk" not in self.effects:
            return 0.0
        count = min(self.effects["random-walk"]["segments"], self.horizon)
        scale = self.effects["random-walk"]["deviation"]
        scale *= math.sqrt(self.horizon / (self.at("random-walk", "over") * count))
        steps = self.rng("random-walk").standard_normal((self.arms, count - 1))[k]
        started = sum(1 + j * self.horizon // count <= t for j in range(1, count))
        return float(scale * steps[:started].sum())

    def draw(self) -> None:
        arms = range(self.arms)
        self.old = self.pairs(self.rng("base"), self.arms)
        self.new = self.pairs(self.rng("gradual-drift"), self.arms)
        self.jumps: dict[int, dict[int, tuple[float, float]]] = {}
        if "localized-jump" in self.effects:
            fraction = Fraction(str(self.effects["localized-jump"]["fraction"]))
            count = max(1, int(fraction * self.base_arms // 1))
            times, rng = self.times("localized-jump"), self.rng("localized-jump")
            keys = [[rng.random() for _ in arms] for _ in times]
            for t, key in zip(times, keys, strict=True):
                hit = sorted(arms, key=key.__getitem__)[:count]
                self.jumps[t] = dict(zip(hit, self.pairs(rng, count), strict=True))
        self.blips: dict[int, list[tuple[float, float]]] = {}
        if "blips" in self.effects:
            times, rng = self.times("blips"), self.rng("blips")
            of_arm = [self.pairs(rng, len(times)) for _ in arms]
            self.blips = {t: [of_arm[k][j] for k in arms] for j, t in enumerate(times)}
        self.opens = [1] * self.arms
        self.closes = [self.horizon + 1] * self.arms
        if "arm-churn" in self.effects:
            self.churn()

    def churn(self) -> None:
        opens, closes = self.at("arm-churn", "opens"), self.at("arm-churn", "closes")
        self.opens[-1] = opens if 1 < opens <= self.horizon else self.horizon + 1
        if not 1 < closes <= self.horizon:
            return
        before = [k for k in range(self.arms) if self.opens[k] <= closes - 1]
        if self.effects["arm-churn"]["closing"] == "best":
            closing = max(before, key=lambda k: self.mean(k, closes))
        else:
            keys = self.rng("arm-churn").uniform(0.0, 1.0, self.arms)
            closing = max(before, key=keys.__getitem__)
        self.closes[closing] = closes

    def blip(self, t: int) -> list[tuple[float, float]] | None:
        """Return the levels of the blip at step t, if any."""
        for at, levels in self.blips.items():
            if at <= t <= at + self.at("blips", "lasting") - 1:
                return levels
        return None

    def components(self, k: int, t: int) -> list[tuple[float, float, float]]:
        """Return (share, μ, σ²) of each component of arm k at step t."""
        blip = self.blip(t)
        if blip is not None:
            return [(1.0, self.clip(blip[k][0]), blip[k][1])]
        hits = [at for at in self.jumps if at <= t and k in self.jumps[at]]
        old, new = self.old[k], self.new[k]
        if hits:
            old = new = self.jumps[max(hits)][k]
        parts = [(1.0, *old)]
        if "gradual-drift" in self.effects:
            start, end = self.at("gradual-drift", "start"), self.at("gradual-drift", "end")
            rho = min(1.0, max(0.0, (t - start) / (end - start)))
            parts = [(1.0 - rho, *old), (rho, *new)]
        more_mean, more_variance = self.walk(k, t), 0.0
        if "incremental-drift" in self.effects:
            drift = self.effects["incremental-drift"]["drift"]
            delta = self.rng("incremental-drift").uniform(-drift, drift, self.arms)[k]
            more_mean += delta / self.at("incremental-drift", "over") * t
        if "variance-drift" in self.effects:
            gamma = self.rng("variance-drift").uniform(0.0, self.effects["variance-drift"]["growth"], self.arms)[k]
            more_variance += gamma / self.at("variance-drift", "over") * t
        if "periodic" in self.effects:
            amplitude = self.rng("periodic amplitude").uniform(0, self.effects["periodic"]["amplitude"], self.arms)[k]
            phase = self.rng("periodic phase").uniform(0, 2 * math.pi, self.arms)[k]
            more_mean += amplitude * math.sin(2 * math.pi * t / self.at("periodic", "period") + phase)
        return [(share, self.clip(mean + more_mean), variance + more_variance) for share, mean, variance in parts]

    def clip(self, mean: float) -> float:
        return min(1.0, max(0.0, mean)) if self.bernoulli else mean

    def mean(self, k: int, t: int) -> float:
        return sum(share * mean for share, mean, _ in self.components(k, t))

    def variance(self, k: int, t: int) -> float:
        mean = self.mean(k, t)
        if self.bernoulli:
            return mean * (1.0 - mean)
        return sum(share * (v + (m - mean) ** 2) for share, m, v in self.components(k, t))

    def is_open(self, k: int, t: int) -> bool:
        return self.opens[k] <= t < self.closes[k]

    def best(self, t: int) -> float:
        return max(self.mean(k, t) for k in range(self.arms) if self.is_open(k, t))
