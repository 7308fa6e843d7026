"""`ravenlab tune`: search, validate, recommend; rerun it to go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tuning.commands import options
from tuning.commands import tune_options as special
from tuning.commands.bringing import bring
from tuning.commands.crews import hire
from tuning.crew import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.spec import StudySpec
    from tuning.crew import Crew
    from tuning.progress import Reporter
    from tuning.running import Ran

MANY_IN_PYTHON = 1e8
"""Steps of a plain class from which it is said how long they take."""

A_SECOND_IN_PYTHON = 3e5
"""Steps of a simple plain class that a core of today takes in a second."""


def tune(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    study: special.StudyFileOption = None,
    own: options.BringOption = None,
    trace: special.TraceOption = None,
    log: special.LogOption = None,
    window: special.WindowOption = None,
    minimize: special.MinimizeOption = False,
    policy: special.PolicyOption = None,
    trials: special.TrialsOption = None,
    replications: special.ReplicationsOption = None,
    sampler: special.SamplerOption = None,
    pruner: special.PrunerOption = None,
    objective: special.ObjectiveOption = None,
    ranges: special.RangeOption = None,
    fix: special.FixOption = None,
    batch: special.BatchOption = None,
    timeout: special.TimeoutOption = None,
    selection: special.SelectionOption = None,
    report: special.ReportOption = None,
    robust: special.RobustOption = False,
    measure: special.MeasureOption = None,
    pareto: special.ParetoOption = False,
    csv: special.CsvOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    dry_run: special.DryRunOption = False,
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Search parameters, validate them on fresh worlds, and recommend.

    A rerun of the same command goes on where it stopped; a larger --trials extends the study.

    Examples:
        # one scenario at its own horizon
        ravenlab tune blips
        # four studies: two scenarios, two horizons
        ravenlab tune variance-drift blips --horizon 1000,10000 --trials 100
        # a study file that comes along, on all cores of a cluster
        ravenlab tune --study quick --cluster tcp://localhost:8786
        # your own data: milliseconds of servers, the fewer the better
        ravenlab tune --trace latency.csv --minimize
        # one setting for whichever of three worlds it will be
        ravenlab tune blips periodic variance-drift --robust
    """
    from environments.errors import InputError
    from policies.own import bring_policy
    from studies.urls import storage_url
    from tuning.commands.asking import (
        file_fields,
        from_file,
        from_words,
        given,
        numbers,
        parameters_of,
        seconds,
        settings_of,
    )
    from tuning.commands.outcome import print_outcome, say_next
    from tuning.commands.plans import print_plan
    from tuning.commands.robust import run_and_print

    counts = {"trials": trials, "replications": replications, "arms": arms, "batch": batch}
    fields = numbers({**counts, "selection": selection, "report": report, "seed": seed})
    bring(own)
    words = {"sampler": sampler, "pruner": pruner, "objective": objective, "name": name}
    fields |= given({"policy": None if policy is None else bring_policy(policy), **words})
    fields |= given({"settings": settings_of(setting, noise) or None}) | parameters_of(ranges, fix)
    fields |= file_fields(trace, log, window, minimize, bool(scenarios), horizon)
    over_worlds = given({"measure": measure, "pareto": pareto, "csv": csv})
    if over_worlds and not robust:
        raise InputError(f"--{next(iter(over_worlds))} belongs to --robust.")
    if study is not None:
        beside = given({"SCENARIO": scenarios, "--horizon": horizon, "--noise": noise, "--robust": robust})
        asked = from_file(study, list(beside), fields)
    else:
        asked = from_words(scenarios or [], horizon, fields, over_worlds if robust else None)
    if name is not None and len(asked) > 1:
        raise InputError(f"--name fits one study but {len(asked)} were asked for.")
    specs = list({spec.study_name(): spec for spec in asked.specs}.values())  # one that is named twice is run once
    crews = hire(jobs, backend, cluster)
    limit = seconds(timeout)
    if dry_run:
        print_plan(specs, asked.worlds, as_json)
        return
    if asked.worlds and specs and as_json:
        raise InputError("--json fits studies or searches over several scenarios but the file holds both; use export.")
    url = storage_url(storage)
    with crews as crew:
        found = bool(asked.worlds) and run_and_print(asked.worlds, url, crew, limit, quiet, as_json, csv)
        ran = _run(specs, url, crew, limit, quiet)
    if specs:
        print_outcome(ran, as_json)
    found = found or any(one.recommendation is not None for one in ran)
    if found and not quiet and not as_json:
        say_next(ran, storage)


def _run(specs: Sequence[StudySpec], url: str, crew: Crew, limit: float | None, quiet: bool) -> list[Ran]:
    """Run all studies, and attach to each what the dashboard shows of it."""
    from tuning.commands.attaching import attach_to
    from tuning.commands.keeping import saying_what_is_kept
    from tuning.progress import Reporter
    from tuning.running import run_study
    from tuning.side_by_side import side_by_side

    def one(spec: StudySpec) -> Ran:
        done = run_study(spec, url, crew, limit, reporter.listener())
        if done.recommendation is not None:
            attach_to(url, [done.study])
        return done

    with Reporter(quiet, many=crew.side_by_side > 1) as reporter, saying_what_is_kept(reporter, url):
        _warn_of_plain_classes(specs, reporter)
        return side_by_side(crew, [partial(one, spec) for spec in specs])


def _warn_of_plain_classes(specs: Sequence[StudySpec], reporter: Reporter) -> None:
    """The usual budget is made for compiled rules; a class in Python takes long enough to look hung."""
    from policies import find_policy
    from policies.own import PlainPolicy

    steps = sum(spec.simulated_steps() for spec in specs if issubclass(find_policy(spec.policy), PlainPolicy))
    if steps > MANY_IN_PYTHON:
        minutes = steps / A_SECOND_IN_PYTHON / 60
        reporter.line(
            f"A plain class plays at Python's speed: {steps:.2g} steps, about {minutes:.0f} min of one core. A smaller"
            " --horizon, --trials or --replications takes less; --backend loky uses all cores."
        )
