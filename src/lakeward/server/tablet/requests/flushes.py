"""Flushes: a write that makes a log's sync due (`log.flush.interval-messages`) is answered when the sync is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.logs import Logs
from lakeward.server.tablet.requests.pending import Done, Outcome
from lakeward.storage.disk.open_files import storage_error
from lakeward.storage.log.log_tablet import Later, LogTablet


class Flushes:
    """Syncs logs beside the loop; whoever must wait for that waits, nobody else does."""

    def __init__(self, loop: asyncio.AbstractEventLoop, logs: Logs, later: Later) -> None:
        self._loop = loop
        self._logs = logs
        self._later = later

    def guard(self, bucket: TableBucket, done: Done) -> Done:
        """What to call with the outcome of a write, so that `done` hears of it when it is as safe as it must be."""

        def write_is_done(outcome: Outcome) -> None:
            log = self._logs.find(bucket) if isinstance(outcome, int) else None
            sync = None if log is None else log.due_sync()
            if log is None or sync is None:
                done(outcome)
            else:
                self._later(lambda: self._sync(log, sync, outcome, done))

        return write_is_done

    def _sync(self, log: LogTablet, sync: Callable[[], None], outcome: Outcome, done: Done) -> None:
        try:
            sync()
        except OSError as wrong:
            outcome = storage_error(log.directory, wrong)
        self._loop.call_soon_threadsafe(done, outcome)
