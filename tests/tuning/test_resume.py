"""Opening a stored study: other kinds and foreign studies are refused."""

from __future__ import annotations

from collections.abc import Iterator

import optuna
import pytest
from optuna.storages import RDBStorage

from ravenlab.common.errors import InputError
from ravenlab.studies.storage import keys
from ravenlab.tuning.study_run import KINDS, Direction, open_study
from tests.messages import raises_naming


@pytest.fixture
def storage() -> Iterator[RDBStorage]:
    made = RDBStorage("sqlite:///:memory:")
    yield made
    made.engine.dispose()


def opened(storage: RDBStorage, kind: str, *directions: Direction) -> optuna.Study:
    return open_study(storage, "mine", kind, directions or ["minimize"], lambda study: study.set_user_attr(kind, {}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_kinds_do_not_mix_in_empty_studies(storage: RDBStorage, kind: str, other: str) -> None:
    opened(storage, kind)
    if kind == other:
        assert set(opened(storage, other).user_attrs) == {kind}
        return
    with raises_naming(InputError, "'mine'", KINDS[kind], KINDS[other]):
        opened(storage, other)
    assert set(optuna.load_study(study_name="mine", storage=storage).user_attrs) == {kind}


@pytest.mark.parametrize("kind", KINDS)
def test_study_without_specification_is_resumed(storage: RDBStorage, kind: str) -> None:
    optuna.create_study(study_name="mine", storage=storage).set_user_attr(keys.VERSION, "1.0")
    assert kind in opened(storage, kind).user_attrs


def test_foreign_study_is_refused(storage: RDBStorage) -> None:
    study = optuna.create_study(study_name="mine", storage=storage, direction="maximize")
    for directions in (["minimize"], ["maximize", "maximize"]):
        with raises_naming(InputError, "'mine'"):
            opened(storage, keys.SPEC, *directions)  # type: ignore[arg-type]
    study.add_trial(optuna.create_trial(value=1.0))
    with raises_naming(InputError, "'mine'"):
        opened(storage, keys.SPEC, "maximize")
    assert not study.user_attrs
