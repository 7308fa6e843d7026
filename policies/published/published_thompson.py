"""Thompson sampling as in the logistics script: Beta(1 + Σz, 1 + Σ(1−z)).

z = clip((x − μ_min)/(μ_max − μ_min + 1e-6), 0, 1) uses the true smallest and largest current mean: the loop computes it
(`uses_true_means`) and passes it instead of the reward. The script's floor of 1e-6 is never reached.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.posterior import draw_beta
from ravenlab.policies.published import PublishedPolicy

WON, LOST = 1, 2  # rows: 1 + Σz and 1 + Σ(1−z)


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Start with Beta(1, 1)."""
    arms[WON] = 1.0
    arms[LOST] = 1.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of one draw per open arm, in index order."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw_beta(arms[WON, k], arms[LOST, k], rng)
            if theta > best:
                best, chosen = theta, k
    return chosen


@inlined
def update(t, k, z, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add z and 1 − z."""
    arms[WON, k] += z
    arms[LOST, k] += 1.0 - z


class PublishedThompson(PublishedPolicy):
    r"""Beta Thompson sampling of the logistics script, on rewards scaled by the true means.

    $$\theta \sim \mathrm{Beta}\bigl(1 + \sum z, 1 + \sum (1 - z)\bigr)$$
    """

    random = True
    uses_true_means = True
    rows = 3
