"""The regret bounds: measured tails agree with plain simulations, and verdicts follow from the regrets."""

import json
from math import log
from typing import Any

import numpy as np
import pytest

from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.tables import select_row
from ravenlab.tuning.reproduction.bounds import _run, _tail_columns, make_pieces
from ravenlab.tuning.reproduction.bounds_problems import (
    CHECKPOINTS,
    DECADES,
    HORIZON,
    PROBLEMS,
    SETTINGS,
    find_crossing,
    gap_dependent,
)
from tests.tuning.reproduction.synthetic import make_bounds_result, small_context

TWO = PROBLEMS["two-arms"]


def run_two_arms(setting: str, jobs: int = 1) -> Any:
    return _run(small_context(jobs=jobs), TWO, SETTINGS[setting])


def test_only_raven_ucb_has_a_linear_tail() -> None:
    raven, control = run_two_arms("raven-published"), run_two_arms("ucb1")
    json.dumps([raven, control], allow_nan=False)
    assert run_two_arms("ucb1", jobs=2) == control
    tails = [_tail_columns(TWO, piece) for piece in (raven, control)]
    assert tails[0]["tail_from"] is not None
    assert tails[1]["tail_from"] is None
    assert raven["lost"] >= 1
    assert control["lost"] == 0
    again = simulate(
        "raven-ucb",
        TWO.scenario(),
        horizon=HORIZON,
        arms=2,
        replications=raven["replications"],
        params=SETTINGS["raven-published"].params,
    )
    assert raven["regret"][-1][0] == pytest.approx(again.regret.mean())
    assert raven["lost"] == (again.regret > 0.09 * HORIZON).sum()
    before = raven["regret"][CHECKPOINTS.index(DECADES[-2])][0]
    last = (again.regret.mean() - before) / (HORIZON - DECADES[-2])
    assert raven["rates"][-1][0] == pytest.approx(last)


@pytest.mark.parametrize("tail", [False, True])
def test_verdicts_follow_from_the_regrets(tail: bool) -> None:
    result = make_bounds_result(small_context(), tail=tail)
    verdicts = {(verdict.claim.key, verdict.protocol): verdict.verdict for verdict in result.verdicts}
    for protocol in ("published", "defined"):
        for claim in ("bounds-gap-dependent", "bounds-gap-independent"):
            assert verdicts[claim, protocol] == (ClaimVerdict.REFUTED if tail else ClaimVerdict.CONFIRMED)
        assert verdicts["bounds-assumption", protocol] == ClaimVerdict.REFUTED
        assert (verdicts["bounds-tighter", protocol] == ClaimVerdict.REFUTED) is tail
    tail_row = select_row(result.tables["tails"], problem="two-arms", setting="raven-defined")
    assert tail_row["tail_from"] == (10 if tail else None)
    assert tail_row["crosses_gap_dependent_how"] == ("measured" if tail else "not crossed")


def test_gap_dependent_bound() -> None:
    theta = np.linspace(0.8, 0.95, 10)
    by_hand = sum(16 * p * (1 - p) * log(1e6) / (0.95 - p) for p in theta[:-1])
    assert gap_dependent(PROBLEMS["bernoulli"], 1e6) == pytest.approx(by_hand)


def test_extrapolated_crossing_is_on_the_bound() -> None:
    where = find_crossing(lambda horizon: gap_dependent(PROBLEMS["bernoulli"], horizon), regret=1000.0, rate=1e-3)
    assert where is not None
    assert 1000.0 + 1e-3 * (where - HORIZON) == pytest.approx(gap_dependent(PROBLEMS["bernoulli"], where))
    assert find_crossing(lambda horizon: 2.0 * horizon, regret=1.0, rate=1.0) is None


@pytest.mark.parametrize("protocol", ["published", "defined"])
def test_only_pieces_of_the_protocol_are_listed(protocol: str) -> None:
    keys = [piece.key for piece in make_pieces(small_context((protocol,)))]
    assert len(keys) == 9
    assert sum("raven" in key for key in keys) == 3
    assert all(f"raven-{protocol}" in key for key in keys if "raven" in key)
