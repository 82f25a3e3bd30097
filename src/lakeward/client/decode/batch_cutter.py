"""Cuts a fetched answer into pieces of whole batches, large enough to be worth a thread, small enough to share."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import (
    BATCH_V0,
    HEADER_BYTES,
    MAGIC_AT,
    OVERHEAD_BYTES,
    BatchHeader,
    read_header,
)
from lakeward.records.batch.log_batch import BatchSpan

PIECE_BYTES = 1024 * 1024
_LENGTH = struct.Struct("<i")
_LENGTH_AT = BATCH_V0.offset("length")


def cut(records: memoryview, piece_bytes: int = PIECE_BYTES) -> Iterator[tuple[memoryview, BatchHeader]]:
    """Pieces with the header of the last batch of each; a batch that is cut off at the end is left out.

    CORRUPT_RECORD when an answer begins with anything else than a batch.
    """
    start = at = last = 0
    end = len(records)
    while end - at >= HEADER_BYTES[0]:
        size = _LENGTH.unpack_from(records, at + _LENGTH_AT)[0] + OVERHEAD_BYTES
        magic = records[at + MAGIC_AT]
        if magic >= len(HEADER_BYTES) or size < HEADER_BYTES[magic]:
            if not at:
                raise ErrorCode.CORRUPT_RECORD.error("what the server sent is no record batch")
            break  # the next answer begins with it
        if size > end - at:
            break
        last, at = at, at + size
        if at - start >= piece_bytes:
            yield records[start:at], read_header(records, last)
            start = at
    if at > start:
        yield records[start:at], read_header(records, last)


def batches_of(piece: memoryview) -> Iterator[BatchSpan]:
    """The batches of a piece, which holds whole ones only."""
    at = 0
    while at < len(piece):
        header = read_header(piece, at)
        yield BatchSpan(at, at + header.size, header)
        at += header.size
