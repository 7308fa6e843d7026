"""Private parts of other libraries: they exist, only `ravenlab.common.compat` uses them, and versions are limited."""

import ast
import importlib
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import optuna
import pytest
from numba.core import caching

from ravenlab.common.compat import distributed, joblib, numba_cache, numba_settings, optuna_dashboard
from ravenlab.common.compat import numba as compat_numba
from ravenlab.common.compat import optuna as compat_optuna
from ravenlab.common.fingerprint import installed_version
from tests.project import PACKAGES, ROOT, imported_names, list_modules, parse

MODULES = (compat_numba, compat_optuna, distributed, joblib, numba_cache, numba_settings, optuna_dashboard)
FOLDER = ROOT / "ravenlab" / "common" / "compat"

INTERNAL = ("joblib.externals", "numba.core", "numba.np")
"""Modules that are private, though their names do not say so."""

PUBLIC = {"_asdict", "_exit", "_fields", "_make", "_mapping", "_replace"}
"""Names that are documented in spite of the underscore."""


def find_missing(name: str) -> str | None:
    """Return the first part of a dotted name that does not exist, with the version of its library; None if all do."""
    library, *rest = name.split(".")
    owner: Any = importlib.import_module(library)
    found = library
    for word in rest:
        found = f"{found}.{word}"
        if not hasattr(owner, word):
            try:
                importlib.import_module(found)
            except ImportError:
                return f"{library} {installed_version(library.replace('_', '-'))} has no {found}"
        owner = getattr(owner, word)
    return None


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def used_names(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the private attributes that code uses, and whether they are attributes of `self` or `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node.attr, is_own(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr", "setattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and is_private(name.value):
                yield name.value, False


def defined_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of functions, classes and variables, and the attributes that methods of a class set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node):
            yield node.attr


def listed_names(module: ModuleType) -> set[str]:
    return {name.rpartition(".")[2] for name in module.PRIVATE} | set(getattr(module, "PRIVATE_ATTRIBUTES", ()))


@pytest.mark.parametrize("name", [name for module in MODULES for name in module.PRIVATE])
def test_private_names_exist(name: str) -> None:
    if find_spec(name.split(".")[0]) is None:
        pytest.skip("not installed")
    assert find_missing(name) is None


def test_the_missing_name_and_the_version_are_stated() -> None:
    missing = f"numba {numba.__version__} has no numba.core.no_such_module"
    assert find_missing("numba.core.no_such_module.Class") == missing
    assert find_missing("optuna.Study._missing") == f"optuna {optuna.__version__} has no optuna.Study._missing"


def test_attributes_of_studies_and_trials_exist() -> None:
    study = optuna.create_study(storage="sqlite:///:memory:")
    owners = {"_study_id": study, "_storage": study, "_backend": study._storage, "_trial_id": study.ask()}
    assert owners.keys() == set(compat_optuna.PRIVATE_ATTRIBUTES)
    missing = {name for name, owner in owners.items() if not hasattr(owner, name)}
    assert not missing, f"optuna {optuna.__version__} has no {missing}"


def test_attributes_of_compiled_functions_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cache: Any = caching.FunctionCache(find_missing)
    owners = dict.fromkeys(numba_cache.PRIVATE_ATTRIBUTES, cache)
    owners["_index_path"] = cache._cache_file
    owners["_cache"] = numba.njit(find_missing)
    assert owners.keys() == {*numba_cache.PRIVATE_ATTRIBUTES, *compat_numba.PRIVATE_ATTRIBUTES}
    missing = {name for name, owner in owners.items() if not hasattr(owner, name)}
    assert not missing, f"numba {numba.__version__} has no {missing}"


def test_keys_in_databases_are_those_of_the_libraries() -> None:
    study = importlib.import_module("optuna.study.study")
    plots = importlib.import_module("optuna_dashboard._custom_plot_data")
    assert study._SYSTEM_ATTR_METRIC_NAMES == compat_optuna.METRIC_NAMES
    assert plots.SYSTEM_ATTR_PLOT_DATA == optuna_dashboard.PLOT_DATA


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_modules_list_all_private_names_that_they_use(module: ModuleType) -> None:
    path = FOLDER / f"{module.__name__.rpartition('.')[2]}.py"
    tree = parse(path)
    assert {name for name, _ in used_names(tree)} <= listed_names(module) | set(defined_names(tree))


def test_every_module_is_checked() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == {
        module.__name__.rpartition(".")[2] for module in MODULES
    }


def test_no_other_module_uses_private_names() -> None:
    paths = [path for path in list_modules(*PACKAGES) if path.parent != FOLDER]
    paths += (ROOT / "tools").rglob("*.py")
    trees = {path: parse(path) for path in paths}
    ours = {name for tree in trees.values() for name in defined_names(tree)} | PUBLIC
    theirs = set().union(*map(listed_names, MODULES))
    for path, tree in trees.items():
        for name, own in used_names(tree):
            assert name in ours, f"{path.relative_to(ROOT)} uses {name}"
            assert own or name not in theirs, f"{path.relative_to(ROOT)} uses {name}"
        for name in imported_names(path):
            foreign = not name.startswith(("ravenlab.", "__future__"))
            private = name.startswith(INTERNAL) or any(is_private(word) for word in name.split("."))
            assert not (foreign and private), f"{path.relative_to(ROOT)} imports {name}"


def test_versions_end_below_the_next_major_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["cluster"]]
    limited = {requirement.partition(">=")[0] for requirement in required if ",<" in requirement}
    libraries = {name.split(".")[0].replace("_", "-") for module in MODULES for name in module.PRIVATE}
    assert libraries <= limited
