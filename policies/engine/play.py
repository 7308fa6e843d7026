"""One candidate played on a block of worlds, trace windows or logs, and the results of that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.compiled import specialize
from ravenlab.common.errors import InputError
from ravenlab.environments.blocks import AnyWorlds
from ravenlab.environments.recorded.log_world import LogWorlds
from ravenlab.environments.recorded.trace_world import TraceWorlds
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import DELAYED, Floats, Worlds, fill_uniform_regret
from ravenlab.policies.engine import loops
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.index import IndexPolicy, play_runs, tree_size
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.plain_loops import play_plain, play_plain_log, play_plain_window, play_plain_world
from ravenlab.policies.engine.plugins import PlainPolicy

_REGRET, _REWARD, _SUBOPTIMAL, _MARKED = range(4)  # columns of the totals of a replication, as loops write them

Marks = np.ndarray[Any, np.dtype[np.int64]]
Loop = Callable[..., None]


class _Column:
    """A property of a result: one column, along the last axis, of one of its arrays."""

    def __init__(self, array: str, column: int) -> None:
        self.array = array
        self.column = column

    def __get__(self, played: Any, _: type) -> Floats:
        return np.asarray(getattr(played, self.array)[..., self.column])


@dataclass(frozen=True)
class Played:
    """Results of one candidate on a block of R worlds."""

    out: Floats
    """[R, 3] regret, reward and suboptimal pulls."""
    curve: Floats
    """[R, marks, 2] cumulative regret and reward at the marked steps."""
    pulls: np.ndarray[Any, np.dtype[np.int32]]
    """[R, T] arm pulled at each step; [R, 0] if not recorded."""

    regret = _Column("out", _REGRET)
    """[R] regret over all steps."""
    reward = _Column("out", _REWARD)
    """[R] reward over all steps."""
    suboptimal_pulls = _Column("out", _SUBOPTIMAL)
    """[R] pulls of arms that were not the best."""
    regret_curve = _Column("curve", _REGRET)
    """[R, marks] regret up to the marked steps."""
    reward_curve = _Column("curve", _REWARD)
    """[R, marks] reward up to the marked steps."""


@dataclass(frozen=True)
class PlayedCandidates:
    """Results of C candidates in the same R worlds; every property has the shape [C, R]."""

    totals: Floats
    """[C, R, 4] all results, as compiled loops write them."""

    regret = _Column("totals", _REGRET)
    """Regret over all steps."""
    reward = _Column("totals", _REWARD)
    """Reward over all steps."""
    marked_regret = _Column("totals", _MARKED)
    """Regret up to the marked step; 0 or the regret over all steps if no step is marked."""


@dataclass(frozen=True)
class PlayedWindows(Played):
    """Results on windows of a trace, with regret by row of the trace and by step of the window."""

    regret_by_row: Floats
    regret_by_step: Floats


@dataclass(frozen=True)
class PlayedLogs(Played):
    """Results on logs; `out` holds the logging policy's advantage, the score and the matched steps."""

    tally: Floats
    """[R, 4] score, matched steps, effective events, and mean reward of the logging policy."""
    events: int
    """Number of events of each log."""

    score = _Column("tally", 0)
    """[R] mean reward per step."""
    matched = _Column("tally", 1)
    """[R] number of steps at which the policy selects the logged arm."""
    effective = _Column("tally", 2)
    """[R] effective number of events in the score, (Σ w)² / Σ w² for the weight w of each event."""
    logged = _Column("tally", 3)
    """[R] mean reward of the logging policy."""


def evaluate(
    policy: type[Policy],
    candidates: Sequence[Mapping[str, Value]],
    worlds: AnyWorlds,
    seed: int,
    first: int = 0,
    stream: int = Stream.SIMULATE,
    mark: int = 0,
) -> PlayedCandidates:
    """Return regret, reward, suboptimal pulls and regret up to step `mark` of candidates on the same worlds.

    >>> from ravenlab.environments import find_scenario
    >>> from ravenlab.environments.blocks import draw_any
    >>> from ravenlab.policies import find_policy
    >>> ucb1 = find_policy("ucb1")
    >>> worlds = draw_any(find_scenario("blips"), 200, 3, seed=1, replications=4)
    >>> evaluate(ucb1, [ucb1.resolve({"c": c}, 3, 200) for c in (0.1, 2.0)], worlds, seed=1).regret.shape
    (2, 4)
    """
    if isinstance(worlds, Worlds):
        totals = policy.evaluate_fast(worlds, np.array([policy.vector(values) for values in candidates]), mark)
        if totals is not None:
            return PlayedCandidates(totals)
    marks = np.array([mark] if mark > 0 else [], dtype=np.int64)
    played = [play(policy, values, worlds, seed, first, stream, marks, fast=False) for values in candidates]
    totals = np.zeros((len(played), played[0].out.shape[0], 4))
    for row, result in zip(totals, played, strict=True):
        row[:, :_MARKED] = result.out
        if marks.size:
            row[:, _MARKED] = result.regret_curve[:, 0]
    return PlayedCandidates(totals)


def play(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
    fast: bool = True,
    runs: bool = True,
) -> Played:
    """Play one candidate on a block of worlds.

    Args:
        policy: The policy class.
        values: All parameters of the candidate.
        worlds: The block.
        seed: Seed of the policy's random draws.
        first: Replication of the first world of the block.
        stream: Random stream.
        marks: Steps at which cumulative regret and reward are recorded, in ascending order.
        pulls: Whether to record the pulled arms.
        fast: Whether to use the policy's fast method, if there is one and neither marks nor pulls are requested.
        runs: Whether to use leader runs for an index policy; the results are the same.
    """
    if isinstance(worlds, TraceWorlds):
        return play_windows(policy, values, worlds, seed, first, stream, marks, pulls)
    if isinstance(worlds, LogWorlds):
        return play_logs(policy, values, worlds, seed, first, stream)
    replications, horizon = worlds.noise.shape
    arms = worlds.level.shape[2]
    result = Played(**_empty_outputs(replications, horizon, marks, pulls))
    if fast and not pulls and not marks.size:
        totals = policy.evaluate_fast(worlds, policy.vector(values)[None], 0)
        if totals is not None:
            return replace(result, out=totals[0, :, :_MARKED])
    sizes, seeds = (replications, arms, horizon), (seed, first, stream)
    if issubclass(policy, PlainPolicy):
        play_plain(policy, values, sizes, seeds, partial(play_plain_world, worlds, marks, result))
        return result
    scratch = [np.empty(int(worlds.delay.max()) + 1 if worlds.kind & DELAYED else 0)]
    runs = runs and issubclass(policy, IndexPolicy) and policy.hidden_knowledge() is None
    if runs:
        scratch += [np.empty(horizon + 2), np.empty(tree_size(arms)), np.empty((4, arms))]
    loop = compile_loop(policy, loops.play_worlds, runs)
    _run_loop(loop, policy, values, worlds, sizes, seeds, (marks, result.out, result.curve, result.pulls), scratch)
    return result


def _empty_outputs(replications: int, steps: int, marks: Marks, pulls: bool) -> dict[str, Any]:
    """Allocate the arrays of a result that loops write."""
    return {
        "out": np.empty((replications, 3)),
        "curve": np.empty((replications, marks.size, 2)),
        "pulls": np.empty((replications, steps if pulls else 0), dtype=np.int32),
    }


LAST_SHARE = 10  # the last tenth of the steps decides whether a world fails
FAILURE_LEVEL = 0.5  # share of the regret of uniform choice in these steps above which it does
NO_REGRET = 1e-9  # regret that counts as zero


def last_mark(horizon: int) -> int:
    """Return the last step before those that decide whether a world fails.

    >>> last_mark(1000), last_mark(5)
    (900, 4)
    """
    return max(1, horizon - max(1, horizon // LAST_SHARE))


def uniform_regret(worlds: Worlds) -> Floats:
    """Return the expected regret [R] of uniform choice in the last tenth of the steps."""
    replications, horizon = worlds.noise.shape
    out, (totals, counts) = np.empty(replications), np.empty((2, horizon - last_mark(horizon)))
    fill_uniform_regret(worlds, last_mark(horizon) + 1, totals, counts, out)
    return out


def is_failure(regret: Floats, uniform: Floats) -> NDArray[np.bool_]:
    """Mark worlds in which the regret of the last steps exceeds half that of uniform choice in the same steps.

    >>> is_failure(np.array([1.0, 6.0]), np.array([10.0, 10.0]))
    array([False,  True])
    """
    return np.asarray(regret > np.maximum(FAILURE_LEVEL * uniform, NO_REGRET))


def play_windows(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
    locate_regret: bool = False,
) -> PlayedWindows:
    """Play one candidate on windows of a trace; the arguments are those of `play`.

    With `locate_regret`, regret is also summed by row and by step over the windows of the block. These sums are
    reproducible to the last bit only for the same division into blocks.
    """
    _check_deployable(policy, "trace")
    replications, horizon = worlds.offsets.size, worlds.horizon
    rows, arms = worlds.values.shape
    result = PlayedWindows(
        **_empty_outputs(replications, horizon, marks, pulls),
        regret_by_row=np.zeros(rows if locate_regret else 0),
        regret_by_step=np.zeros(horizon if locate_regret else 0),
    )
    sizes, seeds = (replications, arms, horizon), (seed, first, stream)
    if issubclass(policy, PlainPolicy):
        play_plain(policy, values, sizes, seeds, partial(play_plain_window, worlds, marks, result))
    else:
        outputs = (marks, result.out, result.curve, result.pulls, result.regret_by_row, result.regret_by_step)
        _run_loop(compile_loop(policy, loops.play_trace), policy, values, worlds, sizes, seeds, outputs)
    return result


def play_logs(
    policy: type[Policy], values: Mapping[str, Value], worlds: LogWorlds, seed: int, first: int, stream: int
) -> PlayedLogs:
    """Play one candidate on logs; the arguments are those of `play`."""
    _check_deployable(policy, "log")
    replications, arms, events = worlds.log.size, worlds.open_at_start.size, worlds.arm.size
    tally = np.empty((replications, 4))
    tally[:, 3] = worlds.logged_means[worlds.log]
    sizes, seeds = (replications, arms, events), (seed, first, stream)
    if issubclass(policy, PlainPolicy):
        play_plain(policy, values, sizes, seeds, partial(play_plain_log, worlds, tally))
    else:
        scratch = [np.empty(arms, dtype=np.int64), np.empty(worlds.until.size, dtype=np.int32), np.empty(events + 1)]
        _run_loop(compile_loop(policy, loops.play_log), policy, values, worlds, sizes, seeds, (tally,), scratch)
    return PlayedLogs(
        out=np.stack([worlds.logged - tally[:, 0], tally[:, 0], tally[:, 1]], axis=1),
        curve=np.empty((replications, 0, 2)),
        pulls=np.empty((replications, 0), dtype=np.int32),
        tally=tally,
        events=events,
    )


def _check_deployable(policy: type[Policy], source: str) -> None:
    secret = policy.hidden_knowledge()
    if secret is not None:
        raise InputError(f"{policy.name} {secret}, which a {source} does not contain.")


_COMPILED: dict[tuple[type[Policy], Loop, bool], Loop] = {}


def compile_loop(policy: type[Policy], template: Loop = loops.play_worlds, runs: bool = False) -> Loop:
    """Return a loop template with the rules of a policy, compiled on first use; `runs` selects leader runs."""
    key = (policy, template, runs)
    if key not in _COMPILED:
        rules: dict[str, Any] = {
            "start": policy.start,
            "select": policy.choose,
            "update": policy.learn,
            "USES_TRUE_MEANS": policy.uses_true_means,
            "KNOWS_CHANGES": policy.knows_changes,
        }
        if runs:
            assert issubclass(policy, IndexPolicy)
            template, rules = play_runs, rules | policy.run_rules()
        _COMPILED[key] = specialize(template, policy.name.replace("-", "_"), **rules)
    return _COMPILED[key]


def _run_loop(
    loop: Loop,
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    sizes: tuple[int, int, int],
    seeds: tuple[int, int, int],
    outputs: Sequence[Any],
    more_scratch: Sequence[Any] = (),
) -> None:
    """Run a compiled loop on all replications of a block; `sizes` and `seeds` are those of `play_plain`.

    A policy that draws random numbers has a generator per replication, so results do not depend on the division into
    blocks.
    """
    (replications, arms, _), (seed, first, stream) = sizes, seeds
    needed, p = policy.sizes(arms, values), policy.vector(values)
    scratch = (
        np.empty(arms, dtype=np.int64),
        np.empty((needed.rows, arms)),
        np.empty(needed.cells + (policy.run_cells if issubclass(policy, IndexPolicy) else 0)),
        np.empty(needed.memory),
        *more_scratch,
    )
    if not policy.random:
        loop(worlds, 0, replications, p, *scratch, np.random.default_rng(0), *outputs)
        return
    for r in range(replications):
        loop(worlds, r, r + 1, p, *scratch, generator(seed, stream, first + r, "policy"), *outputs)
