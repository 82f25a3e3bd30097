"""Kinds of events, and those that are read one at a time: statements, GTIDs, the next file, packed events."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import zstandard

from lakeward.errors import ErrorCode

HEAD_BYTES = 19
QUERY, ROTATE, FORMAT, XID, TABLE_MAP = 2, 4, 15, 16, 19
GTID_MYSQL, XA_PREPARE, PARTIAL_UPDATE, PAYLOAD = 33, 38, 39, 40
QUERY_PACKED = 165
#: With these a transaction begins.
BEGINS = {GTID_MYSQL, 34, 42, 162}
#: Row events → (1 write, 2 update, 3 delete), by version of their head.
ROWS_V1 = {23: 1, 24: 2, 25: 3}
ROWS_V2 = {30: 1, 31: 2, 32: 3}
ROWS_V1_PACKED = {166: 1, 167: 2, 168: 3}
ROWS_V2_PACKED = {169: 1, 170: 2, 171: 3}
ROWS = {**ROWS_V1, **ROWS_V2, **ROWS_V1_PACKED, **ROWS_V2_PACKED}
PACKED = {QUERY_PACKED, *ROWS_V1_PACKED, *ROWS_V2_PACKED}
WITH_EXTRA = {*ROWS_V2, *ROWS_V2_PACKED}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and the database it was run in."""

    database: str
    text: str


def read_statement(body: bytes, *, is_packed: bool = False) -> Statement:
    """The statement of a QUERY event, without its head."""
    database_bytes, status_bytes = body[8], struct.unpack_from("<H", body, 11)[0]
    at = 13 + status_bytes
    text = body[at + database_bytes + 1 :]
    if is_packed:
        text = inflate(text)
    return Statement(body[at : at + database_bytes].decode(), text.decode(errors="replace"))


def inflate(packed: bytes) -> bytes:
    """What MariaDB's log_bin_compress made small: a byte that says how wide the length is, the length, zlib."""
    return zlib.decompress(packed[1 + (packed[0] & 7) :])


def read_rotate(body: bytes) -> tuple[str, int]:
    """The next file, and where in it the next event is."""
    return body[8:].decode(), struct.unpack_from("<Q", body)[0]


def read_gtid(body: bytes) -> tuple[str, int]:
    """The server whose transaction begins, and the number it has there; of MySQL."""
    source = body[1:17].hex()
    uuid = "-".join((source[:8], source[8:12], source[12:16], source[16:20], source[20:]))
    return uuid, struct.unpack_from("<Q", body, 17)[0]


def payload_events(body: bytes) -> list[bytes]:
    """The events inside MySQL's TRANSACTION_PAYLOAD, whole, each with its head."""
    at, is_zstd, payload = 0, True, b""
    while at < len(body):
        kind, at = _packed_number(body, at)
        if kind == 0:
            payload = body[at:]
            break
        size, at = _packed_number(body, at)
        if kind == 2:
            is_zstd = _packed_number(body, at)[0] == 0
        at += size
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(payload) if is_zstd else payload
    events, at = [], 0
    while at + HEAD_BYTES <= len(plain):
        size = struct.unpack_from("<I", plain, at + 9)[0]
        if size < HEAD_BYTES:
            raise ErrorCode.CORRUPT_MESSAGE.error("A compressed transaction in the binlog is damaged.")
        events.append(plain[at : at + size])
        at += size
    return events


def _packed_number(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + width], "little"), at + 1 + width
