"""Ctrl-C and a polite kill end a command the same way: what has landed is kept, exit code 130.

Python loses an interrupt that falls into a destructor or a callback from C, which compiling and
loading kernels are full of. So a signal insists: it raises again every two seconds until it is heard.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_AFTER = 2.0


class Interrupted(Exception):
    """The end of an interrupt's way up: what each block that it passed says of what is kept.

    Blocks tell it with `add_note` on the KeyboardInterrupt.

    >>> print(Interrupted()), print(Interrupted("3 of 8 cells are kept"))
    interrupted.
    interrupted: 3 of 8 cells are kept.
    (None, None)
    """

    def __str__(self) -> str:
        return f"interrupted: {'; '.join(map(str, self.args))}." if self.args else "interrupted."


def acknowledge_interrupt() -> None:
    """Stop insisting: whoever calls this is about to clean up and to let the interrupt go on."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextmanager
def handle_interrupts() -> Iterator[None]:
    """Turn SIGINT and SIGTERM into a KeyboardInterrupt that is not lost.

    A callback from C that was cut short may have its caller fail in its own words; they too are the interrupt's.
    """
    shown, asked = sys.unraisablehook, False

    def insist(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_AFTER)
        raise KeyboardInterrupt

    def quiet(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not KeyboardInterrupt:  # one that fell where it can't be raised comes again
            shown(lost)

    sys.unraisablehook = quiet
    wanted = [signal.SIGINT, signal.SIGTERM, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])]
    before = {number: signal.signal(number, insist) for number in wanted}
    try:
        yield
    except Exception as error:
        if asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        acknowledge_interrupt()
        sys.unraisablehook = shown
        for number, handler in before.items():
            signal.signal(number, handler)
