"""The first and the last rows of a table: a few of each bucket, merged by the time they were written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.forms.results import BucketId

METADATA = ("_bucket", "_offset", "_timestamp", "_change_type")

Offsets = Mapping["BucketId", int]
#: Offsets of a bucket, at one end of its log, from a width.
Window = Callable[["BucketId", int], tuple[int, int]]


class LogEnds:
    """Where the logs of a table, or of some of its partitions, begin and end at this moment."""

    def __init__(self, table: Table, partitions: Sequence[str] | None = None, *, skip_damaged: bool = False) -> None:
        """`partitions` are names, as `partition_names` returns them; None takes all."""
        self._table = table
        self._skip_damaged = skip_damaged
        self._partitions = partitions
        self.earliest = self._of_partitions(table.offsets("earliest"))
        self.latest = self._of_partitions(table.offsets("latest"))

    def first_rows(self, n: int, columns: Sequence[str] | None, *, metadata: bool = False) -> pa.Table:
        """The oldest rows, oldest first."""

        def window(bucket: BucketId, width: int) -> tuple[int, int]:
            start = self.earliest.get(bucket, self.latest[bucket])
            return start, min(start + width, self.latest[bucket])

        rows = self._fill(n, columns, window).slice(0, n)
        return rows if metadata else without_metadata(rows)

    def last_rows(self, n: int, columns: Sequence[str] | None, *, metadata: bool = False) -> pa.Table:
        """The newest rows, newest last; they end at `latest`."""

        def window(bucket: BucketId, width: int) -> tuple[int, int]:
            stop = self.latest[bucket]
            return max(self.earliest.get(bucket, 0), stop - width), stop

        rows = self._fill(n, columns, window)
        rows = rows.slice(max(rows.num_rows - n, 0))
        return rows if metadata else without_metadata(rows)

    def clamp(self, offset: int) -> dict[BucketId, int]:
        """An offset for every bucket, moved to where the bucket's log begins or ends if it is outside."""
        return {b: max(self.earliest.get(b, 0), min(offset, end)) for b, end in self.latest.items()}

    def _of_partitions(self, offsets: Offsets) -> dict[BucketId, int]:
        return {b: o for b, o in offsets.items() if self._partitions is None or b.partition in self._partitions}

    def _fill(self, n: int, columns: Sequence[str] | None, window: Window) -> pa.Table:
        """`n` rows of each bucket that has this many, or more, by time; `window` says where a width of offsets lies."""
        import pyarrow as pa

        windows = {bucket: window(bucket, n) for bucket in self.latest}
        rows = self._read(columns, windows, self._partitions)
        if rows.num_rows < sum(stop - start for start, stop in windows.values()):  # some offsets have no row
            partitions = dict.fromkeys(bucket.partition for bucket in windows)
            rows = pa.concat_tables([self._widen(p, n, columns, window) for p in partitions])
        return rows.sort_by([("_timestamp", "ascending"), ("_bucket", "ascending"), ("_offset", "ascending")])

    def _widen(self, partition: str | None, n: int, columns: Sequence[str] | None, window: Window) -> pa.Table:
        """The same of one partition, whose buckets are told apart by their numbers: twice as wide until it suffices."""
        widths = {bucket: n for bucket in self.latest if bucket.partition == partition}
        while True:
            windows = {bucket: window(bucket, width) for bucket, width in widths.items()}
            rows = self._read(columns, windows, None if partition is None else [partition])
            seen = Counter(rows.column("_bucket").to_pylist())
            short = [b for b in widths if seen[b.bucket] < n and window(b, 2 * widths[b]) != windows[b]]
            if not short:
                return rows
            widths.update({bucket: 2 * widths[bucket] for bucket in short})

    def _read(
        self,
        columns: Sequence[str] | None,
        windows: Mapping[BucketId, tuple[int, int]],
        partitions: Sequence[str] | None,
    ) -> pa.Table:
        return self._table.scan(
            columns,
            start={bucket: start for bucket, (start, _) in windows.items()},
            end={bucket: stop for bucket, (_, stop) in windows.items()},
            partitions=partitions,
            metadata_columns=True,
            skip_damaged=self._skip_damaged,
        ).to_arrow()


def without_metadata(rows: pa.Table) -> pa.Table:
    """The rows without the columns that a scan adds at their end."""
    return rows.select(range(rows.num_columns - len(METADATA)))


def partition_names(table: Table, given: Sequence[str]) -> list[str] | None:
    """The partitions that were meant by name or by `column=value,…`; None when none was given: all of them."""
    if not given:
        return None
    if not table.info.descriptor.is_partitioned:
        raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"{table.path} is not partitioned; leave --partition out.")
    found = table.partitions()
    names = []
    for text in given:
        spec = dict(part.partition("=")[::2] for part in text.split(","))
        matching = [p.name for p in found if p.name == text or dict(p.spec) == spec]
        if not matching:
            known = ", ".join(p.name for p in found) or "none yet"
            raise ErrorCode.PARTITION_NOT_EXISTS.error(
                f"{table.path} has no partition {text!r}; its partitions are: {known}."
            )
        names += matching
    return names
