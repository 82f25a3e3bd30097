"""LOOKUP, PREFIX_LOOKUP and the limited scan of a primary key table: questions about its state."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.codec import encode
from lakeward.protocol.declare import payload
from lakeward.protocol.messages.kv import (
    PbLookupRespForBucket,
    PbPrefixLookupReqForBucket,
    PbPrefixLookupRespForBucket,
    PbValueList,
    PrefixLookupRequest,
    PrefixLookupResponse,
)
from lakeward.protocol.messages.packed_kv import PackedLookupRequest, PackedLookupResponse
from lakeward.records.spans import Spans
from lakeward.records.value_batch import encode_value_batch
from lakeward.rpc.dispatch import Exchange
from lakeward.server.tablet.packed_lookup import AskedKeys, packed_values
from lakeward.server.tablet.pending import error_fields
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.tablet.waiting import Waiters


class Lookups:
    """Answers lookups."""

    def __init__(self, tablets: Tablets, waiters: Waiters, now_ms: Callable[[], int]) -> None:
        self._tablets = tablets
        self._waiters = waiters
        self._now_ms = now_ms

    def look_up(self, request: PackedLookupRequest, exchange: Exchange) -> PackedLookupResponse:
        """The rows of some keys, in the order of the keys."""
        answers = tuple(self._values(request, one, exchange.version) for one in request.buckets_req)
        return PackedLookupResponse(buckets_resp=answers)

    def _values(self, request: PackedLookupRequest, packed: payload, version: int) -> bytes | bytearray:
        asked = AskedKeys.of(packed)
        bucket = TableBucket(request.table_id, asked.partition_id, asked.bucket_id)
        try:
            if asked.partition_name is not None:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Partition '{asked.partition_name}' has gone; rows in the lake cannot be looked up yet."
                )
            kv = self._tablets.kv(bucket, version)
            if request.insert_if_not_exists:
                kv.insert_missing(asked.keys, self._now_ms())
                self._waiters.touch(bucket)
            found = kv.get(asked.keys)
        except LakewardError as wrong:
            return encode(PbLookupRespForBucket(**error_fields(asked, wrong)))
        return packed_values(asked, found)

    def prefix_look_up(self, request: PrefixLookupRequest, exchange: Exchange) -> PrefixLookupResponse:
        """All rows whose keys begin with some prefixes."""
        answers = tuple(self._value_lists(request, one, exchange.version) for one in request.buckets_req)
        return PrefixLookupResponse(buckets_resp=answers)

    def _value_lists(
        self, request: PrefixLookupRequest, one: PbPrefixLookupReqForBucket, version: int
    ) -> PbPrefixLookupRespForBucket:
        bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
        try:
            kv = self._tablets.kv(bucket, version)
            lists = [PbValueList(values=tuple(kv.scan_prefix(key).values.present())) for key in one.keys]
        except LakewardError as wrong:
            return PbPrefixLookupRespForBucket(**error_fields(one, wrong))
        return PbPrefixLookupRespForBucket(
            partition_id=one.partition_id, bucket_id=one.bucket_id, value_lists=tuple(lists)
        )

    def first_rows(self, bucket: TableBucket, limit: int) -> bytearray:
        """The first rows of a bucket in key order, as a value batch."""
        values = self._tablets.kv(bucket).scan(max(limit, 0)).values
        return encode_value_batch(Spans([values.buffer], values.starts, values.ends))
