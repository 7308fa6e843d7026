"""The paper's claims, read from `studies/paper/claims.csv`: what is said, where, and the number printed with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from studies.advice import printed_rows
from studies.reproduction.optima import optima

LOGISTICS = {
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
"""Policies as Table 3 calls them, and as they are called here."""

OPTIMA = "The six optima of Figure 3"
NUMBERS = "The numbers of Table 3"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, in our words but for its number."""

    key: str
    experiment: str
    place: str
    """Where it stands in the paper."""
    text: str
    printed: float | None
    """The number that the paper prints, if it prints one."""
    unit: str
    group: str = ""
    """Claims that are many of one kind are shown together under this heading."""


@lru_cache(maxsize=1)
def claims() -> dict[str, Claim]:
    """All claims by key, experiment by experiment.

    >>> claims()["figure2-above-80"].printed
    80.0
    >>> claims()["table3-ccb-regret"].printed
    2690.5
    """
    found = [*_listed(), *_optima(), *_logistics()]
    order = {name: place for place, name in enumerate(dict.fromkeys(claim.experiment for claim in found))}
    by_key = {claim.key: claim for claim in sorted(found, key=lambda claim: order[claim.experiment])}
    assert len(by_key) == len(found)
    return by_key


def _listed() -> list[Claim]:
    return [
        Claim(
            key=row["key"],
            experiment=row["experiment"],
            place=row["place"],
            text=row["claim"],
            printed=float(row["printed"]) if row["printed"] else None,
            unit=row["unit"],
        )
        for row in printed_rows("claims.csv")
    ]


def _optima() -> list[Claim]:
    """The six best cells of Section 4.2: the cell, and the regret printed with it."""
    out = []
    for each in optima():
        place, where = "Section 4.2, Figure 3", f"{each.name}, T = {each.horizon}"
        text = f"{where}: the best cell is α₀ = {each.alpha0:g}, β₀ = {each.beta0:g}."
        out.append(Claim(f"{each.claim}-cell", "figure3", place, text, None, "%", OPTIMA))
        text = f"{where}: its regret is {each.regret:g}."
        out.append(Claim(f"{each.claim}-regret", "figure3", place, text, each.regret, "regret", OPTIMA))
    return out


def _logistics() -> list[Claim]:
    """Every number of Table 3."""
    return [
        Claim(
            f"table3-{LOGISTICS[row['policy']]}-{measure.rpartition('_')[2]}",
            "table3",
            "Section 4.3, Table 3",
            f"{row['policy']}: {measure.replace('_', ' ')} {float(row[measure]):g}.",
            float(row[measure]),
            measure.rpartition("_")[2],
            NUMBERS,
        )
        for row in printed_rows("logistics_table.csv")
        for measure in ("cumulative_regret", "cumulative_reward", "suboptimal_pulls")
    ]
