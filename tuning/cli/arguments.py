"""From what stands on the command line of `ravenlab tune` to the studies that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from environments.errors import InputError
from environments.text import plural
from tuning.cli.options import option_names, parse_assignments, parse_ranges, whole_number, whole_numbers

if TYPE_CHECKING:
    from studies.spec.robust import RobustSpec
    from studies.spec.study import StudySpec
    from tuning.workers.local import Workers


@dataclass
class Asked:
    """Studies of one world each, and searches over several worlds."""

    specs: list[StudySpec] = field(default_factory=list)
    worlds: list[RobustSpec] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.specs) + len(self.worlds)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options that were given.

    >>> given({"measure": None, "pareto": False, "csv": "x"})
    {'csv': 'x'}
    """
    return {name: value for name, value in options.items() if value not in (None, False)}


def numbers(options: Mapping[str, str | None]) -> dict[str, Any]:
    """Whole numbers by the names of their options; an underscore is a dash there.

    >>> numbers({"trials": "1_000", "arms": None})
    {'trials': 1000}
    """
    return {
        name: whole_number(f"--{name.replace('_', '-')}", text) for name, text in options.items() if text is not None
    }


def settings_of(setting: Sequence[str] | None, noise: str | None) -> dict[str, int | float | str]:
    """The scenario's parameters; --noise is short for one of them.

    >>> settings_of(["every=5%"], "laplace")
    {'every': '5%', 'noise': 'laplace'}
    """
    settings = parse_assignments("--set", setting or [])
    return settings if noise is None else {**settings, "noise": noise}


def horizons_of(horizon: str | None) -> list[int | None]:
    """All horizons that were asked for; None is the scenario's own.

    >>> horizons_of("100,200"), horizons_of(None)
    ([100, 200], [None])
    """
    return [None] if horizon is None else [*whole_numbers("--horizon", horizon)]


def parameters_of(ranges: Sequence[str] | None, fix: Sequence[str] | None) -> dict[str, Any]:
    """Where the policy's parameters are searched, and those that are not.

    >>> parameters_of(["alpha0=0.1:5"], None)
    {'space': {'alpha0': [0.1, 5.0]}}
    """
    fields: dict[str, Any] = {}
    if ranges:
        fields["space"] = parse_ranges(ranges)
    if fix:
        fields["fixed"] = parse_assignments("--fix", fix)
    return fields


def file_fields(
    trace: str | None, log: str | None, window: str | None, minimize: bool, scenarios: bool, horizon: str | None
) -> dict[str, Any]:
    """The fields of a study on a trace or a log; the rows of a window are its horizon."""
    if window is not None and trace is None:
        raise InputError("--window goes with --trace.")
    if trace is None and log is None:
        if minimize:
            raise InputError("--minimize goes with --trace or --log.")
        return {}
    kind = "log" if trace is None else "trace"
    if scenarios or horizon is not None or (trace is not None and log is not None):
        instead = "SCENARIO" if scenarios else "--log" if horizon is None else "--horizon"
        hint = " (say --window)" if instead == "--horizon" and kind == "trace" else ""
        raise InputError(f"--{kind} takes the place of a scenario, so {instead}{hint} can't be given beside it.")
    fields: dict[str, Any] = {kind: log if trace is None else trace, "minimize": minimize}
    if window is not None:
        fields["horizon"] = whole_number("--window", window)
    return fields


def from_file(study: str, beside: Sequence[str], fields: Mapping[str, Any]) -> Asked:
    """All that a study file asks for; neither options nor fields that others made may stand beside it."""
    from studies.spec.files import find_study_file, load_robust_studies, load_study_file

    others = [*beside, *(option_names(field)[0] for field in fields)]
    if others:
        raise InputError(f"--study takes everything from its file, so {others[0]} can't be given beside it.")
    path = find_study_file(study)
    return Asked(load_study_file(path), load_robust_studies(path))


def from_words(
    scenarios: Sequence[str], horizon: str | None, fields: dict[str, Any], over_worlds: dict[str, Any] | None
) -> Asked:
    """Studies of scenarios, a trace or a log; `over_worlds` where one setting is searched for all scenarios."""
    from environments.catalog import load_scenario_plugin
    from studies.spec.parse import parse_study_spec
    from studies.spec.robust import parse_robust_spec

    file = next((kind for kind in ("trace", "log") if kind in fields), None)
    if file is not None and over_worlds is not None:
        raise InputError(f"--robust takes scenarios, so --{file} can't be given beside it.")
    if file is not None:
        try:
            return Asked([parse_study_spec(fields)])
        except InputError as error:
            if error.field == "horizon":  # the rows of a window are given by --window
                error.field = "window"
            raise
    if not scenarios:
        raise InputError(
            "SCENARIO is missing: name one or more, such as blips (ravenlab list scenarios shows all), or give --study,"
            " --trace or --log."
        )
    horizons = horizons_of(horizon)
    brought = [load_scenario_plugin(one) for one in scenarios]
    if over_worlds is not None:
        fields = {**fields, **{key: over_worlds[key] for key in ("measure", "pareto") if key in over_worlds}}
        return Asked(
            worlds=[parse_robust_spec({"scenarios": brought, "horizon": steps, **fields}) for steps in horizons]
        )
    asked = [{"scenario": one, "horizon": steps, **fields} for one in brought for steps in horizons]
    return Asked([parse_study_spec(each) for each in asked])


def seconds(timeout: str | None) -> float | None:
    """The time that a search may take.

    >>> seconds("1.5")
    1.5
    """
    if timeout is None:
        return None
    try:
        found = float(timeout)
    except ValueError:
        found = -1.0
    if not 0.0 <= found <= 1e9:
        raise InputError(f"--timeout must be a number of seconds, at least 0, but got {timeout!r}.")
    return found


def bring(texts: Sequence[str] | None) -> None:
    """Load what the user named, whatever it is."""
    if not texts:
        return
    from environments.catalog import SCENARIO_PLUGINS as SCENARIOS
    from environments.catalog import load_scenario_plugin
    from environments.errors import InputError
    from environments.plugins import is_plugin, load_plugin
    from policies.engine.plugins import POLICY_PLUGINS as POLICIES
    from policies.engine.plugins import load_policy_plugin

    for text in texts:
        if is_plugin(text):
            found, _ = load_plugin(text, "--plugin")
            policy = isinstance(found, type) and callable(getattr(found, "select", None))
            (load_policy_plugin if policy else load_scenario_plugin)(text)
        elif text in POLICIES.entry_points():
            load_policy_plugin(text)
        elif text in SCENARIOS.entry_points():
            load_scenario_plugin(text)
        else:
            raise InputError(f"--plugin must be ./file.py:Name or what an installed package offers but got {text!r}.")


def hire(jobs: str | None, backend: str, cluster: str | None) -> AbstractContextManager[Workers]:
    """The crew that the options ask for; everything wrong with them is said at once, before anything is begun."""
    from environments.errors import InputError
    from environments.text import join_words
    from tuning.cli.options import workers
    from tuning.workers.local import BACKENDS, DEFAULT_BACKEND, open_workers

    if backend not in BACKENDS:
        raise InputError(f"--backend must be {join_words(list(BACKENDS))} but got {backend!r}.")
    if cluster is not None:
        from tuning.workers.cluster import check_address

        check_address(cluster)
        if backend != DEFAULT_BACKEND:
            raise InputError("--backend is for this machine's workers, so it can't be given beside --cluster.")
        if jobs is not None and cluster != "local":
            raise InputError("--jobs is for this machine's workers; those of a cluster are all used.")
    return open_workers(workers(jobs), backend, cluster)


def print_plan(specs: Sequence[StudySpec], worlds: Sequence[RobustSpec], as_json: bool) -> None:
    """What `ravenlab tune --dry-run` prints."""
    if as_json:
        from tuning.cli.output import print_json

        print_json({"studies": [*map(robust_object, worlds), *map(study_object, specs)]})
        return
    for each in worlds:
        for own in each.scenario_specs():
            _print_study(own)
        what = "Pareto front" if each.pareto else f"measure {each.measure}"
        typer.echo(
            f"{each.study_name()}: {each.base.trials:,} trials × {each.base.replications:,} replications × "
            f"{len(each.scenarios)} scenarios, {each.base.sampler}, {what}, {_searched(each):.3g} steps"
        )
    for spec in specs:
        _print_study(spec)
    count = len(specs) + sum(1 + len(each.scenarios) for each in worlds)
    total = sum(spec.simulated_steps() for spec in specs) + sum(map(all_steps, worlds))
    typer.echo(f"{plural(count, 'study', 'studies')}, {total:.3g} simulated steps in all")


def _print_study(spec: StudySpec) -> None:
    typer.echo(
        f"{spec.study_name()}: {spec.trials:,} trials × {spec.replications:,} replications, "
        f"{spec.sampler}, pruner {spec.pruner}, {spec.simulated_steps():.3g} steps"
    )


def all_steps(spec: RobustSpec) -> int:
    """Steps of a search over several scenarios, and of the study of each that comes first."""
    return _searched(spec) + sum(own.simulated_steps() for own in spec.scenario_specs())


def _searched(spec: RobustSpec) -> int:
    base = spec.base.resolved()
    return base.trials * base.replications * base.horizon * len(spec.scenarios)


def study_object(spec: StudySpec) -> dict[str, Any]:
    """A study that would run."""
    return {
        "study": spec.study_name(),
        "trials": spec.trials,
        "replications": spec.replications,
        "sampler": spec.sampler,
        "pruner": spec.pruner,
        "steps": spec.simulated_steps(),
    }


def robust_object(spec: RobustSpec) -> dict[str, Any]:
    """A search over several scenarios that would run, and the study of each that comes first."""
    return {
        **study_object(spec.base),
        "study": spec.study_name(),
        "steps": _searched(spec),
        "measure": None if spec.pareto else spec.measure,
        "scenarios": list(spec.scenarios),
        "first": [study_object(each) for each in spec.scenario_specs()],
    }
