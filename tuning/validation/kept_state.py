"""A trace for a policy that keeps running: replay of the trace, and simulation of a scenario that resembles it.

Candidates are searched and selected in worlds of the scenario that the diagnosis of the trace describes. The selected
parameters then run through the rows with their state kept. If the interval of this replay decides between them and the
defaults, it does; otherwise the simulation decides. Its intervals contain the uncertainty of the diagnosis: they are
the spread over scenarios that are diagnosed on resampled rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.interval import CONFIDENCE_LEVEL, Interval
from ravenlab.common.threads import run_in_threads
from ravenlab.environments import Scenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.policies.engine.play import play_windows
from ravenlab.studies.diagnosis.result import Diagnosis
from ravenlab.studies.diagnosis.simulated import resample_diagnosis, resembling_scenario
from ravenlab.studies.results.recommendation import FIXED_ARM, Estimate, KeptState, Recommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.source import TraceSource
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.bootstrap import estimate_dependence, sum_interval
from ravenlab.studies.statistics.paired import StudentEstimate
from ravenlab.tuning.validation.choice import find_changed
from ravenlab.tuning.validation.held_out import ChosenParameters, Selection, make_key
from ravenlab.tuning.validation.report import BaselineDifference, Report, Rival, list_alternatives, make_recommendation
from ravenlab.tuning.validation.trace import NO_MARKS
from ravenlab.tuning.validation.worlds import SimulatedWorlds, measure_scale
from ravenlab.tuning.workers.problem import Evaluator, Problem, problem_policy

REFITS = 20
MIN_REFITS = 8  # that can be simulated
WORLDS_SHARE = 4  # one in so many report worlds is played in each refit
MIN_WORLDS = 10
MAX_STEPS = 200_000_000  # of each candidate in all refits, unless there are fewer worlds than the minimum
RANDOM_RUNS = 16  # replays of a policy that draws random numbers
MAX_BLOCKS = 20  # of the bootstrap of a replay, since the state of a policy depends on early rows


class KeptStateData(SimulatedWorlds):
    """Worlds that resemble a trace, and the rows of the trace, which are played once."""

    def __init__(self, spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()) -> None:
        super().__init__(spec, evaluator, alternatives)
        assert isinstance(spec.source, TraceSource)
        self.source = spec.source
        self.trace = spec.source.open()
        held_out = self.trace.segment(Stream.SELECTION)
        self.first = min(max(0, self.trace.trace.rows - spec.horizon), held_out.first)
        """First replayed row: that with the horizon before the end, or an earlier one."""

    def report(self, selection: Selection) -> Recommendation:
        """Replay the trace, decide between simulation and replay, and evaluate in worlds of resampled diagnoses."""
        defaults = selection.baselines["defaults"].values
        simulated = selection.choice.values
        finalists = [selection.best, *selection.indistinguishable, selection.baselines["defaults"]]
        distinct = {make_key(candidate.values): candidate for candidate in finalists}
        runs = dict(zip(distinct, self._replay([each.values for each in distinct.values()]), strict=True))
        before = self.trace.segment(Stream.REPORT).first - self.first
        lowest = min(distinct, key=lambda key: float(runs[key][:before].sum()))
        difference, enough = self._compare(runs[make_key(defaults)] - runs[lowest])
        verdict = None
        if enough and difference.low > 0.0:
            best = distinct[lowest]
            selection = replace(selection, best=best, choice=ChosenParameters(best.values))
            verdict = Verdict(decision="use these values", set=find_changed(self.spec, best.values, defaults))
        else:
            difference, enough = self._compare(runs[make_key(defaults)] - runs[make_key(simulated)])
            if enough and difference.high < 0.0:
                selection = replace(selection, best=finalists[-1], choice=ChosenParameters(defaults))
                verdict = Verdict(decision="keep the defaults", set=[])
        scenarios = self._refit()
        arm = self._compare_arm(runs[make_key(selection.choice.values)])
        facts = KeptState(
            file=Path(self.source.path).name,
            digest=self.trace.digest,
            rows=self.trace.trace.rows,
            arms=dict(zip(self.trace.trace.names, self.trace.trace.missing, strict=True)),
            minimize=self.trace.minimize,
            model=self.scenario.name,
            refits=len(scenarios),
            evidence="simulation" if verdict is None else "replay",
            replayed=(self.first + 1, self.trace.trace.rows),
            measured=self.trace.trace.rows - before - self.first,
            **difference.as_object("difference"),
            decidable=enough,
        )
        recommendation = make_recommendation(self, selection, self._simulate(selection, scenarios, facts, arm))
        # What the replay decides between two values of the policy does not make it better than an alternative.
        beaten = any(alternative.wins for alternative in recommendation.alternatives)
        keep = verdict is None or beaten
        return recommendation if keep else recommendation.model_copy(update={"verdict": verdict})

    def _replay(self, candidates: Sequence[Values]) -> list[Floats]:
        """Return the regret of each candidate at each replayed row."""
        rows = self.trace.trace.rows - self.first
        problem = replace(self.evaluator.problem, scenario=self.trace, horizon=rows)
        played = self.evaluator.workers.run(_play_run, [(problem, values, self.first) for values in candidates])
        if self.evaluator.on_steps is not None:
            self.evaluator.on_steps(float(len(candidates) * rows))
        return played

    def _compare(self, differences: Floats) -> tuple[Interval, bool]:
        """Return the sum of differences at the report rows, and whether there are enough independent rows.

        Its variation is that at all replayed rows, because those of the report may contain few changes.
        """
        report = self.trace.segment(Stream.REPORT)
        total = float(differences[report.first - self.first :].sum())
        series = (differences - differences.mean()) * np.sqrt(report.rows / differences.size)
        dependence = estimate_dependence(series, differences.size // MAX_BLOCKS)
        interval = sum_interval(total, series, dependence, self.spec.seed).as_difference()
        return interval, dependence.enough

    def _compare_arm(self, chosen: Floats) -> Rival:
        """Compare the best arm of the search segment with the chosen parameters on the rows, scaled to the horizon."""
        from scipy.special import stdtrit

        arm = self.trace.best_searched_arm
        regret = self.trace.play_fixed_arm(self.trace.draw_run(self.first), arm).regret_by_row[self.first :]
        interval, enough = self._compare(regret - chosen)
        times = self.spec.horizon / self.trace.segment(Stream.REPORT).rows
        degrees = MAX_BLOCKS - 1.0
        error = interval.half_width / float(stdtrit(degrees, 0.5 + CONFIDENCE_LEVEL / 2.0))
        difference = StudentEstimate(times * interval.mean, times * error, degrees)
        return Rival(FIXED_ARM, difference, enough, arm=self.trace.trace.names[arm])

    def _refit(self) -> list[Scenario]:
        """Return scenarios that resemble diagnoses of resampled rows."""
        calls = [(self.trace, self.spec.seed + number) for number in range(REFITS)]
        diagnoses = run_in_threads(_diagnose_resampled, calls, self.evaluator.workers.threads)
        scenarios = []
        for diagnosis in diagnoses:
            try:
                scenario = resembling_scenario(diagnosis, self.spec.horizon)
                scenario.check(self.spec.horizon, self.spec.arms)
                scenarios.append(scenario)
            except InputError:
                continue
        if len(scenarios) < MIN_REFITS:
            raise InputError(
                f"{len(scenarios)} of {REFITS} diagnoses of resampled rows can be simulated, too few for an interval;"
                f" at least {MIN_REFITS} are needed: use more rows.",
                field="keep_state",
            )
        return scenarios

    def _simulate(self, selection: Selection, scenarios: Sequence[Scenario], facts: KeptState, arm: Rival) -> Report:
        """Estimate regret and differences in worlds of each refit; their spread is the error of the diagnosis."""
        horizon = self.spec.horizon
        worlds = min(self.spec.report // WORLDS_SHARE, MAX_STEPS // (horizon * len(scenarios)))
        worlds = max(MIN_WORLDS, worlds)
        others = self.open_alternatives()
        players = [
            (self.evaluator, selection.evaluated),
            *((one, [values]) for one, values in others),
        ]
        means = np.concatenate([self._play_refits(*player, scenarios, worlds) for player in players])
        rivals = [
            Rival(one.problem.policy, _estimate(mean - means[0]), decidable=True, params=values)
            for (one, values), mean in zip(others, means[len(selection.evaluated) :], strict=True)
        ]
        scale = measure_scale(self.scenario, self.spec)
        return Report(
            regret=Estimate(*_estimate(means[0]).interval(), replications=worlds * len(scenarios)),
            differences=[
                BaselineDifference(float(mean.mean()), _estimate(mean - means[0]).interval().as_difference())
                for mean in means[1 : len(selection.evaluated)]
            ],
            scale=scale.model_copy(update={"mean": -scale.mean}) if self.trace.minimize else scale,
            kept=facts,
            alternatives=list_alternatives([arm, *rivals]),
        )

    def _play_refits(
        self, evaluator: Evaluator, candidates: Sequence[Values], scenarios: Sequence[Scenario], worlds: int
    ) -> Floats:
        """Return the mean regret [C, refits] of candidates in worlds of each refit."""
        means = []
        for scenario in scenarios:
            player = Evaluator(replace(evaluator.problem, scenario=scenario), evaluator.workers)
            player.on_steps = evaluator.on_steps
            means.append(player.play(candidates, Stream.REPORT, 0, worlds).regret.mean(axis=1))
        return np.stack(means, axis=1)


def _estimate(refits: Floats) -> StudentEstimate:
    """Estimate a mean from those of refits, whose spread is its standard error."""
    error = float(refits.std(ddof=1)) * (1.0 + 1.0 / refits.size) ** 0.5
    return StudentEstimate(float(refits.mean()), error, refits.size - 1.0)


def _diagnose_resampled(trace: TraceScenario, seed: int) -> Diagnosis:
    return resample_diagnosis(trace.positive_rewards, seed)


def _play_run(problem: Problem, values: Mapping[str, Value], first: int) -> Floats:
    """Return the regret at each row from the first one to the end of a trace."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    policy = problem_policy(problem)
    copies = RANDOM_RUNS if policy.random else 1
    worlds = scenario.draw_run(first, copies)
    played = play_windows(policy, values, worlds, problem.seed, 0, Stream.REPORT, NO_MARKS, locate_regret=True)
    return played.regret_by_row[first:] / copies
