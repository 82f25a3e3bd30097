"""Whoever reads our output through a pipe may go away while there is nothing to write; that is noticed here."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heard_hang_up() -> Iterator[None]:
    """Raise BrokenPipeError when nobody reads stdout any more, in the middle of a wait too. For the main thread."""
    pipe = _stdout_pipe()
    if pipe is None:
        yield
        return
    gone, over = threading.Event(), threading.Event()

    def watch() -> None:
        poll = select.poll()
        poll.register(pipe, 0)  # nothing but its end
        poll.poll()
        if not over.is_set():
            gone.set()
            signal.pthread_kill(main, signal.SIGINT)  # what is waited for must be given up as with Ctrl-C

    main = threading.get_ident()
    threading.Thread(target=watch, name="pipe-reader", daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        if gone.is_set():
            raise BrokenPipeError from None
        raise
    finally:
        over.set()


def _stdout_pipe() -> int | None:
    try:
        descriptor = sys.stdout.fileno()
    except OSError:
        return None  # something in memory
    kind = os.fstat(descriptor).st_mode
    return descriptor if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) else None
