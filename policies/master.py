"""MASTER: UCB1 instances of many durations at random times, restarted by two tests (Wei and Luo 2021).

Blocks of 2^n rewards, n = 0, 1, 2, …, are played by MALG: at the start of every 2^m rewards of a block, m = n … 0, a
new instance of order m starts with probability ρ(2^n)/ρ(2^m) and replaces the former one of its order, where
ρ(i) = sqrt(K/i) + K/i is the regret per step that UCB1 guarantees, up to a factor. The instance of the lowest order
plays, the others wait. z = clip((x − low)/(high − low), 0, 1), and an instance pulls argmax of m + sqrt(ξ·ln T / N), an
arm without rewards of its own first. Its optimistic estimate f is the largest index, at most 1. With U the smallest f
of the block so far, the policy restarts with n = 0 after reward i of a block if

    1. an instance of order m ends, and the mean of z since its start is at least U + 3·h·ρ(2^m), or
    2. the mean of f − z in the block is at least h·ρ(i).

The original has h = 18·(log₂T + 1)·ln(T/δ). With δ = 1/T, both thresholds then exceed 1 up to T = 10⁹, so no test is
ever positive. h is therefore a parameter that is searched, like ξ. Tests and constants were not compared with the text
of the article; the random starts of the instances agree with a public implementation.
"""

from collections.abc import Mapping
from math import log, sqrt

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import CLOSED, OPEN
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, NONNEGATIVE, UNIT, Limit, Memory, Part
from ravenlab.policies.engine.parameters import Param, Value
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, UnitPolicy, count_open, to_unit

ORDERS = 31  # of instances: 0 … 30
SEEN, ORDER, ACTIVE, READY, LOWEST, TOTAL, GAP, RESTARTS = range(8)
"""Cells: rewards of the block, n, order of the instance that plays, 1 if instances of the next step have started, U,
sum of z and of f − z in the block, and number of restarts."""
HORIZON, XI, H, LOW, HIGH = range(5)  # parameters


@inlined
def rate(i, count):  # type: ignore[no-untyped-def]
    """ρ(i)."""
    return sqrt(count / i) + count / i


@inlined
def instance(m, open_):  # type: ignore[no-untyped-def]
    """Position in the memory of the instance of order m: N, m and 1/sqrt(N) [K], its start, and TOTAL before it."""
    return m * (3 * open_.shape[0] + 2)


@inlined
def index(k, place, width, open_, memory):  # type: ignore[no-untyped-def]
    """m + width·(1/sqrt(N)) of arm k in an instance with rewards of the arm."""
    return memory[place + open_.shape[0] + k] + width * memory[place + 2 * open_.shape[0] + k]


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards in the instance that plays, else argmax of its index."""
    place, width = instance(int(cells[ACTIVE]), open_), sqrt(p[XI] * log(p[HORIZON]))
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if memory[place + k] == 0.0:
            if open_[k] == OPEN:
                return k
            continue
        score = index(k, place, width, open_, memory)
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def optimistic_estimate(open_, cells, memory, p):  # type: ignore[no-untyped-def]
    """f: the largest index of the instance that plays, at most 1; 1 if an arm has no rewards in it."""
    place, width = instance(int(cells[ACTIVE]), open_), sqrt(p[XI] * log(p[HORIZON]))
    best = 0.0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            score = index(k, place, width, open_, memory) if memory[place + k] > 0.0 else 1.0
            best = max(best, score)
    return min(1.0, best)


@inlined
def start_instances(open_, cells, memory, count, rng):  # type: ignore[no-untyped-def]
    """Start the instances of the next reward of the block, and let the one of the lowest order play."""
    seen, n, size = int(cells[SEEN]), int(cells[ORDER]), open_.shape[0]
    m = 0
    while m < n and seen % (2 << m) == 0:
        m += 1
    while m >= 0:
        if m == n or rng.random() < rate(2.0**n, count) / rate(2.0**m, count):
            place = instance(m, open_)
            memory[place : place + 3 * size] = 0.0
            memory[place + 3 * size] = seen + 1
            memory[place + 3 * size + 1] = cells[TOTAL]
        m -= 1
    m = 0
    while m < n:
        begin = memory[instance(m, open_) + 3 * size]
        if begin > 0.0 and seen + 1 < begin + (1 << m):
            break
        m += 1
    cells[ACTIVE] = m
    cells[READY] = 1.0


@inlined
def begin_block(n, open_, cells, memory):  # type: ignore[no-untyped-def]
    """Begin a block of 2^n rewards without instances."""
    cells[ORDER] = n
    cells[SEEN] = 0.0
    cells[LOWEST] = 1.0
    cells[TOTAL] = 0.0
    cells[GAP] = 0.0
    for m in range(ORDERS):
        memory[instance(m, open_) + 3 * open_.shape[0]] = 0.0


@inlined
def world_changed(open_, cells, memory, p, count):  # type: ignore[no-untyped-def]
    """Whether one of the two tests is positive."""
    seen, size = cells[SEEN], open_.shape[0]
    if cells[GAP] >= seen * p[H] * rate(seen, count):
        return True
    m = 0
    while m <= int(cells[ORDER]) and int(seen) % (1 << m) == 0:
        place, length = instance(m, open_), 2.0**m
        begin = memory[place + 3 * size]
        if begin > 0.0 and seen == begin - 1.0 + length:
            gained = (cells[TOTAL] - memory[place + 3 * size + 1]) / length
            if gained >= cells[LOWEST] + 3.0 * p[H] * rate(length, count):
                return True
        m += 1
    return False


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the instance that plays, test, and start the instances of the next reward."""
    count = max(1, count_open(open_))  # a late reward may arrive while all arms are closed
    if cells[READY] == 0.0:
        begin_block(0, open_, cells, memory)
        start_instances(open_, cells, memory, count, rng)
    z = to_unit(x, p[LOW], p[HIGH])
    f = optimistic_estimate(open_, cells, memory, p)
    place = instance(int(cells[ACTIVE]), open_)
    memory[place + k] += 1.0
    n, mean = memory[place + k], place + open_.shape[0] + k
    memory[mean] += (z - memory[mean]) / n
    memory[mean + open_.shape[0]] = 1.0 / sqrt(n)
    cells[SEEN] += 1.0
    cells[LOWEST] = min(cells[LOWEST], f)
    cells[TOTAL] += z
    cells[GAP] += f - z
    if world_changed(open_, cells, memory, p, count):
        cells[RESTARTS] += 1.0
        begin_block(0, open_, cells, memory)
    elif cells[SEEN] == 2.0 ** cells[ORDER]:
        begin_block(min(ORDERS - 1.0, cells[ORDER] + 1.0), open_, cells, memory)
    start_instances(open_, cells, memory, count, rng)


class MASTER(UnitPolicy):
    r"""UCB1 instances of many durations that restart when rewards are inconsistent with their optimistic estimates.

    $$m + \sqrt{\frac{\xi \ln T}{N}}, \qquad \text{restart if } \bar z \ge U + 3 h \rho(2^m)
    \text{ or } \overline{f - z} \ge h \rho(i)$$
    """

    reference = "Wei and Luo 2021, with UCB1"
    parameters = (
        HORIZON_PARAMETER,
        Param("xi", 0.6, 0.001, 5.0, unit_power=2, meaning="ξ, weight of the bonus, inside the root"),
        Param("h", 5.0, 0.1, 100.0, unit_power=1, meaning="h, factor of the thresholds of both tests"),
        *UnitPolicy.parameters,
    )
    random = True
    cell_limits = {
        SEEN: COUNT_OF_STEPS,
        ORDER: Limit(0.0, ORDERS - 1.0, whole=True),
        ACTIVE: Limit(0.0, ORDERS - 1.0, whole=True),
        READY: Limit(0.0, 1.0, whole=True),
        LOWEST: UNIT,
        TOTAL: NONNEGATIVE,
        RESTARTS: COUNT_OF_STEPS,
    }

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        statistics = (Part(arms, COUNT_OF_STEPS), Part(arms, UNIT), Part(arms, UNIT))
        return Memory((*statistics, Part(1, COUNT_OF_STEPS), Part(1, NONNEGATIVE)), repeat=ORDERS)

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that the instance that plays is one of the block, and that none starts after the present reward."""
        begins = memory.reshape(ORDERS, -1)[:, -2]
        valid = (
            cells[ACTIVE] <= cells[ORDER] and cells[SEEN] < 2.0 ** cells[ORDER] and (begins <= cells[SEEN] + 1).all()
        )
        if not valid or (cells[READY] == 0.0 and bool(np.any(memory))):
            raise InputError("cells of the state must describe a block with instances that have started.")
