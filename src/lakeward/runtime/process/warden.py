"""The warden: a small process that ends the children of its parent when that is gone, however it went.

It is run as a script by `child`, before anything is imported that it does not need. Its standard input is a pipe that
only the parent writes to: `+pid` for a child that began, `-pid` for one that ended. The pipe breaks with the parent,
by kill -9 too; those that are still there are then asked to end, and ended when they do not.
"""

from __future__ import annotations

import os
import signal
import sys
import time

_PATIENCE_S, _PAUSE_S = 10.0, 0.05


def main() -> None:
    """Keep the list until the pipe breaks, then see its processes off."""
    os.chdir("/")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # it ends last
    left: set[int] = set()
    for line in sys.stdin:
        (left.add if line[0] == "+" else left.discard)(int(line[1:]))
    end_s = time.monotonic() + _PATIENCE_S
    left = {pid for pid in left if _send_signal(pid, signal.SIGTERM)}
    while left and time.monotonic() < end_s:
        time.sleep(_PAUSE_S)
        left = {pid for pid in left if _send_signal(pid, 0)}
    for pid in left:
        _send_signal(pid, signal.SIGKILL)


def _send_signal(pid: int, number: int) -> bool:
    """Send a signal; whether there was somebody to get it."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
