"""A killed robust search resumes to the same bytes."""

from pathlib import Path

from ravenlab.studies.export.csv_table import write_robust
from ravenlab.studies.spec.robust import parse_robust_spec
from ravenlab.tuning.robust.run import run_robust
from tests.faults.studies import kill_after, run_in_process, trial_states

TRIALS = 16
FIELDS = {"horizon": 300, "arms": 4, "trials": TRIALS, "batch": 8, "replications": 20, "selection": 200, "report": 200}
SCENARIOS = ["localized-jump", "stationary"]
SMALL = ["tune", "--robust", *SCENARIOS, *(f"--{key}={value}" for key, value in FIELDS.items()), "--quiet"]


def test_killed_robust_search_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    uninterrupted = run_robust(
        parse_robust_spec({"scenarios": SCENARIOS, **FIELDS}), f"sqlite:///{tmp_path}/whole.sqlite3"
    )
    assert uninterrupted.result is not None
    kill_after(2 * TRIALS + 3, *SMALL, "--jobs=2", "--csv=matrix.csv", folder=tmp_path)
    assert set(trial_states(tmp_path)) == {"COMPLETE"}
    assert not (tmp_path / "matrix.csv").exists()
    resumed = run_in_process(*SMALL, "--jobs=2", "--csv=matrix.csv", folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert trial_states(tmp_path) == {"COMPLETE": 3 * TRIALS}
    assert (tmp_path / "matrix.csv").read_text() == write_robust([uninterrupted.result])
