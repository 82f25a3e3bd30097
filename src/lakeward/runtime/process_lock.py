"""A lock that goes with the process that holds it, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def locked(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int | None:
    """The descriptor of a file, or directory, that is ours until it is closed; None while another process has it."""
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
