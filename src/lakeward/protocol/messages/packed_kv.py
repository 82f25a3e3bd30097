"""Lookups whose buckets are bytes already: written and cut by compiled loops, key by key they would cost too much.

The bytes on the wire are those of `kv`.
"""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message, payload


@message
class PackedLookupRequest:
    """LOOKUP (1017), asked; each bucket is an encoded PbLookupReqForBucket."""

    table_id: i64 = f(1)
    buckets_req: tuple[payload, ...] = f(2, default=())
    insert_if_not_exists: bool | None = f(3, default=None)
    acks: i32 | None = f(4, default=None)
    timeout_ms: i32 | None = f(5, default=None)


@message
class PackedLookupResponse:
    """LOOKUP (1017), answered; each bucket is an encoded PbLookupRespForBucket."""

    buckets_resp: tuple[payload, ...] = f(1, default=())


@message
class PackedPrefixBucket:
    """An answered PbPrefixLookupRespForBucket; each list is an encoded PbValueList, in pieces."""

    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    value_lists: tuple[payload, ...] = f(5, default=())


@message
class PackedPrefixLookupResponse:
    """PREFIX_LOOKUP (1034), answered."""

    buckets_resp: tuple[PackedPrefixBucket, ...] = f(1, default=())
