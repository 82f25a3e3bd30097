"""Everything in a data directory read and judged, bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.storage.kv.store.snapshots import damaged_snapshots, newest_good_snapshot, stored_snapshots
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.verification import LogReport, verify_log
from lakeward.storage.stored_logs import StoredBucket, stored_buckets

Pause = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class BucketReport:
    """What was found of one bucket."""

    bucket: StoredBucket
    log: LogReport
    #: Snapshots that are not as they were written; the one before them is used.
    snapshots: list[Path] = field(default_factory=list)
    #: Why the rows by key cannot be told any more; None when they can, or there are none.
    state: Damage | None = None

    @property
    def is_damaged(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.log.damages or self.log.indexes or self.snapshots) or self.state is not None


def verify(disk: Files, root: Path, table: str | None = None, pause: Pause | None = None) -> Iterator[BucketReport]:
    """Read all buckets of a data directory, or those of one table."""
    for bucket in stored_buckets(disk, root):
        if table is None or bucket.table == table:
            yield verify_bucket(disk, bucket, pause)


def verify_bucket(disk: Files, bucket: StoredBucket, pause: Pause | None = None) -> BucketReport:
    """Read one bucket. What is found twice is true: a server at work may delete a file between two looks."""
    report = _look(disk, bucket, pause)
    return _look(disk, bucket, pause) if report.is_damaged else report


def _look(disk: Files, bucket: StoredBucket, pause: Pause | None) -> BucketReport:
    if not disk.exists(bucket.kv):
        return BucketReport(bucket, verify_log(disk, bucket.log, 0, pause))
    known = max((snapshot.log_offset for snapshot in stored_snapshots(disk, bucket.kv)), default=0)
    log = verify_log(disk, bucket.log, known, pause)
    return BucketReport(bucket, log, damaged_snapshots(disk, bucket.kv), _state(disk, bucket, log))


def _state(disk: Files, bucket: StoredBucket, log: LogReport) -> Damage | None:
    """State is the newest good snapshot and the log since; without a snapshot the log from its very beginning."""
    snapshot = newest_good_snapshot(disk, bucket.kv)
    start = log.start_offset
    if (snapshot is None or snapshot.log_offset < start) and start > 0:
        if any(one.first < start <= one.end for one in log.given_up):
            return None
        return Damage(0, start, bucket.kv, f"no good snapshot reaches back to offset {start}, where the log begins")
    return None
