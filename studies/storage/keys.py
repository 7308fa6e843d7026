"""Attributes of studies and trials: their keys, and typed functions to read and write them.

No other module contains these keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ravenlab.common.errors import InputError
from ravenlab.environments.catalog import SCENARIO_PLUGINS
from ravenlab.policies.engine.plugins import POLICY_PLUGINS
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation, TunedSetting
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.robust import RobustSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.hardening import UNREADABLE

if TYPE_CHECKING:
    import optuna

    from ravenlab.common.compat.optuna import FrozenStudy


Value = TypeVar("Value")

# User attributes of a study.
SPEC = "ravenlab:spec"
VERSION = "ravenlab:version"
RECOMMENDATION = "ravenlab:recommendation"
RACE = "ravenlab:race"
GRID = "ravenlab:grid"
COMPARISON = "ravenlab:comparison"
FURTHER_WORLDS = "ravenlab:further-worlds"
INDISTINGUISHABLE = "ravenlab:indistinguishable"
ROBUST = "ravenlab:robust"
TUNED = "ravenlab:tuned"
ROBUST_RECOMMENDATION = "ravenlab:robust-recommendation"
FRONT = "ravenlab:front"  # of earlier versions
NOTE = "ravenlab:note"
ATTACHED = "ravenlab:attached"

# User attributes of a trial.
STDERR = "stderr"
REPLICATIONS = "replications"
SECONDS = "seconds"
NANOSECONDS = "nanoseconds"
REGRETS = "regrets"
ENTRY = "entry"


def _read(study: optuna.Study | FrozenStudy, key: str, kind: type[Value], owner: str, content: str) -> Value | None:
    """Read the value of a key; None if there is none."""
    return _validate(study, study.user_attrs.get(key), kind, owner, content)


def _validate(
    study: optuna.Study | FrozenStudy, stored: object, kind: type[Value], owner: str, content: str
) -> Value | None:
    """Validate the stored value of an attribute; None if there is none."""
    if stored is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(stored)
    except ValidationError:
        raise InputError(f"{owner} {study.study_name!r} has a {content} that this version cannot read.") from None


def _needs_plugin(policies: Iterable[object], scenarios: Iterable[object]) -> bool:
    """Return whether a policy or scenario comes from a plugin that is not loaded."""
    missing_policy = any(POLICY_PLUGINS.is_missing(str(name)) for name in policies)
    return missing_policy or any(SCENARIO_PLUGINS.is_missing(str(name)) for name in scenarios)


def read_spec(study: optuna.Study | FrozenStudy) -> StudySpec | None:
    """Read the specification of a study; None if it is not a study of ravenlab."""
    try:
        spec = _read(study, SPEC, StudySpec, "study", "specification")
        return None if spec is None else spec
    except InputError as unreadable:
        stored = study.user_attrs[SPEC]
        if isinstance(stored, dict) and _needs_plugin([stored.get("policy")], [stored.get("scenario")]):
            return _read_unchecked(stored, unreadable)
        raise


def _read_unchecked(stored: dict[str, Any], unreadable: InputError) -> StudySpec:
    """Read a study whose plugin is not loaded, for display. Its other fields must be valid."""
    try:
        return StudySpec.unchecked(stored)
    except ValueError:
        raise unreadable from None


def _write_spec(study: optuna.Study, key: str, spec: StudySpec | GridSpec | ComparisonSpec | RobustSpec) -> None:
    """Store a specification with every default, and the version of ravenlab."""
    study.set_user_attr(VERSION, project_version())
    study.set_user_attr(key, spec.model_dump(mode="json"))


def write_spec(study: optuna.Study, spec: StudySpec) -> None:
    """Store the specification of a study of one scenario."""
    _write_spec(study, SPEC, spec)


def read_recommendation(study: optuna.Study | FrozenStudy) -> Recommendation | None:
    """Read the recommendation; None if there is no current one."""
    return _read(study, RECOMMENDATION, Recommendation, "study", "recommendation")


def write_recommendation(study: optuna.Study, recommendation: Recommendation | None) -> None:
    """Store a recommendation, or delete it with None."""
    study.set_user_attr(RECOMMENDATION, None if recommendation is None else recommendation.as_object())


def read_race(study: optuna.Study) -> dict[str, Any] | None:
    """Read the state of the race: number of batches, trial of the elite, and number of its blocks."""
    stored = study.user_attrs.get(RACE)
    return dict(stored) if isinstance(stored, dict) else None


def write_race(study: optuna.Study, batches: int, elite: int, blocks: int) -> None:
    """Store the state of the race."""
    study.set_user_attr(RACE, {"batches": batches, "elite": elite, "blocks": blocks})


def read_grid_spec(study: optuna.Study | FrozenStudy) -> GridSpec | None:
    """Read the specification of a grid; None if the study is not a grid or its plugin is not loaded."""
    try:
        spec = _read(study, GRID, GridSpec, "grid", "specification")
        return None if spec is None else spec
    except InputError:
        stored = study.user_attrs[GRID]
        if isinstance(stored, dict) and _needs_plugin([], [stored.get("scenario")]):
            return None
        raise


def write_grid_spec(study: optuna.Study, spec: GridSpec) -> None:
    """Store the specification of a grid."""
    _write_spec(study, GRID, spec)


def read_comparison_spec(study: optuna.Study | FrozenStudy) -> ComparisonSpec | None:
    """Read the specification of a comparison; None if the study is not one or its plugin is not loaded."""
    try:
        spec = _read(study, COMPARISON, ComparisonSpec, "comparison", "specification")
        return None if spec is None else spec
    except InputError:
        stored = study.user_attrs[COMPARISON]
        policies, scenario = (stored.get(key) if isinstance(stored, dict) else None for key in ("policies", "scenario"))
        if isinstance(policies, list) and _needs_plugin(policies, [scenario]):
            return None
        raise


def write_comparison_spec(study: optuna.Study, spec: ComparisonSpec) -> None:
    """Store the specification of a comparison."""
    _write_spec(study, COMPARISON, spec)


def read_further_worlds(study: optuna.Study | FrozenStudy) -> list[dict[str, Any]] | None:
    """Read the results of a comparison's entries on further worlds; None before it was decided whether to play any."""
    results = _read(study, FURTHER_WORLDS, list[dict[str, Any]], "comparison", "list of results")
    if results is None:
        return None
    attributes = study.user_attrs
    regrets = [attributes.get(f"{FURTHER_WORLDS}:{number}", UNREADABLE) for number in range(len(results))]
    return [{"regret": regret, **result} for regret, result in zip(regrets, results, strict=True)]


def write_further_worlds(study: optuna.Study, results: list[dict[str, Any]]) -> None:
    """Store the results of a comparison's entries on further worlds, which completes the comparison.

    The regrets of each entry are an attribute of their own, because the size of a value is limited. Earlier versions
    stored them with the other results.
    """
    for number, result in enumerate(results):
        study.set_user_attr(f"{FURTHER_WORLDS}:{number}", result["regret"])
    others = [{key: value for key, value in result.items() if key != "regret"} for result in results]
    study.set_user_attr(FURTHER_WORLDS, others)


def read_indistinguishable(study: optuna.Study | FrozenStudy) -> list[int] | None:
    """Read the numbers of the cells that are indistinguishable from the best; None before they were tested."""
    return _read(study, INDISTINGUISHABLE, list[int], "grid", "list of cells")


def write_indistinguishable(study: optuna.Study, numbers: list[int]) -> None:
    """Store the numbers of the cells that are indistinguishable from the best, which completes a grid."""
    study.set_user_attr(INDISTINGUISHABLE, numbers)


UNSUPPORTED_FRONT = "Pareto fronts are no longer supported."


def is_front(study: optuna.Study | FrozenStudy) -> bool:
    """Whether an earlier version searched a Pareto front instead of one setting."""
    stored = study.user_attrs.get(ROBUST)
    return FRONT in study.user_attrs or (isinstance(stored, dict) and stored.get("pareto") is True)


def _refuse_front(study: optuna.Study | FrozenStudy) -> None:
    if is_front(study):
        raise InputError(f"study {study.study_name!r}: {UNSUPPORTED_FRONT}")


def _without_pareto(stored: object) -> object:
    """Return a stored specification without a field of earlier versions, which is false except for Pareto fronts."""
    return {key: value for key, value in stored.items() if key != "pareto"} if isinstance(stored, dict) else stored


def read_robust_spec(study: optuna.Study | FrozenStudy) -> RobustSpec | None:
    """Read the specification of a robust search; None if the study is not one."""
    _refuse_front(study)
    stored = study.user_attrs.get(ROBUST)
    try:
        spec = _validate(study, _without_pareto(stored), RobustSpec, "study", "specification")
        return None if spec is None else spec
    except InputError as unreadable:
        base, names = (stored.get(key) if isinstance(stored, dict) else None for key in ("base", "scenarios"))
        if isinstance(base, dict) and isinstance(names, list) and _needs_plugin([base.get("policy")], names):
            measure = study.user_attrs[ROBUST].get("measure")
            if not isinstance(measure, str):
                raise
            resolved = _read_unchecked(base, unreadable)
            scenarios = tuple(str(name) for name in names)
            return RobustSpec.model_construct(base=resolved, scenarios=scenarios, measure=measure)
        raise


def write_robust_spec(study: optuna.Study, spec: RobustSpec) -> None:
    """Store the specification of a robust search."""
    _write_spec(study, ROBUST, spec)


def read_tuned(study: optuna.Study | FrozenStudy) -> list[TunedSetting] | None:
    """Read the tuned settings that a study's relative regrets refer to; None before they are known."""
    return _read(study, TUNED, list[TunedSetting], "study", "list of tuned settings")


def write_tuned(study: optuna.Study, tuned: list[TunedSetting]) -> None:
    """Store the tuned settings; all trials of a study must refer to the same ones."""
    study.set_user_attr(TUNED, [setting.model_dump(mode="json") for setting in tuned])


def read_robust(study: optuna.Study | FrozenStudy) -> RobustRecommendation | None:
    """Read the result of a robust search; None before it has ended."""
    _refuse_front(study)
    return _read(study, ROBUST_RECOMMENDATION, RobustRecommendation, "study", "result")


def write_robust(study: optuna.Study, result: RobustRecommendation | None) -> None:
    """Store the result of a robust search, or delete it with None."""
    if result is not None:
        study.set_user_attr(ROBUST_RECOMMENDATION, result.as_object())
    elif study.user_attrs.get(ROBUST_RECOMMENDATION) is not None:
        study.set_user_attr(ROBUST_RECOMMENDATION, None)


def project_version() -> str:
    """Return the version of ravenlab."""
    from importlib.metadata import version

    return version("ravenlab")
