"""The paper's advice: printed cells first, then closing recommendations, else none."""

import csv

import pytest

from ravenlab.environments import scenarios
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.paper.numbers import FOLDER


@pytest.mark.parametrize(
    ("scenario", "horizon", "expected"),
    [
        ("variance-drift", 1000, (0.5, 0.5)),
        ("variance-drift", 10000, (1.0, 5.0)),
        ("incremental-drift", 1000, (0.5, 10.0)),
        ("incremental-drift", 10000, (1.0, 5.0)),
        ("blips", 1000, (1.0, 5.0)),
        ("blips", 10000, (5.0, 1.0)),
        ("variance-drift", 50000, (1.0, 5.0)),
        ("variance-drift", 3000, (1.0, 5.0)),
        ("variance-drift", 2999, None),
        ("incremental-drift", 2999, (0.5, 10.0)),
        ("incremental-drift", 3000, (1.0, 5.0)),
        ("gradual-drift", 1000, (0.5, 10.0)),
        ("gradual-drift", 10000, (1.0, 5.0)),
        ("blips", 999, None),
        ("blips", 5000, (5.0, 1.0)),
        ("published-variance-drift", 1000, (0.5, 0.5)),
        ("published-incremental-drift", 2000, (0.5, 10.0)),
        ("published-blips", 10000, (5.0, 1.0)),
        ("published-logistics", 50000, None),
        ("variance-drift+blips", 1000, None),
    ],
)
def test_printed_cells_precede_recommendations(
    scenario: str, horizon: int, expected: tuple[float, float] | None
) -> None:
    advice = paper_advice(scenario, horizon)
    assert advice == (None if expected is None else {"alpha0": expected[0], "beta0": expected[1], "epsilon": 0.1})


def test_other_scenarios_have_no_advice() -> None:
    advised = {name for name in scenarios() if paper_advice(name, 10000)}
    defined = {"variance-drift", "incremental-drift", "gradual-drift", "blips"}
    assert advised == defined | {f"published-{name}" for name in defined - {"gradual-drift"}}


def test_printed_regrets() -> None:
    with (FOLDER / "parameter_selection.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {row["regret"] for row in rows} == {"6.55", "27.14", "7.55", "13.48", "9.95", "202.37"}
