"""The search loop: batches of candidates are sampled from an in-memory mirror, played, and stored as finished trials.

Ask and tell through SQLite take 40 to 60 ms per trial. A batch of finished trials is stored in one transaction, in well
under 1 ms per trial. The storage only ever holds finished trials: after a kill nothing is left RUNNING. A resumed
search samples the interrupted batch again from the trials before it, and stores the missing ones.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.compat.optuna import system_attributes
from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.spec.distributions import (
    from_relative,
    from_trial_params,
    make_distributions,
    make_relative_distributions,
    to_relative,
)
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.rows import store_trials
from ravenlab.tuning.search.pruning import (
    MAX_ELITE_BLOCKS,
    PLAY_BATCH,
    Batch,
    Elite,
    Outcome,
    block_count,
    make_pruner,
)
from ravenlab.tuning.search.samplers import TrialParams, ask_batch
from ravenlab.tuning.search.widening import Widening
from ravenlab.tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial


RUNG = "completed_rung_"  # prefix of the system attributes that Hyperband stores per trial


@dataclass(frozen=True)
class Progress:
    """State of a search after a batch."""

    trials: int
    best: float | None
    steps: float
    """Simulated steps in the batch."""


ProgressCallback = Callable[[Progress], None]


def search(
    spec: StudySpec,
    study: optuna.Study,
    evaluator: Evaluator,
    callback: ProgressCallback = lambda progress: None,
    deadline: float | None = None,
    first: Sequence[TrialParams] | None = None,
) -> bool:
    """Store trials until the study is complete; return False if the deadline came first.

    The trials do not depend on the number of workers or on interruptions. The study may already hold trials. After the
    deadline, a time on `time.monotonic()`, no further batch starts. By default `samplers.first_candidates` come first.
    """
    return _Search(spec, study, evaluator, first).run(callback, deadline)


def check_race(spec: StudySpec, study: optuna.Study) -> None:
    """Raise InputError if the stored state of a race does not fit the stored trials."""
    race = keys.read_race(study)
    if race is None:
        return
    trials = len(study.get_trials(deepcopy=False))
    fits = race.elite < race.batches * spec.batch <= trials
    if not fits or race.blocks > MAX_ELITE_BLOCKS * block_count(spec):
        raise InputError(
            f"study {study.study_name!r} has a race that does not fit its trials; delete the study or choose "
            "another name.",
            field="name",
        )


class _Search:
    """A running search."""

    def __init__(
        self, spec: StudySpec, study: optuna.Study, evaluator: Evaluator, first: Sequence[TrialParams] | None
    ) -> None:
        self.spec = spec
        self.study = study
        self.evaluator = evaluator
        self.first = first
        self.objective = evaluator.objective
        self.stored = self.study.get_trials(deepcopy=False)
        self.batch = len(self.stored) // spec.batch
        self.elite: Elite | None = None
        if spec.pruner == "race":
            self._resume_race()
        self.widening = Widening(spec, self.objective.maximize)
        self.widening.add(self.stored[: self.batch * spec.batch])
        self._build_mirror()

    def _build_mirror(self) -> None:
        """Copy the trials of all finished batches to a new mirror, on the present search space.

        Optuna samples only parameters together that have the same range in all trials.
        """
        import optuna

        self.spec = self.widening.spec
        self.space = make_distributions(self.spec)
        # Hyperband's brackets depend on the name.
        self.mirror = optuna.create_study(
            study_name=self.study.study_name, directions=self.study.directions, pruner=make_pruner(self.spec)
        )
        past = self.stored[: self.batch * self.spec.batch]
        if self.spec.units() or self.widening.counts:
            distributions = make_relative_distributions(self.spec)
            past = [convert_trial(trial, to_relative(self.spec, trial.params), distributions) for trial in past]
        self.mirror.add_trials(past)

    def run(self, callback: ProgressCallback, deadline: float | None) -> bool:
        """Run batches until all trials are stored; False if the deadline came first."""
        while len(self.stored) < self.spec.trials or self._race_lags():
            if deadline is not None and time.monotonic() > deadline:
                return False
            steps = self._run_batch()
            callback(Progress(len(self.stored), self._best(), steps))
        return True

    def _run_batch(self) -> float:
        """Ask for, play and store one batch; return the number of simulated steps."""
        begin = time.perf_counter()
        spec = self.spec
        start = self.batch * self.spec.batch
        trials = ask_batch(spec, self.mirror, self.batch, self.first)
        candidates = [self._values(from_relative(spec, trial.params)) for trial in trials]
        stored = min(len(self.stored) - start, spec.batch)
        wanted = min(spec.trials - start, spec.batch)
        batch = Batch(candidates, trials, start, stored, wanted, self.elite)
        played = PLAY_BATCH[spec.pruner](spec, self.evaluator, batch)
        seconds = (time.perf_counter() - begin) / max(1, wanted - stored)
        finished = [self._finish(trials[i], played.outcomes[i], seconds) for i in range(stored, wanted)]
        store_trials(self.study, finished)
        for trial in finished:
            trial.number = len(self.stored)
            self.stored.append(trial)
        if wanted == spec.batch or stored == spec.batch:
            self._tell(trials, start)
            self.batch += 1
            if self.widening.add(self.stored[start : start + spec.batch]):
                self._build_mirror()
            if played.elite is not None:
                self.elite = played.elite
                keys.write_race(self.study, keys.RaceState(self.batch, played.elite.number, played.elite.blocks))
        samples = sum(outcome.sample.size for outcome in played.outcomes.values())
        return float(samples * self.evaluator.problem.horizon)

    def _values(self, trial_params: dict[str, Any]) -> Values:
        """Return all parameters of a trial's candidate."""
        problem = self.evaluator.problem
        params: Values = {**self.spec.fixed, **from_trial_params(self.spec, trial_params)}
        return find_policy(problem.policy).resolve(params, problem.arms + problem.scenario.extra_arms, problem.horizon)

    def _finish(self, trial: optuna.Trial, outcome: Outcome, seconds: float) -> FrozenTrial:
        """Return the finished trial of a candidate."""
        import optuna

        sample = outcome.sample
        system = system_attributes(self.mirror, trial)
        return optuna.trial.create_trial(
            state=optuna.trial.TrialState.PRUNED if outcome.pruned else optuna.trial.TrialState.COMPLETE,
            value=float(self.objective.value(sample)),
            params=from_relative(self.spec, trial.params),
            distributions=self.space,
            user_attrs={
                keys.STDERR: None if sample.size < 2 else float(sample.std(ddof=1) / np.sqrt(sample.size)),
                keys.REPLICATIONS: sample.size,
                keys.SECONDS: round(seconds, 6),
            },
            system_attrs={name: value for name, value in system.items() if name.startswith(RUNG)},
            intermediate_values=outcome.intermediate,
        )

    def _tell(self, trials: list[optuna.Trial], start: int) -> None:
        """Copy the stored results of a batch to the mirror."""
        for trial, stored in zip(trials, self.stored[start : start + len(trials)], strict=True):
            if self.spec.pruner == "race":
                for step, value in stored.intermediate_values.items():
                    trial.report(value, step)
            # Optuna takes the value of a pruned trial from its last report.
            pruned = stored.state.name == "PRUNED"
            self.mirror.tell(trial, None if pruned else stored.values, state=stored.state)

    def _best(self) -> float | None:
        values = [t.value for t in self.stored if t.state.name == "COMPLETE" and t.value is not None]
        if not values:
            return None
        return max(values) if self.objective.maximize else min(values)

    def _resume_race(self) -> None:
        """Restore the elite; a stored batch that the race has not processed is played again."""
        state = keys.read_race(self.study)
        if state is None:
            self.batch = 0
            return
        self.batch = state.batches
        self.elite = Elite(state.elite, self._values(self.stored[state.elite].params), state.blocks)

    def _race_lags(self) -> bool:
        """Whether a complete batch is stored that the race has not processed."""
        return self.spec.pruner == "race" and len(self.stored) >= (self.batch + 1) * self.spec.batch


def convert_trial(
    trial: FrozenTrial, params: dict[str, Any], distributions: dict[str, BaseDistribution]
) -> FrozenTrial:
    """Return a copy of a trial with other parameters and distributions."""
    converted = copy.copy(trial)
    converted.distributions = distributions
    converted.params = params
    return converted
