"""From the values of options to specifications, plans and workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count, join_words, plural
from ravenlab.tuning.cli.options import Assignment

if TYPE_CHECKING:
    from ravenlab.studies.spec.comparison import ComparisonSpec
    from ravenlab.studies.spec.grid import GridSpec
    from ravenlab.studies.spec.robust import RobustSpec
    from ravenlab.studies.spec.study import StudySpec
    from ravenlab.tuning.workers.local import Workers

OPTIONS_BY_FIELD = {
    "space": ("--range",),
    "fixed": ("--fix",),
    "settings": ("--set",),
    "name": ("--name", "--as"),
}
"""Options of fields whose names differ; the option of any other field is --field."""


def option_names(field: str) -> tuple[str, ...]:
    """Return the options that may set a field.

    >>> option_names("space"), option_names("search_replications")
    (('--range',), ('--search-replications',))
    """
    return OPTIONS_BY_FIELD.get(field, (f"--{field.replace('_', '-')}",))


def drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value.

    >>> drop_unset({"measure": None, "robust": False, "csv": "x", "settings": {}, "trials": 0})
    {'csv': 'x', 'trials': 0}
    """
    return {name: value for name, value in options.items() if value is not None and value is not False and value != {}}


def assignments(option: str, pairs: Sequence[Assignment] | None) -> dict[str, Any]:
    """Collect the values of an option that can be repeated.

    >>> assignments("--set", [Assignment("every", "5%"), Assignment("longest", 7)])
    {'every': '5%', 'longest': 7}
    """
    values: dict[str, Any] = {}
    for pair in pairs or ():
        if pair.name in values:
            raise InputError(f"{option} sets {pair.name} twice: {values[pair.name]} and {pair.value}.")
        values[pair.name] = pair.value
    return values


def scenario_settings(pairs: Sequence[Assignment] | None, noise: str | None) -> dict[str, Any]:
    """Collect the parameters of the scenario; --noise sets one of them.

    >>> scenario_settings([Assignment("every", "5%")], "laplace")
    {'every': '5%', 'noise': 'laplace'}
    """
    return assignments("--set", pairs) | drop_unset({"noise": noise})


def recorded_fields(
    trace: str | None, log: str | None, window: int | None, minimize: bool, scenarios: bool, horizon: bool
) -> dict[str, Any]:
    """Return the fields of a study on a trace or a log; the length of a window is its horizon."""
    if window is not None and trace is None:
        raise InputError("--window requires --trace.")
    if trace is None and log is None:
        if minimize:
            raise InputError("--minimize requires --trace or --log.")
        return {}
    kind, file = ("log", log) if trace is None else ("trace", trace)
    excluded = {"SCENARIO": scenarios, "--horizon": horizon, "--log": trace is not None and log is not None}
    for name in drop_unset(excluded):
        advice = "; use --window" if (kind, name) == ("trace", "--horizon") else ""
        raise InputError(f"--{kind} replaces the scenario, so {name} can't be combined with it{advice}.")
    return {kind: file, "minimize": minimize, **drop_unset({"horizon": window})}


@dataclass
class Plan:
    """Studies of one scenario each, and robust searches over several scenarios."""

    studies: list[StudySpec] = field(default_factory=list)
    robust: list[RobustSpec] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.studies) + len(self.robust)

    def all_studies(self) -> list[StudySpec]:
        """Return all studies of one scenario, including those that robust searches run first."""
        return [*self.studies, *(study for search in self.robust for study in search.scenario_specs())]

    def simulated_steps(self) -> int:
        """Return the number of steps of all studies and searches."""
        return sum(spec.simulated_steps() for spec in self.studies) + sum(map(robust_steps, self.robust))


def read_plan(study: str) -> Plan:
    """Read the plan of a study file, or of a bundled one by its name."""
    from ravenlab.studies.spec.files import find_study_file, load_robust_studies, load_study_file

    path = find_study_file(study)
    return Plan(load_study_file(path), load_robust_studies(path))


def plan_from_file(study: str, excluded: Sequence[str], fields: Mapping[str, Any]) -> Plan:
    """Read the plan of a study file; `excluded` options and the options of `fields` can't be combined with it."""
    others = [*excluded, *(option_names(field)[0] for field in fields)]
    if others:
        raise InputError(f"--study takes all settings from its file, so {others[0]} can't be combined with it.")
    return read_plan(study)


def plan_from_options(
    scenarios: Sequence[str],
    horizons: Sequence[int] | None,
    fields: Mapping[str, Any],
    robust: Mapping[str, Any] | None,
) -> Plan:
    """Plan studies of scenarios, a trace or a log; with `robust`, one search over all scenarios per horizon."""
    from ravenlab.environments.catalog import load_scenario_plugin
    from ravenlab.studies.spec.parse import parse_study_spec
    from ravenlab.studies.spec.robust import parse_robust_spec

    recorded = next((kind for kind in ("trace", "log") if kind in fields), None)
    if recorded is not None and robust is not None:
        raise InputError(f"--robust needs scenarios, so --{recorded} can't be combined with it.")
    if recorded is not None:
        try:
            return Plan([parse_study_spec(fields)])
        except InputError as error:
            if error.field == "horizon":  # the length of a window, which --window sets
                error.field = "window"
            raise
    if not scenarios:
        raise missing_scenario(", or use --study, --trace or --log")
    names = [load_scenario_plugin(text) for text in scenarios]
    steps: Sequence[int | None] = horizons or [None]
    if robust is not None:
        return Plan(robust=[parse_robust_spec({"scenarios": names, "horizon": T, **fields, **robust}) for T in steps])
    return Plan([parse_study_spec({"scenario": name, "horizon": T, **fields}) for name in names for T in steps])


def missing_scenario(alternatives: str = "") -> InputError:
    """Return the error for a command without a scenario."""
    return InputError(
        f"SCENARIO is missing: name one or more, such as blips (ravenlab list scenarios shows all){alternatives}."
    )


def check_one_name(name: str | None, count: int) -> None:
    """Refuse one name for several studies."""
    if name is not None and count > 1:
        raise InputError(f"--name can't be used for {count} studies; it names a single one.")


def load_plugins(texts: Sequence[str] | None) -> None:
    """Load custom policies and scenarios from Python files or installed packages."""
    from ravenlab.common.plugins import is_plugin, load_plugin
    from ravenlab.environments.catalog import SCENARIO_PLUGINS, load_scenario_plugin
    from ravenlab.policies.engine.plugins import POLICY_PLUGINS, load_policy_plugin

    for text in texts or ():
        if is_plugin(text):
            plugin, _ = load_plugin(text, "--plugin")
            is_policy = isinstance(plugin, type) and callable(getattr(plugin, "select", None))
            (load_policy_plugin if is_policy else load_scenario_plugin)(text)
        elif text in POLICY_PLUGINS.entry_points():
            load_policy_plugin(text)
        elif text in SCENARIO_PLUGINS.entry_points():
            load_scenario_plugin(text)
        else:
            raise InputError(f"--plugin must be ./file.py:Name or the name of an installed plugin but got {text!r}.")


def choose_workers(jobs: int | None, backend: str, cluster: str | None) -> AbstractContextManager[Workers]:
    """Check the options of workers before anything runs, and return the workers to open."""
    from ravenlab.tuning.workers.local import BACKENDS, DEFAULT_BACKEND, open_workers

    if backend not in BACKENDS:
        raise InputError(f"--backend must be {join_words(list(BACKENDS))} but got {backend!r}.")
    if cluster is not None:
        from ravenlab.tuning.workers.cluster import check_address

        check_address(cluster)
        if backend != DEFAULT_BACKEND:
            raise InputError("--backend selects workers on this machine, so it can't be combined with --cluster.")
        if jobs is not None and cluster != "local":
            raise InputError("--jobs can't be combined with a cluster's address: all workers of the cluster are used.")
    return open_workers(jobs, backend, cluster)


def print_warnings(specs: Iterable[StudySpec | GridSpec | ComparisonSpec]) -> None:
    """Print to stderr what the scenarios of some specifications warn of, each warning once."""
    from ravenlab.studies.spec.source import list_warnings
    from ravenlab.tuning.cli.output import print_message

    for warning in list_warnings(specs):
        print_message(f"ravenlab: warning: {warning}")


def print_plan(plan: Plan, as_json: bool) -> None:
    """Print what `ravenlab tune` would run."""
    from ravenlab.tuning.cli.output import print_json, print_line

    if as_json:
        print_json({"studies": [*map(robust_object, plan.robust), *map(study_object, plan.studies)]})
        return
    for search in plan.robust:
        for study in search.scenario_specs():
            print_line(_describe_study(study))
        print_line(
            f"{search.study_name()}: {search.base.trials:,} trials × {search.base.replications:,} replications × "
            f"{len(search.scenarios)} scenarios, sampler {search.base.sampler}, measure {search.measure}, "
            f"{format_count(_search_steps(search))} steps"
        )
    for spec in plan.studies:
        print_line(_describe_study(spec))
    count = len(plan.studies) + sum(1 + len(search.scenarios) for search in plan.robust)
    print_line(f"{plural(count, 'study', 'studies')}, {format_count(plan.simulated_steps())} simulated steps in total")


def _describe_study(spec: StudySpec) -> str:
    return (
        f"{spec.study_name()}: {spec.trials:,} trials × {spec.replications:,} replications, "
        f"sampler {spec.sampler}, pruner {spec.pruner}, {format_count(spec.simulated_steps())} steps"
    )


def robust_steps(spec: RobustSpec) -> int:
    """Count the steps of a robust search and of the studies of its scenarios, which run first."""
    return _search_steps(spec) + sum(study.simulated_steps() for study in spec.scenario_specs())


def _search_steps(spec: RobustSpec) -> int:
    base = spec.base
    return base.trials * base.replications * base.horizon * len(spec.scenarios)


def study_object(spec: StudySpec) -> dict[str, Any]:
    """Return the JSON object of a planned study."""
    return {
        "study": spec.study_name(),
        "trials": spec.trials,
        "replications": spec.replications,
        "sampler": spec.sampler,
        "pruner": spec.pruner,
        "steps": spec.simulated_steps(),
    }


def robust_object(spec: RobustSpec) -> dict[str, Any]:
    """Return the JSON object of a planned robust search and of the studies of its scenarios, which run first."""
    return {
        **study_object(spec.base),
        "study": spec.study_name(),
        "steps": _search_steps(spec),
        "measure": spec.measure,
        "scenarios": list(spec.scenarios),
        "first": [study_object(study) for study in spec.scenario_specs()],
    }
