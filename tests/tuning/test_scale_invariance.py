"""A recommendation does not depend on the unit of the rewards: settings in other units give the same one, converted."""

import pytest

from tools.evidence.own_data import draw_problem, scale_faults


@pytest.mark.parametrize("seed", [1, 5])
def test_recommendations_convert_to_other_units(seed: int) -> None:
    problem = {**draw_problem(seed), "horizon": 500}
    assert scale_faults(problem, trials=20, replications=10, selection=200, report=200) == []
