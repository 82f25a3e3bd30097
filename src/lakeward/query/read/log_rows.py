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
        for rows in scan.batches():
            if minds and scan.left_out:
                self._refuse_gaps(split, scan)
            gaps[:] = scan.left_out
            yield rows
        if minds:
            self._refuse_gaps(split, scan)

    def _refuse_gaps(self, split: LogSplit, scan: Scan) -> None:
        for one in scan.left_out:
            if one.missing and one.stop > split.start:
                raise gap_error(self._request.path, split.id, one.start, one.stop)

    def _scan(self, split: LogSplit, start: int, columns: tuple[str, ...], *, metadata: bool) -> Scan:
        where = None
        if not self._table.info.descriptor.has_primary_key:  # servers judge no batches of changes
            where = to_predicate(self._request.filters, self._table.info.schema)
        return self._table.scan(
            columns,
            start={split.id: start},
            end={split.id: split.stop},
            partitions=split.partitions,
            buckets=[split.bucket],
            metadata_columns=metadata,
            where=where,
            skip_damaged=self._request.settings.skip_damaged,
        )
