"""The checks of `ravenlab doctor`. A check gives rows of plain data and changes nothing but numba's cache."""

from dataclasses import dataclass

OK = "ok"
NOTE = "note"
PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """One row. A note reports a limitation; a problem means failures or wrong results."""

    check: str
    found: str
    verdict: str = OK
    advice: str = ""


def reason(error: BaseException) -> str:
    """Return the first line of an error message, or the error's type if it has no message.

    >>> reason(ValueError("too small")), reason(KeyboardInterrupt())
    ('too small', 'KeyboardInterrupt')
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
