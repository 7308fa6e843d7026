"""The search: batches asked from a mirror in memory, played, and landed as finished trials.

Asking and telling through SQLite costs 40 to 60 ms a trial, landing a finished one about 10. And a
finished trial is all that ever stands in the storage: after a kill −9 nothing is left RUNNING, and a
rerun asks the batch that was cut again from the history before it and lands what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from environments.errors import InputError
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Values
from studies.spec.distributions import from_trial_params, make_distributions
from studies.spec.study import StudySpec
from studies.storage import keys
from tuning.search.pruning import PLAY, Batch, Elite, Outcome, make_pruner
from tuning.search.samplers import First, ask_batch
from tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna


RUNG = "completed_rung_"
"""System attributes that Hyperband's brackets are rebuilt from."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands, told after every batch."""

    trials: int
    best: float | None
    steps: float
    """Simulated steps of the batch."""


Tick = Callable[[Progress], None]


def search(
    spec: StudySpec,
    study: optuna.Study,
    evaluator: Evaluator,
    tick: Tick | None = None,
    deadline: float | None = None,
    first: Sequence[First] | None = None,
) -> bool:
    """Land trials until there are as many as the study wants; False when the deadline came first.

    The trials are the same on any number of workers, in one go or in pieces. `first` stands in for the usual first
    candidates. Where the evaluator's samples are [C, S, R], a trial has S values.
    """
    return _Search(spec.resolved(), study, evaluator, first).run(tick, deadline)


class _Search:
    """One search while it runs."""

    def __init__(
        self, spec: StudySpec, study: optuna.Study, evaluator: Evaluator, first: Sequence[First] | None
    ) -> None:
        self.spec, self.study, self.evaluator, self.first = spec, study, evaluator, first
        self.objective = evaluator.objective
        self.space = make_distributions(spec)
        self.stored = self.study.get_trials(deepcopy=False)
        _check_stored(study.study_name, self.stored)
        self.batch = len(self.stored) // spec.batch
        self.elite: Elite | None = None
        if spec.pruner == "race":
            self._take_up_the_race()
        self.mirror = _mirror(spec, study)
        self.mirror.add_trials(self.stored[: self.batch * spec.batch])

    def run(self, tick: Tick | None, deadline: float | None) -> bool:
        """Batch after batch."""
        while len(self.stored) < self.spec.trials or self._race_lags():
            if deadline is not None and time.monotonic() > deadline:
                return False
            steps = self._one_batch()
            if tick is not None:
                tick(Progress(len(self.stored), self._best(), steps))
        return True

    def _one_batch(self) -> float:
        """Ask, play, land and tell one batch; gives the number of simulated steps."""
        begin = time.perf_counter()
        spec, start = self.spec, self.batch * self.spec.batch
        trials = ask_batch(spec, self.mirror, self.batch, self.first)
        candidates = [self._values(trial.params) for trial in trials]
        landed = min(len(self.stored) - start, spec.batch)
        wanted = min(spec.trials - start, spec.batch)
        played = PLAY[spec.pruner](spec, self.evaluator, Batch(candidates, trials, start, landed, wanted, self.elite))
        outcomes = played.outcomes
        seconds = (time.perf_counter() - begin) / max(1, wanted - landed)
        for i in range(landed, wanted):
            outcome = outcomes[i]
            assert outcome is not None
            self._land(trials[i], outcome, seconds)
        if wanted == spec.batch or landed == spec.batch:
            self._tell(trials, start)
            self.batch += 1
            if played.elite is not None:
                self.elite = played.elite
                keys.write_race(self.study, self.batch, played.elite.number, played.elite.blocks)
        samples = sum(outcome.sample.size for outcome in outcomes if outcome is not None)
        return float(samples * self.evaluator.problem.horizon)

    def _values(self, trial_params: dict[str, Any]) -> Values:
        """All parameters of a trial's candidate."""
        game = self.evaluator.problem
        given: Values = {**self.spec.fixed, **from_trial_params(self.spec, trial_params)}
        return find_policy(game.policy).resolve(given, game.arms + game.scenario.extra_arms, game.horizon)

    def _land(self, trial: optuna.Trial, outcome: Outcome, seconds: float) -> None:
        """Store one finished trial."""
        import optuna

        sample = outcome.sample
        values = np.atleast_1d(self.objective.value(sample)).tolist()
        system = self.mirror._storage.get_trial(trial._trial_id).system_attrs
        frozen = optuna.trial.create_trial(
            state=optuna.trial.TrialState.PRUNED if outcome.pruned else optuna.trial.TrialState.COMPLETE,
            values=values,
            params=trial.params,
            distributions=self.space,
            user_attrs={
                keys.STDERR: _errors(sample),
                keys.REPLICATIONS: int(sample.shape[-1]),
                keys.SECONDS: round(seconds, 6),
            },
            system_attrs={name: value for name, value in system.items() if name.startswith(RUNG)},
            intermediate_values=outcome.intermediate,
        )
        self.study.add_trial(frozen)
        frozen.number = len(self.stored)
        self.stored.append(frozen)

    def _tell(self, trials: list[optuna.Trial], start: int) -> None:
        """Let the mirror know what the storage holds."""
        for trial, stored in zip(trials, self.stored[start : start + len(trials)], strict=True):
            if self.spec.pruner == "race":
                for step, value in stored.intermediate_values.items():
                    trial.report(value, step)
            # Optuna takes a pruned trial's value from its last report.
            pruned = stored.state.name == "PRUNED"
            self.mirror.tell(trial, None if pruned else stored.values, state=stored.state)

    def _best(self) -> float | None:
        if len(self.study.directions) > 1:
            return None
        values = [t.value for t in self.stored if t.state.name == "COMPLETE" and t.value is not None]
        if not values:
            return None
        return max(values) if self.objective.maximize else min(values)

    def _take_up_the_race(self) -> None:
        """Go on after the batches that the race has seen; a batch that it has not is played again."""
        standing = keys.read_race(self.study)
        if standing is None:
            self.batch = 0
            return
        self.batch = int(standing["batches"])
        number = int(standing["elite"])
        self.elite = Elite(number, self._values(self.stored[number].params), int(standing["blocks"]))

    def _race_lags(self) -> bool:
        """Whether whole batches have landed that the race has not seen."""
        return self.spec.pruner == "race" and len(self.stored) >= (self.batch + 1) * self.spec.batch


def _errors(sample: Floats) -> float | list[float] | None:
    """The standard error of a trial's value, or of each where it has several."""
    if sample.shape[-1] < 2:
        return None
    errors = sample.std(axis=-1, ddof=1) / np.sqrt(sample.shape[-1])
    return float(errors) if errors.ndim == 0 else [float(error) for error in errors]


def _mirror(spec: StudySpec, study: optuna.Study) -> optuna.Study:
    """A study in memory with the same name, which Hyperband's brackets hang on."""
    import optuna

    return optuna.create_study(
        study_name=study.study_name,
        directions=study.directions,
        pruner=make_pruner(spec),
    )


def _check_stored(name: str, stored: list[Any]) -> None:
    """Only finished trials can stand in a study of ours."""
    odd = [trial.number for trial in stored if trial.state.name not in ("COMPLETE", "PRUNED")]
    if odd:
        raise InputError(
            f"study {name!r} holds a trial that ravenlab did not finish (number {odd[0]}); "
            "delete the study or choose another name.",
            field="name",
        )
