"""GLR-klUCB: kl-UCB with a restart of an arm when a generalized likelihood ratio test detects a change of its mean.

Reference: Besson, Kaufmann, Maillard and Seznec 2022, with local restarts. With d the relative entropy of the
likelihood, τ the step of the arm's last restart (0 initially) and N, m of its rewards since then, the index is the
largest q with N·d(m, q) ≤ ξ·ln(t − τ), as in the original with ξ = 1. Alarm: at some split i of the n = N rewards into
the first i with mean m₁ and the others with mean m₂,

    i·d(m₁, m) + (n−i)·d(m₂, m) > ln(3·n^{3/2}/δ).

An alarm restarts that arm only and discards the reward that raised it; the arm is then pulled immediately. Forced
exploration takes the open arms in turn at the start of every ⌈K/rate⌉ steps.

Gaussian likelihood: d(m, q) = (q − m)²/(2s²), so the index is m + sqrt(2s²·ξ·ln(t − τ) / N), and with P_i the sum of
the first i rewards the left side of the test is n·(P_i − i·m)² / (2s²·i·(n−i)). Without a given s², it is estimated for
each arm: s² = (Q + 10·v)/(N − 1 + 10), with Q the sum of squared deviations from m, and v the variance within arms,
pooled over all arms and restarts. v keeps arms with few rewards, all equal by chance, from being abandoned.

Bernoulli likelihood, on rewards scaled to [0, 1]: d is the binary relative entropy, and with h(m) the negative entropy
m·ln m + (1−m)·ln(1−m) the left side is i·h(m₁) + (n−i)·h(m₂) − n·h(m).

The test costs O(ln n) and runs at every eighth reward of an arm. It tries, for each j = 0, 1, 2, …, the last 16
multiples of 2^j below n: all of the last 16 splits, and coarser ones further back, at most (n−i)/8 apart. Each j has a
ring of 16 pairs (i, P_i), so memory per arm is constant. Sums are of differences from the arm's first reward, so large
means lose no digits. Beyond 16·2^31 rewards the oldest splits are not tried.
"""

from collections.abc import Mapping
from math import inf, log, nan, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine import restart, rules
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.index import EVERY, FEWER, NONE, IndexPolicy
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, SUM_OF_SQUARES, Memory, Part
from ravenlab.policies.engine.parameters import Param, ParamContext, Value
from ravenlab.policies.engine.restart import COUNT, MEAN, ROW_LIMITS, ROWS, WIDTH
from ravenlab.policies.kl_ucb import negative_entropy, upper_bound

BASE, SUM, RESTART, SQUARES, REACH = ROWS, ROWS + 1, ROWS + 2, ROWS + 3, ROWS + 4
"""Rows after those of `engine/restart.py`: first reward and P_n since the restart, τ, Q, and the latest known q − m."""

ALARMS, POOLED, FREEDOM = 0, 1, 2  # cells: number of restarts; sum of all Q, and its degrees of freedom
PRIOR = 10.0  # rewards that v counts for
VARIANCE_BOUND = 3  # cell of simulations only: upper bound of v
PERIOD = 8  # rewards of an arm between tests
RING, LEVELS = 16, 32  # splits stored for each j, and number of j
_, DELTA, RATE, LIKELIHOOD, S2, XI, LOW, HIGH = range(8)  # parameters


@inlined
def pooled_variance(cells):  # type: ignore[no-untyped-def]
    """v."""
    return cells[POOLED] / max(1.0, cells[FREEDOM])


@inlined
def arm_variance(k, v, arms, p):  # type: ignore[no-untyped-def]
    """s² of arm k: the given one, else (Q + 10·v)/(N − 1 + 10)."""
    return p[S2] if p[S2] > 0.0 else (arms[SQUARES, k] + PRIOR * v) / (arms[COUNT, k] - 1.0 + PRIOR)


@inlined
def best_gaussian(t, open_, arms, cells, p):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(2s²·ξ·ln(t − τ) / N).

    Since ln t ≥ ln(t − τ), the second logarithm is computed only for arms that would win with ln t.
    """
    slope, v = sqrt(2.0 * p[XI] * log(t)), pooled_variance(cells)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED or arms[COUNT, k] == 0.0:
            continue
        width = sqrt(arm_variance(k, v, arms, p)) * arms[WIDTH, k]
        score = arms[MEAN, k] + slope * width
        if score <= best:
            continue
        if arms[RESTART, k] > 0.0:
            since = max(1.0, t - arms[RESTART, k])
            score = arms[MEAN, k] + sqrt(2.0 * p[XI] * log(since)) * width
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def best_bernoulli(t, open_, arms, p):  # type: ignore[no-untyped-def]
    """argmax of q; arms whose upper bound m + sqrt(ξ·ln t / (2N)) (Pinsker) is too small are skipped."""
    root = sqrt(0.5 * p[XI] * log(t))
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        m = arms[MEAN, k]
        if open_[k] == CLOSED or arms[COUNT, k] == 0.0 or m + root * arms[WIDTH, k] <= best:
            continue
        level = p[XI] * log(max(1.0, t - arms[RESTART, k])) / arms[COUNT, k]
        q = upper_bound(m, negative_entropy(m), level, m + arms[REACH, k])
        arms[REACH, k] = q - m
        if q > best:
            best, chosen = q, k
    return chosen


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards since its restart, else forced exploration, else argmax q."""
    restarted = rules.first_below(open_, arms, COUNT, 1.0)
    if restarted >= 0:
        return restarted
    forced = restart.forced_arm(t, open_, p[RATE])
    if forced >= 0:
        return forced
    if p[LIKELIHOOD] == rules.GAUSSIAN:
        return best_gaussian(t, open_, arms, cells, p)
    return best_bernoulli(t, open_, arms, p)


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
def mean_entropy(total, count):  # type: ignore[no-untyped-def]
    """count·h(total/count), with the mean clipped to [0, 1] against rounding errors."""
    return count * negative_entropy(min(1.0, max(0.0, total / count)))


@inlined
def gaussian_change(stored, splits, sums, n, m, bar):  # type: ignore[no-untyped-def]
    """Number of splits i with (P_i − i·m)² > bar·i·(n−i)."""
    hits = 0
    for i in range(stored):
        gap = sums[i] - splits[i] * m
        hits += 1 if gap * gap > bar * splits[i] * (n - splits[i]) else 0
    return hits


@inlined
def bernoulli_change(stored, splits, sums, n, total, base, threshold):  # type: ignore[no-untyped-def]
    """Number of splits whose likelihood ratio exceeds the threshold, with the sum of all rewards and the first one."""
    hits, whole = 0, mean_entropy(total, n)
    for i in range(stored):
        first = sums[i] + splits[i] * base
        if mean_entropy(first, splits[i]) + mean_entropy(total - first, n - splits[i]) - whole > threshold:
            hits += 1
    return hits


@inlined
def mean_changed(k, arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Whether the likelihood ratio of a stored split i exceeds ln(3·n^{3/2}/δ)."""
    n, base = arms[COUNT, k], arms[BASE, k]
    gaussian = p[LIKELIHOOD] == rules.GAUSSIAN
    m = arms[SUM, k] / n
    threshold = log(3.0 * n * sqrt(n) / p[DELTA])
    bar = 2.0 * arm_variance(k, pooled_variance(cells), arms, p) * threshold / n
    multiples, ring, hits = int(n) - 1, k * LEVELS * 2 * RING, 0
    for _ in range(LEVELS):
        if multiples == 0 or hits > 0:
            break
        splits, sums = memory[ring : ring + RING], memory[ring + RING : ring + 2 * RING]
        if not gaussian:
            hits = bernoulli_change(min(multiples, RING), splits, sums, n, arms[SUM, k] + n * base, base, threshold)
        elif multiples < RING:
            hits = gaussian_change(multiples, splits, sums, n, m, bar)
        else:
            hits = gaussian_change(RING, splits, sums, n, m, bar)  # a constant number, so that the loop is unrolled
        multiples //= 2
        ring += 2 * RING
    return hits > 0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward and restart the arm on an alarm."""
    z = x if p[LIKELIHOOD] == rules.GAUSSIAN else rules.to_unit(x, p[LOW], p[HIGH])
    n = arms[COUNT, k] + 1.0
    arms[COUNT, k] = n
    if n == 1.0:
        arms[BASE, k] = z
        arms[SUM, k] = 0.0
        arms[MEAN, k] = z
    else:
        base, before = arms[BASE, k], arms[SUM, k]
        y = z - base
        total = before + y
        mean = total / n
        squares = (y - before / (n - 1.0)) * (y - mean)
        arms[SUM, k] = total
        arms[MEAN, k] = base + mean
        arms[SQUARES, k] += squares
        cells[POOLED] += squares
        cells[FREEDOM] += 1.0
    arms[WIDTH, k] = 1.0 / sqrt(n)
    if int(n) % PERIOD == 0 and p[DELTA] > 0.0 and mean_changed(k, arms, cells, memory, p):
        arms[COUNT:ROWS, k] = 0.0
        arms[SQUARES, k] = 0.0
        arms[REACH, k] = 0.0
        arms[RESTART, k] = t
        cells[ALARMS] += 1.0
    else:
        store_split(k, arms, memory)


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """sqrt(2ξ·ln t); NaN for the Bernoulli likelihood, whose q has no closed form."""
    return sqrt(2.0 * p[XI] * log(t)) if p[LIKELIHOOD] == rules.GAUSSIAN else nan


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m + sqrt(2ξ·ln(t − τ))·(s/sqrt(N)); infinite without rewards. `ahead` replaces v by its upper bound."""
    v = cells[VARIANCE_BOUND] if ahead > 0 else pooled_variance(cells)
    width = sqrt(arm_variance(k, v, arms, p)) * arms[WIDTH, k]
    return arms[MEAN, k] + c * width if arms[COUNT, k] > 0.0 else inf


@inlined
def prepare(ahead, cells, p):  # type: ignore[no-untyped-def]
    """Set the upper bound of v, which holds unless the next squared deviations are twice as large as usual."""
    v = pooled_variance(cells)
    cells[VARIANCE_BOUND] = max(v, v * (1.0 + ahead / max(1.0, cells[FREEDOM])))


@inlined
def accumulate(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """`update`; returns EVERY if v exceeds its upper bound."""
    update(t, k, x, open_, arms, cells, memory, p, rng)
    return EVERY if p[S2] == 0.0 and pooled_variance(cells) > cells[VARIANCE_BOUND] else NONE


@inlined
def force(t, open_, arms, p):  # type: ignore[no-untyped-def]
    """Forced exploration, unless an arm has no rewards since its restart."""
    if rules.first_below(open_, arms, COUNT, 1.0) >= 0:
        return NONE, t + 1
    return restart.forced_arm(t, open_, p[RATE]), restart.next_forced_step(t, open_, p[RATE])


def false_alarm_rate(context: ParamContext) -> float:
    """1/sqrt(KUT), for at least one change."""
    return 1.0 / sqrt(context.arms * max(1.0, context.number("changes")) * context.number("horizon"))


def exploration_rate(context: ParamContext) -> float:
    """0.1·sqrt(KU·ln T / T), at most 1."""
    horizon = context.number("horizon")
    return min(1.0, 0.1 * sqrt(context.arms * context.number("changes") * log(horizon) / horizon))


class GLRKLUCB(IndexPolicy, rules.UnitPolicy):
    r"""kl-UCB that restarts an arm when two means explain its rewards significantly better than one.

    $$\max\{q : N\, d(m, q) \le \xi \ln(t - \tau)\}, \qquad
    \text{restart if } i\, d(m_1, m) + (n - i)\, d(m_2, m) > \ln\frac{3 n^{3/2}}{\delta}$$
    """

    reference = "Besson, Kaufmann, Maillard and Seznec 2022"
    parameters = (
        rules.CHANGES_PARAMETER,
        Param("delta", false_alarm_rate, 1e-10, 1.0, most=1.0, meaning="δ, false-alarm probability of each arm"),
        Param("exploration", exploration_rate, 0.0001, 0.5, most=1.0, meaning="share of steps with forced exploration"),
        rules.LIKELIHOOD_PARAMETER,
        Param("s2", 0.0, power=2, meaning="s², variance of the rewards (Gaussian); 0 estimates it for each arm"),
        Param("xi", 1.0, 0.001, 5.0, meaning="ξ, factor of ln(t − τ) in the index"),
        *rules.UnitPolicy.parameters,
    )
    rows = ROWS + 5
    row_limits = {**ROW_LIMITS, RESTART: COUNT_OF_STEPS, SQUARES: SUM_OF_SQUARES}
    cell_limits = {ALARMS: COUNT_OF_STEPS, POOLED: SUM_OF_SQUARES, FREEDOM: COUNT_OF_STEPS}
    restart_row = RESTART
    run_cells = 1
    few_arms = FEWER

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        return Memory((Part(RING, COUNT_OF_STEPS), Part(RING)), repeat=arms * LEVELS)
