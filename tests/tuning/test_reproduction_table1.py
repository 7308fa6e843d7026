"""Table 1: worlds are what the table defines, and what the scripts made of it is not."""

from __future__ import annotations

import numpy as np
import pytest
from studies.reproduction.document import Outcome

from environments import find_scenario
from environments.draw import draw_worlds
from environments.world import tables
from tests.tuning.made_reproduction import run, small
from tuning.reproduction.table1 import ARMS, HORIZON


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run("table1", small())


def test_what_is_defined_keeps_to_the_table_and_what_was_published_does_not(outcome: Outcome) -> None:
    held = outcome.tables["held"]
    assert held.where(protocol="defined").column("share") == [0.0] * 3
    assert held.where(protocol="published").column("share") == [1.0] * 3
    assert held.where(protocol="published").column("changing_steps") == [2.0, 2.0, 1.0]
    assert {(each.protocol, each.word) for each in outcome.verdicts} == {
        ("published", "does not stand"),
        ("defined", "stands"),
    }


def test_the_seven_scenarios_have_the_category_of_ours(outcome: Outcome) -> None:
    listed = outcome.tables["scenarios"]
    assert len(listed) == 7
    for row in listed:
        assert row["category"] == find_scenario(row["name"]).category


@pytest.mark.parametrize(("name", "protocol"), [("blips", "published"), ("arm-churn", "defined")])
def test_drawn_points_are_those_of_the_world(outcome: Outcome, name: str, protocol: str) -> None:
    played = f"published-{name}" if protocol == "published" else name
    means, variances = tables(draw_worlds(find_scenario(played), HORIZON, ARMS, seed=0))
    points = outcome.tables["worlds"].where(scenario=name, protocol=protocol)
    assert len(points) < 300 * ARMS
    for row in points:
        for column, table in (("mean", means), ("variance", variances)):
            true = table[row["step"] - 1, row["arm"] - 1]
            assert (row[column] is None) == bool(np.isnan(true))
            if row[column] is not None:
                assert row[column] == pytest.approx(true, rel=1e-5)
