"""The policies as anyone would write them in NumPy: arrays over arms, all scores anew at every step."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


class Plain:
    """Counts, means and squared deviations of all arms; subclasses give the scores."""

    def __init__(self, arms: int, horizon: int) -> None:
        self.arms, self.horizon = arms, horizon
        self.n, self.mean, self.squares = np.zeros(arms), np.zeros(arms), np.zeros(arms)
        self.rng = np.random.default_rng(1)

    def scores(self, t: int) -> Array:
        raise NotImplementedError

    def select(self, t: int) -> int:
        return int(np.argmax(self.scores(t)))

    def learn(self, t: int, k: int, x: float) -> None:
        self.n[k] += 1
        before = x - self.mean[k]
        self.mean[k] += before / self.n[k]
        self.squares[k] += before * (x - self.mean[k])

    @property
    def variance(self) -> Array:
        return np.where(self.n > 1, self.squares / np.maximum(self.n - 1, 1), 0.0)


class UCB1(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * math.log(t) / self.n)


class PublishedUCB1(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * math.log(t) / (self.n + 1))


class UCBV(Plain):
    def scores(self, t: int) -> Array:
        e = 1.2 * math.log(t)
        return self.mean + np.sqrt(2.0 * self.squares / self.n * e / self.n) + 3.0 * e / self.n


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


class EpsilonGreedy(Plain):
    def select(self, t: int) -> int:
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.arms))
        return int(np.argmax(self.mean))


class EpsilonDecreasing(Plain):
    def select(self, t: int) -> int:
        if self.rng.random() < min(1.0, 10.0 * self.arms / t):
            return int(self.rng.integers(self.arms))
        return int(np.argmax(self.mean))


class Softmax(Plain):
    def select(self, t: int) -> int:
        weight = np.exp((self.mean - self.mean.max()) / 0.1)
        return int(self.rng.choice(self.arms, p=weight / weight.sum()))


class Thompson(Plain):
    def scores(self, t: int) -> Array:
        kappa = 1.0 + self.n
        b = 1.0 + 0.5 * self.squares + 0.5 * self.n * self.mean**2 / kappa
        sigma2 = b / self.rng.standard_gamma(1.0 + 0.5 * self.n)
        return self.rng.normal(self.n * self.mean / kappa, np.sqrt(sigma2 / kappa))


class BernoulliThompson(Plain):
    def scores(self, t: int) -> Array:
        return self.rng.beta(1.0 + self.n * self.mean, 1.0 + self.n * (1.0 - self.mean))

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, min(1.0, max(0.0, x)))


class KLUCB(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * 0.25 * math.log(t) / self.n)


class BernoulliKLUCB(Plain):
    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, min(1.0, max(0.0, x)))

    def scores(self, t: int) -> Array:
        m = np.clip(self.mean, 1e-12, 1 - 1e-12)
        entropy, level = m * np.log(m) + (1 - m) * np.log(1 - m), math.log(t) / self.n
        low, high = m, np.ones(self.arms)
        for _ in range(30):
            q = 0.5 * (low + high)
            inside = entropy - m * np.log(q) - (1 - m) * np.log(1 - q) <= level
            low, high = np.where(inside, q, low), np.where(inside, high, q)
        return low


class UCBTuned(Plain):
    def scores(self, t: int) -> Array:
        level = math.log(t) / self.n
        return self.mean + np.sqrt(level * np.minimum(0.25, self.squares / self.n + np.sqrt(2.0 * level)))


class Discounted(Plain):
    gamma = 0.99

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.sum, self.sum2, self.w2 = np.zeros(arms), np.zeros(arms), np.zeros(arms)

    def learn(self, t: int, k: int, x: float) -> None:
        self.n *= self.gamma
        self.w2 *= self.gamma**2
        self.sum *= self.gamma
        self.sum2 *= self.gamma
        self.n[k] += 1
        self.w2[k] += 1
        self.sum[k] += x
        self.sum2[k] += x * x
        self.mean = self.sum / np.maximum(self.n, 1e-300)
        self.squares = np.maximum(self.sum2 - self.n * self.mean**2, 0.0)


class DUCB(Discounted):
    gamma = 1.0 - math.sqrt(10 / 10_000) / 4

    def scores(self, t: int) -> Array:
        return self.mean + 2.0 * np.sqrt(0.6 * math.log(self.n.sum()) / np.maximum(self.n, 1e-300))


class DTS(Discounted, Thompson):
    scores = Thompson.scores


class DRaven(Discounted):
    gamma = 0.999

    def scores(self, t: int) -> Array:
        w = np.maximum(self.n, 1e-300)
        free = w - self.w2 / w
        s2 = np.where(free > 1e-9, self.squares / np.maximum(free, 1e-9), 0.0)
        bonus = 1.0 / math.log(t + 0.1) * np.sqrt(math.log(t + 1) / (w + 1))
        return np.where(w < 1e-3, np.inf, self.mean + bonus + np.sqrt(s2 / (w + 1) + 0.1))


class Windowed(Plain):
    window = int(2 * math.sqrt(10_000 * math.log(10_000) / 10))

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.last: deque[tuple[int, float]] = deque()
        self.sum, self.sum2 = np.zeros(arms), np.zeros(arms)

    def learn(self, t: int, k: int, x: float) -> None:
        self.last.append((k, x))
        self.n[k] += 1
        self.sum[k] += x
        self.sum2[k] += x * x
        if len(self.last) > self.window:
            k, x = self.last.popleft()
            self.n[k] -= 1
            self.sum[k] -= x
            self.sum2[k] -= x * x
        self.mean = self.sum / np.maximum(self.n, 1)
        self.squares = np.maximum(self.sum2 - self.n * self.mean**2, 0.0)


class SWUCB(Windowed):
    def scores(self, t: int) -> Array:
        bonus = np.sqrt(0.6 * math.log(min(t, self.window)) / np.maximum(self.n, 1))
        return np.where(self.n == 0, np.inf, self.mean + bonus)


class SWTS(Windowed, Thompson):
    scores = Thompson.scores


class SWRaven(Windowed):
    window = 1000

    def scores(self, t: int) -> Array:
        bonus = 1.0 / math.log(t + 0.1) * np.sqrt(math.log(t + 1) / (self.n + 1))
        spread = np.sqrt(self.variance / (self.n + 1) + 0.1)
        return np.where(self.n == 0, np.inf, self.mean + bonus + spread)


class FDSWTS(Plain):
    gamma, window = 0.95, 75

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.s, self.f = np.zeros(arms), np.zeros(arms)
        self.hot = [deque[float](maxlen=self.window) for _ in range(arms)]
        self.hot_s, self.hot_f = np.ones(arms), np.ones(arms)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        self.s *= self.gamma
        self.f *= self.gamma
        self.s[k] += x
        self.f[k] += 1.0 - x
        self.hot[k].append(x)
        self.hot_s[k] = 1.0 + sum(self.hot[k])
        self.hot_f[k] = 1.0 + len(self.hot[k]) - sum(self.hot[k])

    def scores(self, t: int) -> Array:
        return np.minimum(self.rng.beta(self.s + 1, self.f + 1), self.rng.beta(self.hot_s, self.hot_f))


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


class CCB(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.delta = 1.0
        self.deadline = self.need() * arms

    def need(self) -> int:
        return math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)

    def scores(self, t: int) -> Array:
        if t >= self.deadline and self.horizon * self.delta**2 > math.e:
            r = math.sqrt(math.log(self.horizon * self.delta**2) / (2 * self.need()))
            left = int((self.mean + r >= (self.mean - r).max()).sum())
            self.delta /= 2
            self.deadline = t + self.need() * left
        return self.mean + self.delta / 2 * np.sqrt(np.sqrt(self.horizon / self.n))


class PublishedCCB(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.delta, self.mark = 1.0, 0.0

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        if self.n[k] >= self.mark and self.delta > 1e-150:
            self.delta /= 2
            self.mark += math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)

    def scores(self, t: int) -> Array:
        return self.mean + self.delta / 2 * np.sqrt(np.sqrt(self.horizon / (self.n + 1e-6)))


class UCBImp(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.delta, self.active = 1.0, np.ones(arms, dtype=bool)

    def need(self) -> int:
        return math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)

    def eliminate(self) -> None:
        r = math.sqrt(math.log(self.horizon * self.delta**2) / (2 * self.need()))
        self.active &= self.mean + r >= (self.mean - r)[self.active].max()
        self.delta /= 2

    def select(self, t: int) -> int:
        if self.active.sum() > 1 and (self.n[self.active] >= self.need()).all():
            self.eliminate()
        return int(np.argmin(np.where(self.active, self.n, np.inf)))


class PublishedUCBImp(UCBImp):
    def select(self, t: int) -> int:
        return int(self.rng.choice(np.flatnonzero(self.active)))

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        if self.active.sum() > 1 and (self.n[self.active] >= self.need()).all():
            self.eliminate()


class WLS(Plain):
    decay, window, ridge = 0.99, 50, 1e-3

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.times = [deque[int](maxlen=self.window) for _ in range(arms)]
        self.rewards = [deque[float](maxlen=self.window) for _ in range(arms)]

    def learn(self, t: int, k: int, x: float) -> None:
        self.times[k].append(t)
        self.rewards[k].append(x)

    def scores(self, t: int) -> Array:
        out = np.empty(self.arms)
        for k in range(self.arms):
            ti, y = np.array(self.times[k]), np.array(self.rewards[k])
            w = self.decay ** (t - ti)
            x = np.column_stack([np.ones(len(ti)), ti - t])
            inverse = np.linalg.inv(x.T @ (w[:, None] * x) + self.ridge * np.eye(2))
            b = inverse @ (x.T @ (w * y))
            s2 = (w * (y - x @ b) ** 2).sum() / max(w.sum() - 2, 1)
            spread = (inverse @ (x.T @ ((w**2)[:, None] * x)) @ inverse)[0, 0]
            out[k] = max(b[0], self.rng.normal(b[0], math.sqrt(s2 * spread)))
        return out


class PublishedWLS(WLS):
    decay = 0.95

    def scores(self, t: int) -> Array:
        out = np.empty(self.arms)
        for k in range(self.arms):
            ti, y = np.array(self.times[k]), np.array(self.rewards[k])
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


class EXP3S(Plain):
    gamma, alpha = math.sqrt(10 * (10 * math.log(100_000) + math.e) / ((math.e - 1) * 10_000)), 1e-4

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.w, self.p = np.ones(arms), np.ones(arms)

    def select(self, t: int) -> int:
        self.p = (1 - self.gamma) * self.w / self.w.sum() + self.gamma / self.arms
        return int(self.rng.choice(self.arms, p=self.p))

    def learn(self, t: int, k: int, x: float) -> None:
        total = self.w.sum()
        self.w[k] *= math.exp(self.gamma * min(1.0, max(0.0, x)) / self.p[k] / self.arms)
        self.w += math.e * self.alpha / self.arms * total
        self.w /= self.w.mean()


class REXP3(EXP3S):
    batch, alpha = 1319, 0.0
    gamma = math.sqrt(10 * math.log(10) / ((math.e - 1) * 1319))

    def select(self, t: int) -> int:
        if t % self.batch == 1:
            self.w[:] = 1.0
        return super().select(t)


class ARSUCB(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.rounds, self.arm, self.left = np.ones(arms), 0, 0

    def select(self, t: int) -> int:
        if self.left == 0:
            self.arm = int(np.argmax(self.mean + np.sqrt(4.0 * math.log(t) / self.n)))
            self.rounds[self.arm] += 1
            self.left = int(self.rounds[self.arm])
        self.left -= 1
        return self.arm


class ARSEXP3(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.rate = math.sqrt(math.log(arms) / (arms * (1.5 * horizon) ** (2 / 3)))
        self.loss, self.p = np.zeros(arms), np.ones(arms)
        self.round, self.arm, self.left = 0, 0, 0
        self.seen: list[float] = []

    def select(self, t: int) -> int:
        if self.left == 0:
            if self.seen:
                self.loss[self.arm] += (1.0 - float(np.mean(self.seen))) / self.p[self.arm]
            w = np.exp(-self.rate * (self.loss - self.loss.min()))
            self.p = w / w.sum()
            self.arm, self.seen = int(self.rng.choice(self.arms, p=self.p)), []
            self.round += 1
            self.left = math.ceil(math.sqrt(self.round))
        self.left -= 1
        return self.arm

    def learn(self, t: int, k: int, x: float) -> None:
        self.seen.append(min(1.0, max(0.0, x)))


PLAIN: dict[str, Callable[[int, int], Plain]] = {
    "ucb1": UCB1,
    "ucb-v": UCBV,
    "ucb-tuned": UCBTuned,
    "kl-ucb": KLUCB,
    "epsilon-greedy": EpsilonGreedy,
    "epsilon-decreasing": EpsilonDecreasing,
    "softmax": Softmax,
    "ccb": CCB,
    "ucb-imp": UCBImp,
    "sw-ucb": SWUCB,
    "d-ucb": DUCB,
    "sw-raven": SWRaven,
    "d-raven": DRaven,
    "thompson": Thompson,
    "sw-ts": SWTS,
    "d-ts": DTS,
    "wls-optimistic-ts": WLS,
    "f-dsw-ts": FDSWTS,
    "exp3-s": EXP3S,
    "rexp3": REXP3,
    "ars-ucb": ARSUCB,
    "ars-exp3": ARSEXP3,
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

BERNOULLI: dict[str, Callable[[int, int], Plain]] = {
    "thompson bernoulli": BernoulliThompson,
    "kl-ucb bernoulli": BernoulliKLUCB,
}
"""The other likelihood of policies that have two."""


def plain_loop(make: Callable[[int, int], Plain], means: Array, sigma: Array, horizon: int, steps: int) -> float:
    """Regret over the first steps of a stationary world."""
    policy = make(means.size, horizon)
    rng = np.random.default_rng(2)
    best = means.max()
    regret = 0.0
    for t in range(1, steps + 1):
        k = t - 1 if t <= means.size else policy.select(t)
        policy.learn(t, k, rng.normal(means[k], sigma[k]))
        regret += best - means[k]
    return float(regret)
