"""Plain stationary policies and EXP3 variants."""

import math

import numpy as np

from tools.benchmarks.plain import Array, Make, Plain


class UCB1(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * math.log(t) / self.n)


class UCBV(Plain):
    def scores(self, t: int) -> Array:
        e = 1.2 * math.log(t)
        return self.mean + np.sqrt(2.0 * self.squares / self.n * e / self.n) + 3.0 * e / self.n


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
        entropy = m * np.log(m) + (1 - m) * np.log(1 - m)
        level = math.log(t) / self.n
        low = m
        high = np.ones(self.arms)
        for _ in range(30):
            q = 0.5 * (low + high)
            inside = entropy - m * np.log(q) - (1 - m) * np.log(1 - q) <= level
            low = np.where(inside, q, low)
            high = np.where(inside, high, q)
        return low


class UCBTuned(Plain):
    def scores(self, t: int) -> Array:
        level = math.log(t) / self.n
        return self.mean + np.sqrt(level * np.minimum(0.25, self.squares / self.n + np.sqrt(2.0 * level)))


class MOSS(Plain):
    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(np.maximum(0.0, np.log(self.horizon / (self.arms * self.n))) / self.n)


class KalmanTS(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.center, self.spread = np.zeros(arms), np.ones(arms)

    def scores(self, t: int) -> Array:
        self.spread += 0.0001
        return self.rng.normal(self.center, np.sqrt(self.spread))

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        gain = self.spread[k] / (self.spread[k] + 0.25)
        self.center[k] += gain * (x - self.center[k])
        self.spread[k] *= 1.0 - gain


class TsallisINF(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.loss, self.p = np.zeros(arms), np.ones(arms)

    def select(self, t: int) -> int:
        rate = 2.0 / math.sqrt(t)
        gap = self.loss - self.loss.min()
        shift = 2.0 / rate
        for _ in range(50):
            root = 2.0 / (rate * (gap + shift))
            self.p = root**2
            excess = self.p.sum() - 1.0
            if abs(excess) <= 1e-12:
                break
            shift += excess / (rate * (root**3).sum())
        return int(self.rng.choice(self.arms, p=self.p / self.p.sum()))

    def learn(self, t: int, k: int, x: float) -> None:
        self.loss[k] += (1.0 - min(1.0, max(0.0, x))) / self.p[k]


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


class EXP3S(Plain):
    gamma = math.sqrt(10 * (10 * math.log(100_000) + math.e) / ((math.e - 1) * 10_000))
    alpha = 1e-4

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
    batch = 1319
    alpha = 0.0
    gamma = math.sqrt(10 * math.log(10) / ((math.e - 1) * 1319))

    def select(self, t: int) -> int:
        if t % self.batch == 1:
            self.w[:] = 1.0
        return super().select(t)


class ARSUCB(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.rounds = np.ones(arms)
        self.arm = 0
        self.left = 0

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
        self.round = 0
        self.arm = 0
        self.left = 0
        self.seen: list[float] = []

    def select(self, t: int) -> int:
        if self.left == 0:
            if self.seen:
                self.loss[self.arm] += (1.0 - float(np.mean(self.seen))) / self.p[self.arm]
            w = np.exp(-self.rate * (self.loss - self.loss.min()))
            self.p = w / w.sum()
            self.arm = int(self.rng.choice(self.arms, p=self.p))
            self.seen = []
            self.round += 1
            self.left = math.ceil(math.sqrt(self.round))
        self.left -= 1
        return self.arm

    def learn(self, t: int, k: int, x: float) -> None:
        self.seen.append(min(1.0, max(0.0, x)))


PLAIN: dict[str, Make] = {
    "ucb1": UCB1,
    "ucb-v": UCBV,
    "ucb-tuned": UCBTuned,
    "kl-ucb": KLUCB,
    "moss": MOSS,
    "kalman-ts": KalmanTS,
    "tsallis-inf": TsallisINF,
    "epsilon-greedy": EpsilonGreedy,
    "epsilon-decreasing": EpsilonDecreasing,
    "softmax": Softmax,
    "ccb": CCB,
    "ucb-imp": UCBImp,
    "thompson": Thompson,
    "exp3-s": EXP3S,
    "rexp3": REXP3,
    "ars-ucb": ARSUCB,
    "ars-exp3": ARSEXP3,
}

BERNOULLI: dict[str, Make] = {
    "thompson bernoulli": BernoulliThompson,
    "kl-ucb bernoulli": BernoulliKLUCB,
}
"""Policies with their Bernoulli likelihood."""
