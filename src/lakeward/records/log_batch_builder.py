"""Arrow rows → log record batches.

The costly part (layout and compression) and the cheap part (header and checksum) are apart: rows are encoded once, on
any thread, while writer id and sequence are known only when the batch leaves, and may change when it leaves again.

An Arrow stream starts with a schema message that log batches do not carry. It is always larger than a batch header, so
the header is written over its end, and header and rows are one piece of memory that no byte was copied for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.records.batch_header import APPEND_ONLY, BATCH_V0, CRC_AT, NO_SEQUENCE, NO_WRITER, OVERHEAD_BYTES
from lakeward.records.crc32c import checksum

_HEADER = BATCH_V0.struct
_CRC = struct.Struct("<I")
_CRC_END = CRC_AT[0] + _CRC.size
_PREFIX_BYTES = 8  # continuation marker and metadata length before each Arrow message
_LENGTH_MAX = (1 << 31) - 1
_SLACK_BYTES = 64 * 1024
_SLACK_BYTES_PER_BUFFER = 1024


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows as one Arrow message, with room for a header before them."""

    row_count: int
    batch: memoryview

    @property
    def size(self) -> int:
        """Bytes of the batch, its header included."""
        return len(self.batch)

    def seal(self, schema_id: int, writer_id: int = NO_WRITER, sequence: int = NO_SEQUENCE) -> memoryview:
        """The whole batch, with this header written into it. A batch that goes again is sealed again."""
        count = self.row_count
        length = len(self.batch) - OVERHEAD_BYTES
        if length > _LENGTH_MAX:
            raise ErrorCode.RECORD_TOO_LARGE.error(
                f"A batch of {length} bytes is over the limit of {_LENGTH_MAX}; write fewer rows at once."
            )
        fields = (schema_id, APPEND_ONLY, max(count - 1, 0), writer_id, sequence, count)
        _HEADER.pack_into(self.batch, 0, 0, length, 0, 0, 0, *fields)
        _CRC.pack_into(self.batch, CRC_AT[0], checksum(self.batch[_CRC_END:]))
        return self.batch


def encode_rows(batch: pa.RecordBatch, compression: str = "ZSTD", level: int | None = None) -> EncodedRows:
    """Lay out and compress rows. Leaves the interpreter lock for nearly all of its time.

    `compression` is NONE, LZ4_FRAME or ZSTD, as in the property `table.log.arrow.compression.type`.
    """
    options = _options(compression, level)
    room = _room_for(batch)
    try:
        size = _write_stream(batch, options, pa.FixedSizeBufferWriter(room))
        stream = memoryview(room)[:size]
    except pa.ArrowInvalid:  # the guess was too small: rows that swell when compressed
        sink = pa.BufferOutputStream()
        _write_stream(batch, options, sink)
        stream = memoryview(bytearray(sink.getvalue()))
    rows_at = _PREFIX_BYTES + int.from_bytes(stream[4:_PREFIX_BYTES], "little")
    assert rows_at >= _HEADER.size, "a schema message is larger than a header"
    return EncodedRows(batch.num_rows, stream[rows_at - _HEADER.size :])


def _room_for(batch: pa.RecordBatch) -> pa.Buffer:
    """Memory that nearly always holds the encoded batch, so that nothing is copied while it grows."""
    raw_bytes = batch.nbytes
    buffers = sum(len(column.buffers()) for column in batch.columns)
    return pa.allocate_buffer(raw_bytes + raw_bytes // 64 + buffers * _SLACK_BYTES_PER_BUFFER + _SLACK_BYTES)


def _write_stream(batch: pa.RecordBatch, options: pa.ipc.IpcWriteOptions, sink: pa.NativeFile) -> int:
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
        return int(sink.tell())  # before the end-of-stream mark, which no batch carries


@cache
def _options(compression: str, level: int | None) -> pa.ipc.IpcWriteOptions:
    name = {"NONE": None, "LZ4_FRAME": "lz4", "ZSTD": "zstd"}[compression.upper()]
    codec = name and pa.Codec(name, compression_level=level if name == "zstd" else None)
    # One batch per thread beats one column per thread: nothing to join, and the threads are ours to count.
    return pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)


def build_arrow_batch(
    batch: pa.RecordBatch,
    schema_id: int,
    writer_id: int = NO_WRITER,
    sequence: int = NO_SEQUENCE,
    compression: str = "ZSTD",
    level: int | None = None,
) -> memoryview:
    """Encode rows and put a header before them."""
    return encode_rows(batch, compression, level).seal(schema_id, writer_id, sequence)
