"""The sentences of the summary: what a recommendation is worth beside its rivals, put with care."""

from __future__ import annotations

from dashboards.report.summary import judge, overview, sentence
from studies.recommendation import Estimate, Rival
from tests.messages import assert_names
from tests.studies.made import recommendation


def test_rivals_are_put_with_care() -> None:
    paper, defaults = recommendation().versus
    each = recommendation()
    assert [judge(each, rival) for rival in each.versus] == ["worse", "unclear"]
    said = str(sentence(each, 10))
    assert_names(said, "variance-drift", "T = 1000", "α₀ = 0.25, β₀ = 4, ε = 0.0001", "41.5", "40.25 to 42.75")
    assert_names(said, "45 %", "−4.8 % to +2.4 %")
    assert_names(said, "ε")
    better = defaults.model_copy(update={"high": -0.1})
    assert_names(str(sentence(recommendation(versus=[better]))), "1.2 %")
    same = Rival(name="paper", params=each.params, regret=41.5, difference=0.0, low=0.0, high=0.0)
    assert str(sentence(recommendation(versus=[same]))) != str(sentence(recommendation(versus=[])))
    none = recommendation(regret=Estimate(mean=0.0, low=0.0, high=0.0, replications=5), versus=[paper])
    assert_names(str(sentence(none)), "18.5")
    other = recommendation(objective="cvar:0.9", policy="sw-raven", settings={"every": "5%"}, arms=3)
    assert_names(str(sentence(other, 10)), "K = 3", "every = 5%", "sw-raven")
    assert_names(str(sentence(other, 10)), "cvar:0.9")
    assert_names(overview([each, each])[0], 2)
