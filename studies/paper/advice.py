"""The paper's advice for a scenario, a baseline of every recommendation.

If the paper prints a best cell for the scenario and horizon (Section 4.2), that cell is the advice, else its closing
recommendations (Section 5), where "short" is read as T < 3,000. ε is 0.1, as in all of Section 4.2.
"""

from functools import lru_cache

from ravenlab.studies.paper.numbers import PUBLISHED, printed_rows, read_optima

EPSILON = 0.1
SHORT_HORIZON = 3000  # horizons below this count as short
ADVISED = "raven-ucb"  # the policy that the advice is for

CONTEXTS = {
    "high-variance environments": ("variance-drift",),
    "gradual changes": ("incremental-drift", "gradual-drift"),
    "rare events and outliers": ("blips",),
}


def paper_advice(scenario: str, horizon: int, policy: str = ADVISED) -> dict[str, float] | None:
    """Return the parameters that the paper advises; None if it gives no advice for the scenario or policy.

    >>> paper_advice("variance-drift", 10000)
    {'alpha0': 1.0, 'beta0': 5.0, 'epsilon': 0.1}
    >>> paper_advice("periodic", 10000) is None
    True
    """
    if policy != ADVISED:
        return None
    name = scenario.removeprefix(PUBLISHED)
    length = "short" if horizon < SHORT_HORIZON else "long"
    cell = _read_best_cells().get((name, horizon)) or _read_recommendations().get((name, length))
    return None if cell is None else {"alpha0": cell[0], "beta0": cell[1], "epsilon": EPSILON}


@lru_cache(maxsize=1)
def _read_best_cells() -> dict[tuple[str, int], tuple[float, float]]:
    return {(optimum.scenario, optimum.horizon): optimum.cell for optimum in read_optima()}


@lru_cache(maxsize=1)
def _read_recommendations() -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (name, row["horizon"]): (float(row["alpha0"]), float(row["beta0"]))
        for row in printed_rows("recommended_parameters.csv")
        for name in CONTEXTS[row["context"]]
    }
