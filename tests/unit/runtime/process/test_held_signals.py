"""hold_signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from lakeward.runtime.process.held_signals import hold_signals


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> Iterator[None]:
    """Another test, or whoever started this one, may have left it to somebody else."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
