"""What tests of the fetch loop share: places, answers that point to remote segments, rows that came out."""

from __future__ import annotations

import pyarrow as pa
from fake_cluster import Asked

from lakeward.client.admin.offsets import Place
from lakeward.client.forms.results import BucketId
from lakeward.client.read.log_fetcher import LogFetcher
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import (
    FetchLogResponse,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
    PbRemoteLogFetchInfo,
)


def place(bucket: int) -> Place:
    """A bucket of the test table."""
    return Place(TableBucket(7, None, bucket), BucketId(None, bucket))


def ids(*batches: pa.RecordBatch) -> list[int]:
    """The values of batches."""
    return [value for batch in batches for value in batch.column("id").to_pylist()]


async def read_all(fetcher: LogFetcher) -> list[pa.RecordBatch]:
    """All batches up to the end."""
    return [batch async for batch in fetcher]


def point_to(asked: Asked, info: PbRemoteLogFetchInfo) -> None:
    """Answer with segments in a file store."""
    bucket = PbFetchLogRespForBucket(bucket_id=0, high_watermark=900, remote_log_fetch_info=info)
    table = PbFetchLogRespForTable(table_id=7, buckets_resp=(bucket,))
    asked.answer.set_result(FetchLogResponse(tables_resp=(table,)))
