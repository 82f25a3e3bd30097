"""hold_signals."""

from __future__ import annotations

import signal

import pytest

from lakeward.runtime.process.held_signals import hold_signals


def test_a_ctrl_c_waits_until_what_it_would_leave_half_done_is_done() -> None:
    """And is heard then, once."""
    done = []

    def load() -> None:
        with hold_signals():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
