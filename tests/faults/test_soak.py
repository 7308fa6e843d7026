"""Many short studies in one process: memory and open files do not grow."""

import gc
import os
from pathlib import Path

import pytest

from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers import problem
from tests.requirements import skip_or_fail

STUDIES = int(os.environ.get("RAVENLAB_SOAK", "31"))
WARM_UP = STUDIES // 10 if STUDIES >= 1000 else STUDIES * 2 // 5
"""Studies before the first measurement, which fill all caches: kernels, compiled SQL, imported modules."""

TOLERANCE = 1.05


def resident_bytes() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_memory_and_open_files_do_not_grow(tmp_path: Path) -> None:
    if not Path("/proc/self/statm").exists():
        skip_or_fail("the system does not report the memory of a process")
    url = f"sqlite:///{tmp_path}/studies.sqlite3"
    memory, files = [], []
    for number in range(STUDIES):
        spec = StudySpec(
            scenario="blips",
            horizon=20,
            arms=3,
            trials=2,
            batch=2,
            replications=2,
            selection=2,
            report=2,
            seed=number,
            name=f"study {number}",
        )
        assert run_study(spec, url).result is not None
        if number >= WARM_UP and number % 10 == 0:
            memory.append(resident_bytes())
            files.append(open_files())
    assert max(memory) <= TOLERANCE * memory[0], [size // 10**6 for size in memory]
    assert max(files) <= TOLERANCE * files[0], files


def test_world_cache_is_bounded_in_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is bounded in bytes too, but thousands of short studies never reach that bound."""
    cache = problem._WorldCache()
    monkeypatch.setattr(problem, "CACHED_RANGES", 4)
    for seed in range(10):
        blips = problem.Problem.from_spec(StudySpec(scenario="blips", horizon=20, arms=3, seed=seed))
        cache.get(blips, 1, 0, 2)
    assert [key[3] for key in cache.worlds] == [6, 7, 8, 9]
