"""A few rows of a table by one small request per bucket."""

from __future__ import annotations

import pyarrow as pa

from lakeward.client.admin.admin import known_schema
from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.decode.batch_cutter import cut
from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.state.first_records import check_right, first_records
from lakeward.model.table import TableInfo
from lakeward.records.batch.batch_header import read_header


async def limit_scan(cluster: Cluster, info: TableInfo, partitions: Partitions, limit: int) -> pa.Table:
    """Up to `limit` rows of the first buckets that have any: the latest of a log, some of a primary key table."""
    places = await TableOffsets(cluster, info, partitions).places()
    if not places:
        await check_right(cluster, info, places)
    if info.descriptor.has_primary_key:
        return await _values(cluster, info, places, limit)
    decoder = LogDecoder(info)
    found: list[pa.RecordBatch] = []
    left = limit
    for place in places:
        if left <= 0:
            break
        batches = await _log_rows(cluster, info, decoder, place, left)
        rows = sum(b.num_rows for b in batches)
        kept = pa.Table.from_batches(batches, decoder.schema).slice(max(rows - left, 0))
        found += kept.to_batches()
        left -= kept.num_rows
    return pa.Table.from_batches(found, decoder.schema)


async def _log_rows(
    cluster: Cluster, info: TableInfo, decoder: LogDecoder, place: Place, limit: int
) -> list[pa.RecordBatch]:
    found: list[pa.RecordBatch] = []
    for piece, _ in cut(await first_records(cluster, info, place, limit)):
        first = read_header(piece).base_offset
        chunk = Chunk(piece, place.bucket.bucket, first, None, projected=False, partition=place.id.partition)
        for schema_id in decoder.unknown_schemas(chunk):
            decoder.learn(schema_id, await known_schema(cluster, info.path, schema_id))
        found += decoder.decode(chunk)
    return found


async def _values(cluster: Cluster, info: TableInfo, places: list[Place], limit: int) -> pa.Table:
    from lakeward.client.state.value_decoder import ValueDecoder
    from lakeward.client.state.value_scans import values_in

    decoder = ValueDecoder(cluster, info)
    found: list[pa.RecordBatch] = []
    left = limit
    for place in places:
        if left <= 0:
            break
        rows = await decoder.decode(values_in(await first_records(cluster, info, place, left)))
        found.append(rows)
        left -= rows.num_rows
    return pa.Table.from_batches(found, decoder.schema)
