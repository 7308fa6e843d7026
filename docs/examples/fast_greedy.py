"""A policy with compiled rules: the highest mean plus a bonus that decreases with the number of pulls."""

import ravenlab

PULLS, MEAN = 0, 1  # rows of `arms`; the engine counts pulls


@ravenlab.inlined
def select(t, open_, arms, cells, memory, p, rng):
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + p[0] / arms[PULLS, k]
        if open_[k] != 0 and score > best:
            best, chosen = score, k
    return chosen


@ravenlab.inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]


class FastGreedy(ravenlab.Policy):
    parameters = (ravenlab.Param("bonus", default=1.0, low=0.01, high=100.0, power=1),)
    choose, learn = staticmethod(select), staticmethod(update)

    @classmethod
    def sizes(cls, arms, values):
        return ravenlab.Sizes(rows=2)
