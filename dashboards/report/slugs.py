"""Names for links and files, made of names that may hold anything."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 80
"""Letters of a slug: a file system allows 255 bytes, and something may be put before and behind."""


def slug(name: str) -> str:
    """Small letters, digits and dashes; a hash behind where something of the name was lost.

    >>> slug("raven-ucb/blips/T1000/K10")
    'raven-ucb-blips-t1000-k10'
    >>> slug("<b>").startswith("b-") and slug("<b>") != slug("b")
    True
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    short = re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST].strip("-")
    if re.fullmatch(r"[A-Za-z0-9]+([-/_.][A-Za-z0-9]+)*", name) and len(name) <= LONGEST:
        return short
    return f"{short or 'name'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


class Slugs:
    """Hands out slugs, no two alike.

    >>> slugs = Slugs()
    >>> slugs.new("a/b"), slugs.new("a-b")
    ('a-b', 'a-b-2')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """The slug of a name, with a number behind where it is taken."""
        wanted = found = slug(name)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{wanted}-{number}"
        self._taken.add(found)
        return found
