"""What a scan cannot read: reported as one error that names the place, or left out on purpose and noted.

batch that cannot be decoded   error, or noted with `skip_damaged`
range the server has lost      error, or noted with `skip_damaged`
jump between two batches       noted always: somebody gave these offsets up with `lakeward repair`
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

from lakeward.client.forms.results import BucketId
from lakeward.errors import CorruptError, ErrorCode
from lakeward.model.table import TablePath

_log = logging.getLogger("lakeward.client")
WAY_PAST = (
    "To read on behind it: skip_damaged=True, in Spark and SQL the option scan.skip-damaged=true, `lakeward tail "
    "--skip-damaged`; for consumer groups and tiering see `lakeward skip`."
)
NOT_THERE = "they are not in the log; they were given up, or lost, before they were read"


#: What is left out on purpose: nothing, batches that are there and cannot be decoded, or ranges that are lost as well.
Skips = bool | Literal["batches"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Offsets of a bucket from `start` up to, not including, `stop` that a read has passed over, and why."""

    bucket: BucketId
    start: int
    stop: int
    reason: str
    #: Whether they are not in the log at all, as opposed to there and unreadable.
    missing: bool = False
    #: The batch as it is stored, where it was asked for.
    data: bytes | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"bucket {self.bucket}, offsets {self.start} to {self.stop - 1}: {self.reason.rstrip('.')}"


class DamagedError(CorruptError):
    """Rows that cannot be read: which bucket of which table, from which offset to which (None: not known)."""

    def __init__(self, table: TablePath, bucket: BucketId, start: int, stop: int | None, reason: str) -> None:
        self.table = table
        self.bucket = bucket
        self.start = start
        self.stop = stop
        self.reason = reason
        offsets = f"offset {start}" if stop is None or stop <= start + 1 else f"offsets {start} to {stop - 1}"
        super().__init__(
            ErrorCode.CORRUPT_RECORD,
            f"{table}, bucket {bucket}, {offsets} cannot be read: {reason.rstrip('.')}. {WAY_PAST}",
        )


class Damage:
    """What one read does about rows that it cannot read, and which ones there were. Used from worker threads."""

    def __init__(self, table: TablePath, *, skips: Skips = False, keeps_bytes: bool = False) -> None:
        self.table = table
        self.skips = bool(skips)
        self.skips_ranges = skips is True
        self.keeps_bytes = keeps_bytes
        self.left_out: list[LeftOut] = []

    def take_damage(self, bucket: BucketId, start: int, stop: int, reason: str, data: memoryview | None = None) -> None:
        """Rows are there, and cannot be read."""
        if not self.skips:
            raise DamagedError(self.table, bucket, start, stop, reason)
        self._note(LeftOut(bucket, start, stop, reason, data=bytes(data) if self.keeps_bytes and data else None))

    def take_gap(self, bucket: BucketId, start: int, stop: int) -> None:
        """The log goes on at a later offset than the last one ended."""
        self._note(LeftOut(bucket, start, stop, NOT_THERE, missing=True))

    def _note(self, one: LeftOut) -> None:
        self.left_out.append(one)
        _log.warning("%s, %s. %s rows are left out.", self.table, one, f"{one.stop - one.start:,}")
