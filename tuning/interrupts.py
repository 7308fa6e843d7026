"""Interrupts: SIGINT, SIGTERM and SIGHUP raise a KeyboardInterrupt that is not lost.

Python drops an interrupt that arrives in a destructor or in a callback from C, which happen often while kernels are
compiled and loaded. So the interrupt is raised again every two seconds until it is acknowledged.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REPEAT_SECONDS = 2.0


class Interrupted(Exception):
    """A command that was interrupted, with notes on what is saved.

    The notes are added to the KeyboardInterrupt with `add_note`.

    >>> str(Interrupted()), str(Interrupted("3 of 8 cells are saved"))
    ('interrupted.', 'interrupted: 3 of 8 cells are saved.')
    """

    def __str__(self) -> str:
        return f"interrupted: {'; '.join(map(str, self.args))}." if self.args else "interrupted."


def acknowledge_interrupt() -> None:
    """Stop repeating the interrupt; call this before cleaning up and raising it again."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextmanager
def handle_interrupts() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into a KeyboardInterrupt that is not lost.

    SIGHUP remains ignored for a command that was started with `nohup`.

    An interrupted callback from C may make its caller raise another error, which also counts as the interrupt.
    """
    hook = sys.unraisablehook
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, REPEAT_SECONDS)
        raise KeyboardInterrupt

    def ignore_interrupts(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:  # it will be raised again
            hook(unraisable)

    def is_not_interrupt(record: logging.LogRecord) -> bool:
        return record.exc_info is None or record.exc_info[0] is not KeyboardInterrupt

    sys.unraisablehook = ignore_interrupts
    if logging.lastResort is not None:  # SQLAlchemy logs an interrupt that arrives while a connection is returned
        logging.lastResort.addFilter(is_not_interrupt)
    signals = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGALRM"):  # not on Windows, as SIGHUP
        signals.append(signal.SIGALRM)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signals.append(signal.SIGHUP)
    handlers = {number: signal.signal(number, interrupt) for number in signals}
    try:
        yield
    except Exception as error:
        if interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        acknowledge_interrupt()
        sys.unraisablehook = hook
        if logging.lastResort is not None:
            logging.lastResort.removeFilter(is_not_interrupt)
        for number, handler in handlers.items():
            signal.signal(number, handler)
