"""Checks of this machine: Python, dependencies, numba, its cache and the speed of one core."""

from __future__ import annotations

import platform
import time
from importlib import metadata

from environments.fingerprint import NOT_INSTALLED, ROOT, identity, installed_version
from tuning.doctor import NOTE, PROBLEM, Check, reason

OURS = "ravenlab"
REINSTALL = "pip install --upgrade ravenlab"

SCENARIO = "incremental-drift"
HORIZON, ARMS, WORLDS = 10_000, 10, 4
CANDIDATES = ((0.3, 0.5, 0.01), (1.0, 1.0, 0.1), (3.0, 0.1, 0.1), (0.1, 3.0, 0.01))
"""α₀, β₀ and ε: candidates that rarely switch arms and candidates that often do."""

SECONDS = 0.3


def version_checks() -> list[Check]:
    """Rows on Python, ravenlab and its dependencies."""
    if installed_version("packaging") == NOT_INSTALLED:
        return [Check("dependencies", "packaging is not installed", PROBLEM, REINSTALL)]
    version = installed_version(OURS)
    ours = f"{version}, sources {identity()['sources']}, in {ROOT}"
    if version == NOT_INSTALLED:
        return [Check(OURS, ours, NOTE, "install it with pip to check versions")]
    unmet = unmet_requirements()
    dependencies = "; ".join(unmet) or "all as required"
    return [
        _python(),
        Check(OURS, ours),
        Check("dependencies", dependencies, PROBLEM, REINSTALL) if unmet else Check("dependencies", dependencies),
    ]


def unmet_requirements() -> list[str]:
    """Requirements of ravenlab that are missing or have a wrong version; those of extras may be missing.

    >>> unmet_requirements()
    []
    """
    from packaging.requirements import Requirement

    extras = metadata.metadata(OURS).get_all("Provides-Extra") or []
    unmet = []
    for one in map(Requirement, metadata.requires(OURS) or []):
        required = one.marker is None or one.marker.evaluate({"extra": ""})
        optional = not required and any(one.marker.evaluate({"extra": extra}) for extra in extras if one.marker)
        version = installed_version(one.name)
        if version == NOT_INSTALLED and required:
            unmet.append(f"{OURS} needs {one.name}{one.specifier}, which is not installed")
        elif (
            version != NOT_INSTALLED
            and (required or optional)
            and not one.specifier.contains(version, prereleases=True)
        ):
            unmet.append(f"{OURS} needs {one.name}{one.specifier} but {version} is installed")
    return sorted(set(unmet))


def _python() -> Check:
    from packaging.specifiers import SpecifierSet

    found, required = platform.python_version(), metadata.metadata(OURS)["Requires-Python"]
    if required and not SpecifierSet(required).contains(found, prereleases=True):
        return Check("Python", found, PROBLEM, f"ravenlab needs Python {required}")
    return Check("Python", found)


def kernel_checks() -> tuple[list[Check], float | None]:
    """Rows on numba, and the speed of one core in million steps per second; None if numba does not work."""
    begin = time.perf_counter()
    try:
        kernel_speed(0.0)
        ready = time.perf_counter() - begin
        speed = kernel_speed()
    except Exception as error:
        advice = "install the versions that ravenlab requires, see dependencies"
        return [Check("numba", f"{type(error).__name__}: {reason(error)}", PROBLEM, advice)], None
    found = f"ready after {ready:.1f} s, {speed:.0f} M steps/s on one core"
    return [Check("numba", found), _cache()], speed


def _cache() -> Check:
    from environments.compiled import numba_cache_folder

    folder = numba_cache_folder()
    if folder is None:
        advice = "set NUMBA_CACHE_DIR to a writable folder; otherwise every process compiles again"
        return Check("numba cache", "not writable", NOTE, advice)
    return Check("numba cache", folder)


def kernel_speed(seconds: float = SECONDS) -> float:
    """Million steps per second of RAVEN-UCB on this thread, measured for some seconds on fixed worlds.

    >>> kernel_speed(0.01) > 0
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
