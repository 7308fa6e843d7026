"""Running a comparison: tune each policy, play every entry on the same held-out worlds, store the entries.

On a trace or a log, all policies are tuned on the search and selection segments and play the report segment: the same
windows of a trace, or the same resampled logs with the same draws.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.errors import InputError
from ravenlab.environments import Scenario, scenarios
from ravenlab.environments.catalog import load_scenario_plugin
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.reward_scale import RewardScale
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints, Worlds
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.policies.engine.play import LAST_SHARE, PlayedLogs, is_failure, last_mark, play, uniform_regret
from ravenlab.policies.engine.plugins import POLICY_PLUGINS as POLICIES
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.kinds import COMPARISON
from ravenlab.studies.paper.numbers import PUBLISHED
from ravenlab.studies.registry import ALL_KEYWORD, PAPER_KEYWORD, known_alternatives
from ravenlab.studies.results.comparison import (
    Comparison,
    ComparisonEntry,
    ComparisonResult,
    RecordedResult,
    RegretCurve,
)
from ravenlab.studies.results.ranking import analyze_comparison, needs_worlds
from ravenlab.studies.spec.comparison import PAPER_POLICIES, ComparisonSpec, SettingKind
from ravenlab.studies.spec.parse import parse_comparison_spec
from ravenlab.studies.statistics.bootstrap import row_autocorrelation, sum_interval
from ravenlab.studies.statistics.failures import MAX_GROWTH, MIN_WORLDS
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.trials import add_further_worlds, read_entries, store_entry, store_further_worlds
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.plan import Plan, combine
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.study_run import OpenStudy, StudyRun, run_stored, run_study
from ravenlab.tuning.validation.collection import estimate_files
from ravenlab.tuning.validation.log import is_simulated, join_logs, play_log_range, summarize_logs
from ravenlab.tuning.validation.trace import play_on_trace
from ravenlab.tuning.workers.local import SERIAL, Workers, run_concurrently
from ravenlab.tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy

CURVE_POINTS = 48  # steps at which a regret curve is stored
MAX_PARTS = 4000  # contributions that are stored per entry; of a longer trace, sums of consecutive rows


@dataclass(frozen=True)
class PlayedEntry:
    """Regret [R] of an entry, its curve, its failures, the regret of uniform choice, and the nanoseconds per step."""

    regret: Floats
    curve: RegretCurve
    nanoseconds: float
    failures: int | None = None
    uniform: float = 0.0
    recorded: RecordedResult | None = None


def play_entry(evaluator: Evaluator, values: Mapping[str, Value], count: int, first: int = 0) -> PlayedEntry:
    """Play worlds first … first + count − 1 of the report stream in the general loop, which all policies share.

    >>> from ravenlab.policies import find_policy
    >>> from ravenlab.environments import find_scenario
    >>> problem = Problem("ucb1", find_scenario("blips"), horizon=100, arms=3, seed=0, burn_in=0)
    >>> play_entry(Evaluator(problem), find_policy("ucb1").resolve({}, 3, 100), 5).regret.shape
    (5,)
    """
    problem = evaluator.problem
    marks = np.unique(np.linspace(1, problem.horizon, min(CURVE_POINTS, problem.horizon)).round().astype(np.int64))
    if not isinstance(problem.scenario, Scenario):
        return play_recorded_entry(evaluator, values, count, marks)
    warm_up(problem.policy)
    marks = np.union1d(marks, last_mark(problem.horizon))
    parts = evaluator.map_ranges(_play_range, (dict(values), marks), Stream.REPORT, first, count)
    regret, curve, failed, uniform = (np.concatenate([part[i] for part in parts]) for i in range(4))
    return PlayedEntry(
        regret=regret,
        curve=RegretCurve.of(marks.tolist(), curve),
        nanoseconds=round(1e9 * sum(part[4] for part in parts) / (count * problem.horizon), 1),
        failures=int(failed.sum()),
        uniform=LAST_SHARE * float(uniform.mean()),
    )


def warm_up(policy: str) -> None:
    """Compile the loop or load it from the cache, so that measured times exclude compilation."""
    simulate(policy, "stationary", horizon=100, arms=3, replications=1, checkpoints=2)


def _play_range(
    problem: Problem, entry: tuple[Mapping[str, Value], Ints], stream: int, first: int, count: int
) -> tuple[Floats, Floats, NDArray[np.bool_], Floats, float]:
    """Return the results of an entry in a range of worlds.

    These are regret [count], cumulative regret [count, marks], whether the world fails [count], regret of uniform
    choice in the steps that decide about it [count], and thread seconds without those for drawing worlds.
    """
    values, marks = entry
    policy = problem_policy(problem)
    worlds = cached_worlds(problem, stream, first, count)
    assert isinstance(worlds, Worlds)
    begin = time.thread_time()
    played = play(policy, values, worlds, problem.seed, first, stream, marks, fast=False)
    seconds = time.thread_time() - begin
    uniform = uniform_regret(worlds)
    before = played.regret_curve[:, np.searchsorted(marks, last_mark(problem.horizon))]
    return played.regret, played.regret_curve, is_failure(played.regret - before, uniform), uniform, seconds


def run_comparison(
    spec: ComparisonSpec, url: str, workers: Workers = SERIAL, listener: Listener = SILENT
) -> StudyRun[ComparisonResult]:
    """Play the missing entries of a comparison.

    The result does not depend on the workers or on interruptions.

    >>> import tempfile
    >>> spec = ComparisonSpec(
    ...     scenario="stationary", horizon=50, arms=3, policies=("ucb1", "epsilon-greedy"), tune=0, replications=5
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run_comparison(spec, f"sqlite:///{folder}/studies.sqlite3").result
    >>> [(entry.policy, entry.setting) for entry in result.comparison.entries]
    [('ucb1', 'defaults'), ('epsilon-greedy', 'defaults')]
    """

    def check(opened: OpenStudy[ComparisonSpec]) -> None:
        read_entries(opened.study.study_name, opened.spec, opened.trials)

    def body(opened: OpenStudy[ComparisonSpec]) -> ComparisonResult:
        study = opened.study
        entries = read_entries(study.study_name, spec, opened.trials)
        missing = spec.entries()[len(entries) :]
        listener.begin(spec, len(entries))
        scaled = spec.defaults == "scaled" and any(setting == "defaults" for _, setting in missing)
        scale = spec.source.reward_scale(spec.horizon) if scaled else None
        if workers.concurrent_studies > 1:
            searches = [policy for policy, setting in missing if setting == "tuned"]
            run_concurrently(workers, [partial(_tune, spec, policy, url, workers, SILENT) for policy in searches])
        for policy, setting in missing:
            begin = time.perf_counter()
            listener.entry(f"{policy}, {setting}")
            params = _tune(spec, policy, url, workers, listener) if setting == "tuned" else None
            entry = _play(spec, policy, setting, params, scale, workers)
            store_entry(study, spec, entry, time.perf_counter() - begin)
            entries.append(entry)
            mean = float(entry.regret.mean())
            steps = float(spec.entry_steps(policy, setting))
            listener.batch(Progress(len(entries), mean, steps))
        if keys.read_further_worlds(study) is None:
            store_further_worlds(study, _play_further_worlds(spec, entries, workers, listener))
        listener.finish()
        return analyze_comparison(Comparison(spec, study.study_name, add_further_worlds(study, entries)))

    return run_stored(COMPARISON, spec, url, listener, check, body)


def _tune(spec: ComparisonSpec, policy: str, url: str, workers: Workers, listener: Listener) -> Values:
    """Return the parameters that a policy's search recommends.

    The search is an ordinary study, but it does not start from a law, which most policies do not have.
    """
    search = spec.search_spec(policy)
    run = run_study(search, url, workers, listener=listener.child(search), standalone=False)
    if run.trials != search.trials:
        raise InputError(
            f"study {run.study!r} has {run.trials:,} trials, but this comparison gives {policy} "
            f"{search.trials:,}; delete the study, so that all policies get the same budget."
        )
    return dict(run.result.params)


def _play(
    spec: ComparisonSpec,
    policy: str,
    setting: SettingKind,
    params: Values | None,
    scale: RewardScale | None,
    workers: Workers,
) -> ComparisonEntry:
    values = spec.default_params(policy, scale) if params is None else spec.resolve_params(policy, params)
    played = play_entry(_make_evaluator(spec, policy, workers), values, spec.replications)
    trials, replications = (0, 0) if params is None else (spec.tune, spec.search_replications)
    return ComparisonEntry(
        policy=policy,
        setting=setting,
        params=values,
        trials=trials,
        search_replications=replications,
        **vars(played),
    )


def _make_evaluator(spec: ComparisonSpec, policy: str, workers: Workers) -> Evaluator:
    source = POLICIES.source(policy)
    problem = Problem(policy, spec.source.open(), spec.horizon, spec.arms, spec.seed, burn_in=0, source=source)
    return Evaluator(problem, workers)


def _play_further_worlds(
    spec: ComparisonSpec, entries: Sequence[ComparisonEntry], workers: Workers, listener: Listener
) -> list[ComparisonEntry]:
    """Double the worlds of all entries until rare failures cannot overturn the result; return the results on them.

    The list is empty if the first worlds suffice.
    """
    first = spec.replications
    pooled = list(entries)
    further = list[ComparisonEntry]()
    while spec.replications >= MIN_WORLDS and first < MAX_GROWTH * spec.replications and needs_worlds(pooled):
        more = []
        for entry in entries:
            listener.entry(f"{entry.policy}, {entry.setting}")
            played = play_entry(_make_evaluator(spec, entry.policy, workers), entry.params, first, first)
            kept = {"nanoseconds": entry.nanoseconds, "recorded": entry.recorded}
            more.append(replace(entry, **{**vars(played), **kept}))
        pooled = [entry.pool(part) for entry, part in zip(pooled, more, strict=True)]
        further = [entry.pool(part) for entry, part in zip(further, more, strict=True)] if further else more
        first *= 2
    return further


def parse_policies(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return names of policies from a list or comma-separated text.

    "paper" selects the paper's nine, "all" selects all that can be deployed, and "./file.py:Name" loads a plugin.

    >>> parse_policies("ucb1, ccb")
    ('ucb1', 'ccb')
    """
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else list(text)
    if words == [PAPER_KEYWORD]:
        return PAPER_POLICIES
    if words == [ALL_KEYWORD]:
        names = [name for name in policy_names() if not name.startswith(PUBLISHED)]
        return tuple(name for name in names if find_policy(name).hidden_knowledge() is None)
    return tuple(load_policy_plugin(word) for word in words)


def parse_scenarios(words: Sequence[str]) -> list[str]:
    """Return names of scenarios without duplicates; "all" selects all but the published ones.

    >>> parse_scenarios(["blips", "periodic+blips", "blips"])
    ['blips', 'periodic+blips']
    """
    names: list[str] = []
    for word in words:
        if word == ALL_KEYWORD:
            names += [name for name in scenarios() if not name.startswith(PUBLISHED)]
        else:
            names.append(load_scenario_plugin(word))
    if not names:
        raise InputError("scenarios must have at least one name, or be all.", field="scenarios")
    return list(dict.fromkeys(names))


def plan_comparisons(
    names: Sequence[str],
    horizons: Sequence[int | None],
    policies: str | Sequence[str] | None,
    fields: Mapping[str, Any],
) -> Plan:
    """Plan one comparison per scenario and horizon; all are checked before anything is played.

    If the fields name a trace or log, there must be no scenario. Policies that are not given are those of the paper
    and, on a trace or log, those that are stated beside a recommendation.
    """
    recorded = any(fields.get(kind) is not None for kind in ("trace", "log"))
    scenario_names = parse_scenarios(names) if names or not recorded else []
    if policies is None:
        more = known_alternatives(binary=False) if recorded else ()  # the paper's policies include Thompson sampling
        compared = tuple(dict.fromkeys([*PAPER_POLICIES, *more]))
    else:
        compared = parse_policies(policies)
    return combine(parse_comparison_spec, scenario_names, horizons, {"policies": compared, **fields})


def play_recorded_entry(evaluator: Evaluator, values: Mapping[str, Value], count: int, marks: Ints) -> PlayedEntry:
    """Play the report segment of a trace or log."""
    scenario = evaluator.problem.scenario
    if isinstance(scenario, LogScenario):
        return _play_log_entry(evaluator, scenario, values, count)
    assert isinstance(scenario, TraceScenario)
    problem = evaluator.problem
    collection = isinstance(scenario, CollectionScenario)
    if isinstance(scenario, CollectionScenario):
        count = scenario.count_windows(problem.horizon, count, Stream.REPORT, problem_policy(problem).random)
    (played,) = play_on_trace(evaluator, [dict(values)], Stream.REPORT, count, marks)
    sign = -1.0 if scenario.minimize else 1.0
    rows = scenario.trace.rows
    sums = played.regret.parts
    if collection:
        error = estimate_files(played.regret).error
    else:
        sums = np.add.reduceat(sums, np.arange(0, rows, -(-rows // MAX_PARTS)))
        dependence = row_autocorrelation(rows, problem.horizon, sums, Stream.REPORT)
        error = sum_interval(0.0, sums, dependence, problem.seed).standard_error
    result = RecordedResult(sign * float(played.reward.mean()) / problem.horizon, rows, sums, files=collection)
    curve = RegretCurve.of(marks.tolist(), played.curve)
    # The standard errors of a curve assume independent windows.
    factor = error / curve.stderr[-1] if curve.stderr[-1] > 0.0 else 1.0
    curve = replace(curve, stderr=tuple(factor * value for value in curve.stderr))
    nanoseconds = round(1e9 * played.seconds / (count * problem.horizon), 1)
    return PlayedEntry(played.regret.windows, curve, nanoseconds, recorded=result)


def _play_log_entry(
    evaluator: Evaluator, scenario: LogScenario, values: Mapping[str, Value], count: int
) -> PlayedEntry:
    parts = evaluator.map_ranges(_play_timed, [dict(values)], Stream.REPORT, 0, count)
    played = join_logs([logs for (logs,), _ in parts])
    seconds = sum(seconds for _, seconds in parts)
    summary = summarize_logs(scenario, Stream.REPORT, played)
    result = RecordedResult(
        reward=summary.score.mean,
        rows=played.events,
        inconclusive=summary.inconclusive,
        simulated=is_simulated(scenario, Stream.REPORT),
        estimator=summary.estimator,
    )
    nanoseconds = round(1e9 * seconds / (count * played.events), 1)
    return PlayedEntry(played.logged - played.score, RegretCurve((), (), ()), nanoseconds, recorded=result)


def _play_timed(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> tuple[list[PlayedLogs], float]:
    """Return the results in a range of replications, and thread seconds without those for drawing and compiling."""
    cached_worlds(problem, stream, first, count)
    play_log_range(problem, candidates, stream, first, 1)
    begin = time.thread_time()
    played = play_log_range(problem, candidates, stream, first, count)
    return played, time.thread_time() - begin
