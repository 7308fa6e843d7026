"""Figure 1: sample means and variances have the laws that they should have."""

from __future__ import annotations

import json

import pytest
from scipy.stats import chi2
from studies.reproduction.document import Outcome

from tests.tuning.made_reproduction import run, small
from tuning.reproduction.figure1 import SIZES, _run, theory


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run("figure1", small(replications=10))


def test_spreads_and_shares_are_those_of_theory(outcome: Outcome) -> None:
    """Within four standard errors; the variance's own law has kurtosis 3 + 12/(n−1)."""
    rows = list(outcome.tables["spreads"])
    assert {(row["protocol"], row["draws"]) for row in rows} == {("published", 100), ("defined", 2000)}
    for row in rows:
        true = theory(row["statistic"], row["n"])
        assert row["theory"] == true
        kurtosis = 3.0 if row["statistic"] == "mean" else 3.0 + 12.0 / (row["n"] - 1)
        assert abs(row["spread"] - true) < 4 * true * ((kurtosis - 1.0) / row["draws"]) ** 0.5
        assert row["spread_low"] < row["spread"] < row["spread_high"]
        centre = 0.0 if row["statistic"] == "mean" else 1.0
        assert abs(row["average"] - centre) < 4 * (true / row["draws"]) ** 0.5
    for row in outcome.tables["below"]:
        share = chi2.cdf(row["n"] - 1, row["n"] - 1)
        assert abs(row["share"] - share) < 4 * (share * (1 - share) / row["draws"]) ** 0.5


def test_verdicts(outcome: Outcome) -> None:
    verdicts = {(each.claim, each.protocol): each.word for each in outcome.verdicts}
    assert len(verdicts) == 6
    assert verdicts["figure1-means-settle", "defined"] == "stands"
    assert verdicts["figure1-variances-settle", "defined"] == "stands"
    assert verdicts["figure1-variance-large", "defined"] == "does not stand"


@pytest.mark.parametrize("protocol", ["published", "defined"])
def test_one_protocol_alone_is_the_same_as_with_the_other(protocol: str) -> None:
    context = small((protocol,))
    outcome = run("figure1", context)
    assert outcome.tables["spreads"].distinct("protocol") == [protocol]
    assert outcome.tables["spreads"].rows == run("figure1", small()).tables["spreads"].where(protocol=protocol).rows
    assert len(outcome.tables["below"]) == len(SIZES)
    json.dumps(_run(context, protocol), allow_nan=False)
