"""Every bucket in a data directory, found by its files alone: the catalog may be what is damaged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lakeward.runtime.files.port import Files

_BUCKET = re.compile(r"(?:log|kv)-(\d+)(?:\.json)?")
_TABLE = re.compile(r"(.+)-(\d+)")
_PARTITION = re.compile(r"(.+)-p(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class StoredBucket:
    """A bucket by its names, and where its files are."""

    table: str
    table_id: int
    partition: str | None
    bucket: int
    parent: Path

    @property
    def log(self) -> Path:
        """The directory of its log."""
        return self.parent / f"log-{self.bucket}"

    @property
    def kv(self) -> Path:
        """The directory of its state."""
        return self.parent / f"kv-{self.bucket}"

    @property
    def name(self) -> str:
        """As `lakeward repair` wants to hear it."""
        return f"{self.table} {self.bucket}" + (f" --partition {self.partition}" if self.partition else "")


def stored_buckets(disk: Files, root: Path) -> Iterator[StoredBucket]:
    """The buckets below a data directory, in order."""
    for directory in filter(disk.is_directory, disk.glob(root, "*/*")):
        found = _TABLE.fullmatch(directory.name)
        if found is None:
            continue  # dropped, or not ours
        table, table_id = f"{directory.parent.name}.{found[1]}", int(found[2])
        yield from _buckets(disk, table, table_id, None, directory)
        for below in disk.entries(directory):
            partition = _PARTITION.fullmatch(below.name) if disk.is_directory(below) else None
            if partition is not None:
                yield from _buckets(disk, table, table_id, partition[1], below)


def _buckets(disk: Files, table: str, table_id: int, partition: str | None, parent: Path) -> Iterator[StoredBucket]:
    numbers = {int(match[1]) for path in disk.entries(parent) if (match := _BUCKET.fullmatch(path.name))}
    for number in sorted(numbers):
        yield StoredBucket(table, table_id, partition, number, parent)
