"""Attributes of studies and trials: their keys, and typed functions to read and write them.

No other module contains these keys.
"""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any, Generic, TypeVar

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


@dataclass(frozen=True)
class RaceState:
    """The state of the race of a search."""

    batches: Annotated[int, Field(ge=0)]
    """Batches that the race has processed."""
    elite: Annotated[int, Field(ge=0)]
    """Number of the trial of the best candidate."""
    blocks: Annotated[int, Field(ge=1)]
    """Blocks that it plays."""


@dataclass(frozen=True)
class Attribute(Generic[Value]):
    """A user attribute of a study, with the type of its values."""

    key: str
    type: TypeAdapter[Value]
    content: str
    """What it is called in messages."""
    owner: str = "study"
    """What the study is called in messages."""

    def read(self, study: AnyStudy) -> Value | None:
        """Read the value; None if there is none. Raises InputError if this version cannot read it."""
        stored = study.user_attrs.get(self.key)
        if stored is None:
            return None
        try:
            return self.type.validate_python(stored)
        except ValidationError:
            problem = f"has a {self.content} that this version cannot read"
            raise InputError(f"{self.owner} {study.study_name!r} {problem}.") from None

    def write(self, study: Study, value: Value) -> None:
        """Store a value."""
        study.set_user_attr(self.key, self.type.dump_python(value, mode="json"))


_recommendation = Attribute(RECOMMENDATION, TypeAdapter(Recommendation), "recommendation")
read_recommendation = _recommendation.read
write_recommendation = _recommendation.write

_race = Attribute(RACE, TypeAdapter(RaceState), "race")  # None before the first batch
read_race = _race.read
write_race = _race.write

_indistinguishable = Attribute(INDISTINGUISHABLE, TypeAdapter(list[int]), "list of cells", "grid")
read_indistinguishable = _indistinguishable.read  # numbers of the cells; None before they were tested
write_indistinguishable = _indistinguishable.write  # completes a grid

_tuned = Attribute(TUNED, TypeAdapter(list[TunedSetting]), "list of tuned settings")
read_tuned = _tuned.read  # the settings that the relative regrets of all trials refer to; None before they are known
write_tuned = _tuned.write

_robust = Attribute(ROBUST_RECOMMENDATION, TypeAdapter(RobustRecommendation), "result")
write_robust = _robust.write

_further_worlds = Attribute(FURTHER_WORLDS, TypeAdapter(list[dict[str, Any]]), "list of results", "comparison")


def read_robust(study: AnyStudy) -> RobustRecommendation | None:
    """Read the result of a robust search; None before it has ended."""
    refuse_front(study)
    return _robust.read(study)


def read_further_worlds(study: AnyStudy) -> list[dict[str, Any]] | None:
    """Read the results of a comparison's entries on further worlds; None before it was decided whether to play any."""
    results = _further_worlds.read(study)
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


UNSUPPORTED_FRONT = "Pareto fronts are no longer supported."


def is_front(study: AnyStudy) -> bool:
    """Whether an earlier version searched a Pareto front instead of one setting."""
    stored = study.user_attrs.get(ROBUST)
    return FRONT in study.user_attrs or (isinstance(stored, dict) and stored.get("pareto") is True)


def refuse_front(study: AnyStudy) -> None:
    """Raise InputError if an earlier version searched a Pareto front."""
    if is_front(study):
        raise InputError(f"study {study.study_name!r}: {UNSUPPORTED_FRONT}")


def project_version() -> str:
    """Return the version of ravenlab."""
    return version("ravenlab")
