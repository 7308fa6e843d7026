"""Several comparisons together: which policies are best most often, and what policies cost that are not tuned."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.policies import find_policy
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.spec.comparison import is_tunable
from ravenlab.studies.statistics.intervals import relative_interval


def describe_overview(results: Sequence[ComparisonResult]) -> str:
    """Describe which policies are best most often over several scenarios and horizons."""
    standings = [standing for result in results for standing in result.main.standings]
    wins = Counter(standing.policy for standing in standings if standing.behind is None)
    among = Counter(standing.policy for standing in standings if standing.among_the_best)
    ordered = sorted(wins, key=lambda policy: (-wins[policy], -among[policy], policy))
    sentences = [
        f"{policy} is best in {wins[policy]} of {len(results)} cases and best or indistinguishable from the best in"
        f" {among[policy]}"
        for policy in ordered[:3]
    ]
    return f"With {results[0].main.description}: {'; '.join(sentences)}."


@dataclass(frozen=True)
class UntunedExcess:
    """Regret of a policy that is not tuned, relative to the best tuned policy of each case."""

    policy: str
    has_parameters: bool
    """Whether it has parameters that could be searched; it is then at its defaults."""
    worst: Interval
    """Largest excess as a share."""
    case: str
    """Scenario and horizon with the largest excess."""
    mean: float
    """Mean excess over the cases, as a share."""
    failure_rate: float | None
    """Mean share of worlds in which the policy fails; None if failures were not counted."""


def untuned_excess(results: Sequence[ComparisonResult]) -> list[UntunedExcess]:
    """Compare policies that are not tuned with the best tuned policy of each case, the lowest worst excess first.

    The list is empty unless policies were tuned and some have no searched parameters, and on recorded data, on which
    shares of a regret have no meaning.
    """
    specs = [result.comparison.spec for result in results]
    if any(spec.tune == 0 or spec.is_recorded or all(map(is_tunable, spec.policies)) for spec in specs):
        return []
    rows = []
    for policy in specs[0].policies:
        if find_policy(policy).hidden_knowledge() is None:
            cases = [_excess_over_tuned(result, policy) for result in results]
            worst, case, _ = max(cases, key=lambda compared: compared[0].mean)
            rates = [rate for _, _, rate in cases if rate is not None]
            mean = float(np.mean([share.mean for share, _, _ in cases]))
            rate = float(np.mean(rates)) if rates else None
            rows.append(UntunedExcess(policy, is_tunable(policy), worst, case, mean, rate))
    return sorted(rows, key=lambda row: (row.worst.mean, row.policy))


def _excess_over_tuned(result: ComparisonResult, policy: str) -> tuple[Interval, str, float | None]:
    entries = result.comparison.entries
    deployable = [entry for entry in entries if find_policy(entry.policy).hidden_knowledge() is None]
    best = min(
        (entry for entry in deployable if entry.setting == "tuned"), key=lambda entry: float(entry.regret.mean())
    )
    own = next(entry for entry in deployable if (entry.policy, entry.setting) == (policy, "defaults"))
    share = relative_interval(own.regret, best.regret, result.comparison.spec.seed)
    return share, result.label, own.failure_rate
