"""What an interrupted command says: how much of what it had begun is stored, as the storage itself counts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tuning.interrupts import heard

if TYPE_CHECKING:
    from tuning.progress import Begun, Reporter

NAMED = 3
"""More studies than these are summed up."""


@contextmanager
def saying_what_is_kept(reporter: Reporter, url: str) -> Iterator[None]:
    """Tell an interrupt of this block what it leaves behind."""
    try:
        yield
    except KeyboardInterrupt as stop:
        heard()
        begun = list(reporter.begun.values())
        if begun:
            stop.add_note(in_words(begun, _counted(url, begun)))
        raise


def in_words(begun: Sequence[Begun], kept: Sequence[int]) -> str:
    """What is kept of what was begun.

    >>> from tuning.progress import Begun
    >>> in_words([Begun("raven-ucb/blips/T1000/K10", 200, "trials")], [24])
    '24 of 200 trials of raven-ucb/blips/T1000/K10 are kept; the same command goes on from there'
    """
    if not any(kept):
        return "nothing had landed yet; the same command begins again"
    unit = begun[0].unit
    if len(begun) > NAMED:
        said = f"{sum(kept)} of {sum(each.total for each in begun)} {unit} of the {len(begun)} studies begun"
    else:
        said = " and ".join(
            f"{count} of {each.total} {unit} of {each.name}" for each, count in zip(begun, kept, strict=True)
        )
    return f"{said} are kept; the same command goes on from there"


def _counted(url: str, begun: Sequence[Begun]) -> list[int]:
    """What the storage holds; what was last heard of where it can't be asked now."""
    from studies.storage import opened

    try:
        with opened(url) as storage:
            return [storage.get_n_trials(storage.get_study_id_from_name(each.name)) for each in begun]
    except Exception:  # nothing may stand between an interrupt and its end
        return [each.landed for each in begun]
