"""Everything that a report shows, read from a storage: recommendations, histories, grids, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboards.report.playing import Played, play_best_cells, play_recommendation
from dashboards.report.trials import Trials, read_trials
from environments.errors import InputError
from environments.world import Floats
from studies.grid import Grid
from studies.grid_storage import read_grid
from studies.keys import COMPARISON, GRID, ROBUST, read_grid_spec, read_recommendation, read_robust, read_spec
from studies.library import find_studies
from studies.recommendation import Recommendation
from studies.robust_recommendation import Front, RobustRecommendation
from studies.spec import ResolvedStudy

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy


@dataclass(frozen=True)
class StudyPart:
    """One study: what was asked, how far it is, what it recommends."""

    name: str
    spec: ResolvedStudy
    recommendation: Recommendation | None
    trials: Trials
    played: Played | None = None

    @property
    def missing(self) -> str:
        """What this study still lacks, in a sentence; empty where it lacks nothing."""
        trials = self.trials
        if self.recommendation is not None:
            return ""
        if not trials.finished:
            return f"No trial has finished yet; {self.spec.trials} are asked for."
        if not trials.complete:
            pruned = "the one trial was" if trials.pruned == 1 else f"all {trials.pruned:,} trials were"
            return f"Nothing to recommend: {pruned} pruned, so no candidate was played to the end."
        if trials.finished < self.spec.trials:
            return (
                f"The search is unfinished: {trials.finished:,} of {self.spec.trials:,} trials. Its results are not"
                " validated, so there is no recommendation yet."
            )
        return "The search is done but was not validated, so nothing is recommended yet."


@dataclass(frozen=True)
class GridPart:
    """One finished grid, and the regrets of its best cells in a few fresh worlds."""

    grid: Grid
    samples: dict[str, Floats]


@dataclass(frozen=True)
class Material:
    """What a report is made of."""

    where: str
    """The storage, without a password."""
    studies: list[StudyPart]
    grids: list[GridPart] = field(default_factory=list)
    unfinished_grids: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    """Studies that are not ours, or that this version can't read."""
    over_worlds: list[RobustRecommendation | Front] = field(default_factory=list)
    """What searches over several scenarios found."""
    unfinished_over_worlds: list[str] = field(default_factory=list)

    @property
    def recommendations(self) -> list[Recommendation]:
        """All recommendations in the order of the export."""
        return [part.recommendation for part in self.studies if part.recommendation is not None]


def gather(storage: RDBStorage | None, where: str, names: Sequence[str] | None = None) -> Material:
    """Read the named studies and grids, or all of them; without a storage there is nothing yet.

    >>> gather(None, "sqlite:///studies.sqlite3").studies
    []
    """
    if storage is None:
        return Material(where, [])
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    parts, grids, unfinished, strangers = [], [], [], []
    over_worlds: list[RobustRecommendation | Front] = []
    begun: list[str] = []
    for study in sorted(studies, key=lambda each: each.study_name):
        if COMPARISON in study.user_attrs:  # has a page of its own
            continue
        try:
            if GRID in study.user_attrs and read_grid_spec(study) is not None:
                grid = read_grid(study, storage.get_all_trials(study._study_id, deepcopy=False))
                if grid is None:
                    unfinished.append(study.study_name)
                else:
                    grids.append(grid)
                continue
            if ROBUST in study.user_attrs:
                several = read_robust(study)
                if several is None:
                    begun.append(study.study_name)
                else:
                    over_worlds.append(several)
                continue
            spec = read_spec(study)
            if spec is not None:
                parts.append(_study(storage, study, spec))
                continue
        except InputError:
            pass
        strangers.append(study.study_name)
    parts.sort(key=_order)
    count = sum(part.recommendation is not None for part in parts)
    grids.sort(key=lambda grid: (grid.spec.scenario, grid.spec.arms, grid.spec.horizon, grid.study))
    return Material(
        where,
        [_with_curves(part, count) for part in parts],
        [GridPart(grid, play_best_cells(grid, len(grids))) for grid in grids],
        unfinished,
        strangers,
        over_worlds,
        begun,
    )


def _study(storage: RDBStorage, study: FrozenStudy, spec: ResolvedStudy) -> StudyPart:
    found, trials = read_recommendation(study), read_trials(storage, study._study_id, spec)
    return StudyPart(study.study_name, spec, found, trials)


def _with_curves(part: StudyPart, studies: int) -> StudyPart:
    if part.recommendation is None:
        return part
    played = play_recommendation(part.recommendation, studies, part.spec)
    return StudyPart(part.name, part.spec, part.recommendation, part.trials, played)


def _order(part: StudyPart) -> tuple[str, str, int, int, str]:
    """The order of the export."""
    return part.spec.policy, part.spec.scenario, part.spec.arms, part.spec.horizon, part.name
