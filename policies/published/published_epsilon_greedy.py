"""ε-greedy as in the logistics script: with probability 0.1 a uniform open arm, else argmax m.

One random number decides whether to explore; a second one, drawn only then, selects the arm.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.rules import MEAN, argmax_row, count_open, uniform_arm, update_mean
from ravenlab.policies.published import PublishedPolicy

EPSILON = 0.1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A uniform open arm with probability ε, else argmax m."""
    if rng.random() < EPSILON:
        return uniform_arm(open_, count_open(open_), rng.random())
    return argmax_row(open_, arms, MEAN)


class PublishedEpsilonGreedy(PublishedPolicy):
    r"""ε-greedy of the logistics script, with ε = 0.1.

    $$P(\text{uniform open arm}) = 0.1, \qquad \text{else } \arg\max m$$
    """

    random = True
    rows = 2
    learn = staticmethod(update_mean)
