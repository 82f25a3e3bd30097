"""Part: the finished batches of one task, without a sender's name. Small ones travel, large ones lie in a file.

magic | length of the description:u32 | description (JSON) | batches, unless they are in a file
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.errors import ErrorCode

_PREFIX = struct.Struct("<4sI")
_MAGIC = b"LWP1"


class Entry(NamedTuple):
    """One batch of a part. A bucket of None is chosen by whoever commits."""

    partition: str | None
    bucket: int | None
    position: int
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """What one task has staged for one table; `file` is where, None when `data` holds it."""

    table: str
    table_id: int
    target_columns: tuple[int, ...]
    entries: tuple[Entry, ...]
    file: str | None
    data: memoryview | bytes = b""

    @property
    def rows(self) -> int:
        """Rows, or changes, of the part."""
        return sum(e.rows for e in self.entries)

    def to_bytes(self) -> bytes:
        """The part as it travels."""
        told = {
            "table": self.table,
            "table_id": self.table_id,
            "target_columns": self.target_columns,
            "entries": self.entries,
            "file": self.file,
        }
        description = json.dumps(told, separators=(",", ":")).encode()
        return b"".join([_PREFIX.pack(_MAGIC, len(description)), description, self.data])

    @classmethod
    def of_bytes(cls, data: bytes) -> Part:
        """The part that travelled."""
        try:
            magic, length = _PREFIX.unpack_from(data)
            if magic != _MAGIC:
                raise ValueError(f"it begins with {magic!r}")
            told = json.loads(data[_PREFIX.size : _PREFIX.size + length])
            return cls(
                told["table"],
                told["table_id"],
                tuple(told["target_columns"]),
                tuple(Entry(*e) for e in told["entries"]),
                told["file"],
                memoryview(data)[_PREFIX.size + length :],
            )
        except (struct.error, ValueError, KeyError, TypeError) as wrong:
            raise ErrorCode.CORRUPT_MESSAGE.error(
                f"These {len(data)} bytes are no part of a staged write: {wrong}. "
                "Commit what StagedWriter.finish() gave."
            ) from wrong
