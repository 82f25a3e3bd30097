"""Where each thing is in remote storage. Pure: names in, paths relative to the store's root out.

    log/<db>/<table>-<tableId>[/<partition>-p<partitionId>]/<bucket>/
        metadata/<uuid>.manifest
        <segment uuid>/<start>.log, <start>.index, <start>.timeindex, <end>.writer_snapshot, <start>.columns
    kv/<db>/<table>-<tableId>[/<partition>-p<partitionId>]/<bucket>/
        shared/<uuid>, snap-<id>/<uuid>, snap-<id>/_METADATA

Offsets in names have twenty digits. Objects are written once: whatever changes gets a new uuid.
"""

from __future__ import annotations

from dataclasses import dataclass

LOG, INDEX, TIME_INDEX, WRITERS = ".log", ".index", ".timeindex", ".writer_snapshot"
#: Ours alone, and not of every segment: what lets a reader take some columns and check them.
COLUMNS = ".columns"
MANIFEST = ".manifest"
LOGS, STATES = "log", "kv"


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A bucket by all its names."""

    database: str
    table: str
    table_id: int
    bucket: int
    partition: str | None = None
    partition_id: int | None = None

    @property
    def _inner(self) -> str:
        table = table_inner(self.database, self.table, self.table_id, self.partition, self.partition_id)
        return f"{table}/{self.bucket}"

    @property
    def log(self) -> str:
        """The directory of its log."""
        return f"{LOGS}/{self._inner}"

    @property
    def kv(self) -> str:
        """The directory of its snapshots."""
        return f"{STATES}/{self._inner}"


def table_inner(
    database: str, table: str, table_id: int, partition: str | None = None, partition_id: int | None = None
) -> str:
    """What all things of a table, or of a partition, have in their paths behind `log/` or `kv/`."""
    inner = f"{database}/{table}-{table_id}"
    return inner if partition is None else f"{inner}/{partition}-p{partition_id}"


def manifest_file(log_directory: str, manifest_id: str) -> str:
    """A manifest of a bucket's log."""
    return f"{log_directory}/metadata/{manifest_id}{MANIFEST}"


def segment_directory(log_directory: str, segment_id: str) -> str:
    """All files of one segment."""
    return f"{log_directory}/{segment_id}"


def segment_file(log_directory: str, segment_id: str, offset: int, suffix: str) -> str:
    """One file of a segment; named by the segment's start, but writers by its end."""
    return f"{segment_directory(log_directory, segment_id)}/{offset:020d}{suffix}"
