"""From the values of options to specifications, plans and workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.common.text import format_count, join_words, plural
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.cli.fields import drop_unset, option_names
from ravenlab.tuning.cli.output import describing_interrupts, print_json, print_warning
from ravenlab.tuning.workers.local import BACKENDS, DEFAULT_BACKEND, open_workers

if TYPE_CHECKING:
    from ravenlab.studies.spec.fields import Specification
    from ravenlab.tuning.plan import Plan
    from ravenlab.tuning.study_run import StudyRun
    from ravenlab.tuning.workers.local import Workers


def set_recorded(fields: dict[str, Any], scenarios: bool, horizon: bool) -> None:
    """Check the fields of a study on a trace or a log; without `keep_state`, its horizon is the length of a window."""
    recorded = [kind for kind in ("trace", "log") if kind in fields]
    keep_state = "keep_state" in fields
    if keep_state and "trace" not in recorded:
        raise InputError("--keep-state requires --trace.")
    if "window" in fields:
        if "trace" not in recorded:
            raise InputError("--window requires --trace.")
        if keep_state:
            raise InputError("--window is for a policy that is restarted, so --keep-state can't be combined with it.")
        fields["horizon"] = fields.pop("window")
    if "columns" in fields and "log" not in recorded:
        raise InputError("--columns requires --log.")
    if not recorded:
        if "minimize" in fields:
            raise InputError("--minimize requires --trace or --log.")
        return
    kind = recorded[0]
    for name in drop_unset(
        {"SCENARIO": scenarios, "--horizon": horizon and not keep_state, "--log": len(recorded) > 1}
    ):
        advice = "; use --window or --keep-state" if (kind, name) == ("trace", "--horizon") else ""
        raise InputError(f"--{kind} replaces the scenario, so {name} can't be combined with it{advice}.")


def plan_from_file(study: str, excluded: Sequence[str], fields: Mapping[str, Any]) -> Plan:
    """Read the plan of a study file; `excluded` options and the options of `fields` can't be combined with it."""
    from ravenlab.tuning.plan import read_plan

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
    from ravenlab.tuning.plan import combine

    steps: Sequence[int | None] = horizons or [None]
    recorded = next((kind for kind in ("trace", "log") if kind in fields), None)
    if recorded is None and not scenarios:
        raise missing_scenario(", or use --study, --trace or --log")
    if robust is not None:
        if recorded is not None:
            raise InputError(f"--robust needs scenarios, so --{recorded} can't be combined with it.")
        names = list(map(load_scenario_plugin, scenarios))
        return combine(parse_robust_spec, [], steps, {"scenarios": names, **fields, **robust})
    try:
        return combine(parse_study_spec, scenarios, steps, fields)
    except InputError as error:
        if recorded is not None and error.field == "horizon" and "keep_state" not in fields:
            error.field = "window"  # which sets it
        raise


def missing_scenario(alternatives: str = "") -> InputError:
    """Return the error for a command without a scenario."""
    return InputError(
        f"SCENARIO is missing: name one or more, such as blips (ravenlab list scenarios shows all){alternatives}."
    )


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


def run(
    plan: Plan, pool: AbstractContextManager[Workers], storage: str | None, quiet: bool, timeout: float | None = None
) -> list[StudyRun[Any]]:
    """Run a plan with progress on stderr."""
    from ravenlab.tuning.driver import run_plan
    from ravenlab.tuning.progress import Reporter

    url = storage_url(storage)
    with (
        pool as workers,
        Reporter(quiet, many=workers.concurrent_studies > 1, steps=plan.concurrent_steps()) as reporter,
        describing_interrupts(reporter, url),
    ):
        return run_plan(plan, url, workers, reporter, timeout)


def print_warnings(plan: Plan) -> None:
    """Print the warnings of a plan to stderr."""
    for warning in plan.warnings():
        print_warning(warning)


def print_plan(plan: Plan, as_json: bool) -> None:
    """Print what `ravenlab tune` would run."""
    if as_json:
        print_json({"studies": [plan_object(spec) for spec in plan.specs]})
        return
    count = 0
    for spec in plan.specs:
        for study in spec.first_studies():
            print_line(_describe(study))
        print_line(_describe(spec))
        validation = spec.validation_steps()
        if validation:
            print_line(f"Validation on held-out data, at most: {format_count(validation)} of these steps")
        count += 1 + len(spec.first_studies())
    print_line(f"{plural(count, 'study', 'studies')}, {format_count(plan.simulated_steps())} simulated steps in total")


def _describe(spec: Specification) -> str:
    study = plan_object(spec)
    size = f"{study['trials']:,} trials × {study['replications']:,} replications"
    if "scenarios" in study:
        size += f" × {len(study['scenarios'])} scenarios"
    last = "measure" if "measure" in study else "pruner"
    method = f"sampler {study['sampler']}, {last} {study[last]}"
    return f"{study['study']}: {size}, {method}, {format_count(study['steps'])} steps"


def plan_object(spec: Any) -> dict[str, Any]:
    """Return the JSON object of a planned study, and for a robust search of the studies that run first."""
    from ravenlab.studies.kinds import TUNE, kind_of

    single = kind_of(spec) is TUNE
    base = spec if single else spec.base
    fields = {
        "study": spec.study_name(),
        "trials": base.trials,
        "replications": base.replications,
        "sampler": base.sampler,
        "pruner": base.pruner,
        "steps": spec.own_steps(),
    }
    if single:
        return fields
    more = {"measure": spec.measure, "scenarios": list(spec.scenarios)}
    return {**fields, **more, "first": list(map(plan_object, spec.first_studies()))}
