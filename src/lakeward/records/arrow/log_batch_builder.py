"""Arrow rows → log record batches.

The costly part (layout and compression) and the cheap part (header and checksum) are apart: rows are encoded once, on
any thread, while writer id and sequence are known only when the batch leaves, and may change when it leaves again.

An Arrow stream starts with a schema message that log batches do not carry. It is larger than a batch header, so the
header is written over its end, and header and rows are one piece of memory that no byte was copied for.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_rows import arrow_to_rows
from lakeward.records.arrow.arrow_statistics import collect
from lakeward.records.arrow.row_batches import encode_records
from lakeward.records.batch.batch_header import (
    APPEND_ONLY,
    CRC_AT,
    HEADER_BYTES,
    NO_SEQUENCE,
    NO_WRITER,
    OVERHEAD_BYTES,
    BatchHeader,
    write_header,
)
from lakeward.records.batch.crc32c import checksum
from lakeward.records.batch.statistics import encode_statistics
from lakeward.records.row import compacted_row, indexed_row

_CRC = struct.Struct("<I")
_PREFIX_BYTES = 8  # continuation marker and metadata length before each Arrow message
_LENGTH_MAX = (1 << 31) - 1
_SLACK_BYTES = 64 * 1024
_SLACK_BYTES_PER_BUFFER = 1024
#: A row or a few gain nothing from compression: each buffer is padded, and a message says by itself how it is stored.
_WORTH_BYTES = 512
_ROW_FORMATS = {"COMPACTED": compacted_row.codec, "INDEXED": indexed_row.codec}


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows ready to leave: a whole batch but for what the header says of writer and sequence."""

    row_count: int
    batch: memoryview
    magic: int = 0
    statistics_bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes of the batch, its header included."""
        return len(self.batch)

    def seal(self, schema_id: int, writer_id: int = NO_WRITER, sequence: int = NO_SEQUENCE) -> memoryview:
        """The whole batch, with this header written into it. A batch that goes again is sealed again."""
        header = BatchHeader(
            base_offset=0,
            length=len(self.batch) - OVERHEAD_BYTES,
            magic=self.magic,
            commit_timestamp_ms=0,
            crc=0,
            schema_id=schema_id,
            attributes=APPEND_ONLY,
            last_offset_delta=max(self.row_count - 1, 0),
            writer_id=writer_id,
            batch_sequence=sequence,
            record_count=self.row_count,
            statistics_length=self.statistics_bytes,
        )
        if header.length > _LENGTH_MAX:
            raise ErrorCode.RECORD_TOO_LARGE.error(
                f"A batch of {header.length} bytes is over the limit of {_LENGTH_MAX}; write fewer rows at once."
            )
        self.batch[: HEADER_BYTES[self.magic]] = write_header(header)
        crc_at = CRC_AT[self.magic]
        _CRC.pack_into(self.batch, crc_at, checksum(self.batch[crc_at + _CRC.size :]))
        return self.batch


class LogBatchBuilder:
    """Encodes rows of one table in its log format.

    `compression` is NONE, LZ4_FRAME or ZSTD and concerns ARROW only, as do `statistics`, the positions of columns whose
    minimum and maximum are stored with each batch.
    """

    def __init__(
        self,
        schema: Schema,
        log_format: str = "ARROW",
        compression: str = "ZSTD",
        level: int | None = None,
        statistics: Sequence[int] = (),
    ) -> None:
        self._schema = schema
        self._log_format = log_format
        self._compression = compression
        self._level = level
        self._statistics = statistics

    def encode(self, batch: pa.RecordBatch) -> EncodedRows:
        """Lay out and compress rows that fit the table; for ARROW mostly without the interpreter lock."""
        if self._log_format in _ROW_FORMATS:
            rows = arrow_to_rows(batch, self._schema, _ROW_FORMATS[self._log_format])
            return EncodedRows(batch.num_rows, _behind_room(HEADER_BYTES[0], encode_records(rows)))
        if not self._statistics:
            return encode_rows(batch, self._compression, self._level)
        types = [c.type for c in self._schema.columns]
        statistics = encode_statistics(collect(batch, self._schema, self._statistics), types)
        return encode_rows(batch, self._compression, self._level, statistics)


def encode_rows(
    batch: pa.RecordBatch, compression: str = "ZSTD", level: int | None = None, statistics: bytes = b""
) -> EncodedRows:
    """Rows as an Arrow message, with statistics before them if there are any."""
    magic = 1 if statistics else 0
    room = HEADER_BYTES[magic] + len(statistics)
    if batch.nbytes < _WORTH_BYTES:
        whole = _behind_room(room, memoryview(batch.serialize()).cast("B"))
    else:
        stream, rows_at = _stream(batch, _options(compression, level))
        whole = stream[rows_at - room :] if rows_at >= room else _behind_room(room, stream[rows_at:])
    whole[HEADER_BYTES[magic] : room] = statistics
    return EncodedRows(batch.num_rows, whole, magic, len(statistics))


def _stream(batch: pa.RecordBatch, options: pa.ipc.IpcWriteOptions) -> tuple[memoryview, int]:
    """An Arrow stream of the batch without end mark, and where its second message, the rows, begins."""
    room = _room_for(batch)
    try:
        size = _write_stream(batch, options, pa.FixedSizeBufferWriter(room))
        stream = memoryview(room).cast("B")[:size]
    except pa.ArrowInvalid:  # the guess was too small: rows that swell when compressed
        sink = pa.BufferOutputStream()
        size = _write_stream(batch, options, sink)
        stream = memoryview(bytearray(sink.getvalue()))[:size]
    return stream, _PREFIX_BYTES + int.from_bytes(stream[4:_PREFIX_BYTES], "little")


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
    name = {"NONE": None, "LZ4_FRAME": "lz4", "ZSTD": "zstd"}[compression]
    codec = name and pa.Codec(name, compression_level=level if name == "zstd" else None)
    # One batch per thread beats one column per thread: nothing to join, and the threads are ours to count.
    return pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)


def _behind_room(room: int, payload: bytes | memoryview) -> memoryview:
    whole = memoryview(bytearray(room + len(payload)))
    whole[room:] = payload
    return whole
