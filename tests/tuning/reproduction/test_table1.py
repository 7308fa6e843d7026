"""Table 1: worlds are what the table defines, and what the scripts made of it is not."""

from __future__ import annotations

import numpy as np
import pytest

from environments import find_scenario
from environments.draw import draw_worlds
from environments.world import tables
from studies.paper.claims import Verdict
from studies.paper.results import ExperimentResult
from studies.tables import select, to_records
from tests.tuning.reproduction.made_pieces import run, small
from tuning.reproduction.table1.run import ARMS_PLOTTED, HORIZON


@pytest.fixture(scope="module")
def outcome() -> ExperimentResult:
    return run("table1", small())


def test_what_is_defined_keeps_to_the_table_and_what_was_published_does_not(outcome: ExperimentResult) -> None:
    checks = outcome.tables["checks"]
    assert select(checks, protocol="defined")["share"].tolist() == [0.0] * 3
    assert select(checks, protocol="published")["share"].tolist() == [1.0] * 3
    assert select(checks, protocol="published")["changing_steps"].tolist() == [2.0, 2.0, 1.0]
    assert {(each.protocol, each.verdict) for each in outcome.verdicts} == {
        ("published", Verdict.REFUTED),
        ("defined", Verdict.CONFIRMED),
    }


def test_the_seven_scenarios_have_the_category_of_ours(outcome: ExperimentResult) -> None:
    listed = outcome.tables["scenarios"]
    assert len(listed) == 7
    for row in to_records(listed):
        assert row["category"] == find_scenario(row["name"]).category


@pytest.mark.parametrize(("name", "protocol"), [("blips", "published"), ("arm-churn", "defined")])
def test_drawn_points_are_those_of_the_world(outcome: ExperimentResult, name: str, protocol: str) -> None:
    played = f"published-{name}" if protocol == "published" else name
    means, variances = tables(draw_worlds(find_scenario(played), HORIZON, ARMS_PLOTTED, seed=0))
    points = select(outcome.tables["worlds"], scenario=name, protocol=protocol)
    assert len(points) < 300 * ARMS_PLOTTED
    for row in to_records(points):
        for column, table in (("mean", means), ("variance", variances)):
            true = table[row["step"] - 1, row["arm"] - 1]
            assert (row[column] is None) == bool(np.isnan(true))
            if row[column] is not None:
                assert row[column] == pytest.approx(true, rel=1e-5)
