"""Checks of this machine: Python, dependencies, numba, its cache and the speed of one core."""

from __future__ import annotations

import platform
import time
from importlib import metadata

from environments.fingerprint import NOT_INSTALLED, ROOT, identity, installed_version
from environments.text import format_approximate, format_number
from tuning.doctor import NOTE, PROBLEM, Check, reason

OURS = "ravenlab"
REINSTALL = "pip install --upgrade ravenlab"
DEVELOPMENT_EXTRAS = ("docs", "test")

SCENARIO = "incremental-drift"
HORIZON, ARMS, WORLDS = 10_000, 10, 4
CANDIDATES = ((0.3, 0.5, 0.01), (1.0, 1.0, 0.1), (3.0, 0.1, 0.1), (0.1, 3.0, 0.01))
"""α₀, β₀ and ε: candidates that rarely switch arms and candidates that often do."""

SECONDS = 0.3


def check_versions() -> list[Check]:
    """Check Python, ravenlab and its dependencies."""
    if installed_version("packaging") == NOT_INSTALLED:
        return [Check("dependencies", "packaging is not installed", PROBLEM, REINSTALL)]
    version = installed_version(OURS)
    ours = f"{version}, sources {identity()['sources']}, in {ROOT}"
    if version == NOT_INSTALLED:
        return [Check(OURS, ours, NOTE, "install it with pip to check versions")]
    unmet = unmet_requirements()
    if unmet:
        dependencies = Check("dependencies", "; ".join(unmet), PROBLEM, REINSTALL)
    else:
        dependencies = Check("dependencies", "all as required")
    return [_check_python(), Check(OURS, ours), dependencies]


def unmet_requirements() -> list[str]:
    """List requirements of ravenlab that are missing or have a wrong version; those of extras may be missing.

    Extras for the development of ravenlab are not checked: no command needs them.

    >>> unmet_requirements()
    []
    """
    from packaging.requirements import Requirement

    extras = metadata.metadata(OURS).get_all("Provides-Extra") or []
    extras = [extra for extra in extras if extra not in DEVELOPMENT_EXTRAS]
    unmet = []
    for requirement in map(Requirement, metadata.requires(OURS) or []):
        marker, version = requirement.marker, installed_version(requirement.name)
        required = marker is None or marker.evaluate({"extra": ""})
        applies = required or any(marker.evaluate({"extra": extra}) for extra in extras if marker)
        needed = f"{OURS} needs {requirement.name}{requirement.specifier}"
        if version == NOT_INSTALLED and required:
            unmet.append(f"{needed}, which is not installed")
        elif version != NOT_INSTALLED and applies and not requirement.specifier.contains(version, prereleases=True):
            unmet.append(f"{needed} but {version} is installed")
    return sorted(set(unmet))


def _check_python() -> Check:
    from packaging.specifiers import SpecifierSet

    version, required = platform.python_version(), metadata.metadata(OURS)["Requires-Python"]
    if required and not SpecifierSet(required).contains(version, prereleases=True):
        return Check("Python", version, PROBLEM, f"ravenlab needs Python {required}")
    return Check("Python", version)


def check_kernel() -> tuple[list[Check], float | None]:
    """Check numba; also return the speed of one core in million steps per second, None if numba does not work."""
    begin = time.perf_counter()
    try:
        measure_kernel_speed(0.0)
        ready = time.perf_counter() - begin
        speed = measure_kernel_speed()
    except Exception as error:
        advice = "install the versions that ravenlab requires, see dependencies"
        return [Check("numba", f"{type(error).__name__}: {reason(error)}", PROBLEM, advice)], None
    state = f"ready after {format_approximate(ready)} s, {format_number(speed)} M steps/s on one core"
    return [Check("numba", state), _check_cache()], speed


def _check_cache() -> Check:
    from environments.kernel_cache import numba_cache_folder

    folder = numba_cache_folder()
    if folder is None:
        advice = "set NUMBA_CACHE_DIR to a folder that only you can write to; otherwise every process compiles again"
        return Check("numba cache", "not writable, or writable by others", NOTE, advice)
    return Check("numba cache", folder)


def measure_kernel_speed(seconds: float = SECONDS) -> float:
    """Return the million steps per second of RAVEN-UCB on this thread, measured on fixed worlds.

    >>> measure_kernel_speed(0.01) > 0
    True
    """
    from environments import find_scenario
    from environments.draw import draw_worlds
    from policies import find_policy
    from policies.engine.play import evaluate

    policy = find_policy("raven-ucb")
    values = [
        policy.resolve({"alpha0": alpha0, "beta0": beta0, "epsilon": epsilon}, ARMS, HORIZON)
        for alpha0, beta0, epsilon in CANDIDATES
    ]
    worlds = draw_worlds(find_scenario(SCENARIO), HORIZON, ARMS, 1, 0, WORLDS)
    evaluate(policy, values, worlds, seed=1)  # compiles
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds or steps == 0:
        evaluate(policy, values, worlds, seed=1)
        steps += len(values) * WORLDS * HORIZON
    return steps / max(spent, 1e-9) / 1e6
