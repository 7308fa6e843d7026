"""Opening a stored study: other kinds and foreign studies are refused."""

from collections.abc import Iterator

import optuna
import pytest
from optuna.storages import RDBStorage

from ravenlab.common.errors import InputError
from ravenlab.studies.kinds import kind_of
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.robust import parse_robust_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.tuning.study_run import open_study
from tests.messages import raises_naming


@pytest.fixture
def storage() -> Iterator[RDBStorage]:
    made = RDBStorage("sqlite:///:memory:")
    yield made
    made.engine.dispose()


SPECS: dict[str, Specification] = {
    "study": StudySpec(scenario="blips", name="mine"),
    "robust": parse_robust_spec({"scenarios": ["blips", "periodic"], "name": "mine"}),
    "grid": GridSpec(scenario="blips", name="mine"),
    "comparison": ComparisonSpec(scenario="blips", name="mine"),
}


def opened(storage: RDBStorage, spec: Specification) -> optuna.Study:
    return open_study(storage, kind_of(spec), spec, lambda opened: None).study


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("other", SPECS)
def test_kinds_do_not_mix_in_empty_studies(storage: RDBStorage, kind: str, other: str) -> None:
    first, second = kind_of(SPECS[kind]), kind_of(SPECS[other])
    opened(storage, SPECS[kind])
    if first is second:
        assert set(opened(storage, SPECS[other]).user_attrs) == {keys.VERSION, first.key}
        return
    with raises_naming(InputError, "'mine'", first.meaning, second.meaning):
        opened(storage, SPECS[other])
    assert set(optuna.load_study(study_name="mine", storage=storage).user_attrs) == {keys.VERSION, first.key}


@pytest.mark.parametrize("kind", SPECS)
def test_study_without_specification_is_resumed(storage: RDBStorage, kind: str) -> None:
    optuna.create_study(study_name="mine", storage=storage).set_user_attr(keys.VERSION, "1.0")
    assert kind_of(SPECS[kind]).key in opened(storage, SPECS[kind]).user_attrs


def test_foreign_study_is_refused(storage: RDBStorage) -> None:
    study = optuna.create_study(study_name="mine", storage=storage, direction="maximize")
    with raises_naming(InputError, "'mine'"):
        opened(storage, SPECS["study"])
    study.add_trial(optuna.create_trial(value=1.0))
    with raises_naming(InputError, "'mine'"):
        opened(storage, StudySpec(scenario="blips", name="mine", objective="reward"))
    assert not study.user_attrs
