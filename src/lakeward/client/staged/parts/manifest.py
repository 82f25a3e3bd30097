"""Manifest: what a commit will append, where, under which writer id and sequences. Written first, never changed.

magic | length of the description:u32 | description (JSON) | batches of the parts that came without a file
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket

_PREFIX = struct.Struct("<4sI")
_MAGIC = b"LWM1"
#: Sequences of a writer go from 0 to 2147483647, and on with 0.
SEQUENCES = 1 << 31
INLINE = -1


class StagedBatch(NamedTuple):
    """One finished batch: in which file of the manifest (−1: in the manifest itself), and where in it."""

    file: int
    position: int
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class BucketAppend:
    """What goes to one bucket, in this order. Before `start_offset` the log holds nothing of it."""

    partition: str | None
    partition_id: int | None
    bucket: int
    writer_id: int
    first_sequence: int
    start_offset: int
    batches: tuple[StagedBatch, ...]

    def at(self, table_id: int) -> TableBucket:
        """The bucket as the protocol names it."""
        return TableBucket(table_id, self.partition_id, self.bucket)

    @property
    def key(self) -> str:
        """The bucket as the ledger names it."""
        return bucket_key(self.partition_id, self.bucket)

    @property
    def next_sequence(self) -> int:
        """The sequence behind the last batch."""
        return (self.first_sequence + len(self.batches)) % SEQUENCES

    def __str__(self) -> str:
        return f"bucket {self.bucket}" + (f" of partition {self.partition}" if self.partition else "")


def bucket_key(partition_id: int | None, bucket: int) -> str:
    """`bucket`, or `partition id/bucket`."""
    return str(bucket) if partition_id is None else f"{partition_id}/{bucket}"


@dataclass(frozen=True, slots=True)
class WriterChain:
    """A writer id that commits share one after the other, and the next sequence of each bucket it has written to."""

    writer_id: int
    sequences: Mapping[str, int] = field(default_factory=dict)
    used_ms: int = 0

    def after(self, buckets: Sequence[BucketAppend]) -> WriterChain | None:
        """The chain behind a commit; None when the commit had to take another writer id."""
        if any(b.writer_id != self.writer_id for b in buckets):
            return None
        return WriterChain(
            self.writer_id, {**self.sequences, **{b.key: b.next_sequence for b in buckets}}, self.used_ms
        )

    def to_json(self) -> dict[str, Any]:
        """As it stands in files."""
        return {"writer_id": self.writer_id, "sequences": dict(self.sequences), "used_ms": self.used_ms}

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> WriterChain:
        """As it stood in a file."""
        return cls(told["writer_id"], told["sequences"], told["used_ms"])


@dataclass(frozen=True, slots=True)
class Manifest:
    """One commit of one table. A later revision replaces an earlier one of the same batch id."""

    batch_id: int
    revision: int
    table: str
    table_id: int
    target_columns: tuple[int, ...]
    rows: int
    size_bytes: int
    files: tuple[str, ...]
    buckets: tuple[BucketAppend, ...]
    chain: WriterChain
    data: memoryview | bytes = b""

    @property
    def chain_after(self) -> WriterChain | None:
        """What the next commit goes on from."""
        return self.chain.after(self.buckets)

    def to_pieces(self) -> Iterator[bytes | memoryview]:
        """The manifest as it stands in its file."""
        told = {
            "batch_id": self.batch_id,
            "revision": self.revision,
            "table": self.table,
            "table_id": self.table_id,
            "target_columns": self.target_columns,
            "rows": self.rows,
            "size_bytes": self.size_bytes,
            "files": self.files,
            "buckets": [
                [b.partition, b.partition_id, b.bucket, b.writer_id, b.first_sequence, b.start_offset, b.batches]
                for b in self.buckets
            ],
            "chain": self.chain.to_json(),
        }
        description = json.dumps(told, separators=(",", ":")).encode()
        yield _PREFIX.pack(_MAGIC, len(description))
        yield description
        yield self.data

    @classmethod
    def of_bytes(cls, data: bytes, where: str) -> Manifest:
        """The manifest in a file."""
        try:
            magic, length = _PREFIX.unpack_from(data)
            if magic != _MAGIC:
                raise ValueError(f"it begins with {magic!r}")
            told = json.loads(data[_PREFIX.size : _PREFIX.size + length])
            return cls(
                told["batch_id"],
                told["revision"],
                told["table"],
                told["table_id"],
                tuple(told["target_columns"]),
                told["rows"],
                told["size_bytes"],
                tuple(told["files"]),
                tuple(_append_of(to) for to in told["buckets"]),
                WriterChain.of_json(told["chain"]),
                memoryview(data)[_PREFIX.size + length :],
            )
        except (struct.error, ValueError, KeyError, TypeError) as wrong:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"The manifest {where} cannot be read: {wrong}.") from wrong


def _append_of(told: Sequence[Any]) -> BucketAppend:
    partition, partition_id, bucket, writer_id, first_sequence, start_offset, batches = told
    staged = tuple(StagedBatch(*batch) for batch in batches)
    return BucketAppend(partition, partition_id, bucket, writer_id, first_sequence, start_offset, staged)
