"""What the paper advises for a scenario: the rival that every recommendation is measured against.

First the cell that the paper prints for the very scenario and horizon (Section 4.2), else its closing
guidance (Section 5), where "short" means T < 3000. ε is 0.1, as in all of Section 4.2.
"""

from __future__ import annotations

from functools import lru_cache

from studies.paper.numbers import PUBLISHED, SCENARIOS, printed_rows

EPSILON = 0.1
SHORT_HORIZON = 3000
"""Horizons below this are short."""

ADVISED = "raven-ucb"
"""The policy that the paper advises on."""

CONTEXTS = {
    "high-variance environments": ("variance-drift",),
    "gradual changes": ("incremental-drift", "gradual-drift"),
    "rare events and outliers": ("blips",),
}


def paper_advice(scenario: str, horizon: int, policy: str = ADVISED) -> dict[str, float] | None:
    """The paper's parameters for a policy in a scenario; None where it has no advice, as for all others.

    >>> paper_advice("variance-drift", 10000)
    {'alpha0': 1.0, 'beta0': 5.0, 'epsilon': 0.1}
    >>> paper_advice("periodic", 10000) is None
    True
    """
    if policy != ADVISED:
        return None
    name = scenario.removeprefix(PUBLISHED)
    found = _cells().get((name, horizon)) or _guidance().get((name, "short" if horizon < SHORT_HORIZON else "long"))
    return None if found is None else {"alpha0": found[0], "beta0": found[1], "epsilon": EPSILON}


@lru_cache(maxsize=1)
def _cells() -> dict[tuple[str, int], tuple[float, float]]:
    return {
        (SCENARIOS[row["scenario"]], int(row["horizon"])): (float(row["alpha0"]), float(row["beta0"]))
        for row in printed_rows("parameter_selection.csv")
    }


@lru_cache(maxsize=1)
def _guidance() -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (name, row["horizon"]): (float(row["alpha0"]), float(row["beta0"]))
        for row in printed_rows("recommended_parameters.csv")
        for name in CONTEXTS[row["context"]]
    }
