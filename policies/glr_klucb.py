"""GLR-klUCB: kl-UCB with a restart of an arm when a generalized likelihood ratio test detects a change of its mean.

Reference: Besson, Kaufmann, Maillard and Seznec 2022, with local restarts. With d(m, q) = (q − m)²/(2s²), τ the step
of the arm's last restart (0 initially) and N, m of its rewards since then, the index is the largest q with
N·d(m, q) ≤ ln(t − τ), that is m + sqrt(2s²·ln(t − τ) / N). Alarm: at some split i of the n = N rewards into the first i
with mean m₁ and the others with mean m₂,

    i·d(m₁, m) + (n−i)·d(m₂, m) = n·(P_i − i·m)² / (2s²·i·(n−i)) > ln(3·n^{3/2}/δ),  P_i the sum of the first i.

An alarm restarts that arm only and discards the reward that raised it; the arm is then pulled immediately. Forced
exploration takes the open arms in turn at the start of every ⌈K/rate⌉ steps.

The test costs O(ln n) and runs at every eighth reward of an arm. It tries, for each j = 0, 1, 2, …, the last 16
multiples of 2^j below n: all of the last 16 splits, and coarser ones further back, at most (n−i)/8 apart. Each j has a
ring of 16 pairs (i, P_i), so memory per arm is constant. Sums are of differences from the arm's first reward, so large
means lose no digits. Beyond 16·2^31 rewards the oldest splits are not tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, Param, ParamContext, Policy, Value
from policies.engine.restart import COUNT, MEAN, ROWS, WIDTH, forced_arm, reset_arm
from policies.engine.rules import CHANGES_PARAMETER, first_below
from policies.kl_ucb import S2_PARAMETER

BASE, SUM, RESTART = ROWS, ROWS + 1, ROWS + 2
"""Rows after those of `engine/restart.py`: first reward and P_n since the restart, and τ."""

ALARMS = 0  # cell: number of restarts
EVERY = 8  # rewards of an arm between tests
RING, LEVELS = 16, 32  # splits stored for each j, and number of j
_, DELTA, RATE, S2 = range(4)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards since its restart, else forced exploration, else argmax of m + sqrt(2s²·ln(t − τ) / N).

    Since ln t ≥ ln(t − τ), the second logarithm is computed only for arms that would win with ln t.
    """
    restarted = first_below(open_, arms, COUNT, 1.0)
    if restarted >= 0:
        return restarted
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
def store_split(k, arms, memory):  # type: ignore[no-untyped-def]
    """Store (n, P_n) in the ring of every j for which 2^j divides n."""
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
    """Whether n·(P_i − i·m)² > 2s²·ln(3·n^{3/2}/δ)·i·(n−i) at a stored split i."""
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
    """Add the reward and restart the arm on an alarm."""
    arms[COUNT, k] += 1.0
    n = arms[COUNT, k]
    if n == 1.0:
        arms[BASE, k] = x
        arms[SUM, k] = 0.0
    arms[SUM, k] += x - arms[BASE, k]
    arms[MEAN, k] = arms[BASE, k] + arms[SUM, k] / n
    arms[WIDTH, k] = 1.0 / sqrt(n)
    if int(n) % EVERY == 0 and mean_changed(k, arms, memory, p):
        reset_arm(k, arms)
        arms[RESTART, k] = t
        cells[ALARMS] += 1.0
    else:
        store_split(k, arms, memory)


def false_alarm_rate(context: ParamContext) -> float:
    """1/sqrt(KUT), for at least one change."""
    return 1.0 / sqrt(context.arms * max(1.0, context.number("changes")) * context.number("horizon"))


def exploration_rate(context: ParamContext) -> float:
    """0.1·sqrt(KU·ln T / T), at most 1."""
    horizon = context.number("horizon")
    return min(1.0, 0.1 * sqrt(context.arms * context.number("changes") * log(horizon) / horizon))


class GLRKLUCB(Policy):
    r"""kl-UCB that restarts an arm when two means explain its rewards significantly better than one.

    $$m + \sqrt{\frac{2 s^2 \ln(t - \tau)}{N}}, \qquad
    \text{restart if } i\, d(m_1, m) + (n - i)\, d(m_2, m) > \ln\frac{3 n^{3/2}}{\delta}$$
    """

    name = "glr-klucb"
    reference = "Besson, Kaufmann, Maillard and Seznec 2022"
    parameters = (
        CHANGES_PARAMETER,
        Param("delta", false_alarm_rate, most=1.0, meaning="δ, probability of a false alarm of an unchanged arm"),
        Param("exploration", exploration_rate, 0.001, 0.5, most=1.0, meaning="share of steps with forced exploration"),
        S2_PARAMETER,
    )
    rows = ROWS + 3
    cells = 1
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def memory_size(cls, arms: int, values: Mapping[str, Value]) -> int:
        return arms * LEVELS * 2 * RING
