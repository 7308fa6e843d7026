"""Table 1: our worlds satisfy the definitions of the table; those of the authors' script do not."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import select, to_records
from ravenlab.tuning.reproduction.table1 import ARMS_PLOTTED, HORIZON
from tests.tuning.reproduction.synthetic import run_experiment, small_context


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return run_experiment("table1", small_context())


def test_only_the_defined_scenarios_satisfy_the_table(result: ExperimentResult) -> None:
    checks = result.tables["checks"]
    assert select(checks, protocol="defined")["share"].tolist() == [0.0] * 3
    assert select(checks, protocol="published")["share"].tolist() == [1.0] * 3
    assert select(checks, protocol="published")["changing_steps"].tolist() == [2.0, 2.0, 1.0]
    assert {(verdict.protocol, verdict.verdict) for verdict in result.verdicts} == {
        ("published", ClaimVerdict.REFUTED),
        ("defined", ClaimVerdict.CONFIRMED),
    }


def test_the_seven_scenarios_have_our_categories(result: ExperimentResult) -> None:
    scenarios = result.tables["scenarios"]
    assert len(scenarios) == 7
    for row in to_records(scenarios):
        assert row["category"] == find_scenario(row["name"]).category


@pytest.mark.parametrize(("name", "protocol"), [("blips", "published"), ("arm-churn", "defined")])
def test_plotted_points_are_those_of_the_world(result: ExperimentResult, name: str, protocol: str) -> None:
    played = f"published-{name}" if protocol == "published" else name
    means, variances = world_tables(draw_worlds(find_scenario(played), HORIZON, ARMS_PLOTTED, seed=0))
    points = select(result.tables["worlds"], scenario=name, protocol=protocol)
    assert len(points) < 300 * ARMS_PLOTTED
    for row in to_records(points):
        for column, table in (("mean", means), ("variance", variances)):
            true = table[row["step"] - 1, row["arm"] - 1]
            assert (row[column] is None) == bool(np.isnan(true))
            if row[column] is not None:
                assert row[column] == pytest.approx(true, rel=1e-5)
