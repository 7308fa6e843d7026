"""Cards: verdict, parameters and baselines, on lines that fit a phone."""

import html
import json
import re
from typing import Any, get_args

import pytest

from ravenlab.common.interval import Difference
from ravenlab.dashboards.figures import get_alt_text, plot_card
from ravenlab.dashboards.figures.card import HEADLINE_LETTERS, INNER, MAX_ROWS, TEXT_LETTERS
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.describe_comparison import comparison_card
from ravenlab.studies.results.documents import recommendation_card, robust_card
from ravenlab.studies.results.ranking import analyze_comparison
from ravenlab.studies.results.recommendation import Baseline
from ravenlab.studies.results.verdict import Decision, Verdict
from ravenlab.studies.spec.comparison import ComparisonSpec
from tests.dashboards.figures.test_worlds import make_robust
from tests.messages import assert_names
from tests.studies.examples import LINES, WILD, make_comparison, make_recommendation, make_trace_facts

BETTER = BetterPolicy("sw-raven", {"tau": 100.0}, 30.0, Difference(10.0, 9.0, 11.0), 0.25, 1e-9, "raven-ucb", "mine")
REASON = "2,000 worlds do not decide whether the defaults are within 2 % of the best candidate, which is what matters"


def read_card(figure: Any) -> list[str]:
    """Check that a card fits and describes itself; return its lines as plain text."""
    out = json.loads(figure.to_json())
    assert len(figure.to_json()) < 10_000
    assert len(get_alt_text(figure)) > 60
    bottom = out["layout"]["yaxis"]["domain"][1]
    lines = []
    for each in out["layout"]["annotations"]:
        text = html.unescape(re.sub("<[^>]*>", "", each["text"])).replace("\N{NO-BREAK SPACE}", " ")
        lines.append(text)
        assert len(text) <= (HEADLINE_LETTERS if each["font"]["size"] > 22 else TEXT_LETTERS + 1), text
        if each["yref"] == "paper":
            assert each["y"] - 1.25 * each["font"]["size"] / INNER >= bottom - 0.02, text
    return lines


def test_card_of_a_recommendation() -> None:
    lines = read_card(plot_card(recommendation_card(make_recommendation())))
    assert "Use these values" in lines
    assert {"α₀", "0.25", "β₀", "4", "ε", "0.0001"} <= set(lines)
    assert_names(" ".join(lines), "recommended: 41.5 (40.2 to 42.8)", "paper's advice: +45 % (+39 % to +51 %)")
    assert_names(" ".join(lines), "defaults: −1.2 %, inconclusive")
    assert "Another policy" not in " ".join(lines)


def test_card_names_a_better_policy() -> None:
    figure = plot_card(recommendation_card(make_recommendation(), BETTER))
    assert_names(" ".join(read_card(figure)), "Another policy is better: tuned sw-raven has 25 % less regret.")


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        (Verdict(decision="keep the defaults", set=[]), {"Keep the defaults", "α₀ · default", "ε · default"}),
        (Verdict(decision="set one parameter", set=["alpha0"]), {"Set only α₀ 0.25", "α₀", "β₀ · default"}),
        (Verdict(decision="inconclusive", set=["alpha0"], reason=REASON), {"Inconclusive", "α₀", "β₀"}),
    ],
)
def test_headlines(verdict: Verdict, lines: set[str]) -> None:
    card = plot_card(recommendation_card(make_recommendation(verdict=verdict)))
    assert lines <= set(read_card(card))
    sure = plot_card(recommendation_card(make_recommendation()))
    assert (card.data[0].marker.color == sure.data[0].marker.color) == (verdict.decision != "inconclusive")


ALL_BASELINES = [
    *make_recommendation().versus,
    Baseline(name="as constructed", params={"alpha0": 1.0}, regret=99.0, difference=57.5, low=50.0, high=60.0),
]


@pytest.mark.parametrize("decision", get_args(Decision))
@pytest.mark.parametrize("better", [None, BETTER])
def test_an_edge_is_on_every_card(decision: Decision, better: BetterPolicy | None) -> None:
    """The explanation is cut if there is not enough room, never the warning."""
    verdict = Verdict(decision=decision, set=["alpha0"], arm="b", reason=f"{REASON}, and {REASON}")
    recommendation = make_recommendation(verdict=verdict, versus=ALL_BASELINES, scenario="localized-jump+blips")
    figure = plot_card(recommendation_card(recommendation, better))
    text = " ".join(read_card(figure))
    assert "At the edge of the search range: ε." in text
    assert ("Another policy is better: tuned sw-raven has 25 % less regret." in text) == (better is not None)
    if decision == "inconclusive":
        assert "…" in text
        assert f"{REASON}. The best estimate is α₀ 0.25, β₀ 4, ε 0.0001." in get_alt_text(figure)


def test_edge_of_a_robust_setting() -> None:
    edge = make_recommendation().edge
    robust = make_robust(["blips", "periodic"]).model_copy(update={"edge": edge, "unit": 8.0})
    text = " ".join(read_card(plot_card(robust_card(robust))))
    assert_names(text, "At the edge of the search range: ε.", "reward scale 8", "scaled defaults: ")


def test_cards_state_the_scale_and_the_unit_of_regret() -> None:
    assert "scale" not in " ".join(read_card(plot_card(recommendation_card(make_recommendation()))))
    figure = plot_card(
        recommendation_card(make_recommendation(trace=make_trace_facts(["a", "b"]), versus=ALL_BASELINES))
    )
    text = " ".join(read_card(figure))
    assert_names(text, "reward scale 2", "scaled defaults: ", "as constructed: +139 % (+120 % to +145 %)")
    assert figure.layout.xaxis.title.text == "held-out regret per window of 1,000 steps, 95 % CI"


def test_identical_baselines_are_left_out() -> None:
    same = Baseline(name="defaults", params={"alpha0": 0.25}, regret=41.5, difference=0.0, low=0.0, high=0.0)
    lines = read_card(plot_card(recommendation_card(make_recommendation(versus=[same]))))
    assert not [line for line in lines if line.startswith("defaults")]


def test_cards_of_robust_results() -> None:
    scenarios = ["blips", "periodic"]
    lines = read_card(plot_card(robust_card(make_robust(scenarios))))
    assert len([line for line in lines if line.endswith(" %")]) == MAX_ROWS
    assert "α₀" in lines


def test_card_of_a_comparison() -> None:
    means = {"raven-ucb": 40.0, "sw-raven": 30.0, "ucb1": 35.0, "ccb": 50.0, "thompson": 60.0}
    spec = ComparisonSpec(scenario="blips", horizon=1000, policies=tuple(means), tune=5, replications=50)
    lines = read_card(plot_card(comparison_card(analyze_comparison(make_comparison(spec, means)))))
    assert {"sw-raven is best", "τ"} <= set(lines)
    tied = analyze_comparison(make_comparison(spec, {**means, "ucb1": 30.4}))
    assert "No single best" in read_card(plot_card(comparison_card(tied)))


@pytest.mark.parametrize("name", [WILD, LINES])
def test_hostile_names_are_escaped(name: str) -> None:
    params = {f"{name[:30]}{i}": 1.0 for i in range(6)}
    card = plot_card(recommendation_card(make_recommendation(policy=name, scenario=name, study=name, params=params)))
    read_card(card)
    shown = json.dumps(json.loads(card.to_json())["layout"]["annotations"])
    assert "<script" not in shown
    assert "\\u001b" not in shown
