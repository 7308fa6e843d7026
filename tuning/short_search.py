"""Short searches: parameters for problems without a law and for files, found within seconds and not stored.

A short search is a study with a small budget that starts from the defaults and from the nearest laws. Its candidates
are validated on held-out worlds as in every study, so its intervals mean the same.
"""

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.text import capitalize_first, format_duration, plural
from ravenlab.environments.recorded.collection import is_collection
from ravenlab.policies.engine.ahead import compile_ahead
from ravenlab.studies.diagnosis.analysis import is_log
from ravenlab.studies.diagnosis.result import describe_diagnosis
from ravenlab.studies.laws.law import nearest_params
from ravenlab.studies.laws.recommendation import RecommendationQuery, RecommendedParameters
from ravenlab.studies.registry import known_alternatives
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.advice import OpenProgress, Question
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.queries import diagnose
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.local import LocalWorkers, open_workers, worker_count

CANDIDATES = 64
FINALISTS = 8
SEARCH_STEPS = 2_000_000  # per candidate
VALIDATION_STEPS = 20_000_000  # per finalist, in each of two stages
MAX_SEARCH_WORLDS = 200
MAX_VALIDATION_WORLDS = 2000
MIN_SEARCH_WORLDS = 40
MIN_VALIDATION_WORLDS = 200
HALVES = 10  # of the rows of a file, on which its diagnosis is repeated
STEPS_PER_SECOND = 12_000_000  # of one core, in a usual scenario


def plan_short_search(query: RecommendationQuery) -> StudySpec:
    """Return the study of a short search: fewer worlds at longer horizons, so that it takes seconds.

    Raises:
        InputError: The query is invalid, or its policy has nothing to search.

    >>> spec = plan_short_search(RecommendationQuery("blips", 10_000, settings={"noise": "bernoulli"}))
    >>> spec.trials, spec.replications, spec.report
    (64, 200, 2000)
    """
    worlds = max(MIN_SEARCH_WORLDS, min(MAX_SEARCH_WORLDS, SEARCH_STEPS // query.horizon))
    held_out = max(MIN_VALIDATION_WORLDS, min(MAX_VALIDATION_WORLDS, VALIDATION_STEPS // query.horizon))
    budget = {
        "trials": CANDIDATES,
        "replications": worlds,
        "candidates": FINALISTS,
        "selection": held_out,
        "report": held_out,
        "map": False,
    }
    _, arms = query.open()
    problem = {"scenario": query.scenario, "settings": dict(query.settings), "policy": query.policy}
    return parse_study_spec({**problem, "horizon": query.horizon, "arms": arms, **budget})


def expected_seconds(spec: StudySpec, cores: int) -> float:
    """Return about how many seconds a short search takes.

    >>> expected_seconds(plan_short_search(RecommendationQuery("blips", 100)), cores=2) < 1.0
    True
    """
    return spec.simulated_steps() / (STEPS_PER_SECOND * cores)


def search_parameters(
    query: RecommendationQuery, reason: str, jobs: int | None, open_progress: OpenProgress
) -> RecommendedParameters:
    """Search parameters for a problem that has no law for the given reason; nothing is stored."""
    spec = plan_short_search(query)
    scenario, arms = query.open()
    nearest = nearest_params(scenario, query.horizon, arms, query.policy)
    seconds = format_duration(max(5.0, expected_seconds(spec, worker_count(jobs))))
    note = f"No law for this problem: {reason}. Searching {spec.trials} candidates, about {seconds} ..."
    with open_progress(note) as listener:
        known = known_alternatives(binary=scenario.largest_rate is not None)
        others = [] if scenario.delayed else [policy for policy in known if policy != query.policy]
        return _run(spec, jobs, SILENT if listener is None else listener, reason, nearest, others)


def recommend_for_file(question: Question, jobs: int | None, open_progress: OpenProgress) -> RecommendedParameters:
    """Diagnose a trace or a log, tune the policy on it, and return the answer; nothing is stored."""
    path = question.file
    assert path is not None
    if question.quantities or question.settings or question.arms is not None:
        raise InputError(f"{path} states arms and rewards, so they can't be given as well.")
    kind = "log" if question.columns is not None or is_log(path) else "trace"
    budget = {"trials": CANDIDATES, "candidates": FINALISTS}
    problem = {kind: str(path), "minimize": question.minimize, "policy": question.policy}
    if kind == "log" and question.horizon is not None:
        raise InputError(f"the horizon follows from the events of {path}, so it can't be given.", field="horizon")
    given = {"horizon": question.horizon, "keep_state": question.keep_state, "columns": question.columns}
    fields = {**problem, **budget, **{name: value for name, value in given.items() if value}}
    with open_progress(f"Diagnosing {path.name} and searching {CANDIDATES} candidates on it ...") as listener:
        answer = _answer_on_file(fields, jobs, SILENT if listener is None else listener)
    diagnosis = diagnose(path, columns=question.columns, minimize=question.minimize, halves=HALVES)
    size = f"{kind} of {plural(diagnosis.rows, 'step')} and {plural(len(diagnosis.names), 'arm')}"
    if diagnosis.files:
        size = f"collection of {len(diagnosis.files)} traces of {plural(len(diagnosis.names), 'arm')}"
    understood = (
        f"{path.name} is a {size}; {'less' if question.minimize else 'more'} is better."
        f" {' '.join(describe_diagnosis(diagnosis)[:2])}"
        + "".join(f" {capitalize_first(note)}." for note in diagnosis.notes)
    )
    return answer.with_understanding(understood)


def _answer_on_file(fields: Mapping[str, Any], jobs: int | None, listener: Listener) -> RecommendedParameters:
    """Answer on a file; a trace without a horizon is for a policy that keeps running for as many steps as rows.

    Parameters for windows are other ones: a policy that keeps running with them had eight times the regret of the one
    that is recommended for it (traces of the example "regions"). Windows are used if the rows can't be simulated.
    """
    if "trace" in fields and "horizon" not in fields and not is_collection(fields["trace"]):
        try:
            return _run(parse_study_spec({**fields, "keep_state": True}), jobs, listener)
        except InputError:
            if "keep_state" in fields:
                raise
    return _run(parse_study_spec(dict(fields)), jobs, listener)


def _run(
    spec: StudySpec,
    jobs: int | None,
    listener: Listener,
    reason: str = "",
    first: Sequence[Mapping[str, Any]] = (),
    alternatives: Sequence[str] | None = None,
) -> RecommendedParameters:
    """Run a study in a storage that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder, open_workers(jobs) as workers:
        if isinstance(workers, LocalWorkers):
            compile_ahead(spec.compiled_policies())
        url = f"sqlite:///{folder}/search.sqlite3"
        study = run_study(spec, url, workers, listener=listener, more=first, alternatives=alternatives).result
    return RecommendedParameters(
        kind="searched",
        policy=spec.policy,
        scenario=spec.scenario,
        settings=dict(spec.settings),
        horizon=spec.horizon,
        arms=spec.arms,
        params=dict(study.params),
        study=study,
        reason=reason,
    )
