"""LOOKUP, PREFIX_LOOKUP and the limited scan of a primary key table: questions about its state."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import (
    LookupRequest,
    LookupResponse,
    PbLookupReqForBucket,
    PbLookupRespForBucket,
    PbPrefixLookupReqForBucket,
    PbPrefixLookupRespForBucket,
    PbValue,
    PbValueList,
    PrefixLookupRequest,
    PrefixLookupResponse,
)
from lakeward.records.spans import Spans
from lakeward.records.value_batch import encode_value_batch
from lakeward.rpc.dispatch import Exchange
from lakeward.server.tablet.pending import error_fields
from lakeward.server.tablet.tablets import Tablets
from lakeward.storage.kv.slices import Slices


class Lookups:
    """Answers lookups."""

    def __init__(self, tablets: Tablets) -> None:
        self._tablets = tablets

    def look_up(self, request: LookupRequest, exchange: Exchange) -> LookupResponse:
        """The rows of some keys, in the order of the keys."""
        answers = tuple(self._values(request, one, exchange.version) for one in request.buckets_req)
        return LookupResponse(buckets_resp=answers)

    def _values(self, request: LookupRequest, one: PbLookupReqForBucket, version: int) -> PbLookupRespForBucket:
        bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
        try:
            if one.original_partition_name is not None:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Partition '{one.original_partition_name}' has gone; rows in the lake cannot be looked up yet."
                )
            if request.insert_if_not_exists:
                raise ErrorCode.UNSUPPORTED_VERSION.error("Lookups that insert missing keys are not there yet.")
            found = self._tablets.kv(bucket, version).get(Slices.of(one.keys))
        except LakewardError as wrong:
            return PbLookupRespForBucket(**error_fields(one, wrong))
        return PbLookupRespForBucket(
            partition_id=one.partition_id,
            bucket_id=one.bucket_id,
            values=tuple(PbValue(values=value) for value in found.to_list()),
        )

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
