"""Simulation of a policy on worlds drawn from a scenario or on windows of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.checks import check_address_space, check_integer
from ravenlab.common.documents import Document, Result, Table
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count, format_number, format_settings
from ravenlab.common.threads import run_in_threads
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.blocks import AnyScenario, draw_any, split_into_blocks
from ravenlab.environments.draw import check_memory
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.recorded.trace_world import TraceScenario, open_trace
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Worlds
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import Played, play
from ravenlab.policies.engine.plugins import resolve_policy

if TYPE_CHECKING:
    import pandas


LABELS = {"regret_constant": "Regret against a constant mean"}
"""Measures whose name is not clear without an explanation."""

MOST_REPLICATIONS = 10_000_000


@dataclass(frozen=True)
class Curve:
    """Cumulative regret and reward of each replication at the checkpoints, [R, steps]."""

    steps: np.ndarray[Any, np.dtype[np.int64]]
    regret: Floats
    reward: Floats
    regret_constant: Floats | None = None
    """Regret against a constant mean, for published protocols that measure it this way."""


@dataclass(frozen=True, repr=False)
class Simulation(Result):
    """Regret, reward and suboptimal pulls of each replication."""

    policy: str
    scenario: str
    horizon: int
    arms: int
    replications: int
    seed: int
    params: dict[str, Value]
    settings: dict[str, Any]
    regret: Floats
    """Regret against the best open arm at each step; on a trace it may be negative (see `TraceWorlds.best`)."""
    reward: Floats
    suboptimal_pulls: Floats
    regret_constant: Floats | None = None
    """Regret against a constant mean, for published protocols that measure it this way."""
    regret_fixed: Floats | None = None
    """On a trace: regret against the best fixed arm of each window; negative if the policy beats every fixed arm."""
    curve: Curve | None = None
    pulls: np.ndarray[Any, np.dtype[np.int32]] | None = field(default=None, repr=False)
    """[R, T] arm pulled at each step, if requested."""

    def measures(self) -> dict[str, Floats]:
        """Return all available measures by name, one value per replication."""
        names = ("regret", "reward", "suboptimal_pulls", "regret_constant", "regret_fixed")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def summary(self) -> dict[str, dict[str, float | None]]:
        """Return mean and standard error of each measure; the standard error of one replication is None.

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
        """Return a table with one row per replication."""
        import pandas

        return pandas.DataFrame({"replication": np.arange(self.replications), **self.measures()})

    def _identity(self) -> dict[str, Any]:
        return {"policy": self.policy, "scenario": self.scenario, "horizon": self.horizon, "arms": self.arms}

    def to_document(self) -> Document:
        rows = [
            [
                LABELS.get(name, name.replace("_", " ").capitalize()),
                _format_mean(values["mean"], values["stderr"]),
                *map(format_number, np.quantile(self.measures()[name], [0.05, 0.5, 0.95])),
            ]
            for name, values in self.summary().items()
        ]
        regret = self.summary()["regret"]
        return Document(
            answer=f"{self.policy}: mean regret {_format_mean(regret['mean'], regret['stderr'])} in {self.scenario}.",
            facts=[format_settings({**self.params, **self.settings})] if self.params or self.settings else [],
            label=f"Simulation of {format_count(self.replications)} worlds, T = {format_count(self.horizon)},"
            f" K = {self.arms}, seed {self.seed}",
            tables=[Table(["", "Mean ± standard error", "5 %", "Median", "95 %"], rows)],
        )


def _format_mean(mean: float | None, stderr: float | None) -> str:
    """Format a mean with its standard error, which a single replication does not have."""
    if mean is None:
        return "–"
    return format_number(mean) if stderr is None else f"{format_number(mean)} ± {format_number(stderr)}"


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
    """Simulate a policy and measure its regret.

    Args:
        policy: A name such as "raven-ucb", or a class.
        scenario: A name such as "variance-drift", effects joined by "+", or a `Scenario`.
        trace: A file or `Trace` instead of a scenario; windows of it are played.
        minimize: Whether the values of the trace are costs.
        horizon: Number of steps T; by default that of the scenario. On a trace, the length of a window in rows.
        arms: Number of arms K; by default that of the scenario.
        replications: Number of worlds.
        seed: Random seed; with the same seed all policies play the same worlds.
        params: Parameters of the policy; the others have their defaults.
        settings: Parameters of the scenario, such as ``{"every": "5%", "noise": "laplace"}``.
        checkpoints: Steps at which cumulative regret and reward are recorded, or a number of evenly spaced steps up to
            the last one.
        pulls: Whether to record the arm pulled at each step.
        jobs: Number of threads.
        stream: Random stream.

    >>> result = simulate("raven-ucb", "blips", horizon=500, arms=5, replications=3, seed=7)
    >>> result.regret.shape
    (3,)
    """
    policy_class = resolve_policy(policy)
    source = _find_source(scenario, trace, minimize).with_settings({} if settings is None else settings)
    horizon = source.horizon if horizon is None else horizon
    arms = source.arms if arms is None else arms
    source.check(horizon, arms)
    check_integer("replications", replications, least=1, most=MOST_REPLICATIONS)
    check_integer("seed", seed, least=0)
    check_integer("jobs", jobs, least=1, most=1024)
    check_address_space()
    if pulls:
        check_memory(4 * replications * horizon, f"pulls of {replications} replications of {horizon} steps")
    marks = _find_marks(checkpoints, horizon)
    values = policy_class.resolve(params, arms + source.extra_arms, horizon)
    parts = _divide(source, horizon, arms, replications, jobs)

    def play_part(first: int, count: int) -> tuple[Played, list[Floats]]:
        worlds = draw_any(source, horizon, arms, seed, first, count, stream)
        best = []
        if isinstance(worlds, Worlds) and source.constant is not None:
            best = [worlds.best.sum(axis=1), _sum_up_to(worlds.best, marks)]
        return play(policy_class, values, worlds, seed, first, stream, marks, pulls), best

    if jobs == 1 or len(parts) == 1:
        results = [play_part(*part) for part in parts]
    else:
        results = run_in_threads(play_part, parts, jobs)
    played, best_means = zip(*results, strict=True)
    regret = np.concatenate([part.regret for part in played])
    reward = np.concatenate([part.reward for part in played])
    regret_curve = np.concatenate([part.regret_curve for part in played])
    reward_curve = np.concatenate([part.reward_curve for part in played])
    constant, constant_curve, fixed = None, None, None
    if source.constant is not None:
        best, best_curve = (np.concatenate(sums) for sums in zip(*best_means, strict=True))
        constant = source.constant * horizon - best + regret
        constant_curve = source.constant * marks - best_curve + regret_curve
    if isinstance(source, TraceScenario):
        fixed = source.play_fixed_arm(source.draw(horizon, seed, 0, replications, stream)).reward - reward
    return Simulation(
        policy=policy_class.name,
        scenario=source.name,
        horizon=horizon,
        arms=arms,
        replications=replications,
        seed=seed,
        params=values,
        settings=dict(settings or {}),
        regret=regret,
        reward=reward,
        suboptimal_pulls=np.concatenate([part.suboptimal_pulls for part in played]),
        regret_constant=constant,
        regret_fixed=fixed,
        curve=Curve(marks, regret_curve, reward_curve, constant_curve) if marks.size else None,
        pulls=np.concatenate([part.pulls for part in played]) if pulls else None,
    )


def _sum_up_to(values: Floats, marks: np.ndarray[Any, np.dtype[np.int64]]) -> Floats:
    """Sum values [R, T] up to each mark, [R, marks], without another array of the size of `values`."""
    if not marks.size:
        return np.empty((values.shape[0], 0))
    parts: Floats = np.add.reduceat(values[:, : marks[-1]], [0, *marks[:-1]], axis=1)
    return parts.cumsum(axis=1)


def _find_source(scenario: str | AnyScenario | None, trace: str | Path | Trace | None, minimize: bool) -> AnyScenario:
    if scenario is None:
        if trace is None:
            raise InputError("scenario or trace must be given.")
        return (
            TraceScenario(trace, "trace:table", minimize) if isinstance(trace, Trace) else open_trace(trace, minimize)
        )
    if trace is not None:
        raise InputError("scenario and trace must not both be given.")
    if isinstance(scenario, LogScenario):
        raise InputError("scenario must not be a log; use ravenlab.replay for logs.")
    return scenario if isinstance(scenario, Scenario | TraceScenario) else find_scenario(scenario)


def _find_marks(checkpoints: Sequence[int] | int | None, horizon: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    if checkpoints is None:
        return np.empty(0, dtype=np.int64)
    if not isinstance(checkpoints, Sequence | np.ndarray) or isinstance(checkpoints, str):
        checkpoints = check_integer("checkpoints", checkpoints, least=1)
        if checkpoints == 1:
            return np.array([horizon], dtype=np.int64)
        return np.unique(np.linspace(1, horizon, min(checkpoints, horizon)).round().astype(np.int64))
    marks = np.unique(np.array([check_integer("checkpoints", t, least=1) for t in checkpoints], dtype=np.int64))
    if marks.size and marks[-1] > horizon:
        raise InputError(f"checkpoints must be at most the horizon ({format_count(horizon)}) but got {marks[-1]}.")
    return marks


def _divide(scenario: AnyScenario, horizon: int, arms: int, replications: int, jobs: int) -> list[tuple[int, int]]:
    """Divide the replications into parts (first, count) that fit into memory and occupy all threads."""
    size = max(1, -(-replications // jobs))
    parts = []
    for start in range(0, replications, size):
        for first, count in split_into_blocks(scenario, horizon, arms, min(size, replications - start)):
            parts.append((start + first, count))
    return parts
