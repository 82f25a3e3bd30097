"""Messages that several families use."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message


@message
class ErrorResponse:
    """What every failed request is answered with."""

    error_code: i32 = f(1)
    error_message: str | None = f(2, default=None)


@message
class PbTablePath:
    database_name: str = f(1)
    table_name: str = f(2)


@message
class PbKeyValue:
    key: str = f(1)
    value: str = f(2)


@message
class PbAlterConfig:
    config_key: str = f(1)
    config_value: str | None = f(2, default=None)
    op_type: i32 = f(3)


@message
class PbBucketOffset:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    log_end_offset: i64 | None = f(4, default=None)
