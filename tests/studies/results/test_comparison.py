"""Descriptions of comparisons: policies that tuning did not help."""

from dataclasses import replace

from ravenlab.dashboards.figures import get_alt_text, plot_card
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.describe_comparison import comparison_card, describe_result
from ravenlab.studies.results.ranking import analyze_comparison
from ravenlab.studies.spec.comparison import ComparisonSpec
from tests.dashboards.figures.test_card import read_card
from tests.studies.examples import make_comparison

MEANS = {"raven-ucb": 40.0, "sw-raven": 30.0, "ucb1": 35.0}


def compare(*failed: str) -> ComparisonResult:
    """Make a comparison in which these policies have 30 more regret at their tuned parameters."""
    spec = ComparisonSpec(scenario="blips", horizon=1000, policies=tuple(MEANS), tune=5, replications=50)
    means = {name: mean - 30.0 * (name in failed) for name, mean in MEANS.items()}
    comparison = make_comparison(spec, means)
    entries = [
        replace(entry, regret=entry.regret + 30.0 * (entry.policy in failed and entry.setting == "tuned"))
        for entry in comparison.entries
    ]
    return analyze_comparison(replace(comparison, entries=tuple(entries)))


def test_tuning_that_helps_is_described_for_the_best_policy_only() -> None:
    text = " ".join(describe_result(compare()))
    assert "Tuning reduced the regret of sw-raven" in text
    assert "did not help" not in text


def test_all_policies_that_tuning_did_not_help_are_named() -> None:
    """The best policy is named with the same words as the others."""
    for failed in (("ucb1",), ("sw-raven",), ("sw-raven", "raven-ucb")):
        result = compare(*failed)
        assert result.main.best.policy == "sw-raven"
        (line,) = [line for line in describe_result(result) if "did not help" in line]
        assert line.startswith("Tuning did not help ")
        assert line.count(" tuned, ") == len(failed)
        assert all(f"{name} (" in line for name in failed)
        assert f" {'With' if 'sw-raven' in failed else 'with'} all policies at" in " ".join(describe_result(result))
        card = plot_card(comparison_card(result))
        assert "Tuning did not help" in " ".join(read_card(card))
        assert line in get_alt_text(card)
