"""Whether the fields of a study fit together: what each allows by itself may be impossible beside the others."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from environments.log_world import FEWEST_REPLAYS
from policies import find_policy
from policies.base import Policy, Setting, Value
from studies.fields import MOST_PLAYED
from studies.objective import parse_objective
from studies.registry import StudyDefaults
from studies.source import LogSource, ScenarioSource, TraceSource

if TYPE_CHECKING:
    from studies.ranges import Range
    from studies.spec import StudySpec

MOST_MEMORY = 256_000_000
"""Bytes that a policy's statistics may take before its parameters are refused."""


def check_study(spec: StudySpec) -> None:
    """Raise ValueError, with one clear line, for a study that could not be played."""
    policy = find_policy(spec.policy)
    horizon, arms = spec.size()
    _check_source(spec, policy, horizon, arms)
    setting = Setting(horizon, arms + spec.source.extra_arms, {})
    _check_given(spec, policy, setting)
    space = spec.resolved_space(policy, horizon, arms)
    if space == {}:
        hint = "" if policy.parameters else "; a class of your own lists them as parameters = (ravenlab.Param(…), …)"
        raise ValueError(f"space is empty: {spec.policy} has nothing left to search{hint}")
    _check_corners(spec, policy, space, setting)
    check_played(spec)
    parse_objective(spec.objective).check(horizon)


def check_played(spec: StudySpec, scenarios: int = 1) -> None:
    """What a batch or a validation gives, in so many scenarios, must fit into memory at once."""
    played = {
        f"batch × replications ({spec.batch} × {spec.replications})": spec.batch * spec.replications,
        f"candidates × selection ({spec.candidates} × {spec.selection})": spec.candidates * spec.selection,
    }
    for what, count in played.items():
        if count * scenarios > MOST_PLAYED:
            over = f" over {scenarios} scenarios" if scenarios > 1 else ""
            raise ValueError(f"{what}{over} must be at most {MOST_PLAYED} but got {count * scenarios}")


def _check_source(spec: StudySpec, policy: type[Policy], horizon: int, arms: int) -> None:
    """What a scenario, a trace or a log does not allow."""
    match spec.source:
        case ScenarioSource() as scenario:
            scenario.open().check(horizon, arms)
            if spec.minimize:
                raise ValueError("minimize must be false for a scenario, which pays rewards, but got true")
        case TraceSource() as trace:
            _check_recorded(spec, trace, policy, horizon, arms)
        case LogSource() as log:
            _check_recorded(spec, log, policy, horizon, arms)
            for name, count in (("selection", spec.selection), ("report", spec.report)):
                if count < FEWEST_REPLAYS:
                    raise ValueError(f"{name} must be at least {FEWEST_REPLAYS} on a log but got {count}")


def _check_recorded(
    spec: StudySpec, source: TraceSource | LogSource, policy: type[Policy], horizon: int, arms: int
) -> None:
    """What holds for a trace and a log alike. The file of a study that was checked before is not opened again."""
    if source.digest is None:
        source.open().check(horizon, arms)
    if policy.peeks:
        raise ValueError(f"{policy.name} reads the true means, which a {source.kind} does not tell")
    if spec.objective != StudyDefaults.objective:
        raise ValueError(f"objective must be {StudyDefaults.objective} on a {source.kind} but got {spec.objective}")


def _check_given(spec: StudySpec, policy: type[Policy], setting: Setting) -> None:
    """What is searched or fixed must be the policy's, and each value one that it takes."""
    both = sorted(set(spec.space) & set(spec.fixed))
    if both:
        raise ValueError(f"{both[0]} is both searched and fixed")
    known = {param.name: param for param in policy.parameters}
    for name in (*spec.space, *spec.fixed):
        if name not in known:
            policy.resolve({name: 0.0}, setting.arms, setting.horizon)
    for name, value in spec.fixed.items():
        known[name].resolve(value, setting)
    for name, range_ in spec.space.items():
        if known[name].choices:
            raise ValueError(f"{name} is one of {', '.join(known[name].choices)}: it can be fixed, not searched")
        for end in range_.ends():
            known[name].resolve(end, setting)


def _check_corners(spec: StudySpec, policy: type[Policy], space: dict[str, Range], setting: Setting) -> None:
    """What is allowed one by one must also be so together, and fit into memory, in every corner of the box."""
    for corner in itertools.product(*(range_.ends() for range_ in space.values())):
        given: dict[str, Value] = {**spec.resolved_fixed(), **dict(zip(space, corner, strict=True))}
        values = policy.resolve(given, setting.arms, setting.horizon)
        sizes = policy.sizes(setting.arms, values)
        if 8 * (sizes.rows * setting.arms + sizes.cells + sizes.memory) > MOST_MEMORY:
            what = ", ".join(f"{name} {value:.15g}" for name, value in values.items() if isinstance(value, float))
            raise ValueError(f"{spec.policy} would need too much memory with {what}")
