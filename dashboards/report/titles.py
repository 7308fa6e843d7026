"""Short names of studies: what the contents and the headings call them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from environments.text import format_settings

OURS = "raven-ucb"
"""The policy that goes without saying."""

LONGEST = 24
"""Letters of a name that someone gave."""


@dataclass(frozen=True)
class Titled:
    """What there is to say of a study in its title."""

    name: str
    scenario: str
    horizon: int | None
    arms: int | None
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    policy: str = OURS

    @property
    def own(self) -> str:
        """What its name says beyond the other fields: a hash, or what someone called it.

        >>> Titled("raven-ucb/blips/T500/K10~1a2b", "blips", 500, 10).own
        '~1a2b'
        >>> Titled("compare/blips/T500/K10/raven-ucb", "blips", 500, 10).own
        'compare'
        """
        known = ("grid", self.scenario, self.policy, f"T{self.horizon}", f"K{self.arms}")
        parts = []
        for part in self.name.split("/"):
            said = next((each for each in known if part == each or part.startswith(f"{each}~")), "")
            parts.append(part.removeprefix(said))
        text = " ".join(part for part in parts if part)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def short_titles(studies: Sequence[Titled]) -> list[str]:
    """Scenario and horizon of each, and its policy where it is one of several and not RAVEN-UCB itself.

    Those that would read alike also say what tells them apart.

    >>> short_titles([Titled("a", "blips", 500, 10), Titled("b", "blips", 500, 4), Titled("c", "periodic", 500, 4)])
    ['blips, T = 500, K = 10', 'blips, T = 500, K = 4', 'periodic, T = 500']
    """
    titles = [f"{_plain(each.scenario)}, T = {each.horizon or 0:,}" for each in studies]
    several = len({each.policy for each in studies}) > 1
    titles = [
        f"{title}, {_plain(each.policy)}" if several and each.policy != OURS else title
        for title, each in zip(titles, studies, strict=True)
    ]
    for more in (
        [f"K = {each.arms}" for each in studies],
        [format_settings(each.settings) for each in studies],
        [each.own for each in studies],
    ):
        apart = defaultdict(set)
        for title, said in zip(titles, more, strict=True):
            apart[title].add(said)
        titles = [
            f"{title}, {said}" if said and len(apart[title]) > 1 else title
            for title, said in zip(titles, more, strict=True)
        ]
    return titles


def _plain(name: str) -> str:
    """Without the hash of its user's own."""
    return name.partition("~")[0]
