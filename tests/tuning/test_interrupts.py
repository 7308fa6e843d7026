"""Interrupts: raised once, and not logged."""

import logging
import os
import signal

import pytest

from ravenlab.tuning.interrupts import handle_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_raises_keyboard_interrupt(number: signal.Signals) -> None:
    before = signal.signal(number, signal.default_int_handler)  # under nohup, SIGHUP is ignored
    try:
        with pytest.raises(KeyboardInterrupt), handle_interrupts():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_command_started_with_nohup_ignores_hangups() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handle_interrupts():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_library_that_logs_the_interrupt_prints_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("pool")
    monkeypatch.setattr(logger, "propagate", False)  # no handler of pytest, so that the last resort handles it
    with handle_interrupts():
        for error in (KeyboardInterrupt(), OSError("disk full")):
            try:
                raise error
            except BaseException:
                logger.exception("Exception during reset")
    printed = capsys.readouterr().err
    assert "KeyboardInterrupt" not in printed
    assert "disk full" in printed
