"""Databases that tasks leave open for the next micro-batch: a stream of changes that is open goes on at once.

One that nobody comes back for is closed: it may keep the server from forgetting its log.
"""

from __future__ import annotations

import os
import threading

from lakeward.capture.port import Database
from lakeward.spark.ingest.capture.capture_options import CaptureOptions

_IDLE_S = 20.0
_Key = tuple[int, str, tuple[tuple[str, str], ...]]
_lock = threading.Lock()
_kept: dict[_Key, tuple[Database, threading.Timer]] = {}


def take_database(options: CaptureOptions) -> Database:
    """The one that was left open, or a new one; it is this task's alone."""
    with _lock:
        found = _kept.pop(_key(options), None)
    if found is None:
        return options.open()
    database, timer = found
    timer.cancel()
    return database


def leave_database(options: CaptureOptions, database: Database) -> None:
    """Leave it open for the next task of this process."""
    key = _key(options)
    timer = threading.Timer(_IDLE_S, _close, [key, database])
    timer.daemon = True
    with _lock:
        other = _kept.pop(key, None)
        _kept[key] = database, timer
    timer.start()
    if other is not None:
        other[1].cancel()
        other[0].close()


def _close(key: _Key, database: Database) -> None:
    with _lock:
        found = _kept.get(key)
        if found is None or found[0] is not database:
            return
        del _kept[key]
    database.close()


def _key(options: CaptureOptions) -> _Key:
    return os.getpid(), options.kind.name, tuple(sorted(options.given.items()))
