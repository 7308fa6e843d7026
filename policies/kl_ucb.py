"""kl-UCB: the largest q with N·d(m, q) ≤ ln t.

- gaussian: d(m, q) = (q − m)²/(2s²), so q = m + sqrt(2s²·ln t / N).
- bernoulli: d the binary relative entropy, m the mean of z = clip((x − low)/(high − low), 0, 1).

In the bernoulli case one arm is solved for at most steps. (q − m)/sqrt(ln t / N) hardly moves, so what it was when an
arm was last solved for tells who will win and where its q lies. That q is a bar for the others: an arm reaches it
only if m ≥ q or N·d(m, q) ≤ ln t, and with ln q and ln(1−q) worked out once, that is two products an arm. Only one that
passes is solved for too.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies._binary_bound import negative_entropy, upper_bound
from policies._parameters import GAUSSIAN, LIKELIHOOD_PARAMETER
from policies._rules import best_line
from policies._unit import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.base import CLOSED, PULLS, Param, Sizes, Value

MEAN, WIDTH = 1, 2
"""Rows: the mean and, where the likelihood is gaussian, 1/sqrt(N)."""

ENTROPY, REACH = 2, 3
"""Rows where it is bernoulli: m·ln m + (1−m)·ln(1−m), and (q − m)/sqrt(ln t) as far as is known."""

LIKELIHOOD, S2, LOW, HIGH = range(4)
"""Places of the parameters."""

SLACK = 1e-12
"""How far rounding may lift d(m, q) at a tie: who is this close is solved for."""

NEARLY = 1e-300
"""In place of 0, so that logarithms are finite."""

S2_PARAMETER = Param("s2", 0.25, 1e-4, 1.0, power=2, meaning="s², the rewards' variance (gaussian)")


@inlined
def solve(k, level, root, arms):  # type: ignore[no-untyped-def]
    """q of arm k at ln t = level = root²; how far it reaches is kept as the next guess."""
    m = arms[MEAN, k]
    q = upper_bound(m, arms[ENTROPY, k], level / arms[PULLS, k], m + root * arms[REACH, k])
    arms[REACH, k] = (q - m) / root if root > 0.0 else 0.0
    return q


@inlined
def best_bound(t, open_, arms):  # type: ignore[no-untyped-def]
    """argmax of q over the open arms, lowest index on a tie."""
    level = log(t)
    root = sqrt(level)
    chosen = best_line(open_, arms, MEAN, REACH, root)
    favourite, best = chosen, solve(chosen, level, root, arms)
    log_q, log_rest = log(max(best, NEARLY)), log(max(1.0 - best, NEARLY))
    for k in range(open_.shape[0]):
        m = arms[MEAN, k]
        distance = arms[ENTROPY, k] - m * log_q - (1.0 - m) * log_rest
        beaten = m < best and arms[PULLS, k] * (distance - SLACK) > level
        if beaten or open_[k] == CLOSED or k == favourite:
            continue
        q = solve(k, level, root, arms)
        if q > best or (q == best and k < chosen):
            best, chosen = q, k
            log_q, log_rest = log(max(best, NEARLY)), log(max(1.0 - best, NEARLY))
    return chosen


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of q."""
    if p[LIKELIHOOD] == GAUSSIAN:
        return best_line(open_, arms, MEAN, WIDTH, sqrt(2.0 * p[S2] * log(t)))
    return best_bound(t, open_, arms)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Running mean, and what of q or d depends on nothing else."""
    n = arms[PULLS, k]
    if p[LIKELIHOOD] == GAUSSIAN:
        arms[MEAN, k] += (x - arms[MEAN, k]) / n
        arms[WIDTH, k] = 1.0 / sqrt(n)
    else:
        arms[MEAN, k] += (to_unit(x, p[LOW], p[HIGH]) - arms[MEAN, k]) / n
        arms[ENTROPY, k] = negative_entropy(arms[MEAN, k])
        arms[REACH, k] *= sqrt((n - 1.0) / n)


class KLUCB(UnitPolicy):
    """UCB whose bonus is as wide as the rewards' likelihood allows and no wider."""

    name = "kl-ucb"
    reference = "Garivier and Cappé 2011"
    parameters = (
        LIKELIHOOD_PARAMETER,
        S2_PARAMETER,
        *UNIT_PARAMETERS,
    )
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4)


POLICY = KLUCB
