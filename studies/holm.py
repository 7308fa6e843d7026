"""Holm's correction: what p-values are worth when several are asked for at once."""

from __future__ import annotations

from collections.abc import Mapping


def holm(p: list[float]) -> list[float]:
    """Holm's step-down correction.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        out[i] = largest
    return out


def holm_by_name(p: Mapping[str, float]) -> dict[str, float]:
    """The same for p-values that have names.

    >>> holm_by_name({"blips": 0.01, "periodic": 0.5})
    {'blips': 0.02, 'periodic': 0.5}
    """
    return dict(zip(p, holm(list(p.values())), strict=True))
