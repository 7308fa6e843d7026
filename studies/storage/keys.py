"""Attributes of studies and trials: their keys, and typed functions to read and write them.

No other module contains these keys.
"""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ravenlab.common.compat.optuna import AnyStudy, Study
from ravenlab.common.errors import InputError
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation, TunedSetting
from ravenlab.studies.storage.hardening import UNREADABLE

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


def _read(study: AnyStudy, key: str, kind: type[Value], owner: str, content: str) -> Value | None:
    """Read the value of a key; None if there is none."""
    stored = study.user_attrs.get(key)
    if stored is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(stored)
    except ValidationError:
        raise InputError(f"{owner} {study.study_name!r} has a {content} that this version cannot read.") from None


def read_recommendation(study: AnyStudy) -> Recommendation | None:
    """Read the recommendation; None if there is no current one."""
    return _read(study, RECOMMENDATION, Recommendation, "study", "recommendation")


def write_recommendation(study: Study, recommendation: Recommendation) -> None:
    """Store a recommendation."""
    study.set_user_attr(RECOMMENDATION, recommendation.as_object())


@dataclass(frozen=True)
class RaceState:
    """The state of the race of a search."""

    batches: Annotated[int, Field(ge=0)]
    """Batches that the race has processed."""
    elite: Annotated[int, Field(ge=0)]
    """Number of the trial of the best candidate."""
    blocks: Annotated[int, Field(ge=1)]
    """Blocks that it plays."""


def read_race(study: Study) -> RaceState | None:
    """Read the state of the race; None before its first batch."""
    return _read(study, RACE, RaceState, "study", "race")


def write_race(study: Study, state: RaceState) -> None:
    """Store the state of the race."""
    study.set_user_attr(RACE, vars(state))


def read_further_worlds(study: AnyStudy) -> list[dict[str, Any]] | None:
    """Read the results of a comparison's entries on further worlds; None before it was decided whether to play any."""
    results = _read(study, FURTHER_WORLDS, list[dict[str, Any]], "comparison", "list of results")
    if results is None:
        return None
    attributes = study.user_attrs
    regrets = [attributes.get(f"{FURTHER_WORLDS}:{number}", UNREADABLE) for number in range(len(results))]
    return [{"regret": regret, **result} for regret, result in zip(regrets, results, strict=True)]


def write_further_worlds(study: Study, results: list[dict[str, Any]]) -> None:
    """Store the results of a comparison's entries on further worlds, which completes the comparison.

    The regrets of each entry are an attribute of their own, because the size of a value is limited. Earlier versions
    stored them with the other results.
    """
    for number, result in enumerate(results):
        study.set_user_attr(f"{FURTHER_WORLDS}:{number}", result["regret"])
    others = [{key: value for key, value in result.items() if key != "regret"} for result in results]
    study.set_user_attr(FURTHER_WORLDS, others)


def read_indistinguishable(study: AnyStudy) -> list[int] | None:
    """Read the numbers of the cells that are indistinguishable from the best; None before they were tested."""
    return _read(study, INDISTINGUISHABLE, list[int], "grid", "list of cells")


def write_indistinguishable(study: Study, numbers: list[int]) -> None:
    """Store the numbers of the cells that are indistinguishable from the best, which completes a grid."""
    study.set_user_attr(INDISTINGUISHABLE, numbers)


UNSUPPORTED_FRONT = "Pareto fronts are no longer supported."


def is_front(study: AnyStudy) -> bool:
    """Whether an earlier version searched a Pareto front instead of one setting."""
    stored = study.user_attrs.get(ROBUST)
    return FRONT in study.user_attrs or (isinstance(stored, dict) and stored.get("pareto") is True)


def read_tuned(study: AnyStudy) -> list[TunedSetting] | None:
    """Read the tuned settings that a study's relative regrets refer to; None before they are known."""
    return _read(study, TUNED, list[TunedSetting], "study", "list of tuned settings")


def write_tuned(study: Study, tuned: list[TunedSetting]) -> None:
    """Store the tuned settings; all trials of a study must refer to the same ones."""
    study.set_user_attr(TUNED, [setting.as_object() for setting in tuned])


def read_robust(study: AnyStudy) -> RobustRecommendation | None:
    """Read the result of a robust search; None before it has ended."""
    if is_front(study):
        raise InputError(f"study {study.study_name!r}: {UNSUPPORTED_FRONT}")
    return _read(study, ROBUST_RECOMMENDATION, RobustRecommendation, "study", "result")


def write_robust(study: Study, result: RobustRecommendation) -> None:
    """Store the result of a robust search."""
    study.set_user_attr(ROBUST_RECOMMENDATION, result.as_object())


def project_version() -> str:
    """Return the version of ravenlab."""
    return version("ravenlab")
