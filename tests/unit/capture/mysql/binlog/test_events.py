"""Events that are read one at a time."""

from __future__ import annotations

import struct
import zlib

import zstandard

from lakeward.capture.mysql.binlog.events import inflate, payload_events, read_gtid, read_rotate, read_statement


def test_a_statement_is_read_with_its_database() -> None:
    """Plain and compressed; what the server says of its session is passed over."""
    head = struct.pack("<IIBHH", 1, 2, 4, 0, 3) + b"\1\2\3" + b"shop\0"
    assert read_statement(head + b"DROP TABLE t").text == "DROP TABLE t"
    packed = b"\x81\x0c" + zlib.compress(b"DROP TABLE t")
    assert inflate(packed) == b"DROP TABLE t"
    statement = read_statement(head + packed, is_packed=True)
    assert (statement.database, statement.text) == ("shop", "DROP TABLE t")


def test_the_next_file_and_a_gtid() -> None:
    """Of MySQL: the source's id in bytes, and the number."""
    assert read_rotate(struct.pack("<Q", 4) + b"binlog.000002") == ("binlog.000002", 4)
    body = b"\0" + bytes(range(16)) + struct.pack("<Q", 42)
    assert read_gtid(body) == ("00010203-0405-0607-0809-0a0b0c0d0e0f", 42)


def test_a_compressed_transaction_holds_whole_events() -> None:
    """MySQL's TRANSACTION_PAYLOAD: fields, then events with heads one after the other."""
    events = [struct.pack("<IBIIIH", 0, kind, 1, 19 + size, 0, 0) + b"x" * size for kind, size in ((19, 5), (30, 300))]
    payload = zstandard.ZstdCompressor().compress(b"".join(events))
    size = b"\xfc" + struct.pack("<H", len(b"".join(events)))
    body = b"\x02\x01\x00" + b"\x03\x03" + size + b"\x01\x01" + bytes([len(payload)]) + b"\x00" + payload
    assert payload_events(body) == events
