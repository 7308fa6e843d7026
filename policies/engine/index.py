"""Index policies: the arm with the largest index is pulled, and the index of an arm rises slowly while it is not.

An index policy states its index once, by three compiled rules:

    coefficient(t, p) -> c                             monotone in t from t = 2 on
    index(k, c, ahead, arms, cells, p) -> index of arm k
    update(t, k, x, open_, arms, cells, memory, p, rng) -> other arm whose index has changed, NONE or EVERY

`index` must not decrease in c. If `ahead` is not 0, it is an upper bound of the index during the next `ahead` steps in
which the arm is not pulled; c is then the largest coefficient of these steps. It is infinite for an arm that must be
pulled immediately. If the coefficient is not monotone, or NaN, all arms are compared at every step. If a policy
restarts arms, `restart_row` is the row with the step of the last restart, and c is the coefficient of the steps since.

Two more rules are optional:

    prepare(ahead, cells, p)                 computes terms that the bounds of all arms share
    force(t, open_, arms, p) -> arm, step    the arm to pull at step t whatever the indices are, else NONE, and the next
                                             step at which to call the rule if no arm opens or closes before

`prepare` may use `run_cells` more cells than the policy has online. If a term that it computed ceases to be a bound,
`accumulate` returns EVERY.

If the terms of the index take long to compute, three more rules avoid it at most steps:

    accumulate(t, k, x, open_, arms, cells, memory, p, rng)  as `update`, but need not refresh the arms it concerns
    refresh(k, arms, cells, p)                               computes what `index` reads from the statistics of arm k
    least_bonus(k, c, ahead, arms, cells, p) -> a, b

`update` is then `accumulate`, followed by `refresh` of the pulled arm and of the one that `accumulate` returns. With
the mean m in row `mean_row`, (m + a) + b is a lower bound of the index of arm k during the next `ahead` steps if the
arm is pulled in all of them; c is the smallest coefficient of these steps.

A policy whose index is costly, or changes while an arm is not pulled, sets `few_arms` to FEWER.

`select` follows from these rules, and so does the loop over simulated worlds (`play_runs`). All operations in `index`
are monotone in floating-point arithmetic too, so the pulls are exactly those of `select`.
"""

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, ClassVar

from ravenlab.common.compiled import inlined, specialize
from ravenlab.environments import world
from ravenlab.policies.engine.base import CLOSED, OPEN, PULLS, Policy
from ravenlab.policies.engine.loops import first_untried, observe_delayed, open_arms, record_step

LOOKAHEAD = 16
"""Steps that a bound holds for, unless a policy differs: with more bounds are looser, with fewer they expire sooner."""

FEW, FEWER = 64, 24
"""Most arms for which comparing all is faster than searching a tree: for a simple and for a costly index."""

SHORTEST, LONGEST = 4, 256  # limits of the lookahead, which is adapted if there are more arms

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


@inlined
def coefficient_of(t, k, c, arms, restart_row):  # type: ignore[no-untyped-def]
    """The coefficient of arm k at step t: that of the steps since its restart, if the policy restarts arms."""
    if restart_row > 0:
        return c[max(1, t - int(arms[restart_row, k]))]
    return c[t]


@inlined
def bound_of(t, until, k, c, arms, restart_row):  # type: ignore[no-untyped-def]
    """The largest coefficient of arm k from step t to step `until`."""
    return max(coefficient_of(t, k, c, arms, restart_row), coefficient_of(until, k, c, arms, restart_row))


def tree_size(count: int) -> int:
    """Return the number of nodes of a tournament tree with a leaf per arm, node 0 included.

    >>> tree_size(3), tree_size(4)
    (8, 8)
    """
    return 2 << (count - 1).bit_length()


@inlined
def set_leaf(tree, j, bound):  # type: ignore[no-untyped-def]
    """Set the leaf of arm j and the maxima above it."""
    node = tree.shape[0] // 2 + j
    bound = bound if bound > NEVER else NEVER  # also if it is NaN
    tree[node] = bound
    while node > 1:
        other = tree[node ^ 1]
        bound = other if other > bound else bound
        node >>= 1
        tree[node] = bound


@inlined
def fill_maxima(tree):  # type: ignore[no-untyped-def]
    """Compute all nodes from the leaves."""
    for node in range(tree.shape[0] // 2 - 1, 0, -1):
        left, right = tree[2 * node], tree[2 * node + 1]
        tree[node] = right if right > left else left


@inlined
def first_largest(tree):  # type: ignore[no-untyped-def]
    """The lowest arm with the largest leaf."""
    size, node = tree.shape[0] // 2, 1
    while node < size:
        node = 2 * node + (1 if tree[2 * node] != tree[1] else 0)
    return node - size


coefficient: Any = None  # placeholders of `select_by_index` and `play_runs`
index: Any = None
start: Any = None
select: Any = None
accumulate: Any = None
refresh: Any = None
least_bonus: Any = None
prepare: Any = None
force: Any = None
find_leader_of: Any = None
HAS_LEAST_BONUS = False
HAS_FORCED = False
RESTART_ROW = 0
FEW_ARMS = FEW
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


def find_leader(t, c, arms, cells, p, tree, tried):  # type: ignore[no-untyped-def]
    """Return the argmax of the index at step t, lowest arm on a tie, and the number of indices computed.

    The leaves of the tree are upper bounds of the indices. Indices are computed in the order of their bounds, until no
    other arm can win. The leaf of the leader becomes NEVER, so that the root is the largest bound of another arm.
    Scratch space: tried [2, K].
    """
    best, chosen, computed = NEVER, -1, 0
    while tree[1] >= best and tree[1] > NEVER:
        bound, j = tree[1], first_largest(tree)
        if bound == best and j > chosen:
            break
        tried[0, computed], tried[1, computed] = j, bound
        computed += 1
        set_leaf(tree, j, NEVER)
        score = index(j, coefficient_of(t, j, c, arms, RESTART_ROW), 0, arms, cells, p)
        if score > best or (score == best and j < chosen):
            best, chosen = score, j
    for i in range(computed):
        if tried[0, i] != chosen:
            set_leaf(tree, int(tried[0, i]), tried[1, i])
    return chosen, computed


def play_runs(worlds, first, last, p, open_, arms, cells, memory, due, c, tree, scores, rng, marks, out, curve, pulls):  # type: ignore[no-untyped-def]
    """`policies.engine.loops.play_worlds` for index policies.

    More scratch space: c [T + 2], tree (`tree_size`) and scores [4, K].

    The leader is pulled as long as its own index exceeds `hurdle`, the largest bound of the index of another arm up to
    step `until`. When it does not, or when the bounds expire, arms open or close, or the indices of all arms change,
    the next leader is found:

    - Few arms: the indices and bounds of all arms are computed.
    - Many arms: bounds are the leaves of a tournament tree, whose root is `hurdle`. Only that of the last leader is
      computed again, and indices only for arms with the largest bounds (`find_leader`). Bounds over more steps are
      looser, so more indices are computed in vain; over fewer, they expire sooner. `ahead` is adapted accordingly.

    If the index of one other arm changes, such as that of a reward that leaves a window, its bound is renewed. With
    `least_bonus`, which is used from the second step of a run on, the index of the leader is computed only when its
    lower bound does not exceed `hurdle`.
    """
    kind, season, share = worlds.kind, worlds.season, worlds.share
    simple = kind & (world.SEASON | world.GRADUAL | world.BERNOULLI | world.DELAYED) == 0
    horizon, count = worlds.noise.shape[1], open_.shape[0]
    deviations, computed, leaves, few = scores[2], scores[3], tree[tree.shape[0] // 2 :], count <= FEW_ARMS
    for t in range(1, horizon + 2):
        c[t] = coefficient(t, p)
    monotone = is_monotone(c)
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
        tree[:] = NEVER
        computed[:] = -1.0
        start(arms, cells, memory, p)
        segment, event, untried, mark = -1, 1, 0, 0
        row, blip = 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        t, k, hurdle, until, forced_at, lost = 1, 0, 0.0, 0, 1, False
        ahead, in_vain, runs = LOOKAHEAD, 0, monotone
        least_a, least_b = 0.0, NEVER
        while t <= horizon:
            if t == starts[segment + 1]:
                segment += 1
                row, blip = rows[segment], blips[segment]
            if t == event:
                untried, event = open_arms(t, horizon, opens, closes, open_, arms)
                until = forced_at = t
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            elif not runs:
                k = select(t, open_, arms, cells, memory, p, rng)
            else:
                forced = NONE
                if HAS_FORCED and t >= forced_at:
                    forced, forced_at = force(t, open_, arms, p)
                if forced >= 0:
                    if t < until and not few:
                        highest = bound_of(t, until, k, c, arms, RESTART_ROW)
                        set_leaf(tree, k, index(k, highest, ahead, arms, cells, p))
                        set_leaf(tree, forced, NEVER)
                    k, least_b, lost, forced_at = forced, NEVER, True, t + 1  # for one step
                elif (
                    lost
                    or t >= until
                    or not index(k, coefficient_of(t, k, c, arms, RESTART_ROW), 0, arms, cells, p) > hurdle
                ):
                    if few:
                        until = min(t + LOOKAHEAD, horizon + 1)
                        prepare(LOOKAHEAD, cells, p)
                        now, later = scores[0], scores[1]
                        current, highest = c[t], max(c[t], c[until])
                        for j in range(count):
                            if RESTART_ROW > 0:
                                current = coefficient_of(t, j, c, arms, RESTART_ROW)
                                highest = bound_of(t, until, j, c, arms, RESTART_ROW)
                            now[j] = index(j, current, 0, arms, cells, p)
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
                    else:
                        if t >= until:
                            if in_vain > 2 + count // 32:
                                ahead = max(ahead // 2, SHORTEST)
                            elif in_vain < 1 + count // 64:
                                ahead = min(ahead * 2, LONGEST)
                            in_vain = 0
                            until = min(t + ahead, horizon + 1)
                            prepare(ahead, cells, p)
                            highest = max(c[t], c[until])
                            for j in range(count):
                                if RESTART_ROW > 0:
                                    highest = bound_of(t, until, j, c, arms, RESTART_ROW)
                                bound = index(j, highest, ahead, arms, cells, p)
                                leaves[j] = bound if open_[j] != CLOSED and bound > NEVER else NEVER
                            fill_maxima(tree)
                        else:
                            highest = bound_of(t, until, k, c, arms, RESTART_ROW)
                            set_leaf(tree, k, index(k, highest, ahead, arms, cells, p))
                        before = k
                        k, tries = find_leader_of(t, c, arms, cells, p, tree, scores)
                        in_vain += tries if k == before else tries - 1
                        hurdle = tree[1]
                    least_b, lost = NEVER, False
                    if k < 0:  # all indices are NaN
                        runs, until = False, t
            stop = max(t + 1, min(until, event, forced_at if HAS_FORCED else event, starts[segment + 1]))
            if computed[k] != segment:
                computed[k] = segment
                deviations[k] = sqrt(level[row, k, world.VARIANCE])
            base, deviation = level[row, k, world.MEAN], deviations[k]
            slope = motion[k, world.PER_STEP] if kind & world.SLOPE and blip == 0 else 0.0
            growth = motion[k, world.VARIANCE_PER_STEP] if kind & world.GROWTH and blip == 0 else 0.0
            while True:
                if simple:
                    mean = base + slope * t
                    if growth != 0.0:
                        deviation = sqrt(level[row, k, world.VARIANCE] + growth * t)
                    x = mean + deviation * noise[t - 1]
                    seen = x
                else:
                    mean = world.mean_of(kind, level, motion, season, share, row, blip, k, t)
                    x = world.reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)
                    seen = x
                    if kind & world.DELAYED:
                        seen = observe_delayed(t, x, worlds.parts[r, t - 1], worlds.delay[r, t - 1], due)
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
                    if open_[changed] != CLOSED and t < until:
                        highest = bound_of(t, until, changed, c, arms, RESTART_ROW)
                        bound = index(changed, highest, ahead, arms, cells, p)
                        if few:
                            hurdle = max(hurdle, bound)
                        elif bound > leaves[changed]:
                            set_leaf(tree, changed, bound)
                            hurdle = tree[1]
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
                    if not index(k, coefficient_of(t, k, c, arms, RESTART_ROW), 0, arms, cells, p) > hurdle:
                        lost = True
                        break
                    if HAS_LEAST_BONUS and least_b == NEVER:
                        least_a, least_b = least_bonus(k, min(c[t], c[until]), ahead, arms, cells, p)
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


@inlined
def prepare_nothing(ahead, cells, p):  # type: ignore[no-untyped-def]
    """The rule `prepare` of policies whose bounds share no terms."""


@inlined
def force_none(t, open_, arms, p):  # type: ignore[no-untyped-def]
    """Placeholder of the rule `force`, never called."""
    return NONE, t


class IndexPolicy(Policy):
    """A policy with the rules `coefficient` and `index`, from which `choose` follows unless given."""

    coefficient: ClassVar[Callable[..., float]]
    index: ClassVar[Callable[..., float]]
    accumulate: ClassVar[Callable[..., int]]
    refresh: ClassVar[Callable[..., None]] = staticmethod(refresh_nothing)
    least_bonus: ClassVar[Callable[..., tuple[float, float]]] = staticmethod(no_least_bonus)
    prepare: ClassVar[Callable[..., None]] = staticmethod(prepare_nothing)
    force: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(force_none)
    mean_row: ClassVar[int] = 0
    restart_row: ClassVar[int] = 0
    run_cells: ClassVar[int] = 0
    lookahead: ClassVar[int] = LOOKAHEAD
    few_arms: ClassVar[int] = FEW
    rule_names = {
        **Policy.rule_names,
        **{name: name for name in ("coefficient", "index", "accumulate", "refresh", "least_bonus", "prepare", "force")},
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "choose" not in vars(cls):
            rules = {"coefficient": cls.coefficient, "index": cls.index}
            cls.choose = staticmethod(specialize(select_by_index, cls.name.replace("-", "_"), inline=True, **rules))

    @classmethod
    def run_rules(cls) -> dict[str, Any]:
        """Return the rules of `play_runs` in addition to those of the general loop."""
        name = cls.name.replace("-", "_")
        rules: dict[str, Any] = {"index": cls.index, "RESTART_ROW": cls.restart_row}
        return {
            "coefficient": cls.coefficient,
            "index": cls.index,
            "accumulate": getattr(cls, "accumulate", cls.learn),
            "refresh": cls.refresh,
            "least_bonus": cls.least_bonus,
            "prepare": cls.prepare,
            "force": cls.force,
            "find_leader_of": specialize(find_leader, name, inline=True, **rules),
            "HAS_FORCED": cls.force is not force_none,
            "RESTART_ROW": cls.restart_row,
            "HAS_LEAST_BONUS": cls.least_bonus is not no_least_bonus,
            "MEAN_ROW": cls.mean_row,
            "LOOKAHEAD": cls.lookahead,
            "FEW_ARMS": cls.few_arms,
        }
