"""A person at a terminal of their own: starts a command there, presses Ctrl-C, closes the window."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import sys
import time
import uuid
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Self

import psutil

CTRL_C = b"\x03"
_END_S = 60


class Terminal:
    """One command in a terminal. All that comes of it carries a mark, so that nothing hides when it has ended."""

    def __init__(self, *arguments: str, directory: Path, **environment: str) -> None:
        self._mark = uuid.uuid4().hex
        self.text = ""
        self.begun_s = time.monotonic()
        self.pid, self._screen = pty.fork()
        if self.pid == 0:  # the child, which has the terminal to itself
            os.chdir(directory)
            given = {**os.environ, "TERM": "xterm", **environment, "LAKEWARD_TEST_MARK": self._mark}
            os.execve(sys.executable, [sys.executable, "-m", "lakeward", *arguments], given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        for left in self.left():
            left.kill()

    def wait_until(self, holds: Callable[[str], bool], within_s: float = _END_S) -> bool:
        """Read the screen until it shows something; False when the command ended, or took too long."""
        end_s = time.monotonic() + within_s
        is_there = holds(self.text)
        while not is_there and time.monotonic() < end_s:
            seen = len(self.text)
            goes_on = self._read(0.05)
            if len(self.text) > seen:  # a screen may be long, and looking at it takes a while
                is_there = holds(self.text)
            if not goes_on:
                break
        return is_there

    def press(self, keys: bytes) -> None:
        """Press keys; Ctrl-C becomes a signal to all in the foreground, as in life."""
        os.write(self._screen, keys)

    def signal(self, number: int) -> None:
        """Send a signal to the command."""
        os.kill(self.pid, number)

    def signal_group(self, number: int) -> None:
        """Send a signal to the command's process group."""
        os.killpg(os.getpgid(self.pid), number)

    def close(self) -> None:
        """Close the window."""
        if self._screen >= 0:
            os.close(self._screen)
            self._screen = -1

    def ended(self, within_s: float = _END_S) -> int | None:
        """Its exit code, as a shell tells it; None when it hangs."""
        end_s = time.monotonic() + within_s
        while time.monotonic() < end_s:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read(0.2):
                    pass
                code = os.waitstatus_to_exitcode(status)
                return 128 - code if code < 0 else code
        os.kill(self.pid, signal.SIGKILL)
        return None

    def left(self) -> list[psutil.Process]:
        """What still runs of all that the command started."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("LAKEWARD_TEST_MARK") == self._mark and process.status() != "zombie":
                    found.append(process)
            except (psutil.Error, OSError):
                continue  # somebody else's, or gone by now
        return found

    def runs(self, program: str) -> bool:
        """Whether a program of that name is among them."""
        with contextlib.suppress(psutil.Error):  # one that ended while it was looked at
            return any(program in process.name() for process in self.left())
        return False

    def _read(self, patience_s: float) -> bool:
        if self._screen < 0:
            time.sleep(patience_s)
            return False
        if wait([self._screen], patience_s):
            try:
                read = os.read(self._screen, 1 << 16)
            except OSError:  # what Linux says when nobody has the terminal open any more
                return False
            self.text += read.decode(errors="replace")
            return bool(read)
        return True
