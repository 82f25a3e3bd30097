"""The header of a log record batch in its three versions.

What the server fills in (offset, commit time) stands before the CRC, so that appending never recomputes it.
"""

from __future__ import annotations

from typing import NamedTuple

from lakeward.records.batch.layout import I8, I16, I32, I64, U32, Field, Layout

BATCH_V0 = Layout.of(
    Field("base_offset", I64, "offset of the first record; set by the server"),
    Field("length", I32, "bytes after this field"),
    Field("magic", I8, "version of this header: 0, 1 or 2"),
    Field("commit_timestamp_ms", I64, "when the batch was appended; set by the server, never goes backwards"),
    Field("crc", U32, "CRC-32C from schema_id to the end"),
    Field("schema_id", I16, "schema that the records were written with"),
    Field("attributes", I8, "bit 0: append-only, no change types; bit 6, ours: offsets given up by `lakeward repair`"),
    Field("last_offset_delta", I32, "last offset − base offset; an empty batch still takes one offset"),
    Field("writer_id", I64, "idempotent writer, or −1"),
    Field("batch_sequence", I32, "number of the batch at that writer and bucket, or −1"),
    Field("record_count", I32, "records in the batch"),
)
BATCH_V1 = BATCH_V0.extend(
    Field("statistics_length", I32, "bytes of statistics behind the header"), after="record_count"
)
BATCH_V2 = BATCH_V1.extend(Field("leader_epoch", I32, "reserved; −1"), after="commit_timestamp_ms")
LAYOUTS = (BATCH_V0, BATCH_V1, BATCH_V2)
HEADER_BYTES = tuple(layout.size for layout in LAYOUTS)
assert HEADER_BYTES == (48, 52, 56)

#: base_offset and length; a batch's total size is this plus its length.
OVERHEAD_BYTES = 12
MAGIC_AT = BATCH_V0.offset("magic")
TIMESTAMP_AT = BATCH_V0.offset("commit_timestamp_ms")
CRC_AT = tuple(layout.offset("crc") for layout in LAYOUTS)
APPEND_ONLY = 0x01
#: Of a batch without rows: they were given up, as opposed to compacted away. Other readers look at bit 0 only.
GIVEN_UP = 0x40
NO_WRITER = -1
NO_SEQUENCE = -1

_V0 = BATCH_V0.struct
_V1 = BATCH_V1.struct
_V2 = BATCH_V2.struct


class BatchHeader(NamedTuple):
    """A batch header, read."""

    base_offset: int
    length: int
    magic: int
    commit_timestamp_ms: int
    crc: int
    schema_id: int
    attributes: int
    last_offset_delta: int
    writer_id: int
    batch_sequence: int
    record_count: int
    statistics_length: int = 0
    leader_epoch: int = -1

    @property
    def last_offset(self) -> int:
        """The last offset the batch takes."""
        return self.base_offset + self.last_offset_delta

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + OVERHEAD_BYTES

    @property
    def header_bytes(self) -> int:
        """Bytes of the header itself."""
        return HEADER_BYTES[self.magic]

    @property
    def given_up(self) -> bool:
        """Whether it stands for rows that `lakeward repair` gave up."""
        return not self.record_count and bool(self.attributes & GIVEN_UP)

    @property
    def append_only(self) -> bool:
        """Whether all records are plain appends without change types."""
        return bool(self.attributes & APPEND_ONLY)


def read_header(data: bytes | bytearray | memoryview, position: int = 0) -> BatchHeader:
    """The header at a position; the caller has made sure that HEADER_BYTES[magic] bytes are there."""
    magic = data[position + MAGIC_AT]
    if magic == 0:
        return BatchHeader(*_V0.unpack_from(data, position))
    if magic == 1:
        return BatchHeader(*_V1.unpack_from(data, position))
    values = _V2.unpack_from(data, position)
    return BatchHeader._make((*values[:4], *values[5:], values[4]))


def write_header(header: BatchHeader) -> bytes:
    """The header as bytes, in the version that its magic names."""
    if header.magic == 0:
        return _V0.pack(*header[:11])
    if header.magic == 1:
        return _V1.pack(*header[:12])
    return _V2.pack(*header[:4], header.leader_epoch, *header[4:12])
