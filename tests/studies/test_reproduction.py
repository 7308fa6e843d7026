"""Claims, tables and rules: what the verdicts of a reproduction rest on."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.advice import printed_rows
from studies.reproduction.claims import LOGISTICS, NUMBERS, OPTIMA, claims
from studies.reproduction.document import Document, Outcome
from studies.reproduction.rule_words import RULES
from studies.reproduction.rules import (
    DEAR,
    WORDS,
    Measured,
    Verdict,
    judge_all_above,
    judge_best,
    judge_cell,
    judge_cost,
    judge_growth,
    judge_number,
)
from studies.reproduction.tables import Table
from tests.messages import raises_naming


def test_every_printed_number_is_a_claim_with_its_place() -> None:
    found = claims()
    assert sum(claim.group == NUMBERS for claim in found.values()) == 27
    assert sum(claim.group == OPTIMA for claim in found.values()) == 12
    assert all(claim.place and claim.text for claim in found.values())
    for row in printed_rows("logistics_table.csv"):
        policy = LOGISTICS[row["policy"]]
        assert found[f"table3-{policy}-regret"].printed == float(row["cumulative_regret"])
        assert found[f"table3-{policy}-reward"].printed == float(row["cumulative_reward"])
        assert found[f"table3-{policy}-pulls"].printed == float(row["suboptimal_pulls"])
    assert found["figure3-blips-10000-regret"].printed == 202.37


def test_a_table_survives_json_and_csv() -> None:
    table = Table.of(
        [{"name": 'a,"b"', "x": np.float64(0.1), "n": np.int64(3), "yes": np.bool_(True), "none": float("nan")}]
    )
    written = json.loads(json.dumps(table.as_object()))
    assert Table(tuple(written["columns"]), tuple(map(tuple, written["rows"]))) == table
    (row,) = csv.DictReader(io.StringIO(table.as_csv()))
    assert (row["name"], float(row["x"]), row["n"], row["yes"], row["none"]) == ('a,"b"', 0.1, "3", "True", "")


def test_a_table_refuses_rows_of_another_kind() -> None:
    with raises_naming(ValueError, "a", "b"):
        Table.of([{"a": 1}, {"b": 1}])
    with raises_naming(TypeError, "[1]"):
        Table.of([{"a": [1]}])
    with pytest.raises(ValueError, match="not enough values"):
        Table.of([{"a": 1}]).one(a=2)


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
    word = judge_number(printed, Measured(value, value - half, value + half), error, paper)
    apart = abs(printed - value)
    if word == "does not stand":
        assert apart > 3 * max(error, paper) * 0.999
        assert apart >= half * 0.999
    elif word == "not decidable":
        assert 2 * half > 0.499 * abs(printed)
    elif word == "within noise":
        assert apart <= 3 * (error + paper) * 1.001
    else:
        assert apart <= half * 1.001 + 1e-9


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 3)), min_size=1), st.floats(-5, 5))
def test_intervals_decide_thresholds(pairs: list[tuple[float, float]], threshold: float) -> None:
    ours = [Measured(middle, middle - half, middle + half) for middle, half in pairs]
    word = judge_all_above(threshold, ours)
    assert (word == "does not stand") == any(each.high < threshold for each in ours)
    assert (word == "stands") == all(each.low > threshold for each in ours)
    for each in ours:
        grown = judge_growth(each)
        assert grown == ("stands" if each.low > 0 else "does not stand" if each.high < 0 else "not decidable")
        cost = judge_cost(each)
        assert cost == ("stands" if each.high < DEAR else "does not stand" if each.low > DEAR else "not decidable")


def test_who_is_best_and_which_cell() -> None:
    assert judge_best(True, [True, True], [False, False]) == "stands"
    assert judge_best(True, [True, False], [False, False]) == "within noise"
    assert judge_best(False, [True, False], [False, False]) == "not decidable"
    assert judge_best(False, [True, False], [False, True]) == "does not stand"
    assert judge_cell(True, 0.0) == "stands"
    assert judge_cell(False, 0.05) == "within noise"
    assert judge_cell(False, 0.049) == "does not stand"


def test_a_document_lists_verdicts_in_the_order_of_the_claims() -> None:
    ours = Measured(80.4, 80.0, 80.8)
    late = Verdict("figure2-84", "defined", ours, "does not stand", "number", "It is 80.4 %.")
    early = Verdict("figure1-means-settle", "defined", None, "stands", "growth", "They do.")
    again = Verdict("figure2-84", "published", ours, "does not stand", "number", "It is 80.4 %.")
    document = Document(0, 50, ("published", "defined"), {"figure2": Outcome({}, {}, [late, early, again])})
    assert document.verdicts() == [early, again, late]
    shown = json.loads(document.as_json())
    assert shown["verdicts"][1]["ours"] == {"value": 80.4, "low": 80.0, "high": 80.8}
    assert shown["verdicts"][1]["printed"] == 84.0
    assert set(shown["rules"]) == set(RULES)
    assert {verdict["verdict"] for verdict in shown["verdicts"]} <= set(WORDS)
