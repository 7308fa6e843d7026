"""What Section 4.2 of the paper reads off its Figure 3: six best cells, and where the best values are to be found."""

from __future__ import annotations

from dataclasses import dataclass

from studies.advice import PUBLISHED, SCENARIOS, printed_rows


@dataclass(frozen=True)
class Optimum:
    """A cell that the paper calls the best of its grid, with the regret that it prints for it."""

    name: str
    """The scenario as the paper calls it."""
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
    def claim(self) -> str:
        """What the keys of its claims begin with."""
        return f"figure3-{self.scenario}-{self.horizon}"


def optima() -> list[Optimum]:
    """In the order of the paper.

    >>> optima()[1]
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


def world_of(protocol: str, scenario: str) -> str:
    """The scenario that a protocol plays under a name of the paper.

    >>> world_of("published", "blips"), world_of("defined", "blips")
    ('published-blips', 'blips')
    """
    return f"{PUBLISHED}{scenario}" if protocol == "published" else scenario


def claimed_beta0() -> dict[str, tuple[float, float]]:
    """Scenario by scenario, the range in which the paper sees the best β₀.

    >>> claimed_beta0()["variance-drift"]
    (0.5, 1.0)
    """
    return {
        SCENARIOS[row["scenario"]]: (float(row["low"]), float(row["high"]))
        for row in printed_rows("parameter_patterns.csv")
        if row["param"] == "beta0"
    }


def claimed_alpha0() -> tuple[float, float]:
    """The best α₀ that the paper sees at short horizons, and at long ones.

    >>> claimed_alpha0()
    (0.5, 5.0)
    """
    found = {row["horizon"]: float(row["low"]) for row in printed_rows("parameter_patterns.csv")}
    return found["short"], found["long"]
