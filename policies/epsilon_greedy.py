"""ε-greedy: with probability ε a uniform open arm, else argmax m (Sutton and Barto 1998).

One random number decides whether to explore; a second one, drawn only then, selects the arm.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import MEAN, argmax_row, count_open, uniform_arm, update_mean


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A uniform open arm with probability ε, else argmax m."""
    if rng.random() < p[0]:
        return uniform_arm(open_, count_open(open_), rng.random())
    return argmax_row(open_, arms, MEAN)


class EpsilonGreedy(Policy):
    r"""Explores with constant probability, so it keeps detecting changes at a constant cost.

    $$P(\text{uniform open arm}) = \varepsilon, \qquad \text{else } \arg\max m$$
    """

    family = "sampling"
    reference = "Sutton and Barto 1998"
    parameters = (Param("epsilon", 0.1, 0.001, 0.5, most=1.0, meaning="ε, probability of exploration"),)
    rows = 2
    learn = staticmethod(update_mean)
