"""Who computes: versions, sources and processor of this process, as a few words that two machines can compare.

Results are the same to the last bit where all of these agree, the processor's model perhaps excepted. Nothing is
imported to find out: versions are read from what was installed.
"""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds the packages."""

COMPILED_PACKAGES = ("environments", "policies")
COMPUTING_PACKAGES = (*COMPILED_PACKAGES, "studies", "tuning")

LIBRARIES = (
    "numpy",
    "numba",
    "llvmlite",
    "scipy",
    "optuna",
    "joblib",
    "dask",
    "distributed",
    "cloudpickle",
)
"""What results, or the way of tasks to workers, can depend on."""

ABSENT = "not installed"


@lru_cache(maxsize=4)
def source_hash(packages: tuple[str, ...]) -> str:
    """A hash of all Python sources of our packages, with their names.

    >>> len(source_hash(("policies",)))
    64
    """
    digest = hashlib.sha256()
    for package in packages:
        for source in sorted((ROOT / package).rglob("*.py")):
            digest.update(source.relative_to(ROOT).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()


def kernel_hash() -> str:
    """A hash of the sources that are compiled."""
    return source_hash(COMPILED_PACKAGES)


def computing_hash() -> str:
    """A hash of all sources that compute: what is drawn, played, searched and judged."""
    return source_hash(COMPUTING_PACKAGES)


def installed(name: str) -> str:
    """The version of an installed distribution, or that there is none.

    >>> installed("no-such-thing")
    'not installed'
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ABSENT


@lru_cache(maxsize=1)
def _identity() -> tuple[tuple[str, str], ...]:
    return (
        ("python", platform.python_version()),
        *((name, installed(name)) for name in LIBRARIES),
        ("ravenlab", installed("ravenlab")),
        ("sources", computing_hash()[:16]),
        ("machine", platform.machine()),
        ("processor", _processor()),
    )


def identity() -> dict[str, str]:
    """Versions, the hash of the sources that compute, architecture and processor of this process.

    >>> sorted(set(identity()) - set(LIBRARIES))
    ['machine', 'processor', 'python', 'ravenlab', 'sources']
    """
    return dict(_identity())


def _processor() -> str:
    """The model by the name its maker gave it, where the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip() == "model name":
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or "unknown"
