"""Figures of searches over several scenarios: the matrix of prices."""

from typing import Any

import pytest

from ravenlab.dashboards.figures import get_alt_text, plot_prices
from ravenlab.dashboards.pages.report.data import ReportData
from ravenlab.dashboards.pages.report.page import render_report
from ravenlab.studies.results.documents import robust_document
from ravenlab.studies.results.recommendation import Estimate, RewardStatistics
from ravenlab.studies.results.robust import EvaluatedSetting, Price, RobustRecommendation, ScenarioOutcome, TunedSetting
from ravenlab.studies.results.verdict import Verdict
from tests.dashboards.figure_checks import check_figure, shown_text
from tests.messages import assert_names

WILD = "<b>%{x}"
PARAMS: dict[str, float | str] = {"alpha0": 1.5, "beta0": 2.0}


def world(scenario: str, price: float) -> ScenarioOutcome:
    regret = Estimate(mean=50 + 50 * price, low=45.0, high=120.0, replications=300)
    return ScenarioOutcome(
        scenario=scenario, regret=regret, price=Price(mean=price, low=price - 0.05, high=price + 0.05)
    )


def contender(name: str, scenarios: list[str], shares: list[float], **more: Any) -> dict[str, Any]:
    worst = max(shares)
    return {
        "name": name, "params": PARAMS, "worlds": [world(*pair) for pair in zip(scenarios, shares, strict=True)],
        "price": Price(mean=worst, low=worst - 0.05, high=worst + 0.05), **more,
    }  # fmt: skip


def common(scenarios: list[str]) -> dict[str, Any]:
    return {
        "study": "robust/mine", "policy": "raven-ucb", "scenario": ",".join(scenarios), "scenarios": scenarios,
        "horizon": 1000, "arms": 10, "trials": 20, "seed": 0, "version": "0.1.0",
        "tuned": [TunedSetting(scenario=name, study=name, params=PARAMS) for name in scenarios],
    }  # fmt: skip


def make_robust(scenarios: list[str]) -> RobustRecommendation:
    rows = [contender("recommended", scenarios, [0.1, -0.02])]
    rows += [
        contender(f"tuned for {name}", scenarios, [0.0 if s == n else 1.5 for s in range(2)], tuned_for=name)
        for n, name in enumerate(scenarios)
    ]
    rows.append(contender("defaults", scenarios, [0.3, 0.4]))
    return RobustRecommendation(
        **common(scenarios), verdict=Verdict(decision="use these values", set=list(PARAMS)),
        params=PARAMS, measure="worst", price=Price(mean=0.1, low=0.05, high=0.15),
        search_estimate=1.05, indistinguishable=[PARAMS], box={}, contenders=[EvaluatedSetting(**row) for row in rows],
        importance=None, scales=[RewardStatistics(mean=0.5, spread=0.2)] * 2,
    )  # fmt: skip


def test_the_matrix_shows_every_price() -> None:
    figure = plot_prices(make_robust(["blips", WILD]))
    out = check_figure(figure)
    cells, labels = out["data"]
    assert cells["z"][-1] == pytest.approx([0.1**0.5, 0.0], rel=1e-3)
    assert labels["text"][-2:] == ["<b>10 %</b><br>55", "<b>−2.0 %</b><br>49"]
    assert_names(get_alt_text(figure), "tuned for blips: 0.0 % in blips, 150 %")
    assert WILD not in shown_text(out)


def test_note_and_report_state_the_price() -> None:
    robust = make_robust(["blips", WILD])
    assert_names(robust_document(robust).to_markdown(), "α₀", 1.5, "β₀", 2, "10 %")
    page = render_report(
        ReportData("here", [], robust=[robust], unfinished_robust=["robust/unfinished"], fronts=["pareto/stored"])
    )
    assert_names(page, "10 %", "5.0 % to 15 %", "150 %")
    assert "robust/unfinished" in page
    assert_names(page, "pareto/stored", "no longer supported")
    assert WILD not in page.partition("<script")[0]
