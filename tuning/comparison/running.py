"""Run one comparison from where it stands: every entry lands when it is done, and none is played twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from environments.errors import InputError
from policies.base import Values
from policies.own import BROUGHT as POLICIES
from studies import keys
from studies.comparison.entries import Comparison, Entry
from studies.comparison.spec import ComparisonSpec, ResolvedComparisonSpec, SettingOf
from studies.comparison.storage import land_entry, read_entries
from studies.driver import driving
from tuning.agreeing import at_hand, open_study, refuse_differences
from tuning.comparison.playing import play_entry
from tuning.crew import ALONE, Crew
from tuning.fanout import Evaluator, Game
from tuning.running import Listener, run_study
from tuning.side_by_side import side_by_side

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


@dataclass(frozen=True)
class ComparisonListener:
    """Who wants to know: the start (with entries landed before), who comes next, who landed, and every search."""

    begin: Callable[[ComparisonSpec, int], None]
    playing: Callable[[str, SettingOf], None]
    landed: Callable[[int, Entry], None]
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


def _play(spec: ResolvedComparisonSpec, policy: str, setting: SettingOf, params: Values | None, crew: Crew) -> Entry:
    source = POLICIES.source(policy)
    game = Game(policy, spec.open_scenario(), spec.horizon, spec.arms, spec.seed, burn_in=0, source=source)
    values = spec.values(policy, params or {})
    played = play_entry(Evaluator(game, crew), values, spec.replications)
    trials, replications = (0, 0) if params is None else spec.budget(policy)
    return Entry(
        policy, setting, values, played.regret, played.curve, trials, replications, round(played.nanoseconds, 1)
    )


def _agreed(spec: ComparisonSpec, study: optuna.Study) -> ResolvedComparisonSpec:
    """The specification to go on with: refuses what would mix entries that can't be compared."""
    what = f"comparison {study.study_name!r}"
    stored = at_hand(keys.read_comparison_spec(study), what)
    refuse_differences(what, "entries", spec.differences(stored))
    return spec.resolved()
