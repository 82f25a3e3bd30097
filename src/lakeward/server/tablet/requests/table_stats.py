"""GET_TABLE_STATS: how many rows some buckets hold, counted by whoever knows them."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.codec import Parts, encode
from lakeward.protocol.messages.table import (
    GetTableStatsRequest,
    GetTableStatsResponse,
    PbTableStatsReqForBucket,
    PbTableStatsRespForBucket,
)
from lakeward.rpc.dispatch import EncodedAnswer, Steps
from lakeward.rpc.error_answers import bucket_refusal

#: So many buckets are counted without a break.
_AT_ONCE = 32


def count_rows(request: GetTableStatsRequest, count: Callable[[TableBucket], int]) -> GetTableStatsResponse | Steps:
    """Ask `count` for each bucket; an error is the answer for its bucket alone."""
    if len(request.buckets_req) > _AT_ONCE:
        return _in_steps(request, count)
    return GetTableStatsResponse(
        buckets_resp=tuple(_stats(request.table_id, one, count) for one in request.buckets_req)
    )


def _in_steps(request: GetTableStatsRequest, count: Callable[[TableBucket], int]) -> Steps:
    parts: Parts = []
    for at in range(0, len(request.buckets_req), _AT_ONCE):
        some = request.buckets_req[at : at + _AT_ONCE]
        answers = tuple(_stats(request.table_id, one, count) for one in some)
        parts.append(encode(GetTableStatsResponse(buckets_resp=answers)))
        yield
    return EncodedAnswer(parts)


def _stats(
    table_id: int, one: PbTableStatsReqForBucket, count: Callable[[TableBucket], int]
) -> PbTableStatsRespForBucket:
    try:
        rows = count(TableBucket(table_id, one.partition_id, one.bucket_id))
    except LakewardError as wrong:
        return bucket_refusal(PbTableStatsRespForBucket, one, wrong)
    return PbTableStatsRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, row_count=rows)
