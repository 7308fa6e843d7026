"""Access to the numbers printed in the paper, and its names of scenarios and policies."""

import csv
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent

PUBLISHED = "published-"  # prefix of the scenarios and policies of the authors' scripts

SCENARIOS = {
    "Variance Drift": "variance-drift",
    "Incremental Drift": "incremental-drift",
    "Blips / Outliers": "blips",
}
"""Scenarios of Section 4.2: the paper's name and ours."""

POLICIES = {
    "RAVEN-UCB": "raven-ucb",
    "UCB": "ucb1",
    "UCB-V": "ucb-v",
    "epsilon-greedy": "epsilon-greedy",
    "Thompson Sampling": "thompson",
    "f-dsw TS (min)": "f-dsw-ts",
    "WLS + Optimistic TS": "wls-optimistic-ts",
    "CCB": "ccb",
    "UCB-Imp": "ucb-imp",
}
"""Policies of Table 3: the paper's name and ours."""


def printed_rows(name: str) -> list[dict[str, str]]:
    """Read the rows of one of the CSV files.

    >>> printed_rows("logistics_table.csv")[0]["policy"]
    'RAVEN-UCB'
    """
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def played_scenario(protocol: str, scenario: str) -> str:
    """Name the scenario that a protocol plays.

    >>> played_scenario("published", "blips"), played_scenario("defined", "blips")
    ('published-blips', 'blips')
    """
    return f"{PUBLISHED}{scenario}" if protocol == "published" else scenario


@dataclass(frozen=True)
class Optimum:
    """The best cell of a grid according to the paper, with its printed regret."""

    name: str
    """The paper's name of the scenario."""
    scenario: str
    horizon: int
    alpha0: float
    beta0: float
    regret: float

    @property
    def cell(self) -> tuple[float, float]:
        """α₀ and β₀."""
        return self.alpha0, self.beta0

    @property
    def claim_prefix(self) -> str:
        """Common prefix of the keys of its two claims."""
        return f"figure3-{self.scenario}-{self.horizon}"


def read_optima() -> list[Optimum]:
    """Read the six optima of Section 4.2 in the order of the paper.

    >>> read_optima()[1]
    Optimum(name='Variance Drift', scenario='variance-drift', horizon=10000, alpha0=1.0, beta0=5.0, regret=27.14)
    """
    return [
        Optimum(
            row["scenario"],
            SCENARIOS[row["scenario"]],
            int(row["horizon"]),
            float(row["alpha0"]),
            float(row["beta0"]),
            float(row["regret"]),
        )
        for row in printed_rows("parameter_selection.csv")
    ]


def claimed_beta0() -> dict[str, tuple[float, float]]:
    """Read the claimed range of the best β₀ by scenario.

    >>> claimed_beta0()["variance-drift"]
    (0.5, 1.0)
    """
    return {
        SCENARIOS[row["scenario"]]: (float(row["low"]), float(row["high"]))
        for row in printed_rows("parameter_patterns.csv")
        if row["param"] == "beta0"
    }


def claimed_alpha0() -> tuple[float, float]:
    """Read the claimed best α₀ at short and at long horizons.

    >>> claimed_alpha0()
    (0.5, 5.0)
    """
    values = {row["horizon"]: float(row["low"]) for row in printed_rows("parameter_patterns.csv")}
    return values["short"], values["long"]
