"""The largest q with d(m, q) ≤ L, d the binary relative entropy: the upper bound of kl-UCB.

d(m, q) = H − m·ln q − (1−m)·ln(1−q) with H = m·ln m + (1−m)·ln(1−m), which only a pull changes. For q above m it
grows and is convex, so Newton's steps from above go down to the root without overshooting, and a step from
below lands above it. The last one, when it is short, is made Chebyshev's, step·(1 + step·d″/(2d′)), whose error is of
the third order: under 1e-9, and mostly far under.

Two bounds lie above the root, the lesser of which is where to begin when nothing better is known: m + sqrt(L/2)
(Pinsker), and 1 − exp(−(L − H)/(1−m)), which is what is left without the term in ln q.
"""

from __future__ import annotations

from math import exp, log, sqrt

from environments.compiled import inlined

CLOSE = 1e-3
"""A step this short, relative to the room on both sides, is the last one."""

MOST_STEPS = 100
"""Never reached; no loop is without an end."""


@inlined
def negative_entropy(m):  # type: ignore[no-untyped-def]
    """H, 0 at both ends."""
    if m <= 0.0 or m >= 1.0:
        return 0.0
    return m * log(m) + (1.0 - m) * log(1.0 - m)


@inlined
def from_above(m, h, level):  # type: ignore[no-untyped-def]
    """A q at or above the root."""
    return min(m + sqrt(0.5 * level), 1.0 - exp((h - level) / (1.0 - m)))


@inlined
def upper_bound(m, h, level, guess):  # type: ignore[no-untyped-def]
    """The largest q with d(m, q) ≤ level; a guess within (m, 1) saves steps and changes nothing else."""
    if level <= 0.0 or m >= 1.0:
        return m
    if m <= 0.0:
        return 1.0 - exp(-level)
    q = guess if m < guess < 1.0 else from_above(m, h, level)
    for _ in range(MOST_STEPS):
        if not m < q < 1.0:
            # closer to an end than numbers can tell
            return min(1.0, max(m, q))
        room, rest = q - m, 1.0 - q
        step = (h - m * log(q) - (1.0 - m) * log(rest) - level) * q * rest / room
        if abs(step) <= CLOSE * room * rest:
            return q - step - step * step * (m * rest * rest + (1.0 - m) * q * q) / (2.0 * room * q * rest)
        q -= step
        if q >= 1.0:
            q = from_above(m, h, level)
    return q
