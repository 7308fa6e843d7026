"""The play page: its policies, the worlds that it shows, and the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.checks import check_integer
from ravenlab.common.errors import InputError
from ravenlab.common.text import capitalize_first, format_count, format_number, format_settings, join_words
from ravenlab.dashboards.pages.play import PlayedWorld, render_play
from ravenlab.environments.catalog import load_scenario_plugin
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.streams import Stream
from ravenlab.policies import find_policy
from ravenlab.policies.engine.loading import FORMATS, find_entries, scale_defaults
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.policies.engine.timeline import Player, record_timeline
from ravenlab.studies.registry import ALL_KEYWORD, PAPER_KEYWORD, PlayDefaults, StudyDefaults
from ravenlab.studies.spec.comparison import MAX_WORLDS
from ravenlab.studies.spec.source import ScenarioSource, TraceSource
from ravenlab.tuning.comparison.run import parse_policies
from ravenlab.tuning.files import check_file_writable, write_text
from ravenlab.tuning.workers.local import open_workers
from ravenlab.tuning.workers.problem import Evaluator, Problem

MOST_POLICIES = 12

REASONS = {
    "median": "Of {worlds} worlds, {policy} has its median regret in this one.",
    "worst": "Of {worlds} worlds, {policy} has its highest regret in this one.",
    "trace": "All rows of the trace; means are averages over nearby rows.",
    "failing": "{policy} fails: its regret in the last tenth of the steps exceeds half that of uniform choice.",
}
"""Why a world is shown, by what it is for the first policy."""


def play(
    scenario: str | None = None,
    policies: str | Sequence[str] = PlayDefaults.policies,
    output: str | Path = "play.html",
    *,
    trace: str | Path | None = None,
    minimize: bool = False,
    horizon: int | None = None,
    arms: int | None = None,
    settings: Mapping[str, Any] | None = None,
    replications: int = PlayDefaults.replications,
    seed: int = StudyDefaults.seed,
    jobs: int | None = None,
) -> Path:
    """Write a page that plays how policies learn: arms, pulled arms and regret over time, as one HTML file.

    It shows the worlds of `simulate` in which the first policy has its median and its highest regret, and one in which
    it fails if there is one.

    Args:
        scenario: A name; effects may be joined by "+".
        policies: Names, "paper" for the paper's nine policies, and exported files (.json or .toml) with tuned
            parameters. Other parameters are the defaults, scaled to the rewards.
        output: The file.
        trace: A file instead of a scenario; all its rows are played.
        minimize: Whether the values of the trace are costs.
        horizon: Number of steps T; by default that of the scenario.
        arms: Number of arms K; by default that of the scenario.
        settings: Parameters of the scenario, such as ``{"every": "5%"}``.
        replications: Number of worlds to choose from.
        seed: Random seed.
        jobs: Number of workers; one per core by default. It does not affect the result.

    Returns:
        The path of the file.

    Raises:
        InputError: An argument is invalid, or the file cannot be written.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = play("blips", ["raven-ucb", "ucb1"], f"{folder}/play.html", horizon=200, arms=3, replications=5)
    ...     print(path.name, path.read_text(encoding="utf-8")[:15])
    play.html <!doctype html>
    """
    path = Path(output)
    check_file_writable(path)
    check_integer("replications", replications, least=1, most=MAX_WORLDS)
    check_integer("seed", seed, least=0)
    if (scenario is None) == (trace is None):
        raise InputError("scenario or trace must be given, not both.")
    if minimize and trace is None:
        raise InputError("minimize requires a trace.", field="minimize")
    if scenario is not None:
        source: ScenarioSource | TraceSource = ScenarioSource(load_scenario_plugin(scenario), settings or {})
    else:
        source = TraceSource(str(trace), minimize, settings or {})
    content, steps, names = _open(source, horizon, arms)
    players = make_players(policies, source, len(names), steps)
    first = players[0]
    count = len(names) - content.extra_arms
    chosen = {0: ["trace"]}
    if isinstance(content, Scenario):
        problem = Problem(first.policy.name, content, steps, count, seed, burn_in=0)
        with open_workers(jobs) as workers:
            played = Evaluator(problem, workers).play_with_failures([first.params], Stream.SIMULATE, 0, replications)
        chosen = choose_worlds(played.regret[0], played.failed[0] > 0)
    worlds = []
    for replication, kinds in chosen.items():
        timeline = record_timeline(content, players, steps, count, seed, replication)
        reasons = [REASONS[kind].format(worlds=format_count(replications), policy=first.name) for kind in kinds]
        final = timeline.regret[:, -1]
        lowest = f"Lowest regret: {players[final.argmin()].name}, {format_number(final.min())}."
        title = f"{capitalize_first(join_words(kinds, 'and'))} world"
        worlds.append(PlayedWorld(title, " ".join([*reasons, lowest]), timeline))
    where = content.name if scenario is not None else Path(str(trace)).name
    context = [f"seed {seed}", *([format_settings(settings)] if settings else [])]
    write_text(path, render_play(where, players, names, worlds, horizon=steps, costs=minimize, context=context))
    return path


def _open(
    source: ScenarioSource | TraceSource, horizon: int | None, arms: int | None
) -> tuple[Scenario | TraceScenario, int, Sequence[str]]:
    """Return what is played, the number of steps, and the names of the arms."""
    content = source.open()
    count = content.arms if arms is None else arms
    if isinstance(content, Scenario):
        steps = content.horizon if horizon is None else horizon
        content.check(steps, count)
        return content, steps, [f"arm {arm + 1}" for arm in range(count + content.extra_arms)]
    if isinstance(content, CollectionScenario):
        raise InputError(f"trace must be a single file but {content.name} has {len(content.files)} traces.")
    if horizon is not None:
        raise InputError("horizon can't be combined with a trace, all of whose rows are played.", field="horizon")
    content.check(content.horizon, count)
    return content, content.trace.rows, content.trace.names


def make_players(
    policies: str | Sequence[str], source: ScenarioSource | TraceSource, arms: int, horizon: int
) -> list[Player]:
    """Return policies with their parameters; those of exported files are tuned, the others have scaled defaults.

    >>> [player.name for player in make_players("ucb1, raven-ucb", ScenarioSource("blips", {}), 3, 100)]
    ['ucb1', 'raven-ucb']
    """
    words = [word.strip() for word in policies.split(",")] if isinstance(policies, str) else list(policies)
    if words in ([PAPER_KEYWORD], [ALL_KEYWORD]):
        words = list(parse_policies(words))
    players = []
    scale = source.reward_scale(horizon)
    for word in words:
        if Path(word).suffix.lower() in FORMATS and Path(word).suffix:
            for entry in find_entries(Path(word), source.open().name, horizon):
                policy = find_policy(entry.policy)
                params = policy.resolve(entry.params, arms, horizon)
                players.append(Player(f"{policy.name} ({Path(word).stem})", policy, params))
        else:
            policy = find_policy(load_policy_plugin(word))
            params = scale_defaults(policy, policy.resolve({}, arms, horizon), scale)
            players.append(Player(policy.name, policy, policy.resolve(params, arms, horizon)))
    names = [player.name for player in players]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"policies must be distinct but {name} was given twice.", field="policies")
    if not 1 <= len(players) <= MOST_POLICIES:
        raise InputError(f"policies must be 1 to {MOST_POLICIES} but got {len(players)}.", field="policies")
    return players


def choose_worlds(regret: np.ndarray[Any, Any], failed: np.ndarray[Any, Any]) -> dict[int, list[str]]:
    """Return what worlds are for a policy: those of median and highest regret, and the median one of those that fail.

    >>> choose_worlds(np.array([5.0, 9.0, 1.0, 7.0]), np.array([False, True, False, True]))
    {0: ['median'], 1: ['worst'], 3: ['failing']}
    """
    order = np.argsort(regret, kind="stable")
    chosen = {"median": order[(order.size - 1) // 2], "worst": order[-1]}
    failing = order[failed[order]]
    if failing.size:
        chosen["failing"] = failing[(failing.size - 1) // 2]
    worlds: dict[int, list[str]] = {}
    for kind, replication in chosen.items():
        worlds.setdefault(int(replication), []).append(kind)
    return worlds
