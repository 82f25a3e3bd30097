"""A few rows of a table by one small request per bucket."""

from __future__ import annotations

import pyarrow as pa

from lakeward.client.admin import table_schema
from lakeward.client.cluster import Cluster
from lakeward.client.log_decoder import Chunk, LogDecoder
from lakeward.client.offsets import Place, TableOffsets
from lakeward.client.partitions import Partitions
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse


async def limit_scan(cluster: Cluster, info: TableInfo, partitions: Partitions, limit: int) -> pa.Table:
    """Up to `limit` rows: the latest of the first buckets that have any."""
    decoder = LogDecoder(info)
    found: list[pa.RecordBatch] = []
    left = limit
    for place in await TableOffsets(cluster, info, partitions).places():
        if left <= 0:
            break
        batches = await _of_bucket(cluster, info, decoder, place, left)
        rows = sum(b.num_rows for b in batches)
        kept = pa.Table.from_batches(batches, decoder.schema).slice(max(rows - left, 0))
        found += kept.to_batches()
        left -= kept.num_rows
    return pa.Table.from_batches(found, decoder.schema)


async def _of_bucket(
    cluster: Cluster, info: TableInfo, decoder: LogDecoder, place: Place, limit: int
) -> list[pa.RecordBatch]:
    channel = await cluster.leader(info.path, place.bucket, place.id.partition)
    ask = LimitScanRequest(
        table_id=info.table_id,
        partition_id=place.bucket.partition_id,
        bucket_id=place.bucket.bucket,
        limit=limit,
    )
    answer: LimitScanResponse = await channel.request(Api.LIMIT_SCAN, ask)
    if answer.error_code:
        raise ErrorCode.of_wire(answer.error_code).error(f"{info.path}, bucket {place.id}: {answer.error_message}")
    if not answer.records:
        return []
    if info.descriptor.has_primary_key:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"{info.path} has a primary key; this client cannot read its rows yet, only its changes: table.scan()."
        )
    assert isinstance(answer.records, memoryview)
    chunk = Chunk(answer.records, place.bucket.bucket, 0, None, projected=False)
    for schema_id in decoder.unknown_schemas(chunk):
        decoder.learn(schema_id, await table_schema(cluster, info.path, schema_id))
    return decoder.decode(chunk)
