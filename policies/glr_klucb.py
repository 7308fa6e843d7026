"""GLR-klUCB: kl-UCB since an arm's own last restart, which comes when a likelihood ratio says that its mean changed.

With d(m, q) = (q − m)²/(2s²) as in `kl-ucb`, τ the step of the arm's last restart (0 at first) and N, m of its rewards
since: the largest q with N·d(m, q) ≤ ln(t − τ), that is m + sqrt(2s²·ln(t − τ) / N). The alarm: at some split s of
the n = N rewards into the first s with mean m₁ and the others with mean m₂,

    s·d(m₁, m) + (n−s)·d(m₂, m) = n·(P_s − s·m)² / (2s²·s·(n−s)) > ln(3·n^{3/2}/δ),  P_s the sum of the first s.

Restarts are local, one of the original's two variants: an alarm forgets that arm alone, the reward that raised it
included, and the arm is then pulled at once. Forced exploration takes the open arms in turn at the beginning of
every ⌈K/rate⌉ steps.

The test costs O(ln n) and is made at every eighth reward of an arm (n = 8, 16, 24, …). The splits tried are, for each
j = 0, 1, 2, …, the last 16 multiples of 2^j below n: all of the last 16, and from there on the finer the younger,
with never more than an eighth of n−s between neighbours. Each j has a ring of 16 pairs (s, P_s), so an arm's
memory is the same for any number of rewards; sums are of differences to the arm's first reward, so large means
cost no digits. With more than 16·2^31 rewards the oldest splits would no longer be tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, Param, ParamContext, Policy, Sizes, Value
from policies.engine.restart import COUNT, MEAN, ROWS, WIDTH, forced_arm, forget
from policies.engine.rules import CHANGES, unknown_arm
from policies.kl_ucb import S2_PARAMETER

BASE, SUM, RESTART = ROWS, ROWS + 1, ROWS + 2
"""Rows behind those since the restart: the arm's first reward, P_n (both since the restart), and τ."""

ALARMS = 0
"""Cell: how many restarts there were."""

EVERY = 8
"""Rewards of an arm from one test to the next."""

RING, LEVELS = 16, 32
"""Splits kept for each j, and how many j there are."""

_, DELTA, RATE, S2 = range(4)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm of which nothing is known at once, else one that is forced, else argmax of m + sqrt(2s²·ln(t − τ) / N).

    ln t is no less than ln(t − τ), so the logarithm is taken only of an arm that could win with ln t.
    """
    unknown = unknown_arm(open_, arms, COUNT, 1.0)
    if unknown >= 0:
        return unknown
    forced = forced_arm(t, open_, p[RATE])
    if forced >= 0:
        return forced
    slope = sqrt(2.0 * p[S2] * log(t))
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + slope * arms[WIDTH, k]
        if open_[k] == CLOSED or arms[COUNT, k] == 0.0 or score <= best:
            continue
        if arms[RESTART, k] > 0.0:
            since = max(1.0, t - arms[RESTART, k])
            score = arms[MEAN, k] + sqrt(2.0 * p[S2] * log(since)) * arms[WIDTH, k]
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def keep_split(k, arms, memory):  # type: ignore[no-untyped-def]
    """Put (n, P_n) into the ring of every j for which 2^j divides n."""
    split = int(arms[COUNT, k])
    multiple, ring = split, k * LEVELS * 2 * RING
    for _ in range(LEVELS):
        slot = ring + (multiple - 1) % RING
        memory[slot] = split
        memory[slot + RING] = arms[SUM, k]
        if multiple % 2 == 1:
            break
        multiple //= 2
        ring += 2 * RING


@inlined
def mean_changed(k, arms, memory, p):  # type: ignore[no-untyped-def]
    """Whether n·(P_s − s·m)² > 2s²·ln(3·n^{3/2}/δ)·s·(n−s) at a split that is kept."""
    n = arms[COUNT, k]
    m = arms[SUM, k] / n
    bar = 2.0 * p[S2] * log(3.0 * n * sqrt(n) / p[DELTA]) / n
    multiples, ring, hits = int(n) - 1, k * LEVELS * 2 * RING, 0
    for _ in range(LEVELS):
        if multiples == 0 or hits > 0:
            break
        for i in range(ring, ring + min(multiples, RING)):
            s = memory[i]
            gap = memory[i + RING] - s * m
            if gap * gap > bar * s * (n - s):
                hits += 1
        multiples //= 2
        ring += 2 * RING
    return hits > 0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """One more reward since the arm's restart, or its restart."""
    arms[COUNT, k] += 1.0
    n = arms[COUNT, k]
    if n == 1.0:
        arms[BASE, k] = x
        arms[SUM, k] = 0.0
    arms[SUM, k] += x - arms[BASE, k]
    arms[MEAN, k] = arms[BASE, k] + arms[SUM, k] / n
    arms[WIDTH, k] = 1.0 / sqrt(n)
    if int(n) % EVERY == 0 and mean_changed(k, arms, memory, p):
        forget(k, arms)
        arms[RESTART, k] = t
        cells[ALARMS] += 1.0
    else:
        keep_split(k, arms, memory)


def error_rate(setting: ParamContext) -> float:
    """1/sqrt(KUT), for at least one change."""
    return 1.0 / sqrt(setting.arms * max(1.0, setting.number("changes")) * setting.number("horizon"))


def exploration(setting: ParamContext) -> float:
    """0.1·sqrt(KU·ln T / T), at most 1."""
    horizon = setting.number("horizon")
    return min(1.0, 0.1 * sqrt(setting.arms * setting.number("changes") * log(horizon) / horizon))


class GLRKLUCB(Policy):
    """kl-UCB that forgets an arm when two means explain its rewards much better than one."""

    name = "glr-klucb"
    reference = "Besson, Kaufmann, Maillard and Seznec 2022"
    parameters = (
        CHANGES,
        Param("delta", error_rate, most=1.0, meaning="δ, the chance of a false alarm in an arm that never changes"),
        Param("exploration", exploration, 0.001, 0.5, most=1.0, meaning="the share of steps that explore"),
        S2_PARAMETER,
    )
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS + 3, cells=1, memory=arms * LEVELS * 2 * RING)


POLICY = GLRKLUCB
