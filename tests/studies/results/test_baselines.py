"""A baseline has the same relation to the recommendation on every surface."""

import re
from collections.abc import Callable

import pytest

from ravenlab.common.interval import Interval
from ravenlab.common.terminal import print_document
from ravenlab.dashboards.figures.card import plot_card
from ravenlab.dashboards.figures.intervals import plot_recommendations
from ravenlab.dashboards.pages.report.lanes import make_lanes
from ravenlab.dashboards.pages.report.table import make_recommendation_table
from ravenlab.dashboards.pages.report.tally import count_relations
from ravenlab.studies.export import export
from ravenlab.studies.results.baselines import BaselineComparison, Relation, describe_stake, relate
from ravenlab.studies.results.describe_recommendation import describe_recommendation
from ravenlab.studies.results.documents import recommendation_card, recommendation_document, recommendations_documents
from ravenlab.studies.results.recommendation import Baseline, Recommendation
from tests.studies.examples import make_recommendation, make_trace_facts

OTHER: dict[str, float | str] = {"alpha0": 9.5}
RECOMMENDED: dict[str, float | str] = {"alpha0": 0.25, "beta0": 4.0, "epsilon": 0.0001}

CASES: list[tuple[str, Relation, dict[str, float | str], Interval]] = [
    ("same parameters", "same", RECOMMENDED, Interval(0.0, 0.0, 0.0)),
    ("same regret with other parameters", "same", OTHER, Interval(0.0, 0.0, 0.0)),
    ("tied", "tied", OTHER, Interval(0.2, -0.3, 0.7)),
    ("significant, but tied", "tied", OTHER, Interval(0.5, 0.3, 0.7)),
    ("better", "better", OTHER, Interval(-5.0, -7.0, -3.0)),
    ("worse", "worse", OTHER, Interval(18.5, 16.0, 21.0)),
    ("inconclusive", "inconclusive", OTHER, Interval(-0.5, -2.0, 1.0)),
]


def recommend_with(
    params: dict[str, float | str], difference: Interval, decidable: bool | None = None
) -> Recommendation:
    """Make a recommendation (regret 41.5) with one baseline."""
    baseline = Baseline(
        name="defaults",
        params=params,
        regret=41.5 + difference.mean,
        difference=difference.mean,
        low=difference.low,
        high=difference.high,
        decidable=decidable,
    )
    return make_recommendation(versus=[baseline], edge=[])


def read_note(recommendation: Recommendation) -> str:
    note = recommendation_document(recommendation).to_markdown()
    (line,) = [line for line in note.splitlines() if line.startswith("| The defaults")]
    return line


def read_show(recommendation: Recommendation) -> str:
    (line,) = [line for line in describe_recommendation(recommendation)[1:] if line.startswith("The defaults")]
    return line


def read_notebook(recommendation: Recommendation) -> str:
    return recommendation._repr_html_().split('<td class="text">The defaults')[1].split("</tr>")[0]


def read_card(recommendation: Recommendation) -> str:
    return str(plot_card(recommendation_card(recommendation)).layout.to_plotly_json())


def read_intervals(recommendation: Recommendation) -> str:
    return str([trace.text for trace in plot_recommendations([recommendation]).data if "defaults" in trace.name])


SURFACES: dict[str, Callable[[Recommendation], str]] = {
    "show": read_show,
    "notebook": read_notebook,
    "note": read_note,
    "card": read_card,
    "figure": read_intervals,
    "report": lambda found: make_lanes(found)[1].detail,
    "markdown": lambda found: export([found], "markdown").splitlines()[-1],
}


@pytest.mark.parametrize(("case", "relation", "params", "difference"), CASES, ids=[case[0] for case in CASES])
def test_every_surface_shows_the_same_relation(
    case: str,
    relation: Relation,
    params: dict[str, float | str],
    difference: Interval,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recommendation = recommend_with(params, difference)
    (comparison,) = recommendation.comparisons
    assert comparison.relation == relation
    texts = {name: read(recommendation) for name, read in SURFACES.items()}
    for document in recommendations_documents([recommendation]):
        print_document(document)
    texts["terminal"] = capsys.readouterr().out
    expected = {"same": ["identical"], "tied": ["tied"], "inconclusive": ["inconclusive"]}.get(relation, [])
    for name, text in texts.items():
        if relation == "same" and name == "card":
            assert "defaults:" not in text, "a card leaves out what is identical"
            continue
        found = [word for word in ("identical", "tied", "inconclusive") if re.search(rf"\b{word}\b", text)]
        assert found == expected, (name, text)
    _, (row,) = make_recommendation_table([recommendation], ["a"], ["A"])
    assert (row.cells[-1].text == "identical") == (relation == "same")
    assert (row.cells[-1].detail == "≈") == (relation in ("tied", "inconclusive"))
    label = {"same": "identical", "worse": "better", "better": "worse"}.get(relation, relation)
    (tally,) = count_relations([recommendation])
    assert [(tally.title, count.label, count.number) for count in tally.counts] == [("the defaults", label, 1)]
    assert list(recommendation.to_frame()["relation"]) == ["same", relation]


def test_data_that_decide_nothing_are_inconclusive_whatever_the_interval() -> None:
    found = recommend_with(OTHER, Interval(18.5, 16.0, 21.0), decidable=False)
    assert found.comparisons[0].relation == "inconclusive"
    assert relate(Interval(0.0, 0.0, 0.0), 41.5, conclusive=False) == "same"


def test_more_regret_on_recorded_data_has_a_unit() -> None:
    """A number alone could be the regret of a step, a window or the whole horizon."""
    worse = Interval(18.5, 16.0, 21.0, of="difference")
    simulated = BaselineComparison("defaults", "the defaults", "worse", worse, reference=50.0)
    assert describe_stake(simulated) == "The defaults have 37 % more regret."
    for unit in (" per window of 60 steps", " per step"):
        recorded = BaselineComparison("defaults", "the defaults", "worse", worse, unit=unit)
        assert describe_stake(recorded) == f"The defaults have 18.5 more regret{unit}."


def test_only_recorded_data_have_an_alternative_to_the_policy() -> None:
    assert make_recommendation().alternative_comparisons == []
    assert make_recommendation(trace=make_trace_facts(["a", "b"])).alternative_comparisons == []
