"""Plans: the studies that a call of the Python API or a command runs, parsed and checked before anything runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_approximate
from ravenlab.environments.catalog import load_scenario_plugin
from ravenlab.environments.recorded.recording import are_frames, write_frame
from ravenlab.policies import find_policy
from ravenlab.policies.engine.plugins import PlainPolicy, load_policy_plugin
from ravenlab.studies.kinds import ROBUST, StudyKind, kind_of
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.files import find_study_file, load_robust_studies, load_study_file
from ravenlab.studies.spec.source import list_warnings

SLOW_PYTHON_STEPS = 1e8  # steps of plain Python policies from which on a warning states how long they take
PYTHON_STEPS_PER_SECOND = 3e5  # steps per second of a simple plain Python policy on one core


@dataclass(frozen=True)
class Plan:
    """Studies to run, in this order: first those of several scenarios, because each runs studies of its own."""

    specs: tuple[Specification, ...]

    @staticmethod
    def of(specs: Iterable[Specification]) -> Plan:
        """Return a plan without duplicates. Raises InputError if different studies have the same name.

        >>> from ravenlab.studies.spec.study import StudySpec
        >>> len(Plan.of([StudySpec(scenario="blips"), StudySpec(scenario="blips")]).specs)
        1
        """
        planned = list(specs)
        distinct: dict[str, Specification] = {}
        for spec in planned:
            name = spec.study_name()
            if distinct.setdefault(name, spec) != spec:
                count = sum(other.study_name() == name for other in planned)
                raise InputError(
                    f"name {name!r} can't be used for {count} studies; it names a single one.", field="name"
                )
        return Plan(tuple(sorted(distinct.values(), key=lambda spec: kind_of(spec) is not ROBUST)))

    def of_kind(self, kind: StudyKind[Any, Any]) -> list[Any]:
        """Return the specifications of one kind."""
        return [spec for spec in self.specs if kind_of(spec) is kind]

    def simulated_steps(self) -> int:
        """Return the number of steps of all studies."""
        return sum(spec.simulated_steps() for spec in self.specs)

    def concurrent_steps(self) -> dict[str, float]:
        """Return the steps of each study that may run at the same time as others, by name."""
        concurrent = [spec for spec in self.specs if not kind_of(spec).nested]
        return {spec.study_name(): float(spec.simulated_steps()) for spec in concurrent}

    def warnings(self) -> list[str]:
        """Return what is allowed but probably not intended: odd scenarios, and policies that take long."""
        texts = list_warnings(problem for spec in self.specs for problem in spec.problems())
        plain = [
            spec
            for spec in self.specs
            if any(issubclass(find_policy(policy), PlainPolicy) for policy in spec.searched_policies())
        ]
        steps = sum(spec.simulated_steps() for spec in plain)
        if steps > SLOW_PYTHON_STEPS:
            minutes = format_approximate(steps / PYTHON_STEPS_PER_SECOND / 60)
            texts.append(
                f"Plain Python policies are slow: {format_approximate(steps)} steps take about {minutes} minutes on one"
                " core. Reduce the horizon, trials or replications, or use all cores with the backend loky."
            )
        return texts


def combine(
    parse: Callable[[Mapping[str, Any]], Specification],
    scenarios: Sequence[str],
    horizons: Sequence[int | None],
    fields: Mapping[str, Any],
) -> Plan:
    """Plan one study per scenario and horizon; without scenarios, the fields name a trace or a log.

    >>> from ravenlab.studies.spec.parse import parse_study_spec
    >>> [spec.study_name() for spec in combine(parse_study_spec, ["blips"], [500, 1000], {"arms": 3}).specs]
    ['raven-ucb/blips/T500/K3', 'raven-ucb/blips/T1000/K3']
    """
    fields = store_frames(fields)
    sources = [{"scenario": load_scenario_plugin(name)} for name in scenarios] or [{}]
    more = load_policy(fields)
    return Plan.of(parse({"horizon": steps, **source, **more}) for source, steps in product(sources, horizons))


def store_frames(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Write data frames to files in the current folder, from which a study can be resumed."""
    stored = dict(fields)
    for kind in ("trace", "log"):
        if are_frames(stored.get(kind)):
            stored[kind] = str(write_frame(stored[kind], Path.cwd(), kind))
            warnings.warn(f"The data frame is stored in {stored[kind]}.", UserWarning, stacklevel=5)
    return stored


def load_policy(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Load the policy that fields name if it is a plugin, given as ./file.py:Name."""
    policy = fields.get("policy")
    return dict(fields) if policy is None else {**fields, "policy": load_policy_plugin(policy)}


def read_plan(study: str) -> Plan:
    """Read the plan of a study file, or of a bundled one by its name.

    >>> len(read_plan("quick").specs)
    3
    """
    path = find_study_file(study)
    return Plan.of([*load_study_file(path), *load_robust_studies(path)])
