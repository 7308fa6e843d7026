"""Plain discounted and sliding-window policies."""

import math
from collections import deque

import numpy as np

from tools.benchmarks.plain import Array, Make, Plain
from tools.benchmarks.plain_policies import Thompson


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


class BobSWUCB(SWUCB):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.block = math.ceil(math.sqrt(arms * horizon))
        steps = math.ceil(math.log(self.block))
        self.windows = [int(self.block ** (j / steps)) for j in range(steps + 1)]
        count = steps + 1
        self.rate = math.sqrt(count * math.log(count) / ((math.e - 1) * math.ceil(horizon / self.block)))
        self.gain = np.zeros(count)
        self.total = 0.0
        self.seen = 0
        self.draw()

    def draw(self) -> None:
        weight = np.exp(self.gain - self.gain.max())
        self.p = (1 - self.rate) * weight / weight.sum() + self.rate / len(weight)
        self.place = int(self.rng.choice(len(weight), p=self.p))
        self.window = self.windows[self.place]

    def scores(self, t: int) -> Array:
        return super().scores(self.seen + 1)

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, min(1.0, max(0.0, x)))
        self.total += min(1.0, max(0.0, x))
        self.seen += 1
        if self.seen == self.block:
            self.gain[self.place] += self.rate * self.total / (self.block * self.p[self.place] * len(self.p))
            self.total = 0.0
            self.seen = 0
            self.last.clear()
            for array in (self.n, self.sum, self.sum2):
                array[:] = 0.0
            self.draw()


class SWTS(Windowed, Thompson):
    scores = Thompson.scores


class SWRaven(Windowed):
    window = 1000

    def scores(self, t: int) -> Array:
        bonus = 1.0 / math.log(t + 0.1) * np.sqrt(math.log(t + 1) / (self.n + 1))
        spread = np.sqrt(self.variance / (self.n + 1) + 0.1)
        return np.where(self.n == 0, np.inf, self.mean + bonus + spread)


class FDSWTS(Plain):
    gamma = 0.95
    window = 75

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.s, self.f = np.zeros(arms), np.zeros(arms)
        self.recent = [deque[float](maxlen=self.window) for _ in range(arms)]
        self.recent_s, self.recent_f = np.ones(arms), np.ones(arms)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        self.s *= self.gamma
        self.f *= self.gamma
        self.s[k] += x
        self.f[k] += 1.0 - x
        self.recent[k].append(x)
        self.recent_s[k] = 1.0 + sum(self.recent[k])
        self.recent_f[k] = 1.0 + len(self.recent[k]) - sum(self.recent[k])

    def scores(self, t: int) -> Array:
        return np.minimum(self.rng.beta(self.s + 1, self.f + 1), self.rng.beta(self.recent_s, self.recent_f))


class WLS(Plain):
    decay = 0.99
    window = 50
    ridge = 1e-3

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
            ti = np.array(self.times[k])
            y = np.array(self.rewards[k])
            w = self.decay ** (t - ti)
            x = np.column_stack([np.ones(len(ti)), ti - t])
            inverse = np.linalg.inv(x.T @ (w[:, None] * x) + self.ridge * np.eye(2))
            b = inverse @ (x.T @ (w * y))
            s2 = (w * (y - x @ b) ** 2).sum() / max(w.sum() - 2, 1)
            spread = (inverse @ (x.T @ ((w**2)[:, None] * x)) @ inverse)[0, 0]
            out[k] = max(b[0], self.rng.normal(b[0], math.sqrt(s2 * spread)))
        return out


class RavenAuto(Plain):
    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.rate = np.concatenate([[0.0], 0.1 / 4.0 ** np.arange(6)])
        self.m, self.p, self.step = np.zeros((7, arms)), np.zeros((7, arms)), np.zeros(arms)
        self.score, self.last, self.latest = np.zeros(7), np.zeros(arms), 0.0
        self.chosen = 0
        self.redrawn = 0.0
        self.own, self.pooled, self.first = np.zeros((arms, 2)), np.zeros(2), np.zeros(2)

    def variance_of_all(self) -> float:
        first = self.first[0] / max(1.0, self.first[1])
        return float((self.pooled[0] + 2 * first) / (self.pooled[1] + 2))

    def scores(self, t: int) -> Array:
        age = t - self.step
        rate = self.rate[self.chosen]
        v = self.variance_of_all()
        single = (self.n == 1) & (self.pooled[1] < 60)
        p = np.where(single, v, self.p[self.chosen]) + v * age * rate**2 * (1 + age * rate)
        p += self.redrawn * (age / (t + 30 * self.arms)) ** 2
        x = (t * (self.arms + 30) / (40 * self.arms**2)) ** 2
        return self.m[self.chosen] + np.sqrt((0.45 + 0.7 / self.n) * p * math.log(1.0 + t / self.arms) * x / (1 + x))

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        n = self.n[k]
        age = t - self.step[k]
        known = self.pooled[1] >= 60
        if n > 1:
            difference = np.array([(x - self.last[k]) ** 2 / 2, 1.0])
            self.own[k] = self.own[k] * (1 - 1 / 100) + difference
            self.pooled = self.pooled * (1 - 1 / 90) + difference
        elif t > 1:
            self.first += np.array([(x - self.latest) ** 2 / 2, 1.0])
        self.last[k] = x
        self.latest = x
        self.step[k] = t
        v = self.variance_of_all()
        s2 = (self.own[k, 0] + 20 * v) / (self.own[k, 1] + 20)
        if self.pooled[1] >= 60 and not known:
            self.p[:, self.n == 1] = v
        if n == 1:
            self.m[:, k] = x
            self.p[:, k] = s2
            return
        p = self.p[:, k] + v * age * self.rate**2 * (1 + age * self.rate)
        p[1:] += self.redrawn * (age / (t + 30 * self.arms)) ** 2
        p = np.full(7, s2 / (n - 1)) if n <= 3 and self.pooled[1] < 60 else p
        self.score -= 0.5 * (np.log(1 + p / s2) + np.minimum(6.0, (x - self.m[:, k]) ** 2 / (p + s2)))
        self.m[:, k] += p / (p + s2) * (x - self.m[:, k])
        self.p[:, k] = p * s2 / (p + s2)
        if int(self.n.sum() - self.arms) % 8 == 0:
            self.chosen = int(np.argmax(self.score))
            spread = float(np.var(self.m[self.chosen], ddof=1))
            self.redrawn = 8.0 * spread**2 / (spread + v) / self.arms


FORGETTING: dict[str, Make] = {
    "raven-auto": RavenAuto,
    "sw-ucb": SWUCB,
    "bob-sw-ucb": BobSWUCB,
    "d-ucb": DUCB,
    "sw-raven": SWRaven,
    "d-raven": DRaven,
    "sw-ts": SWTS,
    "d-ts": DTS,
    "f-dsw-ts": FDSWTS,
    "wls-optimistic-ts": WLS,
}
