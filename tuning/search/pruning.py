"""Playing a batch under each pruner: in full, or in blocks of replications after which poor candidates are pruned.

All candidates play the same worlds in a block, and the driver decides between blocks, so pruning is deterministic.
`hyperband` is Optuna's pruner. `race` follows irace: after each block, a paired test against the elite. The elite can
only be replaced by a candidate that has played as many blocks, and plays one more block with every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna


BLOCKS = 10  # blocks per trial
FIRST_TEST = 2  # block after which a race starts to test
PRUNING_ERROR_RATE = 0.01  # of the one-sided test by which a candidate is pruned
MAX_ELITE_BLOCKS = 3  # largest sample of the elite, in multiples of the replications of a trial
HYPERBAND = {"min_resource": 1, "reduction_factor": 3, "bootstrap_count": 0}


@dataclass
class Outcome:
    """Result of a candidate: its sample, its value after each block, and whether it was pruned."""

    sample: Floats
    intermediate: dict[int, float] = field(default_factory=dict)
    pruned: bool = False


@dataclass(frozen=True)
class Elite:
    """The best candidate of a race so far, and the number of blocks it plays."""

    number: int
    params: dict[str, Value]
    blocks: int


@dataclass(frozen=True)
class Batch:
    """A batch of candidates to play."""

    candidates: Sequence[dict[str, Value]]
    trials: Sequence[optuna.Trial]
    first: int
    """Number of the first candidate's trial."""
    stored: int
    """Candidates that are already stored."""
    wanted: int
    """How many of the candidates the study needs."""
    elite: Elite | None = None
    """The best candidate of the race before this batch."""


@dataclass(frozen=True)
class PlayedBatch:
    """Outcomes of the candidates that were played, by their index in the batch, and the elite after it."""

    outcomes: dict[int, Outcome]
    elite: Elite | None = None


def block_size(spec: StudySpec) -> int:
    """Return the number of replications per block."""
    return -(-spec.replications // min(BLOCKS, max(1, spec.replications // 2)))


def block_count(spec: StudySpec) -> int:
    """Return the number of blocks per trial."""
    return -(-spec.replications // block_size(spec))


def make_pruner(spec: StudySpec) -> optuna.pruners.BasePruner:
    """Return the pruner of the mirror study."""
    import optuna

    if spec.pruner == "hyperband":
        return optuna.pruners.HyperbandPruner(max_resource=block_count(spec), **HYPERBAND)
    return optuna.pruners.NopPruner()


def play_full(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> PlayedBatch:
    """Play all replications of every candidate that is not stored yet."""
    indices = range(batch.stored, batch.wanted)
    if not indices:
        return PlayedBatch({})
    candidates = [batch.candidates[i] for i in indices]
    samples = evaluator.play_sample(candidates, Stream.SEARCH, 0, spec.replications)
    return PlayedBatch({i: Outcome(sample) for i, sample in zip(indices, samples, strict=True)})


class ReplicationBlocks:
    """The blocks of one batch; each is played by the candidates that are still active."""

    def __init__(self, spec: StudySpec, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]) -> None:
        self.spec = spec
        self.evaluator = evaluator
        self.candidates = candidates
        self.outcomes = [Outcome(np.empty(0)) for _ in candidates]
        self.withdrawn: set[int] = set()
        """Candidates that completed their trial and no longer challenge the elite."""

    def active(self) -> list[int]:
        """Return the indices of the candidates that still play."""
        return [i for i, outcome in enumerate(self.outcomes) if not outcome.pruned and i not in self.withdrawn]

    def play(self, block: int) -> None:
        """Play block number 1, 2, … for all active candidates, and record the value so far."""
        active = self.active()
        if not active:
            return
        samples = play_block(self.spec, self.evaluator, [self.candidates[i] for i in active], block)
        for i, sample in zip(active, samples, strict=True):
            outcome = self.outcomes[i]
            outcome.sample = np.concatenate([outcome.sample, sample])
            if block <= block_count(self.spec):
                outcome.intermediate[block] = float(self.evaluator.objective.value(outcome.sample))

    def result(self, elite: Elite | None = None) -> PlayedBatch:
        """Return the outcomes of all candidates."""
        return PlayedBatch(dict(enumerate(self.outcomes)), elite)


def play_block(spec: StudySpec, evaluator: Evaluator, candidates: Sequence[dict[str, Value]], block: int) -> Floats:
    """Return samples [C, size] of block number 1, 2, …; the last block of a trial may be shorter."""
    size = block_size(spec)
    first = (block - 1) * size
    last = block * size
    if block <= block_count(spec):
        last = min(last, spec.replications)
    else:
        shift = block_count(spec) * size - spec.replications
        first = first - shift
        last = last - shift
    return evaluator.play_sample(candidates, Stream.SEARCH, first, last - first)


def play_hyperband(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> PlayedBatch:
    """Play in blocks; Optuna's Hyperband decides after each block, candidate by candidate."""
    blocks = ReplicationBlocks(spec, evaluator, batch.candidates)
    trials = batch.trials
    for block in range(1, block_count(spec) + 1):
        blocks.play(block)
        for i in blocks.active():
            trials[i].report(blocks.outcomes[i].intermediate[block], block)
            if block < block_count(spec) and trials[i].should_prune():
                blocks.outcomes[i].pruned = True
    return blocks.result()


def play_race(spec: StudySpec, evaluator: Evaluator, batch: Batch) -> PlayedBatch:
    """Race the candidates of a batch against each other and against the elite."""
    elite = batch.elite
    full = block_count(spec)
    length = full if elite is None else elite.blocks
    blocks = ReplicationBlocks(spec, evaluator, batch.candidates)
    elite_sample = np.empty(0)
    for block in range(1, length + 1):
        blocks.play(block)
        if elite is not None:
            elite_sample = np.concatenate([elite_sample, play_block(spec, evaluator, [elite.params], block)[0]])
        if FIRST_TEST <= block < length:
            _drop_worse(blocks, evaluator, None if elite is None else elite_sample, block, full)
    sign = -1.0 if evaluator.objective.maximize else 1.0
    finalists: list[tuple[float, Elite]] = []
    if elite is not None:
        finalists.append((sign * float(evaluator.objective.value(elite_sample)), elite))
    for i, outcome in enumerate(blocks.outcomes):
        if outcome.sample.size >= elite_sample.size and not outcome.pruned:
            value = sign * float(evaluator.objective.value(outcome.sample))
            finalists.append((value, Elite(batch.first + i, dict(batch.candidates[i]), length)))
    _, best = min(finalists, key=lambda finalist: finalist[0])
    for outcome in blocks.outcomes:
        outcome.sample = outcome.sample[: spec.replications]
    return blocks.result(Elite(best.number, best.params, min(length + 1, MAX_ELITE_BLOCKS * full)))


PLAY_BATCH: dict[str, Callable[[StudySpec, Evaluator, Batch], PlayedBatch]] = {
    "none": play_full,
    "hyperband": play_hyperband,
    "race": play_race,
}
"""How a batch is played, by the name of the pruner."""


def _drop_worse(
    blocks: ReplicationBlocks, evaluator: Evaluator, elite_sample: Floats | None, block: int, full: int
) -> None:
    """Drop candidates that a paired test finds worse than the elite, or in the first batch than the best so far.

    Before the last block of a trial they are pruned; after it, their trial is complete and they only leave the race.
    """
    from scipy.stats import ttest_rel

    active = blocks.active()
    if not active:
        return
    sign = -1.0 if evaluator.objective.maximize else 1.0
    if elite_sample is None:
        means = [sign * blocks.outcomes[i].sample.mean() for i in active]
        elite_sample = blocks.outcomes[active[int(np.argmin(means))]].sample
    for i in active:
        sample = blocks.outcomes[i].sample
        difference = sign * (sample - elite_sample)
        if not difference.any():
            continue
        if np.ptp(difference) == 0.0:
            worse = difference[0] > 0.0
        else:
            worse = bool(
                ttest_rel(sign * sample, sign * elite_sample, alternative="greater").pvalue < PRUNING_ERROR_RATE
            )
        if worse and block < full:
            blocks.outcomes[i].pruned = True
        elif worse:
            blocks.withdrawn.add(i)
