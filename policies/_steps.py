"""Steps that the loops share, written into each of them."""

from __future__ import annotations

from environments.compiled import inlined
from policies.base import PULLS


@inlined
def first_untried(open_, arms):  # type: ignore[no-untyped-def]
    """The open arm of lowest index that was never pulled; there is one."""
    k = 0
    while open_[k] == 0 or arms[PULLS, k] > 0.0:
        k += 1
    return k


@inlined
def note_step(r, t, k, regret, reward, mark, marks, curve, pulls):  # type: ignore[no-untyped-def]
    """Keep what is asked for of step t of replication r; gives the next mark to come to."""
    if pulls.shape[1] > 0:
        pulls[r, t - 1] = k
    if mark < marks.shape[0] and marks[mark] == t:
        curve[r, mark, 0] = regret
        curve[r, mark, 1] = reward
        return mark + 1
    return mark
