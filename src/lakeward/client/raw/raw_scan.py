"""RawScan: the batches of a log as bytes, checked and not decoded."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from lakeward.client.admin.offsets import TableOffsets
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.decode.batch_cutter import batches_of
from lakeward.client.decode.log_decoder import Chunk
from lakeward.client.forms.results import BucketId
from lakeward.client.read.log_fetcher import LogFetcher
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.records.batch.log_batch import crc_is_right


class RawDecoder:
    """Leaves chunks as they are; only their checksums are looked at."""

    projection: tuple[int, ...] = ()
    tells_gaps = False

    def __init__(self, info: TableInfo) -> None:
        self._info = info

    def unknown_schemas(self, chunk: Chunk) -> set[int]:  # noqa: ARG002 - whoever decodes asks
        """None: nothing is decoded."""
        return set()

    def learn(self, schema_id: int, schema: Schema | None) -> None:
        """Nothing is learned."""

    def lacks(self, schema_id: int, schema: Schema) -> list[str]:  # noqa: ARG002
        """Nothing: all bytes are there."""
        return []

    def decode(self, chunk: Chunk) -> list[Chunk]:
        """The chunk; CORRUPT_RECORD where a batch is not as it was written."""
        for span in batches_of(chunk.data):
            if not crc_is_right(chunk.data, span):
                raise ErrorCode.CORRUPT_RECORD.error(
                    f"{self._info.path}, bucket {chunk.id}: the batch at offset {span.header.base_offset} has a wrong "
                    "CRC. See `lakeward verify`, and `lakeward repair` to give its rows up."
                )
        return [chunk]


async def raw_scan(
    cluster: Cluster, info: TableInfo, offsets: TableOffsets, ranges: Mapping[BucketId, tuple[int, int]]
) -> AsyncGenerator[Chunk, None]:
    """Chunks of whole batches, in order within each bucket, from each range's first offset up to its last."""
    partitions = {id_.partition for id_ in ranges if id_.partition is not None}
    places = await offsets.places(sorted(partitions) if info.descriptor.is_partitioned else None)
    fetcher = LogFetcher(cluster, info, RawDecoder(info), follow=False)
    for place in places:
        if place.id in ranges:
            fetcher.subscribe(place, *ranges[place.id])
    async with fetcher:
        async for chunk in fetcher:
            yield chunk
