"""Counts, sizes and lists of words as people say them."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str | None = None) -> str:
    """So many of something.

    >>> counted(1, "worker"), counted(2, "worker"), counted(0, "study", "studies")
    ('1 worker', '2 workers', '0 studies')
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def size(count: float) -> str:
    """Bytes, in thousands as disks are sold.

    >>> size(2_340_000_000), size(512)
    ('2.3 GB', '512 B')
    """
    for unit, step in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count:.0f} B"


def listed(words: Sequence[str], last: str = "or") -> str:
    """Words with commas between them, and one before the last.

    >>> listed(["tpe", "gp", "grid"]), listed(["CCB"], "and")
    ('tpe, gp or grid', 'CCB')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
