"""A lock that goes with the process that holds it, however it ends."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from lakeward.runtime.clock import SystemClock

_PAUSE_S = 0.05


def try_lock(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int | None:
    """The descriptor of a file, or directory, that is ours until it is closed; None while another process has it."""
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def awaited_lock(path: Path, patience_s: float) -> int | None:
    """The same, after a while in which the process that has it may end."""
    clock, resting = SystemClock(), threading.Event()
    end_s = clock.monotonic() + patience_s
    while (descriptor := try_lock(path)) is None and clock.monotonic() < end_s:
        resting.wait(_PAUSE_S)
    return descriptor
