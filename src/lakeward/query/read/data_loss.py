"""DataLossError: rows that are gone before they were read."""

from __future__ import annotations

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath

_CHOICE = "set failOnDataLoss=false to go on with what is there, or begin anew with another checkpoint"


class DataLossError(LakewardError):
    """Rows of a stream are gone: which bucket of which table, from which offset to which (None: not known)."""

    def __init__(
        self, message: str, table: TablePath, bucket: BucketId | None = None, start: int = 0, stop: int | None = None
    ) -> None:
        super().__init__(ErrorCode.LOG_OFFSET_OUT_OF_RANGE, message)
        self.table = table
        self.bucket = bucket
        self.start = start
        self.stop = stop


def retention_error(table: TablePath, bucket: BucketId, start: int, stop: int) -> DataLossError:
    """Retention has passed the stream."""
    return DataLossError(
        f"{stop - start:,} rows of {table}, bucket {bucket}, offsets {start} to {stop - 1}, were removed before "
        f"they were read (table.log.ttl and other retention): {_CHOICE}.",
        *(table, bucket, start, stop),
    )


def gap_error(table: TablePath, bucket: BucketId, start: int, stop: int) -> DataLossError:
    """The log goes on after a range that was given up."""
    return DataLossError(
        f"{stop - start:,} rows of {table}, bucket {bucket}, offsets {start} to {stop - 1}, are not in the log: they "
        f"were given up (`lakeward repair`) before they were read: {_CHOICE}.",
        *(table, bucket, start, stop),
    )


def passed_state_error(table: TablePath, bucket: BucketId, as_of: int, begin: int) -> DataLossError:
    """Retention has passed the point as of which a stream reads a state."""
    return DataLossError(
        f"The rows of {table}, bucket {bucket}, as of offset {as_of}, where the stream began, cannot be told any more: "
        f"the changelog now begins at {begin} (table.log.ttl and other retention): {_CHOICE}.",
        *(table, bucket, as_of, begin),
    )


def shrunk_log_error(table: TablePath, bucket: BucketId, start: int, end: int) -> DataLossError:
    """The log ends before the offset that the stream has reached."""
    return DataLossError(
        f"{table}, bucket {bucket}, ends at offset {end}, but the stream has read up to {start} already: "
        f"the log has lost rows, and new ones may have been missed; {_CHOICE}.",
        *(table, bucket, end, start),
    )


def drop_error(table: TablePath, bucket: BucketId, start: int, stop: int) -> DataLossError:
    """A partition is gone while a batch of it was under way."""
    return DataLossError(
        f"Partition {bucket.partition} of {table} was dropped before the stream read offsets {start} to {stop - 1} of "
        f"bucket {bucket.bucket}: {_CHOICE}.",
        *(table, bucket, start, stop),
    )


def recreation_error(table: TablePath) -> DataLossError:
    """Another table of the same name."""
    return DataLossError(
        f"{table} was dropped and created again since the stream's checkpoint: whatever was not read of the old table "
        f"is gone; {_CHOICE}.",
        table,
    )
