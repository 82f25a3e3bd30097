"""Length-prefixed frames: their headers, and how they are written; `frame_reader` cuts them out of a byte stream.

    request    length:i32  api_key:i16  version:i16  request_id:i32  body
    response   length:i32  type:i8 (0 success, 1 error)  request_id:i32  body
    failure    length:i32  type:i8 (2)  body            then the connection is closed

All integers are big-endian; `length` counts what follows it.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.protocol.codec import Parts, encode
from lakeward.protocol.messages.shared import ErrorResponse

REQUEST_HEADER = struct.Struct(">ihhi")
RESPONSE_HEADER = struct.Struct(">ibi")
_read_request_header = struct.Struct(">hhi").unpack_from
_FAILURE_HEADER = struct.Struct(">ib")
LENGTH_BYTES = 4
REQUEST_HEADER_BYTES = REQUEST_HEADER.size - LENGTH_BYTES
RESPONSE_HEADER_BYTES = RESPONSE_HEADER.size - LENGTH_BYTES
#: A failure has no more of a header than this.
RESPONSE_TYPE_BYTES = 1
#: Where nothing smaller is said: lengths are signed 32-bit.
FRAME_BYTES_MAX = (1 << 31) - 1
SUCCESS, ERROR, FAILURE = 0, 1, 2


class RequestHeader(NamedTuple):
    """What stands before a request's body."""

    api_key: int
    version: int
    request_id: int


def request_in(frame: memoryview) -> tuple[RequestHeader, memoryview]:
    """Header and body of a frame that came from a client."""
    return RequestHeader(*_read_request_header(frame)), frame[REQUEST_HEADER_BYTES:]


def request_frame(api_key: int, version: int, request_id: int, body: Parts) -> Parts:
    """A request ready to be written."""
    length = REQUEST_HEADER_BYTES + sum(map(len, body))
    return [REQUEST_HEADER.pack(length, api_key, version, request_id), *body]


def response_frame(request_id: int, body: Parts) -> Parts:
    """A successful answer ready to be written."""
    length = RESPONSE_HEADER_BYTES + sum(map(len, body))
    return [RESPONSE_HEADER.pack(length, SUCCESS, request_id), *body]


def error_frame(request_id: int, code: ErrorCode, message: str | None) -> Parts:
    """A failed answer ready to be written."""
    body = encode(ErrorResponse(error_code=code.value, error_message=message))
    return [RESPONSE_HEADER.pack(RESPONSE_HEADER_BYTES + len(body), ERROR, request_id) + body]


def failure_frame(code: ErrorCode, message: str | None) -> Parts:
    """The last words on a connection whose frames cannot be understood."""
    body = encode(ErrorResponse(error_code=code.value, error_message=message))
    return [_FAILURE_HEADER.pack(1 + len(body), FAILURE) + body]
