"""Figure 1: sample means and variances agree with theory."""

import json

import pytest
from scipy.stats import chi2

from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import select, to_records, unique
from ravenlab.tuning.reproduction.figure1 import SIZES, _run, theoretical_variance
from tests.tuning.reproduction.synthetic import run_experiment, small_context


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return run_experiment("figure1", small_context(replications=10))


def test_spreads_and_shares_agree_with_theory(result: ExperimentResult) -> None:
    """Within four standard errors; the sample variance has kurtosis 3 + 12/(n − 1)."""
    rows = to_records(result.tables["spreads"])
    assert {(row["protocol"], row["samples"]) for row in rows} == {("published", 100), ("defined", 2000)}
    for row in rows:
        true = theoretical_variance(row["statistic"], row["n"])
        assert row["theory"] == true
        kurtosis = 3.0 if row["statistic"] == "mean" else 3.0 + 12.0 / (row["n"] - 1)
        assert abs(row["spread"] - true) < 4 * true * ((kurtosis - 1.0) / row["samples"]) ** 0.5
        assert row["spread_low"] < row["spread"] < row["spread_high"]
        center = 0.0 if row["statistic"] == "mean" else 1.0
        assert abs(row["average"] - center) < 4 * (true / row["samples"]) ** 0.5
    for row in to_records(result.tables["below"]):
        share = chi2.cdf(row["n"] - 1, row["n"] - 1)
        assert abs(row["share"] - share) < 4 * (share * (1 - share) / row["samples"]) ** 0.5


def test_verdicts(result: ExperimentResult) -> None:
    verdicts = {(verdict.claim.key, verdict.protocol): verdict.verdict for verdict in result.verdicts}
    assert len(verdicts) == 6
    assert verdicts["figure1-means-settle", "defined"] == ClaimVerdict.CONFIRMED
    assert verdicts["figure1-variances-settle", "defined"] == ClaimVerdict.CONFIRMED
    assert verdicts["figure1-variance-large", "defined"] == ClaimVerdict.REFUTED


@pytest.mark.parametrize("protocol", ["published", "defined"])
def test_protocols_are_independent_of_each_other(protocol: str) -> None:
    context = small_context((protocol,))
    result = run_experiment("figure1", context)
    assert unique(result.tables["spreads"], "protocol") == [protocol]
    both = run_experiment("figure1", small_context()).tables["spreads"]
    assert to_records(result.tables["spreads"]) == to_records(select(both, protocol=protocol))
    assert len(result.tables["below"]) == len(SIZES)
    json.dumps(_run(context, protocol), allow_nan=False)
