"""Figure 3 run again: at T = 1000 the published scenarios are one problem, and printed optima are noise of few runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from environments.streams import Stream
from policies.playing import REGRET
from studies.grid import GridSpec
from studies.reproduction.document import Document
from studies.reproduction.optima import optima, world_of
from tests.tuning import plain_grid
from tuning.crew import LocalCrew
from tuning.fanout import Evaluator
from tuning.grids import game_of
from tuning.reproduction._figure3_grid import few, play_grid
from tuning.reproduction.context import PROTOCOLS, Context
from tuning.reproduction.running import reproduce

KNOWN = {
    (1000, 1.0, 1.0): (13.44, 0.26),
    (10000, 5.0, 1.0): (120.23, 0.40),
    (10000, 10.0, 10.0): (331.61, 0.68),
}
"""Published variance drift in an independent re-run: mean regret and standard error by horizon, α₀ and β₀."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder: Path = tmp_path_factory.mktemp("figure3")
    return reproduce(["figure3"], Context(0, 2, PROTOCOLS, LocalCrew(2), "sqlite:///:memory:"), folder)


def _verdict(document: Document, claim: str, protocol: str) -> Any:
    (found,) = [each for each in document.verdicts() if (each.claim, each.protocol) == (claim, protocol)]
    return found


def test_at_t_1000_the_three_published_scenarios_are_one_problem_and_the_verdict_says_so(document: Document) -> None:
    cells = document.outcomes["figure3"].tables["cells"].where(protocol="published", horizon=1000)
    first, *others = [cells.where(scenario=name).column("regret") for name in cells.distinct("scenario")]
    assert len(others) == 2
    assert all(other == first for other in others)
    verdict = _verdict(document, "figure3-three-problems", "published")
    assert (verdict.word, verdict.rule) == ("does not stand", "same")
    assert document.outcomes["figure3"].facts["one_problem"] == {"published": True, "defined": False}
    assert _verdict(document, "figure3-three-problems", "defined").rule == "different"


def test_the_published_cells_agree_with_an_independent_run(document: Document) -> None:
    cells = document.outcomes["figure3"].tables["cells"].where(protocol="published", scenario="variance-drift")
    for (horizon, alpha0, beta0), (mean, stderr) in KNOWN.items():
        ours = cells.one(horizon=horizon, alpha0=alpha0, beta0=beta0)
        assert abs(ours["regret"] - mean) < 4 * np.hypot(stderr, ours["stderr"])


def test_the_plain_loop_plays_the_same_problem() -> None:
    alpha0, beta0 = np.array([0.5, 1.0, 5.0]), np.array([0.5, 5.0, 1.0])
    spec = GridSpec(scenario="published-blips", horizon=300)
    values = [spec.values({"alpha0": a, "beta0": b, "epsilon": 0.1}) for a, b in zip(alpha0, beta0, strict=True)]
    ours = Evaluator(game_of(spec)).play(values, Stream.GRID, 0, 400)[..., REGRET]
    plain = plain_grid.regrets(alpha0, beta0, 0.1, 300, 400, seed=5)
    error = np.hypot(ours.std(axis=1), plain.std(axis=1)) / 20
    assert (abs(ours.mean(axis=1) - plain.mean(axis=1)) < 4 * error).all()


def test_every_optimum_has_both_verdicts_under_both_protocols(document: Document) -> None:
    for printed in optima():
        for protocol in PROTOCOLS:
            row = (
                document.outcomes["figure3"]
                .tables["optima"]
                .one(protocol=protocol, scenario=printed.scenario, horizon=printed.horizon)
            )
            assert row["world"] == world_of(protocol, printed.scenario)
            regret = _verdict(document, f"{printed.claim}-regret", protocol)
            assert row["printed_regret"] == printed.regret
            assert (regret.ours.value, regret.word) == (row["regret"], row["regret_verdict"])
            assert _verdict(document, f"{printed.claim}-cell", protocol).word == row["cell_verdict"]
            assert row["smallest_least"] < row["smallest_low"] < row["smallest_median"] < row["smallest_most"]


def test_shares_of_named_cells_add_up(document: Document) -> None:
    cells = document.outcomes["figure3"].tables["cells"]
    for protocol in PROTOCOLS:
        for printed in optima():
            mine = cells.where(protocol=protocol, scenario=printed.scenario, horizon=printed.horizon)
            assert len(mine) == 16
            assert sum(mine.column("named_best")) == pytest.approx(1.0)
            assert sum(mine.column("printed")) == 1


def test_resampling_few_is_what_theory_says_of_normal_cells() -> None:
    """Within four standard errors of 10 000 draws, from cells whose own means and spreads are exact."""

    def error(share: float) -> float:
        return 4.0 * math.sqrt(share * (1.0 - share) / 10_000)

    cells = np.random.default_rng(3).normal(size=(2, 20_000))
    cells = (cells - cells.mean(axis=1, keepdims=True)) / cells.std(axis=1, keepdims=True) * 10**0.5
    cells[1] += 1.0
    found = few(cells, printed=0.0, seed=1)
    # Two means of ten are N(0, 1) and N(1, 1): the first is smaller with probability Φ(1/√2), its middle is ±1.96.
    smaller = norm.cdf(2**-0.5)
    assert found["named"][0] == pytest.approx(smaller, abs=error(smaller))
    for share, quantile in zip((0.025, 0.5, 0.975), found["ten"][0], strict=True):
        true = norm.ppf(share)
        assert quantile == pytest.approx(true, abs=error(share) / norm.pdf(true))
    # The smaller is below 0 unless both are above: 1 − Φ(0)·Φ(1).
    below = 1 - 0.5 * norm.cdf(1.0)
    assert found["below"] == pytest.approx(below, abs=error(below))


def test_a_grid_is_the_same_on_any_number_of_jobs() -> None:
    one, two = (
        json.dumps(play_grid(Context(3, 2, PROTOCOLS, LocalCrew(jobs), ""), "blips", optima()[0])) for jobs in (1, 2)
    )
    assert one == two


@pytest.mark.stress
def test_at_the_usual_precision_the_published_optima_are_within_noise(tmp_path: Path) -> None:
    document = reproduce(["figure3"], Context(0, 50, ("published",), LocalCrew(2), "sqlite:///:memory:"), tmp_path)
    words = {printed.claim: _verdict(document, f"{printed.claim}-regret", "published").word for printed in optima()}
    assert set(words.values()) == {"within noise"}
    assert _verdict(document, "figure3-insensitive", "published").word == "does not stand"
