"""Plain change-detection policies that test lists of rewards at every step."""

import math

import numpy as np

from tools.benchmarks.plain import Array, Make, Plain


class Restarting(Plain):
    """Base class with statistics since the last restart and forced exploration."""

    rate = 0.05

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.since = np.zeros(arms)
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def select(self, t: int) -> int:
        if (self.n == 0).any():
            return int(np.argmin(self.n))
        position = (t - 1) % math.ceil(self.arms / self.rate)
        return position if position < self.arms else super().select(t)

    def restart(self, t: int, k: int) -> None:
        self.n[k] = self.mean[k] = 0.0
        self.since[k] = t
        self.rewards[k] = []


class MUCB(Restarting):
    window = 200

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.threshold = math.sqrt(self.window * math.log(2 * arms * horizon**2) / 2)

    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * np.log(t - self.since) / self.n)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        super().learn(t, k, x)
        self.rewards[k].append(x)
        if len(self.rewards[k]) >= self.window:
            halves = np.array(self.rewards[k][-self.window :]).reshape(2, -1).sum(axis=1)
            if abs(halves[1] - halves[0]) > self.threshold:
                for j in range(self.arms):
                    self.restart(t, j)


class CUSUMUCB(Restarting):
    first = 100
    epsilon = 0.05

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.h = math.log(horizon / 10)
        self.a = math.sqrt(10 * self.h / horizon)
        self.reference, self.rise, self.fall = np.zeros(arms), np.zeros(arms), np.zeros(arms)

    def select(self, t: int) -> int:
        if (self.n == 0).any():
            return int(np.argmin(self.n))
        return int(self.rng.integers(self.arms)) if self.rng.random() < self.a else int(np.argmax(self.scores(t)))

    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(math.log(self.n.sum()) / self.n)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        super().learn(t, k, x)
        if self.n[k] <= self.first:
            self.reference[k] = self.mean[k]
            return
        self.rise[k] = max(0.0, self.rise[k] + x - self.reference[k] - self.epsilon)
        self.fall[k] = max(0.0, self.fall[k] - x + self.reference[k] - self.epsilon)
        if max(self.rise[k], self.fall[k]) >= self.h:
            self.rise[k] = self.fall[k] = 0.0
            self.restart(t, k)


class GLRKLUCB(Restarting):
    every = 8

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.delta = 1 / math.sqrt(arms * 10 * horizon)
        self.rate = 0.1 * math.sqrt(arms * 10 * math.log(horizon) / horizon)
        self.pooled = 0.0
        self.freedom = 0

    def variances(self) -> Array:
        return (self.squares + 10 * self.pooled / max(1, self.freedom)) / (self.n + 9)

    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2 * self.variances() * np.log(t - self.since) / self.n)

    def learn(self, t: int, k: int, x: float) -> None:
        before = self.squares[k]
        super().learn(t, k, x)
        self.pooled += self.squares[k] - before
        self.rewards[k].append(x)
        n = len(self.rewards[k])
        self.freedom += n > 1
        if n % self.every == 0:
            sums = np.cumsum(self.rewards[k])
            s = np.arange(1, n)
            ratios = n * (sums[:-1] - s * sums[-1] / n) ** 2 / (2 * self.variances()[k] * s * (n - s))
            if ratios.max() > math.log(3 * n**1.5 / self.delta):
                self.squares[k] = 0.0
                self.restart(t, k)


class ADRUCB(Restarting):
    every = 8

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.level = 1.5 * math.log(horizon)
        self.length = arms * math.ceil(math.log2(horizon))
        self.begin_blocks()

    def begin_blocks(self) -> None:
        self.drawn = np.zeros(self.arms)
        self.block = 1
        self.now = -1
        self.later = -1

    def monitored(self, s: float) -> int:
        return {0: self.now, 1: self.later}.get(int(s) % self.arms, -1)

    def select(self, t: int) -> int:
        if (self.n == 0).any():
            return int(np.argmin(self.n))
        monitored = self.monitored(t - self.since[0])
        return monitored if monitored >= 0 else int(np.argmax(self.scores(t)))

    def scores(self, t: int) -> Array:
        return self.mean + np.sqrt(2.0 * np.log(t - self.since) / self.n)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        s = t - self.since[0]
        super().learn(t, k, x)
        self.rewards[k].append(x)
        self.drawn[k] += self.monitored(s) != k
        n = len(self.rewards[k])
        if n % self.every == 0:
            sums = np.cumsum(self.rewards[k])
            i = np.arange(1, n)
            gaps = np.abs(sums[:-1] / i - (sums[-1] - sums[:-1]) / (n - i))
            if (gaps > np.sqrt(self.level / i) + np.sqrt(self.level / (n - i))).any():
                for j in range(self.arms):
                    self.restart(t, j)
                self.begin_blocks()
                return
        if self.block == 1 and s == self.length:
            self.now = int(np.argmax(self.drawn))
            self.block = 2
        elif self.block > 1 and s == (2**self.block - 2) * self.length:
            self.later = int(np.argmax(self.drawn))
        elif self.block > 1 and s == (2**self.block - 1) * self.length:
            self.now, self.later, self.block = self.later, -1, self.block + 1


class MASTER(Plain):
    xi = 0.6
    h = 5.0

    def __init__(self, arms: int, horizon: int) -> None:
        super().__init__(arms, horizon)
        self.begin_block(0)

    def rho(self, i: float) -> float:
        return math.sqrt(self.arms / i) + self.arms / i

    def begin_block(self, order: int) -> None:
        self.order = order
        self.seen = 0
        self.lowest = 1.0
        self.total = 0.0
        self.gap = 0.0
        self.instances: dict[int, tuple[int, float, Array, Array]] = {}
        self.start_instances()

    def start_instances(self) -> None:
        for m in range(self.order, -1, -1):
            if self.seen % 2**m == 0 and self.rng.random() < self.rho(2**self.order) / self.rho(2**m):
                self.instances[m] = (self.seen, self.total, np.zeros(self.arms), np.zeros(self.arms))
        self.active = min(m for m, instance in self.instances.items() if self.seen < instance[0] + 2**m)

    def scores(self, t: int) -> Array:
        _, _, counts, sums = self.instances[self.active]
        n = np.maximum(counts, 1)
        return np.where(counts > 0, sums / n + np.sqrt(self.xi * math.log(self.horizon) / n), np.inf)

    def learn(self, t: int, k: int, x: float) -> None:
        x = min(1.0, max(0.0, x))
        f = min(1.0, float(self.scores(t).max()))
        _, _, counts, sums = self.instances[self.active]
        counts[k] += 1
        sums[k] += x
        self.seen, self.lowest, self.total, self.gap = (
            self.seen + 1, min(self.lowest, f), self.total + x, self.gap + f - x,
        )  # fmt: skip
        ended = [(m, i) for m, i in self.instances.items() if i[0] + 2**m == self.seen]
        high = any((self.total - i[1]) / 2**m >= self.lowest + 3 * self.h * self.rho(2**m) for m, i in ended)
        if high or self.gap >= self.seen * self.h * self.rho(self.seen):
            self.begin_block(0)
        elif self.seen == 2**self.order:
            self.begin_block(self.order + 1)
        else:
            self.start_instances()


RESTARTING: dict[str, Make] = {
    "adr-ucb": ADRUCB,
    "master": MASTER,
    "m-ucb": MUCB,
    "cusum-ucb": CUSUMUCB,
    "glr-klucb": GLRKLUCB,
}
