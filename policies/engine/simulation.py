"""Play a policy in a scenario: every replication a world of its own, the same for every policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from environments import Scenario, find_scenario
from environments.blocks import AnyScenario, draw_any, split_into_blocks
from environments.checks import check_integer
from environments.draw import check_memory
from environments.errors import InputError
from environments.recorded.log_world import LogScenario
from environments.recorded.trace_file import Trace
from environments.recorded.trace_world import TraceScenario, open_trace
from environments.streams import Stream
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Policy, Value
from policies.engine.play import REGRET, REWARD, SUBOPTIMAL, Played, play

if TYPE_CHECKING:
    import pandas


MOST_REPLICATIONS = 10_000_000
"""As many as a study may have: what they give fits into memory."""


@dataclass(frozen=True)
class Curve:
    """Cumulative regret and reward of each replication at some steps, [R, steps]."""

    steps: np.ndarray[Any, np.dtype[np.int64]]
    regret: Floats
    reward: Floats
    regret_constant: Floats | None = None
    """Against a constant mean, where a published protocol measured it so."""


@dataclass(frozen=True)
class Simulation:
    """What came out: regret, reward and suboptimal pulls of each replication."""

    policy: str
    scenario: str
    horizon: int
    arms: int
    replications: int
    seed: int
    params: dict[str, Value]
    settings: dict[str, Any]
    regret: Floats
    """Against the best open arm of the moment."""
    reward: Floats
    suboptimal_pulls: Floats
    regret_constant: Floats | None = None
    """Against a constant mean, where a published protocol measured it so."""
    regret_fixed: Floats | None = None
    """On a trace: against the best fixed arm of each window. Below 0 where a policy did better than any one arm."""
    curve: Curve | None = None
    pulls: np.ndarray[Any, np.dtype[np.int32]] | None = field(default=None, repr=False)
    """[R, T] which arm was pulled when, if asked for."""

    def measures(self) -> dict[str, Floats]:
        """The per-replication numbers by name."""
        named = {"regret": self.regret, "reward": self.reward, "suboptimal_pulls": self.suboptimal_pulls}
        more = {"regret_constant": self.regret_constant, "regret_fixed": self.regret_fixed}
        return {**named, **{name: values for name, values in more.items() if values is not None}}

    def summary(self) -> dict[str, dict[str, float | None]]:
        """Mean and standard error of each number; no standard error from one replication.

        >>> result = simulate("ucb1", "stationary", horizon=100, arms=3, replications=4, seed=1)
        >>> sorted(result.summary()["regret"])
        ['mean', 'stderr']
        """
        return {
            name: {
                "mean": float(values.mean()),
                "stderr": float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None,
            }
            for name, values in self.measures().items()
        }

    def to_frame(self) -> pandas.DataFrame:
        """One row a replication."""
        import pandas

        return pandas.DataFrame({"replication": np.arange(self.replications), **self.measures()})


def simulate(
    policy: str | type[Policy],
    scenario: str | AnyScenario | None = None,
    *,
    trace: str | Path | Trace | None = None,
    minimize: bool = False,
    horizon: int | None = None,
    arms: int | None = None,
    replications: int = 100,
    seed: int = 0,
    params: Mapping[str, Value] | None = None,
    settings: Mapping[str, Any] | None = None,
    checkpoints: Sequence[int] | int | None = None,
    pulls: bool = False,
    jobs: int = 1,
    stream: int = Stream.SIMULATE,
) -> Simulation:
    """Play a policy in fresh worlds and measure its regret.

    Args:
        policy: A name such as "raven-ucb", or a class.
        scenario: A name such as "variance-drift", effects joined by "+", or a `Scenario`.
        trace: In place of a scenario, a file or a table whose windows are played.
        minimize: The cells of the trace are costs.
        horizon: Steps T; the scenario's own when not given. On a trace the rows of a window.
        arms: Number of arms K; the scenario's own when not given.
        replications: How many worlds.
        seed: Names the worlds; the same seed gives the same ones to every policy.
        params: The policy's parameters; defaults for the rest.
        settings: The scenario's parameters, such as ``{"every": "5%", "noise": "laplace"}``.
        checkpoints: Steps at which regret and reward are kept, or how many evenly spaced ones.
        pulls: Keep which arm was pulled when.
        jobs: Threads.

    >>> result = simulate("raven-ucb", "blips", horizon=500, arms=5, replications=3, seed=7)
    >>> result.regret.shape
    (3,)
    """
    found = policy if isinstance(policy, type) and issubclass(policy, Policy) else find_policy(policy)
    world = _world(scenario, trace, minimize).with_settings({} if settings is None else settings)
    horizon = world.horizon if horizon is None else horizon
    arms = world.arms if arms is None else arms
    world.check(horizon, arms)
    check_integer("replications", replications, least=1, most=MOST_REPLICATIONS)
    check_integer("seed", seed, least=0)
    check_integer("jobs", jobs, least=1, most=1024)
    if pulls:
        check_memory(4 * replications * horizon, f"pulls of {replications} replications of {horizon} steps")
    marks = _marks(checkpoints, horizon)
    values = found.resolve(params, arms + world.extra_arms, horizon)
    parts = _ranges(world, horizon, arms, replications, jobs)

    def play_part(first: int, count: int) -> Played:
        worlds = draw_any(world, horizon, arms, seed, first, count, stream)
        return play(found, values, worlds, seed, first, stream, marks, pulls)

    played = _fan_out(play_part, parts, jobs)
    out = np.concatenate([part.out for part in played])
    curve = np.concatenate([part.curve for part in played])
    best = np.concatenate([part.best for part in played])
    constant, constant_curve, fixed = None, None, None
    if world.constant is not None:
        constant = world.constant * horizon - best + out[:, REGRET]
        best_curve = np.concatenate([part.best_curve for part in played])
        constant_curve = world.constant * marks - best_curve + curve[..., REGRET]
    if isinstance(world, TraceScenario):
        fixed = world.best_fixed_arm(world.draw(horizon, seed, 0, replications, stream))[1] - best + out[:, REGRET]
    return Simulation(
        policy=found.name,
        scenario=world.name,
        horizon=horizon,
        arms=arms,
        replications=replications,
        seed=seed,
        params=values,
        settings=dict(settings or {}),
        regret=out[:, REGRET],
        reward=out[:, REWARD],
        suboptimal_pulls=out[:, SUBOPTIMAL],
        regret_constant=constant,
        regret_fixed=fixed,
        curve=Curve(marks, curve[..., REGRET], curve[..., REWARD], constant_curve) if marks.size else None,
        pulls=np.concatenate([part.pulls for part in played]) if pulls else None,
    )


def _world(scenario: str | AnyScenario | None, trace: str | Path | Trace | None, minimize: bool) -> AnyScenario:
    if (scenario is None) == (trace is None):
        raise InputError("either a scenario or a trace must be given.")
    if isinstance(trace, Trace):
        return TraceScenario(trace, "trace:table", minimize)
    if trace is not None:
        return open_trace(trace, minimize)
    if isinstance(scenario, LogScenario):
        raise InputError("a log is replayed, not simulated (ravenlab.replay).")
    if isinstance(scenario, Scenario | TraceScenario):
        return scenario
    assert scenario is not None
    return find_scenario(scenario)


def _marks(checkpoints: Sequence[int] | int | None, horizon: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    if checkpoints is None:
        return np.empty(0, dtype=np.int64)
    if not isinstance(checkpoints, Sequence | np.ndarray) or isinstance(checkpoints, str):
        checkpoints = check_integer("checkpoints", checkpoints, least=1)
        return np.unique(np.linspace(1, horizon, min(checkpoints, horizon)).round().astype(np.int64))
    marks = np.unique(np.array([check_integer("checkpoints", t, least=1) for t in checkpoints], dtype=np.int64))
    if marks.size and marks[-1] > horizon:
        raise InputError(f"checkpoints must not lie after the horizon ({horizon}) but got {marks[-1]}.")
    return marks


def _ranges(scenario: AnyScenario, horizon: int, arms: int, replications: int, jobs: int) -> list[tuple[int, int]]:
    """(first, count) of each part: small enough for memory, and enough of them for the threads."""
    size = max(1, -(-replications // jobs))
    parts = []
    for start in range(0, replications, size):
        for first, count in split_into_blocks(scenario, horizon, arms, min(size, replications - start)):
            parts.append((start + first, count))
    return parts


def _fan_out(task: Any, parts: list[tuple[int, int]], jobs: int) -> list[Played]:
    if jobs == 1 or len(parts) == 1:
        return [task(*part) for part in parts]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs, backend="threading")(delayed(task)(*part) for part in parts))
