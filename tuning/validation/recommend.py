"""The recommendation of a study: candidates are selected on held-out data, and evaluated on other held-out data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.surface import Surface
from ravenlab.tuning.search.widening import widened_spec
from ravenlab.tuning.validation.candidates import (
    AS_CONSTRUCTED,
    DEFAULTS,
    CompleteTrials,
    complete_trials,
    make_candidate,
    measure_importance,
    shortlist,
)
from ravenlab.tuning.validation.choice import (
    Finalists,
    Race,
    choose,
    find_ranges,
    least_trials,
    make_design,
    nominate,
    nominate_lowest,
)
from ravenlab.tuning.validation.collection import CollectionData
from ravenlab.tuning.validation.held_out import ChosenParameters, HeldOutData, Result, Screening, Selection
from ravenlab.tuning.validation.kept_state import KeptStateData
from ravenlab.tuning.validation.log import LogData
from ravenlab.tuning.validation.trace import TraceData
from ravenlab.tuning.validation.worlds import SimulatedWorlds
from ravenlab.tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna


def recommend(
    spec: StudySpec, study: optuna.Study, evaluator: Evaluator, alternatives: Sequence[str] | None = None
) -> Recommendation:
    """Select among the best trials, the paper's advice and the defaults, and evaluate the selected parameters.

    The selection and the evaluation use separate held-out worlds. The result does not depend on the workers. States
    `alternatives` beside the selected parameters, by default those of the study.

    >>> import optuna
    >>> from ravenlab.studies.spec.distributions import make_distributions
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> spec = StudySpec(scenario="stationary", horizon=50, arms=3, selection=20, report=20, replications=5)
    >>> study = optuna.create_study(study_name="small")
    >>> params = {"alpha0": 0.1, "beta0": 0.2, "epsilon": 0.01}
    >>> study.add_trial(optuna.create_trial(params=params, distributions=make_distributions(spec), value=3.0))
    >>> recommend(spec, study, Evaluator(spec)).regret.replications
    20
    """
    named = spec.alternatives() if alternatives is None else alternatives
    return recommend_on(open_held_out(spec, evaluator, named), study)


def open_held_out(
    spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()
) -> HeldOutData[Recommendation]:
    """Return the held-out data of a study of one scenario, trace or log."""
    kinds: dict[type, Callable[..., HeldOutData[Recommendation]]] = {
        TraceScenario: TraceData,
        CollectionScenario: CollectionData,
        LogScenario: LogData,
    }
    simulated = KeptStateData if spec.keep_state else SimulatedWorlds
    return kinds.get(type(evaluator.problem.scenario), simulated)(spec, evaluator, alternatives)


def recommend_on(data: HeldOutData[Result], study: optuna.Study) -> Result:
    """Select among the best trials and the baselines on the selection data, and report on the selected parameters."""
    trials = study.get_trials(deepcopy=False)
    spec = widened_spec(data.spec, trials, data.maximize)
    complete = complete_trials(spec, trials)
    if not complete.candidates:
        raise InputError(f"study {study.study_name!r} has no complete trial to recommend; increase trials.")
    baselines = data.list_baselines(spec)
    # The class as constructed depends on the unit of the rewards, so it is no candidate in simulated worlds, where the
    # recommendation must not depend on it.
    rivals = [candidate for name, candidate in baselines.items() if name != AS_CONSTRUCTED or data.recorded]
    candidates = shortlist(complete, spec.candidates, data.maximize, rivals)
    importance = measure_importance(spec, trials, data.maximize)
    values = [candidate.values for candidate in candidates]
    finalists = Finalists(spec, values, baselines[DEFAULTS].values, importance)
    design = make_design(finalists) if data.designed else []
    screening = data.screen(values, design)
    indistinguishable = [candidates[i] for i in screening.indistinguishable]
    choice = ChosenParameters(indistinguishable[0].values)
    surface = None
    if data.raced:
        choice, surface = _nominate_and_race(data, finalists, design, screening, complete)
    proposed = make_candidate(spec, {name: float(choice.values[name]) for name in spec.space})
    selection = Selection(
        study=study.study_name,
        spec=spec,
        trials=len(trials),
        complete=len(complete.candidates),
        best=next((candidate for candidate in candidates if candidate.values == choice.values), proposed),
        choice=choice,
        baselines=baselines,
        indistinguishable=indistinguishable,
        ranges=None if surface is None else find_ranges(spec, surface, choice.values),
        importance=importance,
        surface=surface,
    )
    return data.report(selection)


def _nominate_and_race(
    data: HeldOutData[Result],
    finalists: Finalists,
    design: list[Values],
    screening: Screening,
    complete: CompleteTrials,
) -> tuple[ChosenParameters, Surface | None]:
    """Return the chosen parameters, and the surface of simulated worlds."""
    if data.fits_surface:
        searched = None if data.maximize else complete
        nomination = nominate(finalists, design, screening.objective, searched)
    else:
        nomination = nominate_lowest(finalists, screening.objective)
    most = data.most_worlds(conclusive=len(complete.candidates) >= least_trials(finalists.spec))
    choice = choose(Race(data, nomination.references), finalists.defaults, nomination.proposals, most)
    return choice, None if data.recorded else nomination.surface
