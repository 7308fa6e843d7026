"""Versions, sources and processor of this process, for comparison with another machine or an earlier run.

Results are bit-identical where all of these agree, except that processor models may differ. Versions are read from the
metadata of installed distributions, so nothing is imported.

Two hashes of the sources serve different purposes. `kernel_hash` is a hash of bytes: it names numba's cache folder, is
computed at every start and must change with any edit. `computation_fingerprint` tells whether two results were computed
by the same code: it ignores comments, docstrings and messages, and takes about half a second.
"""

import ast
import hashlib
import platform
from collections.abc import Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent  # the folder of ravenlab
COMPILED_PACKAGES = ("common", "environments", "policies")
COMPUTING_PACKAGES = (*COMPILED_PACKAGES, "studies", "tuning")

PRESENTATION = (
    "ravenlab.common.cells",
    "ravenlab.common.documents",
    "ravenlab.common.latex",
    "ravenlab.common.markdown",
    "ravenlab.common.terminal",
    "ravenlab.common.text",
    "ravenlab.studies.results.alternatives",
    "ravenlab.studies.results.documents",
    "ravenlab.studies.results.comparison",
    "ravenlab.studies.results.describe_recommendation",
    "ravenlab.studies.results.describe_comparison",
    "ravenlab.studies.results.describe_recorded",
    "ravenlab.studies.export",
    "ravenlab.studies.spec.schema",
    "ravenlab.tuning.attachments",
    "ravenlab.tuning.cli",
    "ravenlab.tuning.doctor",
    "ravenlab.tuning.figures",
    "ravenlab.tuning.listener",
    "ravenlab.tuning.notebook",
    "ravenlab.tuning.page_files",
    "ravenlab.tuning.progress",
    "ravenlab.tuning.reproduction.bounds_figures",
    "ravenlab.tuning.reproduction.figure3_figures",
    "ravenlab.tuning.reproduction.figure4",
    "ravenlab.tuning.reproduction.figure5",
    "ravenlab.tuning.reproduction.figures",
    "ravenlab.tuning.reproduction.progress",
    "ravenlab.tuning.reproduction.table3_figures",
    "ravenlab.tuning.reproduction.texts",
    "ravenlab.tuning.screen",
)
"""Modules and packages of `COMPUTING_PACKAGES` that only present results: the fingerprint leaves them out.

All other modules are included. That is coarser than following imports, but a module cannot be missed because it is
imported dynamically or inside a function; a forgotten entry here costs a recomputation, never a wrong result.
"""

TEXT_NAMES = ("meaning", "description", "help")  # attributes and keyword arguments that hold text for readers

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "optuna", "joblib", "dask", "distributed", "cloudpickle")
"""Libraries that results, or the transfer of tasks to workers, can depend on."""

NOT_INSTALLED = "not installed"


@lru_cache(maxsize=1)
def kernel_hash() -> str:
    """Return a hash of the bytes of all sources that can be compiled, with their names.

    >>> len(kernel_hash())
    64
    """
    digest = hashlib.sha256()
    for module, source in _sources(COMPILED_PACKAGES):
        digest.update(module.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def computation_fingerprint() -> str:
    """Return a hash of the syntax trees of all modules that compute numbers, with their names.

    >>> len(computation_fingerprint())
    64
    """
    digest = hashlib.sha256()
    for module, source in _sources(COMPUTING_PACKAGES):
        if not any(module == name or module.startswith(f"{name}.") for name in PRESENTATION):
            digest.update(module.encode())
            digest.update(canonical_code(source.read_bytes()).encode())
    return digest.hexdigest()


def package_folder(name: str) -> Path:
    """Return the folder of a package of ravenlab.

    In a clone the packages are beside `ravenlab`, which has links to them; a copy of a clone may lack these.

    >>> package_folder("policies").name
    'policies'
    """
    inside = PACKAGE / name
    return (inside if inside.is_dir() else PACKAGE.parent / name).resolve()


def _sources(packages: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each module, in the same order everywhere."""
    for package in packages:
        folder = package_folder(package)
        for source in sorted(folder.rglob("*.py")):
            yield ".".join(("ravenlab", package, *source.relative_to(folder).with_suffix("").parts)), source


def canonical_code(source: str | bytes) -> str:
    """Return the syntax tree of a module as text, without comments, docstrings, error messages and `TEXT_NAMES`.

    Unlike `ast.dump` it is the same in all supported versions of Python, so that machines with different ones agree.

    >>> canonical_code("x = 1") == canonical_code("'Doc.'\\nx = 1  # comment")
    True
    >>> canonical_code("x = 1") == canonical_code("x = 2")
    False
    """
    parts: list[str] = []
    _write(ast.parse(source), parts)
    return " ".join(parts)


def _write(node: ast.AST, parts: list[str]) -> None:
    """Append a node and its children. Empty fields are left out: newer versions of Python add some."""
    parts.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            value = [child for child in value if not _is_text(child)]
        if value is None or value == []:
            continue
        if name == "exc" and isinstance(value, ast.Call):
            value = value.func  # which exception is raised, without its message
        parts.append(name)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                _write(child, parts)
            else:
                parts.append(repr(child))
    parts.append(")")


def _is_text(node: object) -> bool:
    """Whether a node only holds text for readers: a docstring, or a value for one of `TEXT_NAMES`."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.keyword(arg=name):
            return name in TEXT_NAMES
    return False


def installed_version(name: str) -> str:
    """Return the version of an installed distribution, or `NOT_INSTALLED`.

    >>> installed_version("no-such-thing")
    'not installed'
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED


@lru_cache(maxsize=1)
def _identity() -> tuple[tuple[str, str], ...]:
    return (
        ("python", platform.python_version()),
        *((name, installed_version(name)) for name in LIBRARIES),
        ("ravenlab", installed_version("ravenlab")),
        ("sources", computation_fingerprint()[:16]),
        ("machine", platform.machine()),
        ("processor", _processor()),
    )


def identity() -> dict[str, str]:
    """Return versions, fingerprint of the computation, architecture and processor of this process.

    >>> sorted(set(identity()) - set(LIBRARIES))
    ['machine', 'processor', 'python', 'ravenlab', 'sources']
    """
    return dict(_identity())


def _processor() -> str:
    """Return the processor model as the operating system reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip() == "model name":
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or "unknown"
