"""Requests that name buckets: how they are taken apart by table, and how a bucket is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from lakeward.errors import LakewardError
from lakeward.protocol.codec import decode
from lakeward.protocol.messages.kv import (
    LookupResponse,
    PbLookupReqForBucket,
    PbLookupRespForBucket,
    PbPrefixLookupRespForBucket,
    PrefixLookupRequest,
    PrefixLookupResponse,
)
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
)
from lakeward.protocol.messages.packed_kv import PackedLookupRequest
from lakeward.rpc.error_answers import bucket_refusal


class FetchForm:
    """FETCH_LOG: several tables in one request, those of others answered beside each other."""

    def parts(self, request: FetchLogRequest) -> Iterable[tuple[int, PbFetchLogReqForTable]]:
        """Each table."""
        return ((one.table_id, one) for one in request.tables_req)

    def with_parts(self, request: FetchLogRequest, parts: list[PbFetchLogReqForTable]) -> FetchLogRequest:
        """A refusal is told at once, so the rest does not wait for rows."""
        return replace(request, tables_req=tuple(parts), max_wait_ms=0)

    def refusal(self, refused: list[tuple[PbFetchLogReqForTable, LakewardError]]) -> FetchLogResponse:
        """Every bucket of each table."""
        return FetchLogResponse(
            tables_resp=tuple(
                PbFetchLogRespForTable(
                    table_id=table.table_id,
                    buckets_resp=tuple(
                        bucket_refusal(PbFetchLogRespForBucket, one, wrong) for one in table.buckets_req
                    ),
                )
                for table, wrong in refused
            )
        )


class _OneTable:
    """Requests about one table: they are refused as a whole, bucket by bucket."""

    def parts(self, request: Any) -> Iterable[tuple[int, Any]]:
        """The table."""
        return ((request.table_id, request),)

    def with_parts(self, _request: Any, parts: list[Any]) -> Any:
        """All of it, or nothing."""
        return parts[0]


class LookupForm(_OneTable):
    """LOOKUP, whose buckets are bytes still."""

    def refusal(self, refused: list[tuple[PackedLookupRequest, LakewardError]]) -> LookupResponse:
        """Every bucket."""
        return LookupResponse(
            buckets_resp=tuple(
                bucket_refusal(PbLookupRespForBucket, decode(PbLookupReqForBucket, cast("memoryview", one)), wrong)
                for request, wrong in refused
                for one in request.buckets_req
            )
        )


class PrefixLookupForm(_OneTable):
    """PREFIX_LOOKUP."""

    def refusal(self, refused: list[tuple[PrefixLookupRequest, LakewardError]]) -> PrefixLookupResponse:
        """Every bucket."""
        return PrefixLookupResponse(
            buckets_resp=tuple(
                bucket_refusal(PbPrefixLookupRespForBucket, one, wrong)
                for request, wrong in refused
                for one in request.buckets_req
            )
        )
