"""Logs: the logs that are in use. One is opened when it is first touched, so ten thousand idle buckets cost nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.log_opening import known_end, tell, tell_damage
from lakeward.storage.disk.open_files import OpenFiles, storage_error
from lakeward.storage.log.log_tablet import Later
from lakeward.storage.log.replica_log import ReplicaLog
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.settings import LogSettings

_log = logging.getLogger(__name__)


class CopyProgress(NamedTuple):
    """What logs must know of their copies in remote storage."""

    #: Up to where a bucket has been copied.
    end_of: Callable[[TableBucket], int]
    #: Whether more is copied all the time, so that what was not yet copied has to stay.
    keeps_rest: bool


class Logs:
    """Bucket → log, as far as they are open."""

    def __init__(
        self,
        buckets: Buckets,
        files: OpenFiles,
        later: Later,
        settings_of: Callable[[TableInfo], LogSettings],
        lake_floor: Callable[[TableBucket], int | None],
        copied: CopyProgress | None,
    ) -> None:
        """`lake_floor` tells up to where the lake has a bucket; None for tables that are not tiered."""
        self._buckets = buckets
        self._files = files
        self._later = later
        self._settings_of = settings_of
        self._lake_floor = lake_floor
        self._copied = copied
        self._logs: dict[TableBucket, ReplicaLog] = {}

    def __len__(self) -> int:
        return len(self._logs)

    def open(self, bucket: TableBucket) -> ReplicaLog:
        """The log of a bucket, opened if need be."""
        log = self._logs.get(bucket)
        return log if log is not None else self._open(bucket)

    def find(self, bucket: TableBucket) -> ReplicaLog | None:
        """The log of a bucket if it is open."""
        return self._logs.get(bucket)

    def all(self) -> list[tuple[TableBucket, ReplicaLog]]:
        """The logs in use."""
        return list(self._logs.items())

    def _open(self, bucket: TableBucket) -> ReplicaLog:
        table = self._buckets.table_of(bucket)
        directory = self._buckets.log_directory(bucket)
        kv = self._buckets.kv_directory(bucket) if table.descriptor.has_primary_key else None
        name = self._buckets.name(bucket)
        try:
            log = ReplicaLog(
                directory,
                self._settings_of(table),
                self._files,
                self._later,
                name=name,
                known_end=known_end(self._buckets.disk, self._lake_floor(bucket), kv),
                on_damage=partial(tell_damage, name),
            )
        except OSError as wrong:
            raise storage_error(directory, wrong) from wrong
        tell(log)
        if self._copied is not None:
            self._meet_copy(self._copied, table, bucket, log)
        self._logs[bucket] = log
        return log

    @staticmethod
    def _meet_copy(copied: CopyProgress, table: TableInfo, bucket: TableBucket, log: ReplicaLog) -> None:
        """Tell a log what of it is in remote storage. Offsets that are there must not be given a second time."""
        end = copied.end_of(bucket)
        if copied.keeps_rest:
            log.note_copy(end)
        if log.end_offset < end:
            told = "%s of %s ends at %d here and at %d in remote storage; it goes on from there"
            _log.warning(told, bucket, table.path, log.end_offset, end)
            log.begin_at(end, 0)

    # -- what they are

    def settings(self, bucket: TableBucket) -> LogSettings:
        """What the log of a bucket obeys, or will."""
        return self._settings_of(self._buckets.table_of(bucket))

    def damages(self) -> Iterator[tuple[ReplicaLog, Damage]]:
        """What is known to be damaged in the logs that are open."""
        for log in self._logs.values():
            for damage in log.damages:
                yield log, damage

    def size_bytes(self) -> int:
        """Bytes of the logs that are open."""
        return sum(log.size for log in self._logs.values())

    # -- change

    def refresh_settings(self, table_id: int | None = None) -> None:
        """Let the logs of a table, or all, obey the options as they are now; some can be changed while they run."""
        for bucket, log in self._logs.items():
            if table_id in {None, bucket.table_id}:
                table = self._buckets.table_by_id(bucket.table_id)
                if table is not None:
                    log.obey(self._settings_of(table))

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Let go of the logs of buckets that were dropped."""
        for bucket in [b for b in self._logs if is_gone(b)]:
            self._logs.pop(bucket).abandon()

    def release(self, bucket: TableBucket) -> None:
        """Sync and note one, and let go of it."""
        log = self._logs.pop(bucket, None)
        if log is not None:
            log.close()

    def close(self) -> None:
        """Sync and note everything."""
        for log in self._logs.values():
            log.close()
        self._logs.clear()
