"""How a batch is played: whole, or in blocks of replications between which poor candidates stop.

Blocks are the same worlds for every candidate, and the driver decides between them, so pruning is as
deterministic as everything else. `hyperband` is Optuna's own pruner; `race` works as irace does: a
paired test against the elite after each block, the elite safe until a rival has played its blocks,
its own sample growing by a block with every batch that it survives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from environments.streams import Stream
from environments.world import Floats
from policies.engine.base import Value
from studies.spec.study import StudySpec
from tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna


BLOCKS = 10
"""Blocks that the replications of a trial are cut into."""

FIRST_TEST = 2
"""A race tests from this block on."""

LEVEL = 0.01
"""A rival stops when it is worse than the elite at this level, one-sided."""

LONGEST = 3
"""The elite's sample grows to this many times the replications of a trial."""

HYPERBAND = {"min_resource": 1, "reduction_factor": 3, "bootstrap_count": 0}


@dataclass
class Outcome:
    """What a candidate came to: its sample, the value at the end of each block, and whether it was stopped."""

    sample: Floats
    intermediate: dict[int, float] = field(default_factory=dict)
    pruned: bool = False


@dataclass(frozen=True)
class Elite:
    """The best candidate of a race so far, and how many blocks it has played."""

    number: int
    params: dict[str, Value]
    blocks: int


@dataclass(frozen=True)
class Batch:
    """A batch of candidates that is to be played."""

    candidates: Sequence[dict[str, Value]]
    trials: Sequence[optuna.Trial]
    first: int
    """Number of the first candidate's trial."""
    stored: int
    """How many of the candidates are stored already."""
    wanted: int
    """How many of the candidates the study needs."""
    elite: Elite | None = None
    """The best candidate of the race before this batch."""


@dataclass(frozen=True)
class Played:
    """Outcomes of a batch, None for candidates that were not played again, and the elite after it."""

    outcomes: list[Outcome | None]
    elite: Elite | None = None


def block_size(spec: StudySpec) -> int:
    """Replications in a block."""
    return -(-spec.replications // min(BLOCKS, max(1, spec.replications // 2)))


def block_count(spec: StudySpec) -> int:
    """Blocks that make up a whole trial."""
    return -(-spec.replications // block_size(spec))


def make_pruner(spec: StudySpec) -> optuna.pruners.BasePruner:
    """The pruner that the mirror study carries."""
    import optuna

    if spec.pruner == "hyperband":
        return optuna.pruners.HyperbandPruner(max_resource=block_count(spec), **HYPERBAND)
    return optuna.pruners.NopPruner()


def play_whole(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> Played:
    """Play all replications of every candidate that is not stored yet."""
    outcomes: list[Outcome | None] = [None] * batch.stored
    candidates = batch.candidates[batch.stored : batch.wanted]
    if candidates:
        samples = evaluator.sample(evaluator.play(candidates, Stream.SEARCH, 0, spec.replications))
        outcomes += [Outcome(sample) for sample in samples]
    return Played(outcomes)


class Blocks:
    """The blocks of one batch: plays the next one for those still in it."""

    def __init__(self, spec: StudySpec, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]) -> None:
        self.spec, self.evaluator, self.candidates = spec, evaluator, candidates
        self.outcomes = [Outcome(np.empty(0)) for _ in candidates]
        self.resting: set[int] = set()
        """Those that finished as trials and do not challenge the elite any further."""

    def alive(self) -> list[int]:
        """Places of the candidates that are still playing."""
        return [i for i, outcome in enumerate(self.outcomes) if not outcome.pruned and i not in self.resting]

    def play(self, block: int) -> None:
        """Play block number 1, 2, … for all that are alive, and note the value so far."""
        alive = self.alive()
        if not alive:
            return
        some = [self.candidates[i] for i in alive]
        for i, sample in zip(alive, play_block(self.spec, self.evaluator, some, block), strict=True):
            outcome = self.outcomes[i]
            outcome.sample = np.concatenate([outcome.sample, sample])
            if block <= block_count(self.spec):
                outcome.intermediate[block] = float(self.evaluator.objective.value(outcome.sample))


def play_block(spec: StudySpec, evaluator: Evaluator, candidates: Sequence[dict[str, Value]], block: int) -> Floats:
    """Samples [C, size] of block number 1, 2, …; the last one of a whole trial may be shorter."""
    size = block_size(spec)
    first, last = (block - 1) * size, block * size
    if block <= block_count(spec):
        last = min(last, spec.replications)
    else:
        shift = block_count(spec) * size - spec.replications
        first, last = first - shift, last - shift
    return evaluator.sample(evaluator.play(candidates, Stream.SEARCH, first, last - first))


def play_hyperband(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> Played:
    """Optuna's Hyperband decides after each block, candidate by candidate."""
    blocks, trials = Blocks(spec, evaluator, batch.candidates), batch.trials
    for block in range(1, block_count(spec) + 1):
        blocks.play(block)
        for i in blocks.alive():
            trials[i].report(blocks.outcomes[i].intermediate[block], block)
            if block < block_count(spec) and trials[i].should_prune():
                blocks.outcomes[i].pruned = True
    return Played([*blocks.outcomes])


def play_race(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> Played:
    """Race the candidates of one batch against each other and against the elite."""
    candidates, elite = batch.candidates, batch.elite
    whole = block_count(spec)
    length = elite.blocks if elite is not None else whole
    blocks = Blocks(spec, evaluator, candidates)
    defended = np.empty(0)
    for block in range(1, length + 1):
        blocks.play(block)
        if elite is not None:
            defended = np.concatenate([defended, play_block(spec, evaluator, [elite.params], block)[0]])
        if FIRST_TEST <= block < length:
            _drop_the_worse(blocks, evaluator, defended if elite is not None else None, block, whole)
    sign = -1.0 if evaluator.objective.maximize else 1.0
    best = elite
    lowest = sign * float(evaluator.objective.value(defended)) if elite is not None else np.inf
    for i, outcome in enumerate(blocks.outcomes):
        if outcome.sample.size < defended.size or outcome.pruned:
            continue
        value = sign * float(evaluator.objective.value(outcome.sample))
        if value < lowest:
            lowest, best = value, Elite(batch.first + i, dict(candidates[i]), length)
    assert best is not None
    for outcome in blocks.outcomes:
        outcome.sample = outcome.sample[: spec.replications]
    return Played([*blocks.outcomes], Elite(best.number, best.params, min(length + 1, LONGEST * whole)))


PLAY: dict[str, Callable[[StudySpec, Evaluator, Batch], Played]] = {
    "none": play_whole,
    "hyperband": play_hyperband,
    "race": play_race,
}
"""How a batch is played under each registered pruner."""


def _drop_the_worse(blocks: Blocks, evaluator: Evaluator, defended: Floats | None, block: int, whole: int) -> None:
    """Stop who is worse than the elite (in the first batch: than the best so far) by a paired test.

    After a whole trial's blocks nobody is stopped as a trial any more, but only leaves the challenge.
    """
    from scipy.stats import ttest_rel

    alive = blocks.alive()
    if not alive:
        return
    sign = -1.0 if evaluator.objective.maximize else 1.0
    if defended is None:
        means = [sign * blocks.outcomes[i].sample.mean() for i in alive]
        defended = blocks.outcomes[alive[int(np.argmin(means))]].sample
    for i in alive:
        rival = blocks.outcomes[i].sample
        difference = sign * (rival - defended)
        if not difference.any():
            continue
        if np.ptp(difference) == 0.0:
            worse = difference[0] > 0.0
        else:
            worse = bool(ttest_rel(sign * rival, sign * defended, alternative="greater").pvalue < LEVEL)
        if worse and block < whole:
            blocks.outcomes[i].pruned = True
        elif worse:
            blocks.resting.add(i)
