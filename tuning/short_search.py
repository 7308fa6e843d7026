"""Short searches: parameters for problems without a law, found within seconds and not stored.

A short search is a study with a small budget that starts from the defaults and from the nearest laws. Its candidates
are validated on held-out worlds as in every study, so its intervals mean the same.
"""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager

from ravenlab.policies.engine.ahead import compile_ahead
from ravenlab.studies.laws.law import nearest_params
from ravenlab.studies.laws.recommendation import RecommendationQuery, RecommendedParameters
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.local import LocalWorkers, Workers

CANDIDATES = 64
FINALISTS = 8
SEARCH_STEPS = 2_000_000  # per candidate
VALIDATION_STEPS = 20_000_000  # per finalist, in each of two stages
MAX_SEARCH_WORLDS = 200
MAX_VALIDATION_WORLDS = 2000
MIN_SEARCH_WORLDS = 40
MIN_VALIDATION_WORLDS = 200
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
    query: RecommendationQuery, reason: str, pool: AbstractContextManager[Workers], listener: Listener
) -> RecommendedParameters:
    """Run a short search, whose reason is given, and return its answer; nothing is stored."""
    spec = plan_short_search(query)
    scenario, arms = query.open()
    nearest = nearest_params(scenario, query.horizon, arms, query.policy)
    with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder, pool as workers:
        if isinstance(workers, LocalWorkers):
            compile_ahead(spec.compiled_policies())
        study = run_study(spec, f"sqlite:///{folder}/search.sqlite3", workers, listener=listener, more=nearest).result
    return RecommendedParameters(
        kind="searched",
        policy=query.policy,
        scenario=query.scenario,
        settings=dict(query.settings),
        horizon=query.horizon,
        arms=arms,
        params=dict(study.params),
        study=study,
        reason=reason,
    )
