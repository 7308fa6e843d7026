"""Plain versions of the published variants."""

import math

import numpy as np

from tools.benchmarks.plain import Array, Make, Plain
from tools.benchmarks.plain_forgetting import WLS
from tools.benchmarks.plain_policies import BernoulliThompson, EpsilonGreedy, UCBImp


class PublishedUCB1(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * math.log(t) / (self.n + 1))


class PublishedUCBV(Plain):
    def learn(self, t: int, k: int, x: float) -> None:
        self.n[k] += 1
        before = x - self.mean[k]
        self.mean[k] += before / self.n[k]
        if self.n[k] > 1:
            self.squares[k] += before * (x - self.mean[k]) / (self.n[k] - 1)

    def scores(self, t: int) -> Array:
        e = math.log(t)
        return self.mean + np.sqrt(self.squares) * np.sqrt(2.0 * e / (self.n + 1)) + 3.0 * e / (self.n + 1)


class PublishedRaven(PublishedUCBV):
    def scores(self, t: int) -> Array:
        bonus = 0.5 / math.log(t + 1e-6) * np.sqrt(math.log(t) / (self.n + 1))
        return self.mean + bonus + np.sqrt(self.squares / (self.n + 1) + 1e-6)


class PublishedFDSWTS(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.a, self.b = np.ones(arms), np.ones(arms)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        self.a[k] += x
        self.b[k] += 1.0 - x

    def scores(self, t: int) -> Array:
        self.a *= 0.99
        self.b *= 0.99
        return np.minimum(self.rng.beta(self.a, self.b), self.rng.beta(self.a, self.b))


class PublishedCCB(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.delta = 1.0
        self.mark = 0.0

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        if self.n[k] >= self.mark and self.delta > 1e-150:
            self.delta /= 2
            self.mark += math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)

    def scores(self, t: int) -> Array:
        return self.mean + self.delta / 2 * np.sqrt(np.sqrt(self.horizon / (self.n + 1e-6)))


class PublishedUCBImp(UCBImp):
    def select(self, t: int) -> int:
        return int(self.rng.choice(np.flatnonzero(self.active)))

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        if self.active.sum() > 1 and (self.n[self.active] >= self.need()).all():
            self.eliminate()


class PublishedWLS(WLS):
    decay = 0.95

    def scores(self, t: int) -> Array:
        out = np.empty(self.arms)
        for k in range(self.arms):
            ti = np.array(self.times[k])
            y = np.array(self.rewards[k])
            if len(ti) < 2:
                out[k] = self.rng.random()
                continue
            w = self.decay ** (t - ti).astype(float)
            x = np.column_stack([np.ones(len(ti)), ti])
            c = np.linalg.lstsq(w[:, None] * x, w * y, rcond=None)[0]
            s2 = max(0.0, (w * (y - x @ c) ** 2).sum() / max(w.sum() - 2, 1))
            p = c[0] + c[1] * t
            out[k] = max(p, self.rng.normal(p, max(1e-6, math.sqrt(s2))))
        return out


PUBLISHED: dict[str, Make] = {
    "published-raven-ucb": PublishedRaven,
    "published-ucb1": PublishedUCB1,
    "published-ucb-v": PublishedUCBV,
    "published-epsilon-greedy": EpsilonGreedy,
    "published-ccb": PublishedCCB,
    "published-ucb-imp": PublishedUCBImp,
    "published-thompson": BernoulliThompson,
    "published-f-dsw-ts": PublishedFDSWTS,
    "published-wls-optimistic-ts": PublishedWLS,
}
