"""Put, look up and scan rows by key."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, f32, i32, i64, message, payload


@message
class PbPutKvReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    records: payload = f(3)


@message
class PutKvRequest:
    """PUT_KV (1016), asked."""

    acks: i32 = f(1)
    table_id: i64 = f(2)
    timeout_ms: i32 = f(3)
    target_columns: tuple[i32, ...] = f(4, default=(), packed=True)
    buckets_req: tuple[PbPutKvReqForBucket, ...] = f(5, default=())
    agg_mode: i32 | None = f(6, default=None)


@message
class PbPutKvRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    log_end_offset: i64 | None = f(5, default=None)
    pressure: f32 | None = f(6, default=None)


@message
class PutKvResponse:
    """PUT_KV (1016), answered."""

    buckets_resp: tuple[PbPutKvRespForBucket, ...] = f(1, default=())


@message
class PbLookupReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    keys: tuple[bytes, ...] = f(3, default=())
    original_partition_name: str | None = f(4, default=None)


@message
class LookupRequest:
    """LOOKUP (1017), asked."""

    table_id: i64 = f(1)
    buckets_req: tuple[PbLookupReqForBucket, ...] = f(2, default=())
    insert_if_not_exists: bool | None = f(3, default=None)
    acks: i32 | None = f(4, default=None)
    timeout_ms: i32 | None = f(5, default=None)


@message
class PbValue:
    values: bytes | None = f(1, default=None)


@message
class PbLookupRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    values: tuple[PbValue, ...] = f(5, default=())
    original_partition_name: str | None = f(6, default=None)


@message
class LookupResponse:
    """LOOKUP (1017), answered."""

    buckets_resp: tuple[PbLookupRespForBucket, ...] = f(1, default=())


@message
class PbPrefixLookupReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    keys: tuple[bytes, ...] = f(3, default=())


@message
class PrefixLookupRequest:
    """PREFIX_LOOKUP (1034), asked."""

    table_id: i64 = f(1)
    buckets_req: tuple[PbPrefixLookupReqForBucket, ...] = f(2, default=())


@message
class PbValueList:
    values: tuple[bytes, ...] = f(1, default=())


@message
class PbPrefixLookupRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    value_lists: tuple[PbValueList, ...] = f(5, default=())


@message
class PrefixLookupResponse:
    """PREFIX_LOOKUP (1034), answered."""

    buckets_resp: tuple[PbPrefixLookupRespForBucket, ...] = f(1, default=())


@message
class PbScanReqForBucket:
    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    limit: i64 | None = f(4, default=None)


@message
class ScanKvRequest:
    """SCAN_KV (1061), asked."""

    scanner_id: bytes | None = f(1, default=None)
    bucket_scan_req: PbScanReqForBucket | None = f(2, default=None)
    call_seq_id: i32 | None = f(3, default=None)
    batch_size_bytes: i32 | None = f(4, default=None)
    close_scanner: bool | None = f(5, default=None)


@message
class ScanKvResponse:
    """SCAN_KV (1061), answered."""

    error_code: i32 | None = f(1, default=None)
    error_message: str | None = f(2, default=None)
    scanner_id: bytes | None = f(3, default=None)
    has_more_results: bool | None = f(4, default=None)
    records: payload | None = f(5, default=None)
    log_offset: i64 | None = f(6, default=None)
