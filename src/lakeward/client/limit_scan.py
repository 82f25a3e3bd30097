"""A few rows of a table by one small request per bucket."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

from lakeward.client.admin import table_schema
from lakeward.client.cluster import Cluster
from lakeward.client.log_decoder import ROW_FORMATS, Chunk, LogDecoder
from lakeward.client.offsets import Place, TableOffsets
from lakeward.client.partitions import Partitions
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.options.table import KV_FORMAT
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse

#: A batch of values: bytes after this field, version, count; then each value: its length, schema id, row.
_VALUES_HEAD = struct.Struct("<ibi")
_VALUE_HEAD = struct.Struct("<ih")
_SCHEMA_ID_BYTES = 2


async def limit_scan(cluster: Cluster, info: TableInfo, partitions: Partitions, limit: int) -> pa.Table:
    """Up to `limit` rows of the first buckets that have any: the latest of a log, some of a primary key table."""
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
    assert isinstance(answer.records, memoryview)
    if info.descriptor.has_primary_key:
        return await _values(cluster, info, decoder, answer.records)
    chunk = Chunk(answer.records, place.bucket.bucket, 0, None, projected=False)
    await _learn(cluster, info, decoder, decoder.unknown_schemas(chunk))
    return decoder.decode(chunk)


async def _values(cluster: Cluster, info: TableInfo, decoder: LogDecoder, records: memoryview) -> list[pa.RecordBatch]:
    by_schema: dict[int, list[memoryview]] = {}
    for schema_id, row in _cut_values(records):
        by_schema.setdefault(schema_id, []).append(row)
    await _learn(cluster, info, decoder, decoder.unknown(by_schema))
    row_format = ROW_FORMATS[KV_FORMAT.read(info.descriptor.properties)]
    return [decoder.decode_rows(rows, schema_id, row_format) for schema_id, rows in by_schema.items()]


def _cut_values(records: memoryview) -> Iterator[tuple[int, memoryview]]:
    _, _, count = _VALUES_HEAD.unpack_from(records)
    at = _VALUES_HEAD.size
    for _ in range(count):
        length, schema_id = _VALUE_HEAD.unpack_from(records, at)
        end = at + _VALUE_HEAD.size - _SCHEMA_ID_BYTES + length
        yield schema_id, records[at + _VALUE_HEAD.size : end]
        at = end


async def _learn(cluster: Cluster, info: TableInfo, decoder: LogDecoder, schema_ids: set[int]) -> None:
    for schema_id in schema_ids:
        decoder.learn(schema_id, await table_schema(cluster, info.path, schema_id))
