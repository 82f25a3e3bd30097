"""Record batches without an Arrow library: a right header, a right checksum, any bytes as rows."""

from __future__ import annotations

from lakeward.records.batch.batch_header import APPEND_ONLY, BatchHeader, write_header
from lakeward.records.batch.log_batch import seal


def raw_batch(
    rows: int = 1,
    body: bytes = b"row",
    *,
    writer_id: int = -1,
    sequence: int = -1,
    schema_id: int = 1,
    magic: int = 0,
    base_offset: int = 0,
    time_ms: int = 0,
    statistics: bytes = b"",
) -> bytearray:
    """A sealed batch that says it holds so many rows."""
    header = BatchHeader(
        base_offset,
        0,
        magic,
        time_ms,
        0,
        schema_id,
        APPEND_ONLY,
        max(rows - 1, 0),
        writer_id,
        sequence,
        rows,
        len(statistics),
    )
    batch = bytearray(write_header(header) + statistics + body)
    seal(batch)
    return batch
