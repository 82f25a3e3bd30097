"""What happens to files on a disk, and a reader that goes on behind every error and remembers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from arrow_batches import read_rows
from wire_tables import LATEST, WireTable

from lakeward.errors import ErrorCode
from lakeward.records.batch.log_batch import walk_batches

_RANGE = re.compile(r"Offsets (\d+) to (\d+) of (\S+ \d+)(?: --partition \S+)? are damaged: (\S+):")


def flip(path: Path, position: int) -> None:
    """One bit changes."""
    data = bytearray(path.read_bytes())
    data[position] ^= 4
    with path.open("r+b") as file:
        file.write(data)


def cut(path: Path, size: int) -> None:
    """The end of a file goes."""
    with path.open("r+b") as file:
        file.truncate(size)


#: What is done to a segment's file.
KINDS: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": lambda path: cut(path, 0),
    "cut": lambda path: cut(path, path.stat().st_size * 2 // 3),
    "cut by a byte": lambda path: cut(path, path.stat().st_size - 1),
    "flipped row": lambda path: flip(path, path.stat().st_size // 2),
    "flipped offset": lambda path: flip(path, 0),
    "flipped length": lambda path: flip(path, 9),
    "flipped count": lambda path: flip(path, 44),
}


def segments_of(data_dir: Path) -> list[Path]:
    """The segments of the one bucket in a data directory, oldest first."""
    return sorted(data_dir.glob("*/*/log-0/*.log"))


def read_all(
    table: WireTable, schema: pa.Schema, columns: tuple[int, ...] | None = None
) -> tuple[list[dict[str, object]], list[tuple[int, int]]]:
    """Every row that can be read, and the ranges of offsets that were errors."""
    rows: list[dict[str, object]] = []
    errors: list[tuple[int, int]] = []
    offset, end = table.offset(0), table.offset(LATEST)
    while offset < end:
        answer = table.fetch(offset, columns=columns, bucket_bytes=2000)
        if answer.error_code:
            assert answer.error_code == ErrorCode.CORRUPT_RECORD.value, answer
            found = _RANGE.match(answer.error_message or "")
            assert found, answer
            first, last = int(found[1]), int(found[2])
            assert first <= offset <= last, answer
            assert f"lakeward repair {found[3]}" in (answer.error_message or ""), answer
            errors.append((offset, last + 1))
            offset = last + 1
            continue
        data = memoryview(b"".join(bytes(part) for part in [answer.records or b""]))
        for span in walk_batches(data):
            if span.header.record_count:
                rows += read_rows(data[span.start : span.end], schema)
            offset = span.header.last_offset + 1
        offset = answer.filtered_end_offset or offset
    return rows, errors
