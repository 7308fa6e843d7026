"""Claims of the paper, result tables, and the rules behind the verdicts of a reproduction."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.interval import Interval
from ravenlab.studies.paper.claims import Claim, ClaimResult, ClaimVerdict
from ravenlab.studies.paper.criteria import (
    MAX_COST,
    judge_all_above,
    judge_best,
    judge_cell,
    judge_costs,
    judge_growth,
    judge_number,
    read_rules,
)
from ravenlab.studies.paper.numbers import POLICIES, printed_rows
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.tables import make_table, select_row, to_csv, to_json_object
from ravenlab.tuning.reproduction import EXPERIMENTS, find_experiment
from tests.messages import raises_naming


def test_every_printed_number_is_a_claim_with_its_place() -> None:
    claims = {key: claim for name in EXPERIMENTS for key, claim in find_experiment(name).claims.items()}
    assert sum(claim.group == "The numbers of Table 3" for claim in claims.values()) == 27
    assert sum(claim.group == "The six optima of Figure 3" for claim in claims.values()) == 12
    assert all(claim.place and claim.text for claim in claims.values())
    for row in printed_rows("logistics_table.csv"):
        policy = POLICIES[row["policy"]]
        assert claims[f"table3-{policy}-regret"].printed == float(row["cumulative_regret"])
        assert claims[f"table3-{policy}-reward"].printed == float(row["cumulative_reward"])
        assert claims[f"table3-{policy}-pulls"].printed == float(row["suboptimal_pulls"])
    assert claims["figure3-blips-10000-regret"].printed == 202.37


def test_table_is_written_as_json_and_csv() -> None:
    table = make_table(
        [{"name": 'a,"b"', "x": np.float64(0.1), "n": np.int64(3), "yes": np.bool_(True), "none": float("nan")}]
    )
    written = json.loads(json.dumps(to_json_object(table)))
    assert written == {"columns": ["name", "x", "n", "yes", "none"], "rows": [['a,"b"', 0.1, 3, True, None]]}
    (row,) = csv.DictReader(io.StringIO(to_csv(table)))
    assert (row["name"], float(row["x"]), row["n"], row["yes"], row["none"]) == ('a,"b"', 0.1, "3", "True", "")


def test_integers_stay_integers_beside_missing_values() -> None:
    table = make_table([{"a": 1, "b": 0.1 + 0.2}, {"a": None, "b": 1e-300}])
    assert to_csv(table) == "a,b\n1,0.30000000000000004\n,1e-300\n"


def test_rows_with_other_columns_or_types_are_rejected() -> None:
    with raises_naming(ValueError, "a", "b"):
        make_table([{"a": 1}, {"b": 1}])
    with raises_naming(TypeError, "[1]"):
        make_table([{"a": [1]}])
    with pytest.raises(ValueError, match="expected one row"):
        select_row(make_table([{"a": 1}]), a=2)


@given(
    value=st.floats(-1e3, 1e3),
    half=st.floats(0, 100),
    printed=st.floats(-1e3, 1e3),
    error=st.floats(0, 50),
    paper=st.floats(0, 50),
)
def test_a_printed_number_is_judged_by_its_distance(
    value: float, half: float, printed: float, error: float, paper: float
) -> None:
    verdict = judge_number(printed, Interval(value, value - half, value + half), error, paper)
    distance = abs(printed - value)
    if verdict == ClaimVerdict.REFUTED:
        assert distance > 3 * max(error, paper) * 0.999
        assert distance >= half * 0.999
    elif verdict == ClaimVerdict.INCONCLUSIVE:
        assert 2 * half > 0.499 * abs(printed)
    elif verdict == ClaimVerdict.NOISE:
        assert distance <= 3 * (error + paper) * 1.001
    else:
        assert distance <= half * 1.001 + 1e-9


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 3)), min_size=1), st.floats(-5, 5))
def test_intervals_decide_thresholds(pairs: list[tuple[float, float]], threshold: float) -> None:
    measurements = [Interval(middle, middle - half, middle + half) for middle, half in pairs]
    verdict = judge_all_above(threshold, measurements)
    assert (verdict == ClaimVerdict.REFUTED) == any(measurement.high < threshold for measurement in measurements)
    assert (verdict == ClaimVerdict.CONFIRMED) == all(measurement.low > threshold for measurement in measurements)
    for measurement in measurements:
        grown = judge_growth(measurement)
        assert grown == (
            ClaimVerdict.CONFIRMED
            if measurement.low > 0
            else ClaimVerdict.REFUTED
            if measurement.high < 0
            else ClaimVerdict.INCONCLUSIVE
        )
        cost = judge_costs([measurement])
        assert cost == (
            ClaimVerdict.CONFIRMED
            if measurement.high < MAX_COST
            else ClaimVerdict.REFUTED
            if measurement.low > MAX_COST
            else ClaimVerdict.INCONCLUSIVE
        )


def test_verdicts_on_the_best_policy_and_the_best_cell() -> None:
    assert judge_best(True, [True, True], [False, False]) == ClaimVerdict.CONFIRMED
    assert judge_best(True, [True, False], [False, False]) == ClaimVerdict.NOISE
    assert judge_best(False, [True, False], [False, False]) == ClaimVerdict.INCONCLUSIVE
    assert judge_best(False, [True, False], [False, True]) == ClaimVerdict.REFUTED
    assert judge_cell(True, 0.0) == ClaimVerdict.CONFIRMED
    assert judge_cell(False, 0.05) == ClaimVerdict.NOISE
    assert judge_cell(False, 0.049) == ClaimVerdict.REFUTED


def test_the_json_of_a_result_has_claims_and_verdicts() -> None:
    claim = Claim("figure2-84", "Section 4.1", "It is 84 %.", 84.0, "%")
    measurement = Interval(80.4, 80.0, 80.8)
    verdicts = [
        ClaimResult(claim, protocol, measurement, ClaimVerdict.REFUTED, "number", "It is 80.4 %.")
        for protocol in ("published", "defined")
    ]
    result = ReproductionResult(0, 50, ("published", "defined"), {"figure2": ExperimentResult({}, {}, verdicts)})
    assert result.verdicts() == verdicts
    shown = json.loads(result.as_json())
    assert shown["verdicts"][1]["measurement"] == {"value": 80.4, "low": 80.0, "high": 80.8}
    assert shown["verdicts"][1]["printed"] == 84.0
    assert shown["verdicts"][1]["verdict"] == "refuted"
    assert set(shown["rules"]) == set(read_rules())


def test_assembled_verdicts_are_in_the_order_of_the_claims() -> None:
    from dataclasses import replace

    from ravenlab.tuning.reproduction.context import make_context

    experiment = find_experiment("figure2")
    keys = list(experiment.claims)
    shuffled = [
        ClaimResult(experiment.claims[key], protocol, None, ClaimVerdict.CONFIRMED, "growth", "")
        for key in reversed(keys)
        for protocol in ("defined", "published")
    ]
    changed = replace(experiment, evaluate=lambda context, pieces: ExperimentResult({}, {}, shuffled))
    ordered = changed.assemble(make_context(Path("paper")), {}).verdicts
    assert [each.claim.key for each in ordered] == [key for key in keys for _ in range(2)]
    assert [each.protocol for each in ordered] == ["published", "defined"] * len(keys)
