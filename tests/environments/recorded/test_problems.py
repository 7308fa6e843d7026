"""Example problems: what is drawn has the stated truth, and the files can be read."""

from pathlib import Path

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import read_log
from ravenlab.environments.recorded.problems import PROBLEMS, make_problem
from ravenlab.environments.recorded.trace_file import read_trace


@pytest.mark.parametrize("name", PROBLEMS)
def test_drawn_values_have_the_stated_means(name: str) -> None:
    problem = make_problem(name, seed=3)
    values = problem.values(np.random.default_rng(0))
    deviations = (values - problem.means)[~np.isnan(problem.means)]
    error = deviations.std() / np.sqrt(deviations.size)
    assert abs(deviations.mean()) < 4.5 * error
    assert np.array_equal(np.isnan(values), np.isnan(problem.means))


def test_changes_are_where_they_are_stated() -> None:
    carriers = make_problem("carriers", seed=5)
    outage = next(change for change in carriers.changes if change.kind == "outage")
    arm = carriers.means[:, carriers.names.index(outage.arm)]
    assert outage.last - outage.first == 36
    assert np.flatnonzero(arm > 70.0).tolist() == list(range(outage.first, outage.last))
    regions = make_problem("regions", seed=5)
    gap = next(change for change in regions.changes if change.kind == "gap")
    missing = np.flatnonzero(np.isnan(regions.means[:, regions.names.index(gap.arm)]))
    assert missing.tolist() == list(range(gap.first, gap.last))


def test_regret_of_the_best_fixed_arm_is_the_lowest_of_all_arms() -> None:
    problem = make_problem("regions", seed=2)
    available = [k for k in range(len(problem.names)) if not np.isnan(problem.means[:, k]).any()]
    steps = len(problem.means)
    regrets = {arm: problem.expected_regret(np.full(steps, arm)) for arm in available}
    assert min(regrets, key=lambda arm: regrets[arm]) == problem.best_fixed


def test_propensities_are_shares_of_the_choices() -> None:
    log = make_problem("headlines", seed=1).log(share=0.1)
    assert log.propensity is not None
    assert set(np.unique(log.propensity)) == {np.round(0.1 / 6, 6), np.round(0.9 + 0.1 / 6, 6)}
    chosen = (log.propensity > 0.5).mean()
    assert abs(chosen - (0.9 + 0.1 / 6)) < 4.5 * np.sqrt(0.1 * 0.9 / log.events)


@pytest.mark.parametrize("name", PROBLEMS)
def test_files_can_be_read(name: str, tmp_path: Path) -> None:
    problem = make_problem(name)
    for file, text in problem.files().items():
        path = tmp_path / file
        path.write_text(text)
        if file.endswith("-log.csv"):
            assert set(read_log(path).names) == set(problem.names)
        elif file.endswith("-trace.csv"):
            assert read_trace(path).names == problem.names


def test_unknown_example_is_refused() -> None:
    with pytest.raises(InputError, match="unknown example 'carrier'; did you mean 'carriers'"):
        make_problem("carrier")
