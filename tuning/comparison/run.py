"""Play one entry: its regret in every world, how it grew, and what a step cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from environments import scenarios
from environments.catalog import load_scenario_plugin
from environments.errors import InputError
from environments.streams import Stream
from environments.world import Floats, Ints
from policies import policy_names
from policies.engine.base import Value, Values
from policies.engine.play import REGRET, play_loop
from policies.engine.plugins import POLICY_PLUGINS as POLICIES
from policies.engine.plugins import load_policy_plugin
from policies.engine.simulation import simulate
from studies.export.comparison import ComparisonDocument
from studies.paper.numbers import PUBLISHED
from studies.registry import ALL_KEYWORD, PAPER_KEYWORD
from studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from studies.spec.comparison import PAPER_POLICIES, ComparisonSpec, ResolvedComparisonSpec, SettingKind
from studies.spec.parse import parse_comparison_spec
from studies.storage import keys
from studies.storage.lock import run_as_driver
from studies.storage.trials import read_entries, store_entry
from tuning.comparison.ranking import analyze_comparison
from tuning.study_run import StudyListener, check_comparable, open_study, require_loaded, run_study
from tuning.workers.local import SERIAL, Workers, run_concurrently
from tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


POINTS = 48
"""Steps at which a curve is kept."""


@dataclass(frozen=True)
class PlayedEntry:
    """What came of it."""

    regret: Floats
    curve: RegretCurve
    nanoseconds: float


def play_entry(evaluator: Evaluator, values: Mapping[str, Value], count: int) -> PlayedEntry:
    """Play the first worlds of the report stream, in the general loop, the same one for all policies.

    >>> from policies import find_policy
    >>> from environments import find_scenario
    >>> game = Game("ucb1", find_scenario("blips"), horizon=100, arms=3, seed=0, burn_in=0)
    >>> play_entry(Evaluator(game), find_policy("ucb1").resolve({}, 3, 100), 5).regret.shape
    (5,)
    """
    game = evaluator.problem
    warm_up(game.policy)
    marks = np.unique(np.linspace(1, game.horizon, min(POINTS, game.horizon)).round().astype(np.int64))
    parts = evaluator.map_ranges(_play_range, (dict(values), marks), Stream.REPORT, 0, count)
    regret, curve = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    seconds = sum(part[2] for part in parts)
    return PlayedEntry(regret, RegretCurve.of(marks.tolist(), curve), 1e9 * seconds / (count * game.horizon))


def warm_up(policy: str) -> None:
    """Have the loop compiled or read from its cache, so that the time of a step is that of a step."""
    simulate(policy, "stationary", horizon=100, arms=3, replications=1, checkpoints=2)


def _play_range(
    problem: Problem, what: tuple[Mapping[str, Value], Ints], stream: int, first: int, count: int
) -> tuple[Floats, Floats, float]:
    """Regret [count], cumulative regret [count, marks], and this thread's seconds without those to draw the worlds."""
    values, marks = what
    policy, worlds = problem_policy(problem), cached_worlds(problem, stream, first, count)
    begin = time.thread_time()
    played = play_loop(policy, values, worlds, problem.seed, first, stream, marks)
    return played.out[:, REGRET], played.curve[..., REGRET], time.thread_time() - begin


@dataclass(frozen=True)
class ComparisonListener:
    """Who wants to know: the start (with entries landed before), who comes next, who landed, and every search."""

    begin: Callable[[ComparisonSpec, int], None]
    playing: Callable[[str, SettingKind], None]
    landed: Callable[[int, ComparisonEntry], None]
    search: StudyListener | None = None


def run_comparison(
    spec: ComparisonSpec,
    url: str,
    workers: Workers = SERIAL,
    listener: ComparisonListener | None = None,
) -> Comparison:
    """Play what is missing of a comparison; do nothing where it is finished.

    The same for any number of workers, in one go or in pieces.

    >>> import tempfile
    >>> spec = ComparisonSpec(
    ...     scenario="stationary", horizon=50, arms=3, policies=("ucb1", "epsilon-greedy"), tune=0, replications=5
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = run_comparison(spec, f"sqlite:///{folder}/studies.sqlite3")
    >>> [(entry.policy, entry.setting) for entry in found.entries]
    [('ucb1', 'defaults'), ('epsilon-greedy', 'defaults')]
    """
    name = spec.study_name()

    def go_on(storage: RDBStorage) -> Comparison:
        sign = partial(keys.write_comparison_spec, spec=spec)
        study = open_study(storage, name, keys.COMPARISON, ["minimize"], sign)
        agreed = _agreed(spec, study)
        entries = read_entries(name, agreed, study.get_trials(deepcopy=False))
        asked = agreed.entries()
        if listener is not None:
            listener.begin(agreed, len(entries))
        if workers.concurrent_studies > 1:
            searches = [policy for policy, setting in asked[len(entries) :] if setting == "tuned"]
            run_concurrently(workers, [partial(_tune, agreed, policy, url, workers, None) for policy in searches])
        for policy, setting in asked[len(entries) :]:
            begin = time.perf_counter()
            if listener is not None:
                listener.playing(policy, setting)
            tuned = _tune(agreed, policy, url, workers, listener) if setting == "tuned" else None
            entry = _play(agreed, policy, setting, tuned, workers)
            store_entry(study, agreed, entry, time.perf_counter() - begin)
            entries.append(entry)
            if listener is not None:
                listener.landed(len(entries), entry)
        return Comparison(agreed, name, tuple(entries))

    return run_as_driver(url, name, go_on)


def _tune(
    spec: ResolvedComparisonSpec, policy: str, url: str, workers: Workers, listener: ComparisonListener | None
) -> Values:
    """What a policy's search recommends: an ordinary study in the same storage."""
    asked = spec.search(policy)
    ran = run_study(asked, url, workers, listener=None if listener is None else listener.search)
    if ran.trials != asked.trials:
        raise InputError(
            f"study {ran.study!r} has {ran.trials} trials where this comparison gives {policy} {asked.trials}; "
            "delete it, so that all get the same."
        )
    assert ran.recommendation is not None
    return dict(ran.recommendation.params)


def _play(
    spec: ResolvedComparisonSpec, policy: str, setting: SettingKind, params: Values | None, workers: Workers
) -> ComparisonEntry:
    source = POLICIES.source(policy)
    game = Problem(policy, spec.open_scenario(), spec.horizon, spec.arms, spec.seed, burn_in=0, source=source)
    values = spec.values(policy, params or {})
    played = play_entry(Evaluator(game, workers), values, spec.replications)
    trials, replications = (0, 0) if params is None else spec.budget(policy)
    return ComparisonEntry(
        policy, setting, values, played.regret, played.curve, trials, replications, round(played.nanoseconds, 1)
    )


def _agreed(spec: ComparisonSpec, study: optuna.Study) -> ResolvedComparisonSpec:
    """The specification to go on with: refuses what would mix entries that can't be compared."""
    what = f"comparison {study.study_name!r}"
    stored = require_loaded(keys.read_comparison_spec(study), what)
    check_comparable(what, "entries", spec.differences(stored))
    return spec.resolved()


def parse_policies(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names with commas between them (./yours.py:Name brings your own), "paper" for the paper's nine, or "all".

    What the paper's authors really ran is there to rebuild its numbers: it is compared only when it is named.

    >>> chosen_policies("ucb1, ccb")
    ('ucb1', 'ccb')
    """
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else list(text)
    if words == [PAPER_KEYWORD]:
        return PAPER_POLICIES
    if words == [ALL_KEYWORD]:
        return tuple(name for name in policy_names() if not name.startswith(PUBLISHED))
    return tuple(load_policy_plugin(word) for word in words)


def parse_scenarios(words: Sequence[str]) -> list[str]:
    """Names of scenarios, each once; "all" stands for all but the published ones.

    >>> chosen_scenarios(["blips", "periodic+blips", "blips"])
    ['blips', 'periodic+blips']
    """
    found: list[str] = []
    for word in words:
        found += (
            [name for name in scenarios() if not name.startswith(PUBLISHED)]
            if word == ALL_KEYWORD
            else [load_scenario_plugin(word)]
        )
    if not found:
        raise InputError("scenarios must have at least one name, or be all.", field="scenarios")
    return list(dict.fromkeys(found))


def comparison_specs(
    names: Sequence[str],
    horizons: Sequence[int | None],
    policies: str | Sequence[str],
    fields: Mapping[str, Any],
) -> list[ComparisonSpec]:
    """A comparison for every scenario and horizon, all checked before anything is played."""
    who = parse_policies(policies)
    asked = [
        parse_comparison_spec({"scenario": name, "horizon": steps, "policies": who, **fields})
        for name, steps in product(parse_scenarios(names), horizons)
    ]
    if fields.get("name") is not None and len(asked) > 1:
        raise InputError(f"name fits one comparison but {len(asked)} were given.", field="name")
    return list({spec.study_name(): spec for spec in asked}.values())


def run_comparisons(
    specs: Sequence[ComparisonSpec], url: str, workers: Workers, listener: ComparisonListener | None = None
) -> ComparisonDocument:
    """Run one after the other and judge each."""
    return ComparisonDocument(tuple(analyze_comparison(run_comparison(spec, url, workers, listener)) for spec in specs))
