"""LakeOffsets: how far the lake has what is here, as the coordinator has told it: NOTIFY_LAKE_TABLE_OFFSET."""

from __future__ import annotations

from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.servers import orders as messages
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.lake_settings import is_lake_table


class LakeOffsets:
    """Bucket → up to where the lake has it; below that a log may go."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._ends: dict[TableBucket, int] = {}

    def floor(self, bucket: TableBucket) -> int | None:
        """Up to where the lake has a bucket: 0 when nothing is known; None when its table is not tiered."""
        table = self._catalog.table_by_id(bucket.table_id)
        if table is None or not is_lake_table(table.descriptor):
            return None
        return self._ends.get(bucket, 0)

    async def notify(self, request: messages.NotifyLakeTableOffsetRequest) -> messages.NotifyLakeTableOffsetResponse:
        """NOTIFY_LAKE_TABLE_OFFSET: the lake has got further."""
        for told in request.notify_buckets_req:
            if told.log_end_offset is not None:
                bucket = TableBucket(told.table_id, told.partition_id, told.bucket_id)
                self._ends[bucket] = max(self._ends.get(bucket, 0), told.log_end_offset)
        return messages.NotifyLakeTableOffsetResponse()
