"""Results have the same bytes with another BLAS kernel, another number of BLAS threads and without NumPy's wide SIMD.

One study per part that computes with matrices or elementary functions: the samplers, importances, traces, logs with a
simulator, robust settings and diagnoses.
"""

import contextlib
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.command import printed, run_command
from tests.project import ROOT, python

BUDGET = ["--trials=16", "--batch=8", "--jobs=1", "--quiet", "--storage=sqlite:///all.sqlite3"]
SIMULATED = ["--horizon=200", "--arms=3", "--replications=10", "--selection=200", "--report=20"]
RUNS = [
    ["tune", "localized-jump", "--sampler=cmaes", "--name=cmaes", *SIMULATED, *BUDGET],
    ["tune", "--robust", "blips", "periodic", "--name=robust", *SIMULATED, *BUDGET],
    ["tune", "--trace", "trace.csv", "--name=trace", "--window=40", "--selection=60", "--report=60", *BUDGET],
    ["tune", "--log", "log.csv", "--estimator=simulator", "--name=log", *BUDGET],
    ["export", "--storage=sqlite:///all.sqlite3"],
    ["diagnose", "trace.csv", "--json", "--halves=2"],
]
KERNELS = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
SIMD = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}


def write_log(path: Path) -> None:
    """Write a log of three arms; one of them jumps, another one drifts."""
    rng = np.random.default_rng(3)
    lines = ["step,arm,reward,propensity"]
    for step in range(400):
        arm = int(rng.integers(3))
        mean = (0.2 + 0.4 * (step > 200), 0.5 - step / 2000, 0.6)[arm]
        lines.append(f"{step},{'abc'[arm]},{rng.normal(mean, 0.3):.4f},0.333333")
    path.write_text("\n".join(lines))


def outputs(folder: Path) -> Iterator[str]:
    """Yield a digest of matrix products and the output of all runs in a folder."""
    with contextlib.chdir(folder):
        matrix = np.random.default_rng(1).normal(size=(40, 40))
        yield hashlib.sha256((matrix @ matrix @ np.linalg.inv(matrix)).tobytes()).hexdigest()
        assert run_command(["init", "--trace", "trace.csv"])[0] == 0
        write_log(Path("log.csv"))
        for words in RUNS:
            out = printed(*words)
            yield out


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return list(outputs(tmp_path_factory.mktemp("here")))


@pytest.mark.parametrize(
    "variables",
    [
        {**KERNELS, **SIMD},
        pytest.param({"OPENBLAS_CORETYPE": "Nehalem"}, marks=pytest.mark.stress),
        pytest.param({"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"}, marks=pytest.mark.stress),
    ],
    ids=lambda variables: variables["OPENBLAS_CORETYPE"],
)
def test_bytes_do_not_depend_on_blas_and_simd(variables: dict[str, str], here: list[str], tmp_path: Path) -> None:
    done = python("-m", "tests.faults.test_bytes", tmp_path, folder=ROOT, **variables)
    assert done.returncode == 0, done.stderr
    digest, *there = json.loads(done.stdout)
    if digest == here[0]:
        pytest.skip("NumPy's BLAS library is not OpenBLAS, or this processor has the kernel that was requested")
    for words, expected, found in zip(RUNS, here[1:], there, strict=True):
        assert found == expected, words


if __name__ == "__main__":
    print(json.dumps(list(outputs(Path(sys.argv[1])))))
