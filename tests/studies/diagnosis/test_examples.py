"""Diagnosis of the example problems, whose changes are known: outage, trend, gap, jump, decay, cycle, replacement."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.problems import ExampleProblem, make_problem
from ravenlab.studies.diagnosis.analysis import diagnose, tabulate_log
from ravenlab.studies.diagnosis.predictive import find_mismatch
from ravenlab.studies.diagnosis.proposal import propose_study
from ravenlab.studies.diagnosis.result import Diagnosis, describe_diagnosis
from ravenlab.studies.laws.axes import NoLawError
from ravenlab.tuning.diagnosed import recommend_for_diagnosis

SEEDS = (0, 1, 2)


@cache
def diagnose_example(name: str, seed: int) -> tuple[ExampleProblem, Diagnosis]:
    problem = make_problem(name, seed)
    if problem.binary:
        _, names, values, _ = tabulate_log(problem.log(seed, share=1.0))
    else:
        trace = problem.trace(seed)
        names = trace.names
        values = -trace.values
    return problem, diagnose(values, names, halves=2 if seed == 0 else 0, check=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_outage_a_trend_and_a_season_are_found(seed: int) -> None:
    problem, diagnosis = diagnose_example("carriers", seed)
    changes = {change.kind: change for change in problem.changes}
    assert sorted(diagnosis.kinds) == ["blips", "incremental-drift", "periodic"]
    outage = diagnosis.finding("blips")
    assert (outage.arms, outage.settings["times"]) == ((changes["outage"].arm,), "once")
    assert outage.numbers["at"] == [changes["outage"].first + 1]
    assert outage.numbers["until"] == [changes["outage"].last + 1]
    assert outage.settings["size"] == pytest.approx(-40.0, rel=0.15)
    assert diagnosis.finding("incremental-drift").arms == (changes["trend"].arm,)
    assert diagnosis.finding("periodic").numbers["period"] == pytest.approx(168.0, rel=0.01)
    # The costs of the arms at the start, between 39.5 and 51.5, and the seasons around them
    assert -56.0 < diagnosis.base["mean_low"] < -50.0
    assert -40.0 < diagnosis.base["mean_high"] < -36.0
    assert "affected = 0.125\nsize = -4" in propose_study(diagnosis)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_jump_and_a_trend_are_told_apart_and_gaps_are_not_proposed(seed: int) -> None:
    problem, diagnosis = diagnose_example("regions", seed)
    changes = {change.kind: change for change in problem.changes}
    assert sorted(diagnosis.kinds) == ["arm-churn", "incremental-drift", "localized-jump"]
    jump = diagnosis.finding("localized-jump")
    assert jump.arms == (changes["jump"].arm,)
    assert jump.numbers["at"] == [pytest.approx(changes["jump"].first + 1, abs=2)]
    assert diagnosis.finding("incremental-drift").arms == (changes["trend"].arm,)
    gap = diagnosis.finding("arm-churn")
    assert gap.numbers["away"][0]["from"] == changes["gap"].first + 1
    assert not gap.modeled
    assert "arm-churn" not in propose_study(diagnosis).split("[study.scenario]")[1]
    assert "200%" not in propose_study(diagnosis)


@pytest.mark.parametrize("seed", SEEDS)
def test_decay_a_common_cycle_and_a_replacement_of_clicks_are_found(seed: int) -> None:
    problem, diagnosis = diagnose_example("headlines", seed)
    (replacement,) = (change for change in problem.changes if change.kind == "replacement")
    assert sorted(diagnosis.kinds) == ["incremental-drift", "localized-jump", "periodic"]
    assert diagnosis.finding("incremental-drift").settings["direction"] == "down"
    cycle = diagnosis.finding("periodic")
    assert cycle.settings["common"] == "cycle"
    assert cycle.numbers["period"] == pytest.approx(10_000, rel=0.03)
    jump = diagnosis.finding("localized-jump")
    assert jump.arms == (replacement.arm,)
    assert jump.numbers["at"] == [pytest.approx(replacement.first, abs=3000)]
    assert diagnosis.noise == "bernoulli"


def test_the_first_line_carries_the_confidence() -> None:
    _, diagnosis = diagnose_example("carriers", 0)
    first, second, *_ = describe_diagnosis(diagnosis)
    assert first.startswith("The data show incremental-drift (a trend), periodic and blips")
    assert "(found in 2 of 2 random halves of the rows)" in first
    assert second == "2 of 2 random halves of the rows give the same result."


def test_kinds_of_few_halves_are_uncertain() -> None:
    _, diagnosis = diagnose_example("carriers", 0)

    def describe(blips: int, others: int) -> str:
        findings = [
            replace(finding, found_in_halves=blips if finding.kind == "blips" else others)
            for finding in diagnosis.findings
        ]
        return describe_diagnosis(replace(diagnosis, findings=tuple(findings), halves=10))[0]

    assert describe(blips=1, others=8) == (
        "The data show incremental-drift (a trend) and periodic (found in 8 of 10 random halves of the rows);"
        " blips (a temporary change of single arms) is uncertain (1 of 10)."
    )
    assert describe(blips=0, others=0).startswith("It is not known how the data change: ")


def test_a_scenario_that_does_not_resemble_the_data_is_not_proposed() -> None:
    problem = make_problem("carriers", 0)
    values = -problem.trace(0).values
    base = {"mean_low": -86.0, "mean_high": -60.0, "variance_low": 20.0, "variance_high": 60.0}
    jumps = {"localized-jump": {"every": "27%", "fraction": 0.167}}
    reason = find_mismatch(values, jumps, base, 8)
    assert "in the data but" in reason
    unlike = Diagnosis(problem.names, len(values), ("localized-jump",), base=base, mismatch=reason)
    assert reason in describe_diagnosis(unlike)[0]
    with pytest.raises(InputError, match="do not resemble"):
        propose_study(unlike)
    with pytest.raises(NoLawError, match="in the data but"):
        recommend_for_diagnosis(unlike)


def test_a_replacement_opens_and_closes_at_once_and_the_best_is_compared_in_the_same_rows() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal([0.5, 0.6, 0.2, 0.4], 0.1, (2000, 4))
    table[1000:, 0] += 1.0
    table[1000:, 1] = np.nan
    table[:1000, 2] = np.nan
    churn = diagnose(table, ["a", "b", "c", "d"]).finding("arm-churn")
    assert churn.settings == {"opens": "50%", "closes": "50%", "closing": "best"}
    assert churn.strength == "c replaces b at step 1,001"
