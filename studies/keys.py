"""The names of what is kept beside Optuna's own columns, typed on the way in and out. Nothing else spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from environments.errors import InputError
from environments.own_scenarios import BROUGHT as SCENARIOS
from policies.own import BROUGHT as POLICIES
from studies.comparison.spec import ComparisonSpec
from studies.grid import GridSpec
from studies.recommendation import Recommendation
from studies.robust import RobustSpec
from studies.robust_recommendation import Front, RobustRecommendation, Tuned
from studies.spec import StudySpec

if TYPE_CHECKING:
    import optuna
    from optuna.study._frozen import FrozenStudy

SPEC = "ravenlab:spec"
VERSION = "ravenlab:version"
RECOMMENDATION = "ravenlab:recommendation"
RACE = "ravenlab:race"
GRID = "ravenlab:grid"
COMPARISON = "ravenlab:comparison"
INDISTINGUISHABLE = "ravenlab:indistinguishable"
ROBUST = "ravenlab:robust"
TUNED = "ravenlab:tuned"
ROBUST_RECOMMENDATION = "ravenlab:robust-recommendation"
FRONT = "ravenlab:front"
NOTE = "ravenlab:note"
ATTACHED = "ravenlab:attached"

STDERR = "stderr"
REPLICATIONS = "replications"
SECONDS = "seconds"
NANOSECONDS = "nanoseconds"
REGRETS = "regrets"
ENTRY = "entry"
"""User attributes of a trial."""


def read_spec(study: optuna.Study | FrozenStudy) -> StudySpec | None:
    """The specification of a study; None if it is not one of ours."""
    stored = study.user_attrs.get(SPEC)
    if stored is None:
        return None
    try:
        return StudySpec.model_validate(stored)
    except ValidationError:
        if _of_others(stored):
            return StudySpec.as_stored(stored)
        raise InputError(f"study {study.study_name!r} has a specification that this version can't read.") from None


def _of_others(stored: Any) -> bool:
    """Whether a study plays something that was brought by its user and is not at hand here."""
    return (
        isinstance(stored, dict)
        and all(isinstance(stored.get(field), str) for field in ("policy", "scenario"))
        and (POLICIES.absent(stored["policy"]) or SCENARIOS.absent(stored["scenario"]))
    )


def write_spec(study: optuna.Study, spec: StudySpec) -> None:
    """Keep the specification, every default written out, and the version that made it."""
    study.set_user_attr(SPEC, spec.resolved().model_dump(mode="json"))
    study.set_user_attr(VERSION, project_version())


def read_recommendation(study: optuna.Study | FrozenStudy) -> Recommendation | None:
    """The recommendation, if the study has one that still holds."""
    stored = study.user_attrs.get(RECOMMENDATION)
    if stored is None:
        return None
    try:
        return Recommendation.model_validate(stored)
    except ValidationError:
        raise InputError(f"study {study.study_name!r} has a recommendation that this version can't read.") from None


def write_recommendation(study: optuna.Study, recommendation: Recommendation | None) -> None:
    """Keep a recommendation, or drop it with None."""
    study.set_user_attr(RECOMMENDATION, None if recommendation is None else recommendation.as_object())


def read_race(study: optuna.Study) -> dict[str, Any] | None:
    """Where the race stands: batches that it has seen, the elite's trial and how many blocks it has played."""
    stored = study.user_attrs.get(RACE)
    return dict(stored) if isinstance(stored, dict) else None


def write_race(study: optuna.Study, batches: int, elite: int, blocks: int) -> None:
    """Keep where the race stands."""
    study.set_user_attr(RACE, {"batches": batches, "elite": elite, "blocks": blocks})


def read_grid_spec(study: optuna.Study | FrozenStudy) -> GridSpec | None:
    """What a grid plays; None if the study is not a grid, or one of a scenario that its user brought elsewhere."""
    stored = study.user_attrs.get(GRID)
    if stored is None:
        return None
    try:
        return GridSpec.model_validate(stored)
    except ValidationError:
        if isinstance(stored, dict) and SCENARIOS.absent(str(stored.get("scenario"))):
            return None
        raise InputError(f"grid {study.study_name!r} has a specification that this version can't read.") from None


def write_grid_spec(study: optuna.Study, spec: GridSpec) -> None:
    """Keep what a grid plays, every default written out, and the version that made it."""
    study.set_user_attr(VERSION, project_version())
    study.set_user_attr(GRID, spec.resolved().model_dump(mode="json"))


def read_comparison_spec(study: optuna.Study | FrozenStudy) -> ComparisonSpec | None:
    """What is compared; None if the study is no comparison, or one with something that its user brought elsewhere."""
    stored = study.user_attrs.get(COMPARISON)
    if stored is None:
        return None
    try:
        return ComparisonSpec.model_validate(stored)
    except ValidationError:
        if isinstance(stored, dict) and _brought_elsewhere(stored):
            return None
        name = study.study_name
        raise InputError(f"comparison {name!r} has a specification that this version can't read.") from None


def _brought_elsewhere(stored: dict[str, Any]) -> bool:
    missing = [POLICIES.missing(str(policy)) for policy in stored.get("policies") or ()]
    return any(each is not None for each in (*missing, SCENARIOS.missing(str(stored.get("scenario")))))


def write_comparison_spec(study: optuna.Study, spec: ComparisonSpec) -> None:
    """Keep what is compared, every default written out, and the version that did it."""
    study.set_user_attr(VERSION, project_version())
    study.set_user_attr(COMPARISON, spec.resolved().model_dump(mode="json"))


def read_indistinguishable(study: optuna.Study | FrozenStudy) -> list[int] | None:
    """Numbers of the cells that can't be told from the best one; None before they were compared."""
    stored = study.user_attrs.get(INDISTINGUISHABLE)
    return None if stored is None else [int(number) for number in stored]


def write_indistinguishable(study: optuna.Study, numbers: list[int]) -> None:
    """Keep which cells can't be told from the best one: with that, a grid is finished."""
    study.set_user_attr(INDISTINGUISHABLE, numbers)


def read_robust_spec(study: optuna.Study | FrozenStudy) -> RobustSpec | None:
    """What a search over several scenarios plays; None if the study is none."""
    stored = study.user_attrs.get(ROBUST)
    if stored is None:
        return None
    try:
        return RobustSpec.model_validate(stored)
    except (ValidationError, InputError):
        base = stored.get("base") if isinstance(stored, dict) else None
        names = stored.get("scenarios") if isinstance(stored, dict) else None
        if isinstance(base, dict) and isinstance(names, list):
            away = [SCENARIOS.missing(str(name)) for name in names]
            if any(each is not None for each in (*away, POLICIES.missing(str(base.get("policy"))))):
                shown = {**stored, "base": StudySpec.as_stored(base), "scenarios": tuple(names)}
                return RobustSpec.model_construct(**shown)
        raise InputError(f"study {study.study_name!r} has a specification that this version can't read.") from None


def write_robust_spec(study: optuna.Study, spec: RobustSpec) -> None:
    """Keep what is searched, every default written out, and the version that made it."""
    study.set_user_attr(ROBUST, spec.resolved().model_dump(mode="json"))
    study.set_user_attr(VERSION, project_version())


def read_tuned(study: optuna.Study | FrozenStudy) -> list[Tuned] | None:
    """The settings that relative regrets of a study are relative to; None before they were found."""
    stored = study.user_attrs.get(TUNED)
    return None if stored is None else [Tuned.model_validate(each) for each in stored]


def write_tuned(study: optuna.Study, tuned: list[Tuned]) -> None:
    """Keep them: trials that landed against one set can't be held against another."""
    study.set_user_attr(TUNED, [each.model_dump(mode="json") for each in tuned])


def read_robust(study: optuna.Study | FrozenStudy) -> RobustRecommendation | Front | None:
    """What a search over several scenarios found, if it has ended."""
    try:
        if study.user_attrs.get(FRONT) is not None:
            return Front.model_validate(study.user_attrs[FRONT])
        stored = study.user_attrs.get(ROBUST_RECOMMENDATION)
        return None if stored is None else RobustRecommendation.model_validate(stored)
    except ValidationError:
        raise InputError(f"study {study.study_name!r} has a result that this version can't read.") from None


def write_robust(study: optuna.Study, found: RobustRecommendation | Front | None) -> None:
    """Keep what was found, or drop it with None."""
    for key, model in ((ROBUST_RECOMMENDATION, RobustRecommendation), (FRONT, Front)):
        if isinstance(found, model):
            study.set_user_attr(key, found.as_object())
        elif study.user_attrs.get(key) is not None:
            study.set_user_attr(key, None)


def project_version() -> str:
    """The version of this project."""
    from importlib.metadata import version

    return version("ravenlab")
