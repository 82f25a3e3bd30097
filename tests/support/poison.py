"""Poison: batches with a right CRC and contents that harm whoever believes them. One way each, by name."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import zstandard
from arrow_batches import arrow_batch

from lakeward.records.batch.batch_header import APPEND_ONLY, BATCH_V0, HEADER_BYTES, BatchHeader, write_header
from lakeward.records.batch.log_batch import seal, stamp, walk_batches
from lakeward.records.ipc.arrow_message import read_message, template
from lakeward.records.ipc.buffer_codecs import ZSTD_ID

COLUMNS = "id BIGINT, name STRING, price DECIMAL(5, 2)"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.decimal128(5, 2))])
BAD_ROWS = 3
_AT = HEADER_BYTES[0]
_ROWS_MAX = 2**30  # the log takes no batch behind one of 2³¹ − 1


def good_rows(first: int, count: int = BAD_ROWS) -> pa.RecordBatch:
    """Rows that nobody minds."""
    ids = list(range(first, first + count))
    return pa.record_batch([ids, [f"n{i}" for i in ids], [Decimal("1.50")] * count], schema=SCHEMA)


def _with_buffer(number: int, at: int | None = None, size: int | None = None) -> bytearray:
    """A batch, one buffer of which is said to be elsewhere."""
    batch = arrow_batch(good_rows(0))
    places = list(read_message(batch, _AT, len(batch)).buffers)
    stands = batch.index(struct.pack(f"<{len(places)}q", *places))
    places[2 * number] = places[2 * number] if at is None else at
    places[2 * number + 1] = places[2 * number + 1] if size is None else size
    struct.pack_into(f"<{len(places)}q", batch, stands, *places)
    return batch


def _with_bytes(number: int, data: bytes, rows: pa.RecordBatch | None = None) -> bytearray:
    """A batch with other bytes in one buffer."""
    batch = arrow_batch(rows or good_rows(0))
    message = read_message(batch, _AT, len(batch))
    start = message.body_at + message.buffers[2 * number]
    batch[start : start + len(data)] = data
    return batch


def _wrong_node() -> bytearray:
    batch = arrow_batch(good_rows(0))
    struct.pack_into("<q", batch, read_message(batch, _AT, len(batch)).nodes_at, 1_000_000)
    return batch


def _many_rows() -> bytearray:
    """A few bytes that claim a billion rows, in the header and in the message."""
    rows = pa.record_batch([pa.array([0], pa.int64()), pa.array([""]), pa.nulls(1, SCHEMA[2].type)], schema=SCHEMA)
    batch = arrow_batch(rows)
    message = read_message(batch, _AT, len(batch))
    for node in range(message.node_count):
        struct.pack_into("<q", batch, message.nodes_at + 16 * node, _ROWS_MAX)
    stands = batch.index(struct.pack("<qi", 1, 0), _AT) if struct.pack("<qi", 1, 0) in batch[_AT:] else -1
    if stands >= 0:
        struct.pack_into("<q", batch, stands, _ROWS_MAX)
    for name in ("record_count", "last_offset_delta"):
        struct.pack_into("<i", batch, BATCH_V0.offset(name), _ROWS_MAX - (name != "record_count"))
    return batch


def _unknown_codec() -> bytearray:
    return _message_of(_stored(good_rows(0)), BAD_ROWS, codec=9)


def _stored(rows: pa.RecordBatch) -> list[bytes]:
    """The buffers of rows, as a message with compression has those that were not worth it."""
    buffers = [buffer for column in rows.columns for buffer in column.buffers()]
    return [b"" if buffer is None else struct.pack("<q", -1) + buffer.to_pybytes() for buffer in buffers]


def _claims(raw_bytes: int) -> bytearray:
    batch = arrow_batch(good_rows(0, 1000), "zstd")
    message = read_message(batch, _AT, len(batch))
    sizes = message.buffers[1::2]
    widest = sizes.index(max(sizes))
    struct.pack_into("<q", batch, message.body_at + message.buffers[2 * widest], raw_bytes)
    return batch


def _bomb() -> bytearray:
    """Some kilobytes of zstd that are hundreds of megabytes of one text."""
    raw = 300 << 20
    parts = _stored(pa.record_batch([[1], ["x"], [Decimal("1.50")]], schema=SCHEMA))
    parts[3] = struct.pack("<qii", -1, 0, raw)
    parts[4] = struct.pack("<q", raw) + zstandard.ZstdCompressor(level=19).compress(bytes(raw))
    return _message_of(parts, 1)


def _message_of(parts: list[bytes], rows: int, codec: int = ZSTD_ID) -> bytearray:
    shape = template(len(SCHEMA), len(parts), codec)
    batch = bytearray(write_header(BatchHeader(0, 0, 0, 0, 0, 1, APPEND_ONLY, rows - 1, -1, -1, rows)))
    at = len(batch)
    batch += shape.data
    places, cursor, body = [], 0, b""
    for part in parts:
        places += [cursor, len(part)]
        body += part + bytes(-len(part) % 8)
        cursor = len(body)
    batch += body
    struct.pack_into(f"<{2 * len(SCHEMA)}q", batch, at + shape.nodes_at, *([rows, 0] * len(SCHEMA)))
    struct.pack_into(f"<{len(places)}q", batch, at + shape.buffers_at, *places)
    struct.pack_into("<q", batch, at + shape.rows_at, rows)
    struct.pack_into("<q", batch, at + shape.body_bytes_at, cursor)
    return batch


def _change_types() -> bytearray:
    return arrow_batch(good_rows(0), change_types=b"\x00\x09\x7f")


def _digits() -> bytearray:
    return _with_bytes(6, (10**17).to_bytes(16, "little"))


def _schema_id() -> bytearray:
    return arrow_batch(good_rows(0), schema_id=77)


def _garbage() -> bytearray:
    batch = arrow_batch(good_rows(0))
    batch[_AT:] = b"\xa5" * (len(batch) - _AT)
    return batch


def _cut_off() -> bytearray:
    return arrow_batch(good_rows(0))[:-100]


POISON: dict[str, Callable[[], bytearray]] = {
    "buffer outside the body": lambda: _with_buffer(1, at=1 << 40),
    "buffer at a negative place": lambda: _with_buffer(1, at=-(1 << 40)),
    "buffer of negative length": lambda: _with_buffer(1, size=-8),
    "buffer shorter than its rows": lambda: _with_buffer(1, size=8),
    "node against the row count": _wrong_node,
    "a billion rows": _many_rows,
    "unknown codec": _unknown_codec,
    "zstd that claims 64 GB": lambda: _claims(64 << 30),
    "zstd that claims less than nothing": lambda: _claims(-5),
    "hundreds of megabytes in some kilobytes": _bomb,
    "string offsets that fall": lambda: _with_bytes(3, struct.pack("<4i", 0, 4, 2, 6)),
    "string offsets that leave the buffer": lambda: _with_bytes(3, struct.pack("<4i", 0, 2, 4, 1 << 30)),
    "string offsets below zero": lambda: _with_bytes(3, struct.pack("<4i", -(1 << 30), 2, 4, 6)),
    "bytes that are not UTF-8": lambda: _with_bytes(4, b"\xff\xfe"),
    "more digits than the type has": _digits,
    "change types that do not exist": _change_types,
    "a schema that nobody knows": _schema_id,
    "garbage": _garbage,
    "a message that is cut off": _cut_off,
}


def sealed(kind: str, base_offset: int = 0, time_ms: int = 0) -> bytes:
    """A batch of a kind, as a server would have stored it."""
    batch = POISON[kind]()
    seal(batch)
    stamp(batch, 0, base_offset, time_ms)
    return bytes(batch)


def bury(data_dir: Path, path: str, kind: str, *, bucket: int = 0) -> tuple[int, int]:
    """Append poison to a bucket's newest segment while its server is down; its first offset, and the one behind it."""
    database, table = path.split(".")
    (directory,) = data_dir.glob(f"**/{database}/{table}-*/log-{bucket}")
    newest = max(directory.glob("*.log"))
    last = list(walk_batches(newest.read_bytes()))[-1].header
    batch = sealed(kind, last.last_offset + 1, last.commit_timestamp_ms)
    with newest.open("ab") as file:
        file.write(batch)
    header = next(walk_batches(batch)).header
    return header.base_offset, header.last_offset + 1
