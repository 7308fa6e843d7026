"""The kinds of study: which specification and result belong to each, and how both are read from a storage.

`tuning.driver` registers the function that runs each kind; docs/architecture.md lists what else a new kind needs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import ValidationError

from ravenlab.common.compat.optuna import AnyStudy, BaseStorage, Study, study_id
from ravenlab.common.errors import InputError
from ravenlab.environments.catalog import SCENARIO_PLUGINS
from ravenlab.policies.engine.plugins import POLICY_PLUGINS
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.ranking import analyze_comparison
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.robust import RobustSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.trials import read_comparison, read_grid

Spec = TypeVar("Spec", bound=Specification)
Result = TypeVar("Result")

StudyKindName = Literal["study", "robust", "grid", "comparison"]
StudyResult = Recommendation | RobustRecommendation | Grid | ComparisonResult


@dataclass(frozen=True)
class StudyKind(Generic[Spec, Result]):
    """A kind of study."""

    name: StudyKindName
    """Name in listings and in JSON."""
    label: str
    """Word for one such study in messages."""
    meaning: str
    """Description for messages."""
    unit: str
    """What it consists of, in the plural."""
    command: str
    """The command that runs it."""
    key: str
    """Attribute with the specification."""
    result_key: str
    """Attribute that is stored last, and makes the study complete."""
    spec: type[Spec]
    result: type[Result]
    read_stored: Callable[[BaseStorage, AnyStudy], Result | None]
    """Reads the result; None before it is complete."""
    nested: bool = False
    """Whether it runs studies of its own first."""
    files: str = ""
    """The command that writes its numbers to files, if it has no recommendation to export."""

    @property
    def recommends(self) -> bool:
        """Whether the result recommends parameters."""
        return not self.files

    def read_spec(self, study: AnyStudy) -> Spec | None:
        """Read the specification.

        None if the study is of another kind, or if it can't be shown because its plugin is not loaded.

        Raises:
            InputError: This version cannot read it.
        """
        keys.refuse_front(study)
        stored = study.user_attrs.get(self.key)
        if stored is None:
            return None
        try:
            return self.spec.model_validate(stored)
        except ValidationError:
            unreadable = InputError(
                f"{self.label} {study.study_name!r} has a specification that this version cannot read."
            )
            if not _needs_plugin(stored):
                raise unreadable from None
        try:
            return self.spec.unchecked(stored)
        except ValueError:
            raise unreadable from None

    def write_spec(self, study: Study, spec: Specification) -> None:
        """Store the specification, and the version of ravenlab."""
        study.set_user_attr(keys.VERSION, keys.project_version())
        study.set_user_attr(self.key, spec.as_object())

    def is_complete(self, study: AnyStudy) -> bool:
        """Whether the study has its result."""
        return study.user_attrs.get(self.result_key) is not None

    def read_result(self, storage: BaseStorage, study: AnyStudy) -> Result | None:
        """Read the result; None before the study is complete."""
        return self.read_stored(storage, study) if self.is_complete(study) or keys.is_front(study) else None

    def drop_result(self, study: Study) -> None:
        """Delete the result of a study that is to be continued."""
        if self.is_complete(study):
            study.set_user_attr(self.result_key, None)


def _needs_plugin(stored: Any) -> bool:
    """Whether a stored specification names a policy or scenario of a plugin that is not loaded."""
    if not isinstance(stored, dict):
        return False
    base = stored.get("base", stored)
    base = base if isinstance(base, dict) else {}
    for plugins, one, several in ((POLICY_PLUGINS, "policy", "policies"), (SCENARIO_PLUGINS, "scenario", "scenarios")):
        named = stored.get(several)
        names = [base.get(one), *(named if isinstance(named, list) else [])]
        if any(plugins.is_missing(str(name)) for name in names):
            return True
    return False


def _load_grid(storage: BaseStorage, study: AnyStudy) -> Grid | None:
    spec = GRID.read_spec(study)
    trials = storage.get_all_trials(study_id(study), deepcopy=False)
    return None if spec is None else read_grid(study, spec, trials)


def _load_comparison(storage: BaseStorage, study: AnyStudy) -> ComparisonResult | None:
    spec = COMPARISON.read_spec(study)
    trials = storage.get_all_trials(study_id(study), deepcopy=False)
    comparison = None if spec is None else read_comparison(study, spec, trials)
    return None if comparison is None else analyze_comparison(comparison)


TUNE = StudyKind(
    name="study",
    label="study",
    meaning="a study of one scenario",
    unit="trials",
    command="tune",
    key=keys.SPEC,
    result_key=keys.RECOMMENDATION,
    spec=StudySpec,
    result=Recommendation,
    read_stored=lambda storage, study: keys.read_recommendation(study),
)

ROBUST = StudyKind(
    name="robust",
    label="study",
    meaning="a study of several scenarios",
    unit="trials",
    command="tune --robust",
    key=keys.ROBUST,
    result_key=keys.ROBUST_RECOMMENDATION,
    spec=RobustSpec,
    result=RobustRecommendation,
    read_stored=lambda storage, study: keys.read_robust(study),
    nested=True,
)

GRID = StudyKind(
    name="grid",
    label="grid",
    meaning="a grid",
    unit="cells",
    command="grid",
    key=keys.GRID,
    result_key=keys.INDISTINGUISHABLE,
    spec=GridSpec,
    result=Grid,
    read_stored=_load_grid,
    files="ravenlab grid --csv",
)

COMPARISON = StudyKind(
    name="comparison",
    label="comparison",
    meaning="a comparison",
    unit="entries",
    command="compare",
    key=keys.COMPARISON,
    result_key=keys.FURTHER_WORLDS,
    spec=ComparisonSpec,
    result=ComparisonResult,
    read_stored=_load_comparison,
    nested=True,
    files="ravenlab compare -o",
)

KINDS: tuple[StudyKind[Any, Any], ...] = (TUNE, ROBUST, GRID, COMPARISON)


def find_kind(study: AnyStudy) -> StudyKind[Any, Any] | None:
    """Return the kind of a stored study; None if ravenlab did not create it.

    >>> import optuna
    >>> find_kind(optuna.create_study(study_name="theirs")) is None
    True
    """
    return next((kind for kind in KINDS if study.user_attrs.get(kind.key) is not None), None)


def kind_of(spec: Specification) -> StudyKind[Any, Any]:
    """Return the kind of study that a specification describes.

    >>> kind_of(GridSpec(scenario="blips")).unit
    'cells'
    """
    return next(kind for kind in KINDS if isinstance(spec, kind.spec))
