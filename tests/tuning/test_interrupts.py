"""Interrupts: raised once, and not logged."""

from __future__ import annotations

import logging
import os
import signal

import pytest

from tuning.interrupts import handle_interrupts


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_signal_raises_keyboard_interrupt(signal_number: signal.Signals) -> None:
    before = signal.getsignal(signal_number)
    with pytest.raises(KeyboardInterrupt), handle_interrupts():
        os.kill(os.getpid(), signal_number)
    assert signal.getsignal(signal_number) is before


def test_interrupts_logged_by_libraries_are_not_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("pool")
    monkeypatch.setattr(logger, "propagate", False)  # logging.lastResort prints instead of pytest's handler
    with handle_interrupts():
        for error in (KeyboardInterrupt(), OSError("disk full")):
            try:
                raise error
            except BaseException:
                logger.exception("Exception during reset")
    printed = capsys.readouterr().err
    assert "KeyboardInterrupt" not in printed
    assert "disk full" in printed
