"""Better policies in stored comparisons: the rules of evidence, the stored form, and exports that do not change."""

import json
from pathlib import Path
from typing import Any

import pytest

from ravenlab.dashboards.pages.report.data import load_report_data
from ravenlab.studies.export import FORMATS
from ravenlab.studies.results.alternatives import find_better_policy, is_evidence
from ravenlab.studies.results.describe_recommendation import describe_better_policy
from ravenlab.studies.results.ranking import rank_entries
from ravenlab.studies.results.recommendation import Estimate
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import find_better_policies
from tests.command import printed
from tests.messages import assert_names
from tests.studies.examples import make_comparison, make_recommendation, store_comparison, store_recommendations

# The parameters of the law, so that the law is not better than this stored study.
RECOMMENDATION = make_recommendation(params={"alpha0": 0.969, "beta0": 0.166, "epsilon": 0.0551})
MEANS = {"raven-ucb": 40.0, "sw-raven": 30.0, "ucb1": 32.0}


def make_spec(**changes: Any) -> ComparisonSpec:
    fields = {"scenario": "variance-drift", "horizon": 1000, "policies": tuple(MEANS), "tune": 5, "replications": 100}
    return ComparisonSpec(**{**fields, **changes})


def test_the_best_policy_is_found_with_the_test_of_the_comparison() -> None:
    comparison = make_comparison(make_spec(), MEANS)
    better = find_better_policy(RECOMMENDATION, [comparison])
    assert better is not None
    own = rank_entries(comparison, "tuned").find("raven-ucb")
    assert own.behind is not None
    assert (better.policy, better.worse, better.comparison) == ("sw-raven", "raven-ucb", comparison.study)
    assert (better.difference, better.p) == (own.behind.difference, own.behind.holm)
    assert better.difference.contains(10.0)
    assert better.reduction == pytest.approx(10.0 / 45.0, rel=0.05)
    assert set(better.params) == {"alpha0", "beta0", "epsilon", "tau"}
    assert json.loads(json.dumps(better.as_object())) == better.as_object()
    assert_names(describe_better_policy(better), "sw-raven", "raven-ucb", "22 %", comparison.study)


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": "blips"},
        {"settings": {"noise": "laplace"}},
        {"horizon": 2000},
        {"arms": 5},
        {"tune": 0},
        {"policies": ("sw-raven", "ucb1")},
    ],
)
def test_other_problems_are_no_evidence(changes: dict[str, Any]) -> None:
    assert is_evidence(make_spec(), RECOMMENDATION)
    spec = make_spec(**changes)
    assert not is_evidence(spec, RECOMMENDATION)
    assert find_better_policy(RECOMMENDATION, [make_comparison(spec, MEANS)]) is None


def test_other_objectives_and_recordings_are_no_evidence() -> None:
    spec = make_spec()
    assert not is_evidence(spec, make_recommendation(objective="quantile:0.9"))
    recorded = spec.model_copy(update={"trace": "trace.csv", "digest": "1"})
    assert not is_evidence(recorded, RECOMMENDATION)


@pytest.mark.parametrize("means", [{**MEANS, "raven-ucb": 29.0}, {**MEANS, "raven-ucb": 30.05}])
def test_an_insignificant_difference_is_not_mentioned(means: dict[str, float]) -> None:
    assert find_better_policy(RECOMMENDATION, [make_comparison(make_spec(), means)]) is None


def test_a_comparison_that_tuned_the_policy_less_well_is_not_mentioned() -> None:
    well_tuned = make_recommendation(regret=Estimate(mean=20.0, low=19.0, high=21.0, replications=2000))
    assert find_better_policy(well_tuned, [make_comparison(make_spec(), MEANS)]) is None


def test_the_lowest_regret_of_several_comparisons_is_mentioned() -> None:
    first = make_comparison(make_spec(name="first"), MEANS)
    second = make_comparison(make_spec(name="second"), {**MEANS, "ucb1": 25.0})
    for order in ([first, second], [second, first]):
        better = find_better_policy(RECOMMENDATION, order)
        assert better is not None
        assert (better.policy, better.comparison) == ("ucb1", "second")


def test_displays_mention_it_and_exports_do_not_change(tmp_path: Path) -> None:
    url = store_recommendations(tmp_path / "s.sqlite3", RECOMMENDATION)

    def print_out(*words: str) -> str:
        return printed(*words, "--storage", url)

    recommend = ("recommend", "variance-drift", "--horizon", "1000")
    exports = {form: print_out("export", "--format", form) for form in FORMATS}
    before = json.loads(print_out("show", "raven-ucb", "--json"))
    assert before["better_policy"] is None
    storage = open_storage(url, create=False)
    store_comparison(storage, make_comparison(make_spec(name="unfinished"), MEANS), done=3)
    assert find_better_policies(storage, [RECOMMENDATION]) == {}
    comparison = make_comparison(make_spec(), MEANS)
    store_comparison(storage, comparison)
    better = find_better_policies(storage, [RECOMMENDATION])
    assert better == {RECOMMENDATION.study: find_better_policy(RECOMMENDATION, [comparison])}
    (study,) = load_report_data(storage, url).studies
    assert study.better == better[RECOMMENDATION.study]
    storage.engine.dispose()
    assert {form: print_out("export", "--format", form) for form in FORMATS} == exports
    sentence = describe_better_policy(better[RECOMMENDATION.study])
    for words in (recommend, ("show", "raven-ucb")):
        assert sentence in print_out(*words)
        shown = json.loads(print_out(*words, "--json"))
        assert shown["better_policy"] == better[RECOMMENDATION.study].as_object()
    assert shown["recommendation"] == before["recommendation"]
