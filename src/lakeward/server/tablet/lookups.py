"""LOOKUP and PREFIX_LOOKUP: questions about the state of a primary key table."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.codec import encode
from lakeward.protocol.messages.kv import (
    PbLookupRespForBucket,
    PbPrefixLookupReqForBucket,
    PbPrefixLookupRespForBucket,
    PbValueList,
    PrefixLookupRequest,
    PrefixLookupResponse,
)
from lakeward.protocol.messages.packed_kv import PackedLookupRequest, PackedLookupResponse
from lakeward.rpc.dispatch import Exchange
from lakeward.server.tablet.kv_gate import KvGate
from lakeward.server.tablet.packed_lookup import AskedKeys, packed_values
from lakeward.server.tablet.pending import error_fields
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.tablet.waiting import Waiters
from lakeward.storage.kv.kv_tablet import KvTablet


class Lookups:
    """Answers lookups."""

    def __init__(self, tablets: Tablets, gate: KvGate, waiters: Waiters, now_ms: Callable[[], int]) -> None:
        self._tablets = tablets
        self._gate = gate
        self._waiters = waiters
        self._now_ms = now_ms

    def look_up(self, request: PackedLookupRequest, exchange: Exchange) -> PackedLookupResponse | None:
        """The rows of some keys, in the order of the keys."""
        asked = [AskedKeys.of(packed) for packed in request.buckets_req]
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in asked]
        if not self._gate.admits(buckets, self.look_up, request, exchange):
            return None
        answers = (
            self._values(request, one, bucket, exchange.version) for one, bucket in zip(asked, buckets, strict=True)
        )
        return PackedLookupResponse(buckets_resp=tuple(answers))

    def _values(
        self, request: PackedLookupRequest, asked: AskedKeys, bucket: TableBucket, version: int
    ) -> bytes | bytearray:
        try:
            if asked.partition_name is not None:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Partition '{asked.partition_name}' has gone; rows in the lake cannot be looked up yet."
                )
            kv = self._tablets.kv(bucket, version)
            if request.insert_if_not_exists:
                self._tablets.writes.check()
                kv.insert_missing(asked.keys, self._tablets.partition_values(bucket), self._now_ms())
                self._waiters.touch(bucket)
            found = kv.get(asked.keys)
        except LakewardError as wrong:
            return encode(PbLookupRespForBucket(**error_fields(asked, wrong)))
        return packed_values(asked, found)

    def prefix_look_up(self, request: PrefixLookupRequest, exchange: Exchange) -> PrefixLookupResponse | None:
        """All rows whose keys begin with some prefixes."""
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        if not self._gate.admits(buckets, self.prefix_look_up, request, exchange, before=KvTablet.ordering):
            return None
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
