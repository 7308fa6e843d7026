"""What sections of studies that were tuned on a user's own data share."""

from __future__ import annotations

from collections.abc import Mapping


def shares_by_arm(counts: Mapping[str, int], of: int) -> list[list[str]]:
    """Name, count and share of each arm that has any, most first.

    >>> shares_by_arm({"paris": 1, "oslo": 3, "rome": 0}, of=8)
    [['oslo', '3', '37.5 %'], ['paris', '1', '12.5 %']]
    """
    ordered = sorted((-count, name) for name, count in counts.items() if count)
    return [[name, str(-less), f"{-100 * less / of:.3g} %"] for less, name in ordered]
