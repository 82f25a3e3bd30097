"""What Spark and its Java say goes into a file; what a person has to know of it is said once."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.cli.output.listing import say

#: What the bridge says by way of Java's log: a server is away, and is waited for.
_BRIDGE = re.compile(r"^[\d:]+ WARN bridge: (.*)")
#: PySpark and py4j log errors here that they raise as well.
_RAISED_ANYWAY = ("SQLQueryContextLogger", "py4j")
_LOG_MAX = 64 << 20
_LOGS_MAX = 10


@contextmanager
def quiet_spark(log: Path, tell: Callable[[str], None] = say) -> Iterator[None]:
    """From here on stderr is ours alone: everything that others write to it goes into a file.

    `tell` is given what a person has to know of it.
    """
    for name in _RAISED_ANYWAY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    sys.stderr.flush()
    ours = os.dup(2)
    ear, mouth = os.pipe()
    os.dup2(mouth, 2)
    os.close(mouth)
    before, sys.stderr = sys.stderr, os.fdopen(ours, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    reader = threading.Thread(target=_listen, args=(ear, log, tell), name="spark-log", daemon=True)
    reader.start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)
        sys.stderr = before


def _listen(ear: int, log: Path, tell: Callable[[str], None]) -> None:
    """Until nobody has the other end; a full disk does not stop Spark from talking."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in sorted(log.parent.iterdir(), key=lambda path: path.stat().st_mtime)[:-_LOGS_MAX]:
            old.unlink()
        out = log.open("wb")
    except OSError:
        out = open(os.devnull, "wb")  # noqa: PTH123, SIM115 - closed below
    with os.fdopen(ear, "rb") as lines, out:
        for line in lines:
            if told := _BRIDGE.match(line.decode(errors="replace")):
                tell(told[1])
            try:
                if out.tell() < _LOG_MAX:
                    out.write(line)
                    out.flush()
            except OSError:
                continue
