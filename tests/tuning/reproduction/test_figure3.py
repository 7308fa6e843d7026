"""Figure 3: at T = 1,000 the published scenarios are one problem, and resampling agrees with theory."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import combine_pvalues, norm

from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.criteria import combine_probabilities, two_sided
from ravenlab.studies.paper.numbers import played_scenario, read_optima
from ravenlab.studies.paper.results import ReproductionResult
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.tables import select, select_row, to_records, unique
from ravenlab.tuning.grid_run import grid_problem
from ravenlab.tuning.reproduction import PROTOCOLS
from ravenlab.tuning.reproduction.figure3_grids import play_grid, resample
from ravenlab.tuning.reproduction.runner import reproduce
from ravenlab.tuning.workers.problem import Evaluator
from tests.tuning import plain_grid
from tests.tuning.reproduction.synthetic import small_context

KNOWN = {
    (1000, 1.0, 1.0): (13.44, 0.26),
    (10000, 5.0, 1.0): (120.23, 0.40),
    (10000, 10.0, 10.0): (331.61, 0.68),
}
"""Published variance drift in an independent re-run: mean regret and standard error by horizon, α₀ and β₀."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> ReproductionResult:
    folder: Path = tmp_path_factory.mktemp("figure3")
    return reproduce(["figure3"], small_context(jobs=2), folder)


def _verdict(document: ReproductionResult, claim: str, protocol: str) -> Any:
    keys = (claim, protocol)
    (verdict,) = [verdict for verdict in document.verdicts() if (verdict.claim.key, verdict.protocol) == keys]
    return verdict


def test_the_published_scenarios_are_one_problem_at_the_short_horizon(document: ReproductionResult) -> None:
    cells = select(document.experiments["figure3"].tables["cells"], protocol="published", horizon=1000)
    first, *others = [select(cells, scenario=name)["regret"].tolist() for name in unique(cells, "scenario")]
    assert len(others) == 2
    assert all(other == first for other in others)
    verdict = _verdict(document, "figure3-three-problems", "published")
    assert (verdict.verdict, verdict.rule) == (ClaimVerdict.REFUTED, "same")
    assert document.experiments["figure3"].facts["one_problem"] == {"published": True, "defined": False}
    assert _verdict(document, "figure3-three-problems", "defined").rule == "different"


def test_published_cells_agree_with_an_independent_run(document: ReproductionResult) -> None:
    cells = select(document.experiments["figure3"].tables["cells"], protocol="published", scenario="variance-drift")
    for (horizon, alpha0, beta0), (mean, stderr) in KNOWN.items():
        ours = select_row(cells, horizon=horizon, alpha0=alpha0, beta0=beta0)
        assert abs(ours["regret"] - mean) < 4 * np.hypot(stderr, ours["stderr"])


def test_grid_agrees_with_the_reference_implementation() -> None:
    alpha0, beta0 = np.array([0.5, 1.0, 5.0]), np.array([0.5, 5.0, 1.0])
    spec = GridSpec(scenario="published-blips", horizon=300)
    values = [
        spec.resolve_params({"alpha0": a, "beta0": b, "epsilon": 0.1}) for a, b in zip(alpha0, beta0, strict=True)
    ]
    ours = Evaluator(grid_problem(spec)).play(values, Stream.GRID, 0, 400).regret
    plain = plain_grid.regrets(alpha0, beta0, 0.1, 300, 400, seed=5)
    error = np.hypot(ours.std(axis=1), plain.std(axis=1)) / 20
    assert (abs(ours.mean(axis=1) - plain.mean(axis=1)) < 4 * error).all()


def test_every_optimum_has_both_verdicts_under_both_protocols(document: ReproductionResult) -> None:
    for printed in read_optima():
        for protocol in PROTOCOLS:
            row = select_row(
                document.experiments["figure3"].tables["optima"],
                protocol=protocol,
                scenario=printed.scenario,
                horizon=printed.horizon,
            )
            assert row["world"] == played_scenario(protocol, printed.scenario)
            regret = _verdict(document, f"{printed.claim_prefix}-regret", protocol)
            assert row["printed_regret"] == printed.regret
            assert (regret.measurement.mean, regret.verdict) == (row["regret"], row["regret_verdict"])
            assert _verdict(document, f"{printed.claim_prefix}-cell", protocol).verdict == row["cell_verdict"]
            assert row["smallest_least"] < row["smallest_low"] < row["smallest"] < row["smallest_most"]


def test_selection_shares_sum_to_one(document: ReproductionResult) -> None:
    cells = document.experiments["figure3"].tables["cells"]
    for protocol in PROTOCOLS:
        for printed in read_optima():
            grid = select(cells, protocol=protocol, scenario=printed.scenario, horizon=printed.horizon)
            assert len(grid) == 16
            assert sum(grid["selected"].tolist()) == pytest.approx(1.0)
            assert sum(grid["printed"].tolist()) == 1


def test_resampling_normal_cells_agrees_with_theory() -> None:
    """Within four standard errors of 10,000 resamples, from cells with exact means and standard deviations."""

    def error(share: float) -> float:
        return 4.0 * math.sqrt(share * (1.0 - share) / 10_000)

    cells = np.random.default_rng(3).normal(size=(2, 20_000))
    cells = (cells - cells.mean(axis=1, keepdims=True)) / cells.std(axis=1, keepdims=True) * 10**0.5
    cells[1] += 1.0
    resampled = resample(cells, printed=0.0, seed=1)
    # Two means of ten are N(0, 1) and N(1, 1): the first is smaller with probability Φ(1/√2).
    smaller = norm.cdf(2**-0.5)
    assert resampled["selected"][0] == pytest.approx(smaller, abs=error(smaller))
    for share, quantile in zip((0.025, 0.5, 0.975), resampled["cell_mean"][0], strict=True):
        true = norm.ppf(share)
        assert quantile == pytest.approx(true, abs=error(share) / norm.pdf(true))
    # The smaller is below 0 unless both are above: 1 − Φ(0)·Φ(1).
    below = 1 - 0.5 * norm.cdf(1.0)
    assert resampled["below"] == pytest.approx(below, abs=error(below))
    assert resampled["below"] + resampled["above"] == pytest.approx(1.0)


def test_the_joint_probability_of_numbers_from_the_assumed_design_is_uniform() -> None:
    """Each of six printed regrets is the smallest of sixteen means of ten, as in the paper."""
    rng = np.random.default_rng(4)
    grids = [rng.gamma(2.0, 1.0 + 0.1 * np.arange(16)[:, None], (16, 500)) for _ in range(6)]
    smallest = [np.sort(_draw_smallest(rng, grid, 4000)) for grid in grids]
    joint = []
    for _ in range(400):
        below = [
            np.searchsorted(known, _draw_smallest(rng, grid, 1)[0]) / 4000
            for known, grid in zip(smallest, grids, strict=True)
        ]
        joint.append(combine_probabilities([two_sided(share, 1.0 - share, 4000) for share in below]))
    # A share of 5 % in 400 repetitions has a standard error of 1.1 percentage points.
    assert abs(np.mean(np.array(joint) < 0.05) - 0.05) < 0.035
    assert abs(np.mean(joint) - 0.5) < 4 * 12**-0.5 / 20


def _draw_smallest(rng: np.random.Generator, grid: Floats, count: int) -> Floats:
    """Draw the smallest of the means of ten worlds per cell."""
    means = [cell[rng.integers(0, cell.size, (count, 10))].mean(axis=1) for cell in grid]
    return np.asarray(np.min(means, axis=0))


def test_the_joint_verdict_follows_from_the_optima(document: ReproductionResult) -> None:
    result = document.experiments["figure3"]
    for protocol in PROTOCOLS:
        rows = select(result.tables["optima"], protocol=protocol)
        verdict = _verdict(document, "figure3-optima-joint", protocol)
        assert verdict.measurement.mean == result.facts["joint_probability"][protocol]
        assert verdict.measurement.mean == pytest.approx(combine_pvalues(rows["probability"].tolist()).pvalue)
        for row in to_records(rows):
            assert row["probability"] == pytest.approx(
                2 * min(row["smallest_below_printed"], 1 - row["smallest_below_printed"]), abs=3e-4
            )


def test_a_grid_does_not_depend_on_the_number_of_jobs() -> None:
    one, two = (json.dumps(play_grid(small_context(jobs=jobs, seed=3), "defined", read_optima()[0])) for jobs in (1, 2))
    assert one == two


@pytest.mark.stress
def test_at_default_precision_the_published_optima_are_within_noise(tmp_path: Path) -> None:
    document = reproduce(["figure3"], small_context(("published",), replications=50, jobs=2), tmp_path)
    verdicts = {
        printed.claim_prefix: _verdict(document, f"{printed.claim_prefix}-regret", "published").verdict
        for printed in read_optima()
    }
    assert set(verdicts.values()) == {ClaimVerdict.NOISE}
    assert _verdict(document, "figure3-insensitive", "published").verdict == ClaimVerdict.REFUTED
