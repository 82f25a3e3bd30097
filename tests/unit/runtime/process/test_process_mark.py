"""Processes are known again by number and start."""

from __future__ import annotations

import os
import subprocess
import sys

from lakeward.runtime.process.process_mark import is_marked_alive, process_mark


def test_a_process_is_known_until_it_ends() -> None:
    """Also while nobody has asked how it ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = process_mark(process.pid)
        assert mark is not None
        assert is_marked_alive(mark)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_marked_alive(mark)


def test_another_process_of_that_number_is_another() -> None:
    """It began at another time."""
    mark = process_mark(os.getpid())
    assert mark is not None
    assert not is_marked_alive(f"{os.getpid()}:1")
    assert is_marked_alive(mark)
