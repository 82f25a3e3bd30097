"""Child: a program that ends with the process that started it, however that ends.

Three doors, for the three ways in which somebody comes to have a parent:

Child                 a program of ours to start; a `subprocess.Popen` with an end
Child as Popen        … or handed to a library that starts its own, as PySpark its JVM
end_with(connection)  for a program that somebody else has started: it ends when the other side hangs up

A child is in a session of its own: Ctrl-C, a closed terminal and a signal to our process group are for us, and we tell
our children in the order that is right. Whatever is left when the interpreter ends is stopped; where the interpreter
has no say, after kill -9, the `warden` does it.
"""

from __future__ import annotations

import atexit
import os
import select
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from lakeward.runtime.process.held_signals import hold_signals

_WARDEN = Path(__file__).with_name("warden.py")
_LAST_PATIENCE_S = 5.0


class Child(subprocess.Popen[Any]):
    """A running program; `stop` ends it, and so does our own end."""

    def __init__(self, command: Any, **options: Any) -> None:
        self._is_known = False
        with _lock, hold_signals():
            if _ended == {os.getpid()}:
                raise ChildProcessError("This program is about to end; it starts no other.")
            _warden.begin()  # it is there before the child is
            super().__init__(command, **{"start_new_session": True, **options})
            _running.add(self)
            self._is_known = True
            _warden.tell(f"+{self.pid}")

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        code = super().poll()
        if code is not None:
            self._let_go()
        return code

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended."""
        code = super().wait(timeout)
        self._let_go()
        return code

    def stop(self, patience_s: float) -> int:
        """Ask it to end, and end it when it does not, or when somebody does not want to wait for it."""
        self.terminate()
        try:
            return self.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._end()
        except BaseException:
            self._end()
            raise
        assert self.returncode is not None
        return self.returncode

    def _end(self) -> None:
        self.kill()
        self.wait()

    def _let_go(self) -> None:
        """Its number may soon be another program's."""
        with _lock:
            if self._is_known:
                self._is_known = False
                _running.discard(self)
                _warden.tell(f"-{self.pid}")


def running_children() -> set[Child]:
    """Those that have not ended, as far as we know."""
    return set(_running)


def stop_children(patience_s: float = _LAST_PATIENCE_S) -> None:
    """Stop all that still run; from now on none begins, since who calls this is about to end."""
    with _lock:  # one that another thread is starting just now is among them
        _ended.clear()
        _ended.add(os.getpid())
        left = list(_running) if _warden.is_ours else []
    for child in left:
        child.stop(patience_s)


def end_with(connection: socket.socket) -> None:
    """End this process when the other side of a connection is gone, whatever it does just then."""

    def watch() -> None:
        poll = select.poll()
        poll.register(connection, 0)  # nothing but its end
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, name="end-with", daemon=True).start()


class _Warden:
    """The line to the warden of this process."""

    def __init__(self) -> None:
        self._line: IO[bytes] | None = None
        self._owner = 0

    @property
    def is_ours(self) -> bool:
        """Whether this process has one; a fork has only seen its parent's."""
        return self._owner == os.getpid()

    def begin(self) -> IO[bytes]:
        """The line, to a warden that is started when there is none."""
        if self._line is not None and self.is_ours:
            return self._line
        if not self.is_ours:
            _running.clear()
        warden = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WARDEN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        warden.returncode = 0  # it outlives us; nobody waits for it
        assert warden.stdin is not None
        self._line, self._owner = warden.stdin, os.getpid()
        return self._line

    def tell(self, word: str) -> None:
        """Say that a child began or ended; if somebody has ended the warden, the next one hears of all."""
        try:
            self._write(f"{word}\n")
        except BrokenPipeError:
            self._line = None
            self._write("".join(f"+{child.pid}\n" for child in _running))

    def _write(self, text: str) -> None:
        line = self.begin()
        line.write(text.encode())
        line.flush()


_running: set[Child] = set()
#: The process that has stopped its children for good; a fork of it has an end of its own.
_ended: set[int] = set()
_lock = threading.RLock()
_warden = _Warden()
atexit.register(stop_children)
