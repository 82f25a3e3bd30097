"""Rows that tasks keep for the driver: Arrow bytes, in a file where they are many and both can reach it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakeward.capture.envelope import CHANGE_TYPE
from lakeward.runtime.entropy import SystemEntropy

_INLINE_BYTES = 1 << 20
_FILE, _INLINE = b"f", b"i"


class StagedRows:
    """The rows of one table, in their order, with what each is."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._sink = pa.BufferOutputStream()
        self._streams: list[bytes] = []
        self._stream: Any = None
        self._schema: pa.Schema | None = None

    def write(self, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """Take rows; their columns may be others than before."""
        what = pa.repeat(pa.scalar(1, pa.uint8()), rows.num_rows) if kinds is None else kinds.cast(pa.uint8())
        whole = pa.RecordBatch.from_arrays([what, *rows.columns], names=[CHANGE_TYPE, *rows.schema.names])
        if self._stream is None or self._schema != whole.schema:
            self._end_stream()
            self._schema = whole.schema
            self._stream = pa.ipc.new_stream(self._sink, whole.schema)
        self._stream.write_batch(whole)

    def finish(self) -> bytes:
        """What the driver reads with `staged_batches`."""
        self._end_stream()
        content: bytes = self._sink.getvalue().to_pybytes()
        if self._place is None or len(content) <= _INLINE_BYTES:
            return _INLINE + content
        self._place.mkdir(parents=True, exist_ok=True)
        path = self._place / f"{SystemEntropy().uuid().hex}.arrows"
        path.write_bytes(content)
        return _FILE + str(path).encode()

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def staged_batches(content: bytes) -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
    """Rows and what they are, as a task wrote them."""
    data = Path(content[1:].decode()).read_bytes() if content[:1] == _FILE else content[1:]
    reader = pa.BufferReader(data)
    while reader.tell() < len(data):
        with pa.ipc.open_stream(reader) as stream:
            for batch in stream:
                rows = pa.RecordBatch.from_arrays(batch.columns[1:], names=batch.schema.names[1:])
                yield rows, batch.column(0)


def forget_staged(content: bytes) -> None:
    """Remove what was staged."""
    if content[:1] == _FILE:
        Path(content[1:].decode()).unlink(missing_ok=True)
