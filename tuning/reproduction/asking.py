"""From what a person asks for to what experiments are run with."""

from __future__ import annotations

from pathlib import Path

from environments.checks import whole
from environments.errors import InputError
from environments.text import join_words
from tuning.crew import ALONE, Crew
from tuning.reproduction.context import PROTOCOLS, USUAL, Context

BOTH = "both"

STUDIES = Path("studies", "studies.sqlite3")
"""Where searches are kept in the folder of a reproduction."""

MOST = 100_000


def context_of(
    folder: Path,
    *,
    protocol: str = BOTH,
    replications: int | None = None,
    seed: int = 0,
    crew: Crew = ALONE,
) -> Context:
    """Check what was asked for.

    >>> context_of(Path("paper"), protocol="published").protocols
    ('published',)
    """
    if protocol not in (*PROTOCOLS, BOTH):
        raise InputError(f"protocol must be {join_words((*PROTOCOLS, BOTH))} but got {protocol!r}.")
    return Context(
        seed=whole("seed", seed, least=0, most=2**63 - 1),
        replications=USUAL if replications is None else whole("replications", replications, least=2, most=MOST),
        protocols=PROTOCOLS if protocol == BOTH else (protocol,),
        crew=crew,
        url=f"sqlite:///{folder.resolve() / STUDIES}",
    )
