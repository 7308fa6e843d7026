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
from studies.registry import ALL, PAPER_POLICIES
from studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from studies.spec.comparison import PAPER, ComparisonSpec, ResolvedComparisonSpec, SettingOf
from studies.spec.parse import comparison_spec_from
from studies.storage import keys
from studies.storage.lock import driving
from studies.storage.trials import land_entry, read_entries
from tuning.comparison.ranking import judge
from tuning.study_run import Listener, at_hand, open_study, refuse_differences, run_study
from tuning.workers.local import ALONE, Crew, side_by_side
from tuning.workers.problem import Evaluator, Game, kept_worlds, policy_of

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
    game = evaluator.game
    warm_up(game.policy)
    marks = np.unique(np.linspace(1, game.horizon, min(POINTS, game.horizon)).round().astype(np.int64))
    parts = evaluator.over_ranges(_play_range, (dict(values), marks), Stream.REPORT, 0, count)
    regret, curve = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    seconds = sum(part[2] for part in parts)
    return PlayedEntry(regret, RegretCurve.of(marks.tolist(), curve), 1e9 * seconds / (count * game.horizon))


def warm_up(policy: str) -> None:
    """Have the loop compiled or read from its cache, so that the time of a step is that of a step."""
    simulate(policy, "stationary", horizon=100, arms=3, replications=1, checkpoints=2)


def _play_range(
    game: Game, what: tuple[Mapping[str, Value], Ints], stream: int, first: int, count: int
) -> tuple[Floats, Floats, float]:
    """Regret [count], cumulative regret [count, marks], and this thread's seconds without those to draw the worlds."""
    values, marks = what
    policy, worlds = policy_of(game), kept_worlds(game, stream, first, count)
    begin = time.thread_time()
    played = play_loop(policy, values, worlds, game.seed, first, stream, marks)
    return played.out[:, REGRET], played.curve[..., REGRET], time.thread_time() - begin


@dataclass(frozen=True)
class ComparisonListener:
    """Who wants to know: the start (with entries landed before), who comes next, who landed, and every search."""

    begin: Callable[[ComparisonSpec, int], None]
    playing: Callable[[str, SettingOf], None]
    landed: Callable[[int, ComparisonEntry], None]
    search: Listener | None = None


def run_comparison(
    spec: ComparisonSpec,
    url: str,
    crew: Crew = ALONE,
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
        if crew.side_by_side > 1:
            searches = [policy for policy, setting in asked[len(entries) :] if setting == "tuned"]
            side_by_side(crew, [partial(_tune, agreed, policy, url, crew, None) for policy in searches])
        for policy, setting in asked[len(entries) :]:
            begin = time.perf_counter()
            if listener is not None:
                listener.playing(policy, setting)
            tuned = _tune(agreed, policy, url, crew, listener) if setting == "tuned" else None
            entry = _play(agreed, policy, setting, tuned, crew)
            land_entry(study, agreed, entry, time.perf_counter() - begin)
            entries.append(entry)
            if listener is not None:
                listener.landed(len(entries), entry)
        return Comparison(agreed, name, tuple(entries))

    return driving(url, name, go_on)


def _tune(
    spec: ResolvedComparisonSpec, policy: str, url: str, crew: Crew, listener: ComparisonListener | None
) -> Values:
    """What a policy's search recommends: an ordinary study in the same storage."""
    asked = spec.search(policy)
    ran = run_study(asked, url, crew, listener=None if listener is None else listener.search)
    if ran.trials != asked.trials:
        raise InputError(
            f"study {ran.study!r} has {ran.trials} trials where this comparison gives {policy} {asked.trials}; "
            "delete it, so that all get the same."
        )
    assert ran.recommendation is not None
    return dict(ran.recommendation.params)


def _play(
    spec: ResolvedComparisonSpec, policy: str, setting: SettingOf, params: Values | None, crew: Crew
) -> ComparisonEntry:
    source = POLICIES.source(policy)
    game = Game(policy, spec.open_scenario(), spec.horizon, spec.arms, spec.seed, burn_in=0, source=source)
    values = spec.values(policy, params or {})
    played = play_entry(Evaluator(game, crew), values, spec.replications)
    trials, replications = (0, 0) if params is None else spec.budget(policy)
    return ComparisonEntry(
        policy, setting, values, played.regret, played.curve, trials, replications, round(played.nanoseconds, 1)
    )


def _agreed(spec: ComparisonSpec, study: optuna.Study) -> ResolvedComparisonSpec:
    """The specification to go on with: refuses what would mix entries that can't be compared."""
    what = f"comparison {study.study_name!r}"
    stored = at_hand(keys.read_comparison_spec(study), what)
    refuse_differences(what, "entries", spec.differences(stored))
    return spec.resolved()


def chosen_policies(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names with commas between them (./yours.py:Name brings your own), "paper" for the paper's nine, or "all".

    What the paper's authors really ran is there to rebuild its numbers: it is compared only when it is named.

    >>> chosen_policies("ucb1, ccb")
    ('ucb1', 'ccb')
    """
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else list(text)
    if words == [PAPER_POLICIES]:
        return PAPER
    if words == [ALL]:
        return tuple(name for name in policy_names() if not name.startswith(PUBLISHED))
    return tuple(load_policy_plugin(word) for word in words)


def chosen_scenarios(words: Sequence[str]) -> list[str]:
    """Names of scenarios, each once; "all" stands for all but the published ones.

    >>> chosen_scenarios(["blips", "periodic+blips", "blips"])
    ['blips', 'periodic+blips']
    """
    found: list[str] = []
    for word in words:
        found += (
            [name for name in scenarios() if not name.startswith(PUBLISHED)]
            if word == ALL
            else [load_scenario_plugin(word)]
        )
    if not found:
        raise InputError("scenarios must have at least one name, or be all.", field="scenarios")
    return list(dict.fromkeys(found))


def specs_of(
    names: Sequence[str],
    horizons: Sequence[int | None],
    policies: str | Sequence[str],
    fields: Mapping[str, Any],
) -> list[ComparisonSpec]:
    """A comparison for every scenario and horizon, all checked before anything is played."""
    who = chosen_policies(policies)
    asked = [
        comparison_spec_from({"scenario": name, "horizon": steps, "policies": who, **fields})
        for name, steps in product(chosen_scenarios(names), horizons)
    ]
    if fields.get("name") is not None and len(asked) > 1:
        raise InputError(f"name fits one comparison but {len(asked)} were given.", field="name")
    return list({spec.study_name(): spec for spec in asked}.values())


def compare_all(
    specs: Sequence[ComparisonSpec], url: str, crew: Crew, listener: ComparisonListener | None = None
) -> ComparisonDocument:
    """Run one after the other and judge each."""
    return ComparisonDocument(tuple(judge(run_comparison(spec, url, crew, listener)) for spec in specs))
