"""Results in Python: the short text leads with the answer, cards are safe and small, tables have usual types."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from ravenlab.common.documents import ResultList
from ravenlab.common.terminal import print_document
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.diagnosis import diagnose
from ravenlab.studies.laws.recommendation import RecommendationQuery, RecommendedParameters, recommend_parameters
from ravenlab.studies.results.describe_recommendation import describe_verdict
from ravenlab.studies.results.documents import recommendation_document
from ravenlab.studies.results.recommendation import Recommendation
from tests.dashboards.figure_checks import make_grid
from tests.dashboards.figures.test_worlds import make_robust
from tests.studies.examples import LINES, WILD, make_recommendation, make_trace_facts

SIMULATION = simulate("ucb1", "blips", horizon=50, arms=3, replications=4, seed=1)
WILD_RECOMMENDATION = make_recommendation(study=LINES, scenario=WILD)


def results() -> list[Any]:
    return [
        make_recommendation(),
        WILD_RECOMMENDATION,
        make_grid(),
        SIMULATION,
        diagnose(np.random.default_rng(1).normal(size=(400, 2)), ["<b>a</b>", "b"]),
        diagnose(np.zeros((10, 2))),
        RecommendedParameters("stored", "raven-ucb", "blips", {}, 9, 5, {"alpha0": 1.0}, WILD_RECOMMENDATION),
        recommend_parameters(RecommendationQuery("blips", 5000, settings={"times": "geometric"}), []),
        ResultList([make_recommendation(), WILD_RECOMMENDATION]),
        ResultList([SIMULATION] * 100),
    ]


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_text_and_card(result: Any) -> None:
    text, card = repr(result), result._repr_html_()
    assert str(result) == text
    assert "\x1b" not in text + card
    assert "<script" not in card
    assert "<b>a" not in card
    assert not re.search(r"https?:|url\(|<link|<img", card)
    assert len(card) < 40_000
    style, content = card.split("</style>")
    assert card.count("<style>") == 1
    assert not re.search(r"[^-]color:(?!inherit)|font-family", style.split(".map")[0])  # colors of the notebook
    assert content.count("<div") == content.count("</div>")


def test_the_first_line_is_the_answer() -> None:
    recommendation = make_recommendation()
    first, warning, regret, baselines, assumption, label = repr(recommendation).splitlines()
    assert f"{first} {warning}" == describe_verdict(recommendation)
    assert "edge of the search range" in warning
    assert f'<p class="warning">{warning}</p>' in recommendation._repr_html_()
    assert "41.5" in regret
    assert "+45 %" in baselines  # the paper's advice: 18.5 / 41.5
    assert "immediate rewards" in assumption
    assert recommendation.study in label
    assert first in recommendation._repr_html_()
    assert repr(make_grid()).startswith("Best cell")
    assert repr(SIMULATION).startswith("ucb1: mean regret")


def test_another_scale_of_the_rewards_and_the_unit_of_regret_are_stated() -> None:
    scaled = make_recommendation(unit=8.0)
    card = recommendation_document(scaled)
    assert "the scaled defaults −1.2 %" in repr(scaled)
    assert "The scale of the rewards is 8 times" in repr(scaled)
    assert not [line for line in card.details if line in card.facts]
    assert "The scaled defaults" in scaled._repr_html_()
    trace = make_recommendation(trace=make_trace_facts(["a", "b"]))
    assert '<th scope="col">Mean regret per window of 1,000 steps (95 % CI)</th>' in trace._repr_html_()
    robust = make_robust(["blips", "periodic"]).model_copy(update={"unit": 8.0})
    assert "The scale of the rewards is 8 times" in repr(robust)
    assert "Scaled defaults" in robust._repr_html_()


def test_a_grid_states_another_scale_of_the_rewards(capsys: pytest.CaptureFixture[str]) -> None:
    scale = "The scale of the rewards is 8 times that of the scenario at its default settings"
    for unit in (1.0, 8.0):
        grid = make_grid(unit=unit)
        print_document(grid.to_document())
        surfaces = [capsys.readouterr().out, repr(grid), grid._repr_html_()]
        assert [scale in " ".join(text.split()) for text in surfaces] == [unit == 8.0] * 3


def test_tables_have_usual_types() -> None:
    frame = make_recommendation().to_frame()
    assert frame["setting"].tolist() == ["recommended", "paper", "defaults"]
    assert frame["regret"].tolist() == [41.5, 60.0, 41.0]
    assert frame["significant"].tolist() == [False, True, False]
    assert frame["significant"].dtype == bool
    assert frame["regret"].dtype == frame["alpha0"].dtype == np.float64
    grid = make_grid()
    cells = grid.to_frame()
    assert len(cells) == grid.mean.size
    best = cells.loc[cells["regret"].idxmin()]
    assert (best["alpha0"], best["beta0"]) == (grid.spec.alpha0[grid.best[0]], grid.spec.beta0[grid.best[1]])
    np.testing.assert_allclose(cells.pivot(index="alpha0", columns="beta0", values="regret").to_numpy(), grid.mean)


def test_lists_of_results_are_lists() -> None:
    several = ResultList([make_recommendation(), make_recommendation(horizon=5000)])
    assert isinstance(several, list)
    assert several[1:] == [make_recommendation(horizon=5000)]
    assert several.to_frame()["horizon"].tolist() == [1000] * 3 + [5000] * 3
    assert list(ResultList([SIMULATION]).to_frame().columns[:4]) == ["policy", "scenario", "horizon", "arms"]
    assert "policy" not in SIMULATION.to_frame()
    assert repr(ResultList[Recommendation]()) == "[]"


def test_a_grid_that_marks_no_cell_is_described() -> None:
    grid = make_grid()
    damaged = dataclasses.replace(grid, indistinguishable=np.zeros_like(grid.indistinguishable))
    assert "cells are significantly worse" in repr(damaged)
