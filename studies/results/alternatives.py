"""Other policies than those at hand: which policy a stored comparison shows to be better, and which was not compared.

A comparison is evidence about a recommendation if both have the same problem: scenario with its settings, or content of
the recording, horizon and arms. Both must be about mean regret, and the comparison must have tuned the policies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import join_words
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.registry import untuned_policies
from ravenlab.studies.results.comparison import Comparison, ComparisonResult, Leaderboard
from ravenlab.studies.results.ranking import rank_entries
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.comparison import ComparisonSpec


@dataclass(frozen=True)
class BetterPolicy:
    """A tuned policy that is significantly better than the recommended one, also tuned, on the same held-out worlds."""

    policy: str
    params: dict[str, Value]
    """Its searched parameters."""
    regret: float
    """Its mean regret."""
    difference: Interval
    """Regret of the recommended policy minus its own, paired."""
    reduction: float | None
    """The difference as a share of the regret of the recommended policy; None on recorded data."""
    p: float
    """p-value of the difference with Holm's correction for all pairs of the comparison."""
    worse: str
    """The recommended policy."""
    comparison: str
    """Name of the comparison."""

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return {
            **{name: getattr(self, name) for name in ("policy", "params", "regret")},
            **self.difference.as_object("difference"),
            **{name: getattr(self, name) for name in ("reduction", "p", "worse", "comparison")},
        }


def find_better_policy(recommendation: Recommendation, comparisons: Iterable[Comparison]) -> BetterPolicy | None:
    """Find the best policy that a comparison of the same problem shows to be better than the recommended one.

    The difference must be significant by the comparison's own test, and the regret must be below that of the
    recommendation: a comparison may have tuned the recommended policy less well than the study did.

    >>> from ravenlab.studies.spec.comparison import ComparisonSpec
    >>> spec = ComparisonSpec(scenario="blips", horizon=1000, tune=0)
    >>> is_evidence(spec, Recommendation.model_construct(objective="mean", policy="raven-ucb"))
    False
    """
    compared = [
        _compare(rank_entries(comparison, "tuned"), recommendation, comparison.study)
        for comparison in comparisons
        if is_evidence(comparison.spec, recommendation)
    ]
    found = [better for better in compared if better is not None]
    return min(found, key=lambda better: (better.regret, better.comparison), default=None)


def is_evidence(spec: ComparisonSpec, recommendation: Recommendation) -> bool:
    """Whether a comparison can show that another policy is better than the recommended one."""
    if spec.tune == 0 or recommendation.objective != "mean" or recommendation.policy not in spec.policies:
        return False
    recorded = recommendation.recorded
    if (spec.horizon, spec.arms) != (recommendation.horizon, recommendation.arms):
        return False
    if recorded is not None:
        return (spec.digest, spec.minimize) == (recorded.digest, recorded.minimize)
    return not spec.is_recorded and (spec.scenario, dict(spec.settings)) == (
        recommendation.scenario,
        dict(recommendation.settings),
    )


def _compare(board: Leaderboard, recommendation: Recommendation, name: str) -> BetterPolicy | None:
    """Compare the best policy of a leaderboard with the recommended one."""
    best = board.best
    own = board.find(recommendation.policy)
    behind = own.behind
    if behind is None or not behind.significant or best.regret.mean >= recommendation.regret.mean:
        return None
    return BetterPolicy(
        policy=best.policy,
        params=best.entry.shown_params(),
        regret=best.regret.mean,
        difference=behind.difference,
        reduction=None if recommendation.recorded is not None else behind.difference.mean / own.regret.mean,
        p=behind.holm,
        worse=recommendation.policy,
        comparison=name,
    )


def describe_untuned_policies(results: Sequence[ComparisonResult]) -> list[str]:
    """Name the suggested policies without tuning that were not compared; nothing if all were."""
    lines: dict[str, None] = {}
    for result in results:
        spec = result.comparison.spec
        try:
            largest_rate = spec.source.open().largest_rate
        except InputError:
            continue  # the file or the plugin of a stored comparison no longer exists
        missing = [policy for policy in untuned_policies(largest_rate) if policy not in spec.policies]
        if missing:
            verb = "was" if len(missing) == 1 else "were"
            line = f"{join_words(missing, 'and')}, suggested for such rewards without tuning, {verb} not compared."
            lines[line] = None
    return list(lines)
