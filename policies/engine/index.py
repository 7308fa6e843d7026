"""Index policies: the arm with the largest index is pulled, and the index of an arm rises slowly while it is not.

An index policy states its index once, by three compiled rules:

    coefficient(t, p) -> c                             monotone in t from t = 2 on
    index(k, c, ahead, arms, cells, p) -> index of arm k
    update(t, k, x, open_, arms, cells, memory, p, rng) -> other arm whose index has changed, NONE or EVERY

`index` must not decrease in c. If `ahead` is the policy's `lookahead` instead of 0, it is an upper bound of the index
during the next `ahead` steps in which the arm is not pulled; c is then the largest coefficient of these steps. It is
infinite for an arm that must be pulled immediately. If the coefficient is not monotone, or NaN, all arms are compared
at every step.

If the terms of the index take long to compute, three more rules avoid it at most steps:

    accumulate(t, k, x, open_, arms, cells, memory, p, rng)  as `update`, but does not refresh the arms it concerns
    refresh(k, arms, cells, p)                               computes what `index` reads from the statistics of arm k
    least_bonus(k, c, ahead, arms, cells, p) -> a, b

`update` is then `accumulate`, followed by `refresh` of the pulled arm and of the one that `accumulate` returns. With
the mean m in row `mean_row`, (m + a) + b is a lower bound of the index of arm k during the next `ahead` steps if the
arm is pulled in all of them; c is the smallest coefficient of these steps.

`select` follows from these rules, and so does the loop over simulated worlds (`play_runs`). All operations in `index`
are monotone in floating-point arithmetic too, so the pulls are exactly those of `select`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, ClassVar

from environments.compiled import inlined, specialize
from environments.world import (
    BERNOULLI,
    DELAYED,
    GRADUAL,
    GROWTH,
    MEAN,
    PER_STEP,
    SEASON,
    SLOPE,
    VARIANCE,
    VARIANCE_PER_STEP,
    mean_of,
    reward_of,
)
from policies.engine.base import CLOSED, OPEN, PULLS, Policy
from policies.engine.loops import first_untried, record_step

LOOKAHEAD = 16
"""Steps that a bound holds for, unless a policy differs: with more bounds are looser, with fewer they expire sooner."""

NONE, EVERY = -1, -2  # results of `update`: no other index has changed, or all have
NEVER = -1e300  # below every index


@inlined
def is_monotone(c):  # type: ignore[no-untyped-def]
    """Whether coefficients never fall or never rise, from t = 2 on."""
    rising = falling = True
    for t in range(3, c.shape[0]):
        rising = rising and c[t] >= c[t - 1]
        falling = falling and c[t] <= c[t - 1]
    return rising or falling


coefficient: Any = None  # placeholders of `select_by_index` and `play_runs`
index: Any = None
start: Any = None
select: Any = None
accumulate: Any = None
refresh: Any = None
least_bonus: Any = None
HAS_LEAST_BONUS = False
MEAN_ROW = 0


def select_by_index(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the index over the open arms, lowest index on a tie; −1 if all wait for the reward of a forced pull."""
    c = coefficient(t, p)
    best, chosen = NEVER, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        score = index(k, c, 0, arms, cells, p)
        if score > best and (open_[k] == OPEN or score < inf):
            best, chosen = score, k
    return chosen


def play_runs(worlds, first, last, p, open_, arms, cells, memory, due, c, scores, rng, marks, out, curve, pulls):  # type: ignore[no-untyped-def]
    """`policies.engine.loops.play_worlds` for index policies. More scratch space: c [T + 2] and scores [4, K].

    A scan finds the leader and `hurdle`, the largest bound of the index of another arm in the next LOOKAHEAD steps.
    Until then, the leader is pulled as long as its own index exceeds `hurdle`. The next scan is due when it does not,
    when the bounds expire, when arms open or close, or when the indices of all arms change. If the index of one other
    arm changes, such as that of a reward that leaves a window, `hurdle` is raised to its new bound.

    With `least_bonus`, which is used from the second step of a run on, the index of the leader is computed only when
    its lower bound does not exceed `hurdle`.
    """
    kind, season, share = worlds.kind, worlds.season, worlds.share
    simple = kind & (SEASON | GRADUAL | BERNOULLI | DELAYED) == 0
    horizon, count = worlds.noise.shape[1], open_.shape[0]
    now, later, deviations, computed = scores[0], scores[1], scores[2], scores[3]
    for t in range(1, horizon + 2):
        c[t] = coefficient(t, p)
    runs = is_monotone(c)
    for r in range(first, last):
        starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
        level, motion = worlds.level[r], worlds.motion[r]
        noise, best, coin = worlds.noise[r], worlds.best[r], worlds.coin[r]
        opens, closes = worlds.opens[r], worlds.closes[r]
        open_[:] = 0
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        due[:] = 0.0
        computed[:] = -1.0
        start(arms, cells, memory, p)
        segment, event, untried, mark = -1, 1, 0, 0
        row, blip = 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        t, k, hurdle, highest, until = 1, 0, 0.0, 0.0, 0
        least_a, least_b = 0.0, NEVER
        while t <= horizon:
            if t == starts[segment + 1]:
                segment += 1
                row, blip = rows[segment], blips[segment]
            if t == event:
                untried, event, until = 0, horizon + 1, t
                for j in range(count):
                    open_[j] = 1 if opens[j] <= t < closes[j] else 0
                    if open_[j] == 1 and arms[PULLS, j] == 0.0:
                        untried += 1
                    if opens[j] > t:
                        event = min(event, opens[j])
                    if closes[j] > t:
                        event = min(event, closes[j])
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            elif not runs:
                k = select(t, open_, arms, cells, memory, p, rng)
            elif t >= until or not index(k, c[t], 0, arms, cells, p) > hurdle:
                until = min(t + LOOKAHEAD, horizon + 1)
                highest = max(c[t], c[until])
                for j in range(count):
                    now[j] = index(j, c[t], 0, arms, cells, p)
                    later[j] = index(j, highest, LOOKAHEAD, arms, cells, p)
                k, score, hurdle, bound = -1, NEVER, NEVER, NEVER
                for j in range(count):
                    if open_[j] == CLOSED:
                        continue
                    if now[j] > score:
                        hurdle = max(hurdle, bound)
                        k, score, bound = j, now[j], later[j]
                    else:
                        hurdle = max(hurdle, later[j])
                least_b = NEVER
            stop = max(t + 1, min(until, event, starts[segment + 1]))
            if computed[k] != segment:
                computed[k] = segment
                deviations[k] = sqrt(level[row, k, VARIANCE])
            base, deviation = level[row, k, MEAN], deviations[k]
            slope = motion[k, PER_STEP] if kind & SLOPE and blip == 0 else 0.0
            growth = motion[k, VARIANCE_PER_STEP] if kind & GROWTH and blip == 0 else 0.0
            while True:
                if simple:
                    mean = base + slope * t
                    if growth != 0.0:
                        deviation = sqrt(level[row, k, VARIANCE] + growth * t)
                    x = mean + deviation * noise[t - 1]
                    seen = x
                else:
                    mean = mean_of(kind, level, motion, season, share, row, blip, k, t)
                    x = reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)
                    seen = x
                    if kind & DELAYED:
                        ring = due.shape[0]
                        for i in range(worlds.parts.shape[2]):
                            due[(t + worlds.delay[r, t - 1, i]) % ring] += x * worlds.parts[r, t - 1, i]
                        seen = due[t % ring]
                        due[t % ring] = 0.0
                arms[PULLS, k] += 1.0
                changed = accumulate(t, k, seen, open_, arms, cells, memory, p, rng)
                regret += best[t - 1] - mean
                reward += x
                if mean < best[t - 1]:
                    suboptimal += 1
                mark = record_step(r, t, k, regret, reward, mark, marks, curve, pulls)
                t += 1
                if changed >= 0 and changed != k:
                    refresh(changed, arms, cells, p)
                    if open_[changed] != CLOSED:
                        hurdle = max(hurdle, index(changed, highest, LOOKAHEAD, arms, cells, p))
                leads = False
                if HAS_LEAST_BONUS:
                    leads = (arms[MEAN_ROW, k] + least_a) + least_b > hurdle
                if not leads or t >= stop or changed == EVERY:
                    refresh(k, arms, cells, p)
                    if changed == EVERY:
                        until = t
                        break
                    if t >= stop:
                        break
                    if not index(k, c[t], 0, arms, cells, p) > hurdle:
                        until = t
                        break
                    if HAS_LEAST_BONUS and least_b == NEVER:
                        least_a, least_b = least_bonus(k, min(c[t], c[until]), LOOKAHEAD, arms, cells, p)
        out[r, 0] = regret
        out[r, 1] = reward
        out[r, 2] = suboptimal


@inlined
def refresh_nothing(k, arms, cells, p):  # type: ignore[no-untyped-def]
    """The rule `refresh` of policies whose `update` computes everything that `index` reads."""


@inlined
def no_least_bonus(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """Placeholder of the rule `least_bonus`, never called."""
    return 0.0, NEVER


class IndexPolicy(Policy):
    """A policy with the rules `coefficient` and `index`, from which `choose` follows unless given."""

    coefficient: ClassVar[Callable[..., float]]
    index: ClassVar[Callable[..., float]]
    accumulate: ClassVar[Callable[..., int]]
    refresh: ClassVar[Callable[..., None]] = staticmethod(refresh_nothing)
    least_bonus: ClassVar[Callable[..., tuple[float, float]]] = staticmethod(no_least_bonus)
    mean_row: ClassVar[int] = 0
    lookahead: ClassVar[int] = LOOKAHEAD

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "choose" not in vars(cls):
            rules = {"coefficient": cls.coefficient, "index": cls.index}
            cls.choose = staticmethod(specialize(select_by_index, cls.name.replace("-", "_"), inline=True, **rules))

    @classmethod
    def run_rules(cls) -> dict[str, Any]:
        """Return the rules of `play_runs` in addition to those of the general loop."""
        return {
            "coefficient": cls.coefficient,
            "index": cls.index,
            "accumulate": getattr(cls, "accumulate", cls.learn),
            "refresh": cls.refresh,
            "least_bonus": cls.least_bonus,
            "HAS_LEAST_BONUS": cls.least_bonus is not no_least_bonus,
            "MEAN_ROW": cls.mean_row,
            "LOOKAHEAD": cls.lookahead,
        }
