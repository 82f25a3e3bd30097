"""GET_TABLE_STATS of a primary key table."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.table import GetTableStatsRequest, GetTableStatsResponse
from lakeward.rpc.dispatch import Exchange, Steps
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.tablet.requests.table_stats import count_rows
from lakeward.server.tablet.state.states import States


class AskedCounts(NamedTuple):
    """Buckets whose rows are to be counted."""

    request: GetTableStatsRequest
    buckets: list[TableBucket]


class RowCounts:
    """Counts the rows of states."""

    def __init__(self, buckets: Buckets, states: States) -> None:
        self._buckets = buckets
        self._states = states

    @staticmethod
    def read(request: GetTableStatsRequest) -> AskedCounts:
        """Which buckets are asked for."""
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        return AskedCounts(request, buckets)

    def answer(self, asked: AskedCounts, _: Exchange) -> GetTableStatsResponse | Steps:
        """How many rows the buckets hold."""
        return count_rows(asked.request, self._count)

    def _count(self, bucket: TableBucket) -> int:
        table = self._buckets.table(bucket)
        if table.descriptor.properties.get("table.changelog.image", "FULL").upper() == "WAL":
            raise ErrorCode.INVALID_TABLE.error(
                f"Row count is disabled for this table '{table.path}'. Its changelog image is WAL, so that its rows are"
                " not counted."
            )
        return self._states.open(bucket).row_count
