"""Choosing and reporting by replay on events that were held out: what `validation` asks, answered from a log.

Regret on a log is the logging policy's own mean reward less the score, an event: below 0 where the policy does better
than the one that made the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from environments.log_world import LogScenario, LogWorlds
from environments.recorded import STRETCHES
from environments.streams import Stream
from environments.world import Floats
from policies._log_play import play_logs
from policies._played import PlayedLogs
from policies.base import Value
from policies.replay import around, by_log
from studies.recommendation import ENOUGH_EVENTS, Estimate, LogFacts, Needed, Scale
from studies.spec import StudySpec
from tuning.fanout import Evaluator, Game, kept_worlds, policy_of
from tuning.held_out import Difference, Reported, stretches_of
from tuning.statistics import as_good_as_the_best, best_first

ARRAYS = ("out", "curve", "pulls", "best", "best_curve", "tally")
"""What is kept of each log, a row each."""


def choose(evaluator: Evaluator, candidates: Sequence[dict[str, Value]], count: int) -> tuple[int, list[int]]:
    """The best over the orders of the stretch that chooses, and all that can't be told from it, best first.

    Resampled logs scatter as logs do, so what they give around their mean is how a candidate's score may be off.
    """
    split = [by_log(-each.score) for each in _played(evaluator, candidates, Stream.SELECTION, count)]
    found = np.array([own.mean() for own, _ in split])
    logs = np.stack([groups.mean(axis=1) for _, groups in split], axis=1)
    return best_first(found, as_good_as_the_best(found, logs - logs.mean(axis=0)))


def report(
    spec: StudySpec, path: str, scenario: LogScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]
) -> Reported:
    """The first candidate is the chosen one, the others are its rivals."""
    best, *others = _played(evaluator, candidates, Stream.REPORT, spec.report)
    here, sign = scenario.stretch(Stream.REPORT), -1.0 if scenario.minimize else 1.0
    worlds = scenario.draw(evaluator.game.horizon, 0, 0, 1, Stream.REPORT)
    matched, effective = int(best.matched[0]), float(best.effective[0])
    enough = effective >= ENOUGH_EVENTS
    rivals = []
    for other in others:
        lost = around(best.logged - other.score)[0]
        rivals.append(Difference(lost, *around(best.score - other.score), enough))
    behind = around(best.logged - best.score)
    propensity = scenario.log.propensity
    clipped = 0 if propensity is None else int((1.0 / propensity[here.first : here.last] > scenario.clip).sum())
    facts = LogFacts(
        file=Path(path).name,
        digest=scenario.digest,
        events=scenario.log.events,
        arms=dict(zip(scenario.log.names, scenario.log.counts, strict=True)),
        minimize=scenario.minimize,
        propensities=propensity is not None,
        clipped=clipped,
        clip=scenario.clip,
        stretches=stretches_of(scenario),
        block=worlds.block,
        matched=matched,
        effective=effective,
        enough=enough,
        score=_estimate(best.score, sign),
        logged=_estimate(best.logged, sign),
        versus_logged=_needed(*behind, enough, best),
        versus_defaults=_needed(rivals[-1].mean, rivals[-1].low, rivals[-1].high, enough, best) if rivals else None,
        scale=scenario.scale.factor,
    )
    regret = Estimate(mean=behind[0], low=behind[1], high=behind[2], replications=spec.report)
    return Reported(regret, rivals, facts, _scale(scenario, sign))


def _played(
    evaluator: Evaluator, candidates: Sequence[dict[str, Value]], stream: Stream, count: int
) -> list[PlayedLogs]:
    """Each candidate on logs 0 … count − 1 of a stream."""
    parts = evaluator.over_ranges(replay_range, list(candidates), stream, 0, count)
    return [
        PlayedLogs(
            **{name: np.concatenate([getattr(part[i], name) for part in parts]) for name in ARRAYS},
            events=parts[0][i].events,
        )
        for i in range(len(candidates))
    ]


def replay_range(
    game: Game, candidates: Sequence[dict[str, Value]], stream: int, first: int, count: int
) -> list[PlayedLogs]:
    """Candidates on logs first … first + count − 1."""
    worlds = kept_worlds(game, stream, first, count)
    assert isinstance(worlds, LogWorlds)
    return [play_logs(policy_of(game), values, worlds, game.seed, first, stream) for values in candidates]


def _estimate(found: Floats, sign: float) -> Estimate:
    mean, *ends = (sign * end for end in around(found))
    return Estimate(mean=mean, low=min(ends), high=max(ends), replications=found.size)


def _needed(mean: float, low: float, high: float, enough: bool, played: PlayedLogs) -> Needed | None:
    """n·(half-width / difference)²; None where the interval excludes 0 already, or there is no difference at all."""
    if low == high == 0.0 or (enough and not low <= 0.0 <= high):
        return None
    if mean == 0.0:
        return Needed(matched=None, events=None)
    matched = max(1.0, float(played.matched[0]))
    times = max((high - low) / 2.0 / abs(mean), 1.0) ** 2
    # What is too few to conclude anything is never enough, however clear it looks.
    times = max(times, ENOUGH_EVENTS / max(1.0, float(played.effective[0])))
    whole = played.events / float(STRETCHES[Stream.REPORT])
    return Needed(matched=times * matched, events=times * whole)


def _scale(scenario: LogScenario, sign: float) -> Scale:
    """Mean of the searched rewards, and their spread around each arm's mean."""
    worlds = scenario.draw(1, 0, 0, 1, Stream.SEARCH)
    counts = np.maximum(1, np.bincount(worlds.arm, minlength=scenario.arms))
    means = np.bincount(worlds.arm, worlds.reward, minlength=scenario.arms) / counts
    spread = float(np.sqrt(np.mean((worlds.reward - means[worlds.arm]) ** 2)))
    return Scale(mean=sign * float(worlds.reward.mean()), spread=spread)
