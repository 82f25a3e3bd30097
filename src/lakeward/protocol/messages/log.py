"""Append to and read from logs; offsets; writers."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, f32, f64, i32, i64, message, payload
from lakeward.protocol.messages.shared import PbBucketOffset, PbTablePath


@message
class PbProduceLogReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    records: payload = f(3)


@message
class ProduceLogRequest:
    """PRODUCE_LOG (1014), asked."""

    acks: i32 = f(1)
    table_id: i64 = f(2)
    timeout_ms: i32 = f(3)
    buckets_req: tuple[PbProduceLogReqForBucket, ...] = f(4, default=())


@message
class PbProduceLogRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    base_offset: i64 | None = f(5, default=None)


@message
class ProduceLogResponse:
    """PRODUCE_LOG (1014), answered."""

    buckets_resp: tuple[PbProduceLogRespForBucket, ...] = f(1, default=())


@message
class PbFetchLogReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    fetch_offset: i64 = f(3)
    max_fetch_bytes: i32 = f(4)


@message
class PbPredicate:
    type: i32 = f(1)
    leaf: PbLeafPredicate | None = f(2, default=None)
    compound: PbCompoundPredicate | None = f(3, default=None)


@message
class PbFetchLogReqForTable:
    table_id: i64 = f(1)
    projection_pushdown_enabled: bool = f(2)
    projected_fields: tuple[i32, ...] = f(3, default=(), packed=True)
    buckets_req: tuple[PbFetchLogReqForBucket, ...] = f(4, default=())
    filter_predicate: PbPredicate | None = f(5, default=None)
    filter_schema_id: i32 | None = f(6, default=None)


@message
class FetchLogRequest:
    """FETCH_LOG (1015), asked."""

    follower_server_id: i32 = f(1)
    max_bytes: i32 = f(2)
    tables_req: tuple[PbFetchLogReqForTable, ...] = f(3, default=())
    max_wait_ms: i32 | None = f(4, default=None)
    min_bytes: i32 | None = f(5, default=None)
    read_preference: i32 | None = f(6, default=None)


@message
class PbRemoteLogSegment:
    remote_log_segment_id: str = f(1)
    remote_log_start_offset: i64 = f(2)
    remote_log_end_offset: i64 = f(3)
    segment_size_in_bytes: i32 = f(4)
    max_timestamp: i64 | None = f(5, default=None)


@message
class PbRemoteLogFetchInfo:
    remote_log_tablet_dir: str = f(1)
    partition_name: str | None = f(2, default=None)
    remote_log_segments: tuple[PbRemoteLogSegment, ...] = f(3, default=())
    first_start_pos: i32 | None = f(4, default=None)


@message
class PbFetchLogRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    high_watermark: i64 | None = f(5, default=None)
    log_start_offset: i64 | None = f(6, default=None)
    remote_log_fetch_info: PbRemoteLogFetchInfo | None = f(7, default=None)
    records: payload | None = f(8, default=None)
    filtered_end_offset: i64 | None = f(9, default=None)


@message
class PbFetchLogRespForTable:
    table_id: i64 = f(1)
    buckets_resp: tuple[PbFetchLogRespForBucket, ...] = f(2, default=())


@message
class FetchLogResponse:
    """FETCH_LOG (1015), answered."""

    tables_resp: tuple[PbFetchLogRespForTable, ...] = f(1, default=())


@message
class LimitScanRequest:
    """LIMIT_SCAN (1033), asked."""

    table_id: i64 = f(2)
    partition_id: i64 | None = f(3, default=None)
    bucket_id: i32 = f(4)
    limit: i32 = f(5)


@message
class LimitScanResponse:
    """LIMIT_SCAN (1033), answered."""

    error_code: i32 | None = f(1, default=None)
    error_message: str | None = f(2, default=None)
    is_log_table: bool | None = f(3, default=None)
    records: payload | None = f(4, default=None)


@message
class ListOffsetsRequest:
    """LIST_OFFSETS (1021), asked."""

    follower_server_id: i32 = f(1)
    offset_type: i32 = f(2)
    table_id: i64 = f(3)
    partition_id: i64 | None = f(4, default=None)
    bucket_id: tuple[i32, ...] = f(5, default=(), packed=True)
    start_timestamp: i64 | None = f(6, default=None)


@message
class PbListOffsetsRespForBucket:
    bucket_id: i32 = f(1)
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)
    offset: i64 | None = f(4, default=None)


@message
class ListOffsetsResponse:
    """LIST_OFFSETS (1021), answered."""

    buckets_resp: tuple[PbListOffsetsRespForBucket, ...] = f(1, default=())


@message
class InitWriterRequest:
    """INIT_WRITER (1026), asked."""

    table_path: tuple[PbTablePath, ...] = f(1, default=())


@message
class InitWriterResponse:
    """INIT_WRITER (1026), answered."""

    writer_id: i64 = f(1)


@message
class PbProducerTableOffsets:
    table_id: i64 = f(1)
    bucket_offsets: tuple[PbBucketOffset, ...] = f(2, default=())


@message
class RegisterProducerOffsetsRequest:
    """REGISTER_PRODUCER_OFFSETS (1053), asked."""

    producer_id: str = f(1)
    table_offsets: tuple[PbProducerTableOffsets, ...] = f(2, default=())
    ttl_ms: i64 | None = f(3, default=None)


@message
class RegisterProducerOffsetsResponse:
    """REGISTER_PRODUCER_OFFSETS (1053), answered."""

    result: i32 | None = f(1, default=None)


@message
class GetProducerOffsetsRequest:
    """GET_PRODUCER_OFFSETS (1054), asked."""

    producer_id: str = f(1)


@message
class GetProducerOffsetsResponse:
    """GET_PRODUCER_OFFSETS (1054), answered."""

    producer_id: str | None = f(1, default=None)
    expiration_time: i64 | None = f(2, default=None)
    table_offsets: tuple[PbProducerTableOffsets, ...] = f(3, default=())


@message
class DeleteProducerOffsetsRequest:
    """DELETE_PRODUCER_OFFSETS (1055), asked."""

    producer_id: str = f(1)


@message
class DeleteProducerOffsetsResponse:
    """DELETE_PRODUCER_OFFSETS (1055), answered."""


@message
class PbLeafPredicate:
    function: i32 = f(1)
    field_id: i32 = f(2)
    literals: tuple[PbLiteralValue, ...] = f(3, default=())


@message
class PbCompoundPredicate:
    function: i32 = f(1)
    children: tuple[PbPredicate, ...] = f(2, default=())


@message
class PbLiteralValue:
    literal_type: i32 = f(1)
    is_null: bool = f(2)
    boolean_value: bool | None = f(3, default=None)
    int_value: i32 | None = f(4, default=None)
    bigint_value: i64 | None = f(5, default=None)
    float_value: f32 | None = f(6, default=None)
    double_value: f64 | None = f(7, default=None)
    string_value: str | None = f(8, default=None)
    binary_value: bytes | None = f(9, default=None)
    decimal_value: i64 | None = f(10, default=None)
    timestamp_millis_value: i64 | None = f(11, default=None)
    timestamp_nano_of_millis_value: i32 | None = f(12, default=None)
    decimal_bytes: bytes | None = f(13, default=None)
