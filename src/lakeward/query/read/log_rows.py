"""Stretches of a table's logs → Arrow batches; tells what retention has removed and which offsets are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.client.forms.damage import LeftOut
from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.plan.splits import LogSplit
from lakeward.query.read.data_loss import gap_error, retention_error
from lakeward.query.request.pushdown import to_predicate
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_scan import Scan
    from lakeward.client.blocking.sync_table import Table


class LogRows:
    """How one request reads the logs of one table."""

    def __init__(self, table: Table, request: ReadRequest) -> None:
        self._table = table
        self._request = request

    def fetch(
        self,
        split: LogSplit,
        columns: tuple[str, ...],
        *,
        metadata: bool,
        lead: int = 0,
        strict: bool = False,
        gaps: list[LeftOut] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The log of a split, from `lead` offsets earlier if they are there; tells what retention has removed."""
        start = max(split.start - lead, 0)
        while start < split.stop:
            try:
                scan = self._scan(split, start, columns, metadata=metadata)
                yield from self._mind_gaps(split, scan, [] if gaps is None else gaps)
                return
            except LakewardError as wrong:
                if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                    raise
                begin = self._table.offsets("earliest", partitions=split.partitions)[split.id]
                if begin <= start:
                    raise
                if begin > split.start and (strict or self._request.settings.fail_on_data_loss):
                    raise retention_error(self._request.path, split.id, split.start, min(begin, split.stop)) from wrong
            start = begin

    def _mind_gaps(self, split: LogSplit, scan: Scan, gaps: list[LeftOut]) -> Iterator[pa.RecordBatch]:
        """The rows of a scan; a stream must not pass over offsets that are missing, unless it is told to."""
        minds = split.in_stream and self._request.settings.fail_on_data_loss
        looked_at = 0
        for rows in scan.batches():
            if minds and len(scan.left_out) > looked_at:
                looked_at = self._refuse_gaps(split, scan, looked_at)
            gaps[:] = scan.left_out
            yield rows
        if minds:
            self._refuse_gaps(split, scan, looked_at)

    def _refuse_gaps(self, split: LogSplit, scan: Scan, looked_at: int) -> int:
        """Look at what was left out since the last time; how many there are by now."""
        for one in scan.left_out[looked_at:]:
            if one.missing and one.stop > split.start and self._is_gone(split, one):
                raise gap_error(self._request.path, split.id, one.start, one.stop)
        return len(scan.left_out)

    def _is_gone(self, split: LogSplit, one: LeftOut) -> bool:
        """Whether offsets are really missing: servers leave empty batches of a changelog out of projected answers."""
        if not self._table.info.descriptor.has_primary_key:
            return True
        whole = self._scan(split, one.start, None, metadata=False, stop=one.stop)
        for _rows in whole.batches():
            pass
        return any(again.missing for again in whole.left_out)

    def _scan(
        self,
        split: LogSplit,
        start: int,
        columns: tuple[str, ...] | None,
        *,
        metadata: bool,
        stop: int | None = None,
    ) -> Scan:
        where = None
        if not self._table.info.descriptor.has_primary_key:  # servers judge no batches of changes
            where = to_predicate(self._request.filters, self._table.info.schema)
        return self._table.scan(
            columns,
            start={split.id: start},
            end={split.id: split.stop if stop is None else stop},
            partitions=split.partitions,
            buckets=[split.bucket],
            metadata_columns=metadata,
            where=where,
            skip_damaged=self._request.settings.skip_damaged,
        )
