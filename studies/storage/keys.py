"""The names of what is kept beside Optuna's own columns, typed on the way in and out. Nothing else spells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from environments.catalog import SCENARIO_PLUGINS as SCENARIOS
from environments.errors import InputError
from policies.engine.plugins import POLICY_PLUGINS as POLICIES
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation, TunedSetting
from studies.spec.comparison import ComparisonSpec, ResolvedComparisonSpec
from studies.spec.grid import GridSpec, ResolvedGridSpec
from studies.spec.robust import ResolvedRobustSpec, RobustSpec
from studies.spec.study import ResolvedStudy, StudySpec

if TYPE_CHECKING:
    import optuna
    from optuna.study._frozen import FrozenStudy


Kept = TypeVar("Kept")

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


def _read(study: optuna.Study | FrozenStudy, key: str, kind: type[Kept], whose: str, what: str) -> Kept | None:
    """What is kept under a key; None where nothing is."""
    stored = study.user_attrs.get(key)
    if stored is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(stored)
    except ValidationError:
        raise InputError(f"{whose} {study.study_name!r} has a {what} that this version can't read.") from None


def _elsewhere(policies: Iterable[object], scenarios: Iterable[object]) -> bool:
    """Whether something that was brought by its user is not at hand here."""
    theirs = any(POLICIES.is_missing(str(each)) for each in policies)
    return theirs or any(SCENARIOS.is_missing(str(each)) for each in scenarios)


def read_spec(study: optuna.Study | FrozenStudy) -> ResolvedStudy | None:
    """The specification of a study; None if it is not one of ours."""
    try:
        spec = _read(study, SPEC, StudySpec, "study", "specification")
        return None if spec is None else spec.resolved()
    except InputError as unreadable:
        stored = study.user_attrs[SPEC]
        if isinstance(stored, dict) and _elsewhere([stored.get("policy")], [stored.get("scenario")]):
            return _as_stored(stored, unreadable)
        raise


def _as_stored(stored: dict[str, Any], unreadable: InputError) -> ResolvedStudy:
    """What can be shown of a study with something that was brought elsewhere; its other fields must be right."""
    try:
        return ResolvedStudy.from_stored(stored)
    except ValueError:
        raise unreadable from None


def write_spec(study: optuna.Study, spec: StudySpec) -> None:
    """Keep the specification, every default written out, and the version that made it."""
    study.set_user_attr(SPEC, spec.resolved().model_dump(mode="json"))
    study.set_user_attr(VERSION, project_version())


def read_recommendation(study: optuna.Study | FrozenStudy) -> Recommendation | None:
    """The recommendation, if the study has one that still holds."""
    return _read(study, RECOMMENDATION, Recommendation, "study", "recommendation")


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


def read_grid_spec(study: optuna.Study | FrozenStudy) -> ResolvedGridSpec | None:
    """What a grid plays; None if the study is not a grid, or one of a scenario that its user brought elsewhere."""
    try:
        spec = _read(study, GRID, GridSpec, "grid", "specification")
        return None if spec is None else spec.resolved()
    except InputError:
        stored = study.user_attrs[GRID]
        if isinstance(stored, dict) and _elsewhere([], [stored.get("scenario")]):
            return None
        raise


def write_grid_spec(study: optuna.Study, spec: GridSpec) -> None:
    """Keep what a grid plays, every default written out, and the version that made it."""
    study.set_user_attr(VERSION, project_version())
    study.set_user_attr(GRID, spec.resolved().model_dump(mode="json"))


def read_comparison_spec(study: optuna.Study | FrozenStudy) -> ResolvedComparisonSpec | None:
    """What is compared; None if the study is no comparison, or one with something that its user brought elsewhere."""
    try:
        spec = _read(study, COMPARISON, ComparisonSpec, "comparison", "specification")
        return None if spec is None else spec.resolved()
    except InputError:
        stored = study.user_attrs[COMPARISON]
        policies, scenario = (stored.get(key) if isinstance(stored, dict) else None for key in ("policies", "scenario"))
        if isinstance(policies, list) and _elsewhere(policies, [scenario]):
            return None
        raise


def write_comparison_spec(study: optuna.Study, spec: ComparisonSpec) -> None:
    """Keep what is compared, every default written out, and the version that did it."""
    study.set_user_attr(VERSION, project_version())
    study.set_user_attr(COMPARISON, spec.resolved().model_dump(mode="json"))


def read_indistinguishable(study: optuna.Study | FrozenStudy) -> list[int] | None:
    """Numbers of the cells that can't be told from the best one; None before they were compared."""
    return _read(study, INDISTINGUISHABLE, list[int], "grid", "list of cells")


def write_indistinguishable(study: optuna.Study, numbers: list[int]) -> None:
    """Keep which cells can't be told from the best one: with that, a grid is finished."""
    study.set_user_attr(INDISTINGUISHABLE, numbers)


def read_robust_spec(study: optuna.Study | FrozenStudy) -> ResolvedRobustSpec | None:
    """What a search over several scenarios plays; None if the study is none."""
    try:
        spec = _read(study, ROBUST, RobustSpec, "study", "specification")
        return None if spec is None else spec.resolved()
    except InputError as unreadable:
        stored = study.user_attrs[ROBUST]
        base, names = (stored.get(key) if isinstance(stored, dict) else None for key in ("base", "scenarios"))
        if isinstance(base, dict) and isinstance(names, list) and _elsewhere([base.get("policy")], names):
            measure, pareto = stored.get("measure"), stored.get("pareto")
            if not isinstance(measure, str) or not isinstance(pareto, bool):
                raise
            here = _as_stored(base, unreadable)
            scenarios = tuple(str(name) for name in names)
            return ResolvedRobustSpec.model_construct(base=here, scenarios=scenarios, measure=measure, pareto=pareto)
        raise


def write_robust_spec(study: optuna.Study, spec: RobustSpec) -> None:
    """Keep what is searched, every default written out, and the version that made it."""
    study.set_user_attr(ROBUST, spec.resolved().model_dump(mode="json"))
    study.set_user_attr(VERSION, project_version())


def read_tuned(study: optuna.Study | FrozenStudy) -> list[TunedSetting] | None:
    """The settings that relative regrets of a study are relative to; None before they were found."""
    return _read(study, TUNED, list[TunedSetting], "study", "list of tuned settings")


def write_tuned(study: optuna.Study, tuned: list[TunedSetting]) -> None:
    """Keep them: trials that landed against one set can't be held against another."""
    study.set_user_attr(TUNED, [each.model_dump(mode="json") for each in tuned])


def read_robust(study: optuna.Study | FrozenStudy) -> RobustRecommendation | Front | None:
    """What a search over several scenarios found, if it has ended."""
    front = _read(study, FRONT, Front, "study", "result")
    return front or _read(study, ROBUST_RECOMMENDATION, RobustRecommendation, "study", "result")


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
