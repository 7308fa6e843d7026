"""Private parts of Optuna: identifiers, tables, the version of the tables, JSON in databases, and sorting in TPE.

Nothing here imports Optuna before it is used.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import optuna.study._frozen
    import sqlalchemy

# Types in annotations.
Study: TypeAlias = "optuna.Study"
FrozenStudy: TypeAlias = "optuna.study._frozen.FrozenStudy"
AnyStudy: TypeAlias = "optuna.Study | FrozenStudy"
FrozenTrial: TypeAlias = "optuna.trial.FrozenTrial"
BaseDistribution: TypeAlias = "optuna.distributions.BaseDistribution"
BaseStorage: TypeAlias = "optuna.storages.BaseStorage"
RDBStorage: TypeAlias = "optuna.storages.RDBStorage"
Connection: TypeAlias = "sqlalchemy.Connection"
Table: TypeAlias = "sqlalchemy.Table"

PRIVATE = (
    "optuna.study._frozen.FrozenStudy",
    "optuna.study.study._SYSTEM_ATTR_METRIC_NAMES",
    "optuna.distributions.BaseDistribution._contains",
    "optuna.storages._rdb.models.BaseModel.metadata",
    "optuna.storages._rdb.models.TrialValueModel.value_to_stored_repr",
    "optuna.storages._rdb.models.TrialIntermediateValueModel.intermediate_value_to_stored_repr",
    "optuna.storages._rdb.storage.json",
    "optuna.storages._rdb.storage._VersionManager",
    "optuna.storages._rdb.storage._VersionManager._init_alembic",
    "optuna.storages._rdb.storage._VersionManager._is_alembic_supported",
    "optuna.storages._rdb.storage._VersionManager._set_alembic_revision",
    "optuna.storages._rdb.storage._VersionManager.get_current_version",
    "optuna.storages._rdb.storage._VersionManager.get_head_version",
    "optuna.samplers._tpe.parzen_estimator.np",
)
"""Names of modules and classes."""

PRIVATE_ATTRIBUTES = ("_study_id", "_storage", "_backend", "_trial_id")
"""Attributes of studies, storages and trials, which only their instances have."""

METRIC_NAMES = "study:metric_names"
"""Attribute of a study with the names of the values of its trials."""

VERSION_TABLE = "alembic_version"


def study_id(study: AnyStudy) -> int:
    """Return the number of a study in its storage.

    >>> import optuna
    >>> study_id(optuna.create_study())
    0
    """
    return study._study_id


def storage_of(study: optuna.Study) -> BaseStorage:
    """Return the storage of a study.

    >>> import optuna
    >>> storage_of(optuna.create_study()).get_all_trials(0)
    []
    """
    return study._storage


def database_of(study: optuna.Study) -> RDBStorage | None:
    """Return the database of a study, which Optuna wraps in a cache; None if it is not found.

    >>> import optuna
    >>> database_of(optuna.create_study()) is None
    True
    """
    return getattr(study._storage, "_backend", None)


def system_attributes(study: optuna.Study, trial: optuna.Trial) -> dict[str, Any]:
    """Return what samplers and pruners have stored with a trial.

    >>> import optuna
    >>> study = optuna.create_study()
    >>> system_attributes(study, study.ask())
    {}
    """
    return study._storage.get_trial(trial._trial_id).system_attrs


def contains(distribution: BaseDistribution, number: float) -> bool:
    """Return whether a distribution has this value, in Optuna's internal representation.

    >>> from optuna.distributions import FloatDistribution
    >>> contains(FloatDistribution(0.0, 1.0), 2.0)
    False
    """
    return distribution._contains(number)


@cache
def has_known_tables() -> bool:
    """Whether Optuna describes the tables of its databases as this module expects.

    >>> has_known_tables()
    True
    """
    try:
        from optuna.storages._rdb.models import BaseModel, TrialIntermediateValueModel, TrialValueModel  # noqa: F401
    except ImportError:
        return False
    return True


def database_tables() -> dict[str, Table]:
    """Return the tables of Optuna's databases by name.

    >>> "trials" in database_tables()
    True
    """
    from optuna.storages._rdb.models import BaseModel

    return dict(BaseModel.metadata.tables)


def stored_value(value: float) -> tuple[float | None, Any]:
    """Return how a database stores a value of a trial: a number, and a type for infinite ones."""
    from optuna.storages._rdb.models import TrialValueModel

    return TrialValueModel.value_to_stored_repr(value)


def stored_intermediate_value(value: float) -> tuple[float | None, Any]:
    """Return how a database stores an intermediate value of a trial: a number, and a type for infinite ones and NaN."""
    from optuna.storages._rdb.models import TrialIntermediateValueModel

    return TrialIntermediateValueModel.intermediate_value_to_stored_repr(value)


def replace_json(json: Any) -> None:
    """Make databases read and write attributes with the functions `loads` and `dumps` of this object."""
    from optuna.storages._rdb import storage

    module: Any = storage
    module.json = json


@cache
def sort_stably() -> None:
    """Make TPE sort equal values by trial: NumPy's order of equal values depends on the processor.

    If Optuna does not sort with NumPy, it sorts as it does.
    """
    from optuna.samplers._tpe import parzen_estimator

    module: Any = parzen_estimator
    numpy = getattr(module, "np", None)
    if numpy is not None:
        module.np = SimpleNamespace(**{**vars(numpy), "argsort": partial(numpy.argsort, kind="stable")})


@cache
def avoid_alembic() -> None:
    """Make databases read and write the version of their tables as alembic does, with plain statements.

    Optuna imports alembic and loads all migrations whenever it opens a database. This takes as long as opening the
    database and storing a study in it. Only a migration needs it, and ravenlab does not migrate. If Optuna's class is
    not found, Optuna uses alembic.
    """
    from optuna.storages._rdb import storage

    module: Any = storage
    original = getattr(module, "_VersionManager", None)
    if original is not None:
        module._VersionManager = _make_version_manager(original, Path(storage.__file__).parent / "alembic" / "versions")


def _make_version_manager(original: Any, migrations: Path) -> type:
    """Return Optuna's class with four methods that do not need alembic."""

    class VersionManager(original):  # type: ignore[misc]
        def _init_alembic(self) -> None:
            versions = self._read_versions()
            if not versions and self._is_alembic_supported():
                self._set_alembic_revision(self.get_head_version())
            elif len(versions) != 1:
                super()._init_alembic()

        def _set_alembic_revision(self, revision: str) -> None:
            from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, insert

            table = Table(
                VERSION_TABLE,
                MetaData(),
                Column("version_num", String(32), nullable=False),
                PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
            )
            with self.engine.begin() as connection:
                table.create(connection, checkfirst=True)
                connection.execute(insert(table), {"version_num": revision})

        def get_current_version(self) -> str:
            versions = self._read_versions()
            return versions[0] if len(versions) == 1 else str(super().get_current_version())

        def get_head_version(self) -> str:
            head = find_head(migrations)
            return str(super().get_head_version()) if head is None else head

        def _read_versions(self) -> list[str]:
            from sqlalchemy import inspect, text

            with self.engine.connect() as connection:
                if not inspect(connection).has_table(VERSION_TABLE):
                    return []
                return list(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars())

    return VersionManager


def find_head(folder: Path) -> str | None:
    """Return the newest of the migrations in a folder, which no other one follows; None if it cannot be determined."""
    files = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    own, earlier = (set(_find_all(name, files)) for name in ("revision", "down_revision"))
    heads = own - earlier
    return heads.pop() if len(own) == len(files) and len(heads) == 1 else None


def _find_all(name: str, files: list[str]) -> list[str]:
    return [match for text in files for match in re.findall(rf'^{name} = "([^"]+)"$', text, re.MULTILINE)]
