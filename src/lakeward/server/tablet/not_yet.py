"""Requests of primary key tables, which this server can describe but not serve yet.

They are answered per bucket: a client that meets a request-level error here, or finds the API missing, tries again for
ever without a pause.
"""

from __future__ import annotations

from typing import Any

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages import kv
from lakeward.rpc.dispatch import Exchange, Handler

_CODE = ErrorCode.UNSUPPORTED_VERSION.value
_MESSAGE = "Primary key tables can be created and described, but not written or looked up yet."


def not_yet_handlers() -> dict[Api, Handler]:
    """The APIs that wait for key/value storage."""
    return {Api.PUT_KV: _put, Api.LOOKUP: _look_up, Api.PREFIX_LOOKUP: _prefix_look_up}


def _refusal(one: Any) -> dict[str, Any]:
    return {
        "partition_id": one.partition_id,
        "bucket_id": one.bucket_id,
        "error_code": _CODE,
        "error_message": _MESSAGE,
    }


def _put(request: kv.PutKvRequest, _exchange: Exchange) -> kv.PutKvResponse:
    answers = tuple(kv.PbPutKvRespForBucket(**_refusal(one)) for one in request.buckets_req)
    return kv.PutKvResponse(buckets_resp=answers)


def _look_up(request: kv.LookupRequest, _exchange: Exchange) -> kv.LookupResponse:
    answers = tuple(kv.PbLookupRespForBucket(**_refusal(one)) for one in request.buckets_req)
    return kv.LookupResponse(buckets_resp=answers)


def _prefix_look_up(request: kv.PrefixLookupRequest, _exchange: Exchange) -> kv.PrefixLookupResponse:
    answers = tuple(kv.PbPrefixLookupRespForBucket(**_refusal(one)) for one in request.buckets_req)
    return kv.PrefixLookupResponse(buckets_resp=answers)
