"""The first and the last rows of a table: a few of each bucket, merged by the time they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.results import BucketId
    from lakeward.client.sync_table import Table

METADATA = ("_bucket", "_offset", "_timestamp", "_change_type")

Offsets = Mapping["BucketId", int]


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
        ends = {b: min(start + n, self.latest.get(b, start)) for b, start in self.earliest.items()}
        rows = self._merged(columns, self.earliest, ends).slice(0, n)
        return rows if metadata else without_metadata(rows)

    def last_rows(self, n: int, columns: Sequence[str] | None, *, metadata: bool = False) -> pa.Table:
        """The newest rows, newest last; they end at `latest`."""
        starts = {b: max(self.earliest.get(b, 0), end - n) for b, end in self.latest.items()}
        rows = self._merged(columns, starts, self.latest)
        rows = rows.slice(max(rows.num_rows - n, 0))
        return rows if metadata else without_metadata(rows)

    def clamped(self, offset: int) -> dict[BucketId, int]:
        """An offset for every bucket, moved to where the bucket's log begins or ends if it is outside."""
        return {b: max(self.earliest.get(b, 0), min(offset, end)) for b, end in self.latest.items()}

    def _of_partitions(self, offsets: Offsets) -> dict[BucketId, int]:
        return {b: o for b, o in offsets.items() if self._partitions is None or b.partition in self._partitions}

    def _merged(self, columns: Sequence[str] | None, starts: Offsets, ends: Offsets) -> pa.Table:
        scan = self._table.scan(
            columns,
            start=dict(starts),
            end=dict(ends),
            partitions=self._partitions,
            metadata_columns=True,
            skip_damaged=self._skip_damaged,
        )
        order = [("_timestamp", "ascending"), ("_bucket", "ascending"), ("_offset", "ascending")]
        return scan.to_arrow().sort_by(order)


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
