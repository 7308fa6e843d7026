"""The advice of Section 5: each recommendation of the paper is compared with a validated one."""

from pathlib import Path

import pytest

from ravenlab.common.interval import Interval
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.criteria import judge_costs
from ravenlab.studies.paper.results import ReproductionResult
from ravenlab.studies.tables import to_records
from ravenlab.tuning.reproduction.advice import list_cases
from ravenlab.tuning.reproduction.runner import reproduce
from tests.tuning.reproduction.synthetic import small_context


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> ReproductionResult:
    folder: Path = tmp_path_factory.mktemp("advice")
    context = small_context(("defined",), jobs=2, url=f"sqlite:///{folder}/searches.sqlite3")
    return reproduce(["advice"], context, folder)


def test_cases_are_those_of_the_paper() -> None:
    published, defined = list_cases(["published"]), list_cases(["defined"])
    assert [(f"advice-{case.number}-{case.term}", case.played_scenario, case.horizon) for case in published] == [
        ("advice-1-long", "published-variance-drift", 10000),
        ("advice-2-long", "published-incremental-drift", 10000),
        ("advice-2-short", "published-incremental-drift", 1000),
        ("advice-3-long", "published-blips", 10000),
    ]
    assert len(defined) == 6
    assert {(case.number, case.term) for case in defined} == {(case.number, case.term) for case in published}
    assert {case.played_scenario for case in defined if case.number == "2"} == {"incremental-drift", "gradual-drift"}
    short = next(case for case in defined if (case.number, case.term) == ("2", "short"))
    assert (short.alpha0, short.beta0) == (0.5, 10.0)


def test_costs_and_verdicts_follow_from_the_regrets(document: ReproductionResult) -> None:
    result = document.experiments["advice"]
    rows = to_records(result.tables["costs"])
    for row in rows:
        assert row["cost"] == pytest.approx(row["advised_regret"] / row["recommended_regret"] - 1, abs=1e-9)
        assert row["cost_low"] <= row["cost"] <= row["cost_high"]
        assert row["verdict"] == judge_costs([Interval(row["cost"], row["cost_low"], row["cost_high"])])
    assert [verdict.claim.key for verdict in document.verdicts()] == [
        "advice-1-long",
        "advice-2-long",
        "advice-2-short",
        "advice-3-long",
    ]
    for verdict in result.verdicts:
        judged = [row for row in rows if f"advice-{row['advice']}-{row['term']}" == verdict.claim.key]
        assert verdict.measurement is not None
        assert verdict.measurement.mean == pytest.approx(100 * max(row["cost"] for row in judged))
        if any(row["verdict"] == ClaimVerdict.REFUTED for row in judged):
            assert verdict.verdict == ClaimVerdict.REFUTED


def test_advice_for_gradual_changes_is_refuted_at_the_smallest_precision(document: ReproductionResult) -> None:
    """The excess regret is far larger than the error of the smallest search and few worlds."""
    verdict = next(verdict for verdict in document.verdicts() if verdict.claim.key == "advice-2-long")
    assert verdict.verdict == ClaimVerdict.REFUTED
    assert verdict.measurement is not None
    assert verdict.measurement.low > 5.0
