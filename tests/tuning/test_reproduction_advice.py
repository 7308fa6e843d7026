"""The advice of Section 5: every line is priced where it is meant to help, against a validated recommendation."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.reproduction.document import Document
from studies.reproduction.rules import Measured, judge_cost
from tuning.reproduction.running import reproduce

from tuning.crew import LocalCrew
from tuning.reproduction.advice import lines
from tuning.reproduction.context import Context


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder: Path = tmp_path_factory.mktemp("advice")
    context = Context(0, 2, ("defined",), LocalCrew(2), f"sqlite:///{folder}/searches.sqlite3")
    return reproduce(["advice"], context, folder)


def test_every_line_is_meant_for_what_the_paper_says() -> None:
    published, defined = lines(["published"]), lines(["defined"])
    assert [(each.claim, each.world, each.horizon) for each in published] == [
        ("advice-1-long", "published-variance-drift", 10000),
        ("advice-2-long", "published-incremental-drift", 10000),
        ("advice-2-short", "published-incremental-drift", 1000),
        ("advice-3-long", "published-blips", 10000),
    ]
    assert len(defined) == 6
    assert {each.claim for each in defined} == {each.claim for each in published}
    assert {each.world for each in defined if each.number == "2"} == {"incremental-drift", "gradual-drift"}
    assert {(each.alpha0, each.beta0) for each in defined if each.claim == "advice-2-short"} == {(0.5, 10.0)}


def test_costs_and_verdicts_follow_from_the_regrets(document: Document) -> None:
    outcome = document.outcomes["advice"]
    for row in outcome.tables["costs"]:
        assert row["cost"] == pytest.approx(row["advised_regret"] / row["recommended_regret"] - 1, abs=1e-9)
        assert row["cost_low"] <= row["cost"] <= row["cost_high"]
        assert row["verdict"] == judge_cost(Measured(row["cost"], row["cost_low"], row["cost_high"]))
    assert [verdict.claim for verdict in document.verdicts()] == [
        "advice-1-long",
        "advice-2-long",
        "advice-2-short",
        "advice-3-long",
    ]
    for verdict in outcome.verdicts:
        mine = [row for row in outcome.tables["costs"] if f"advice-{row['advice']}-{row['term']}" == verdict.claim]
        assert verdict.ours is not None
        assert verdict.ours.value == pytest.approx(100 * max(row["cost"] for row in mine))
        if any(row["verdict"] == "does not stand" for row in mine):
            assert verdict.word == "does not stand"


def test_advice_for_gradual_changes_is_dear_even_at_a_glance(document: Document) -> None:
    """The costs are far beyond what the smallest search and few worlds leave open."""
    verdict = next(each for each in document.verdicts() if each.claim == "advice-2-long")
    assert verdict.word == "does not stand"
    assert verdict.ours is not None
    assert verdict.ours.low > 5.0
