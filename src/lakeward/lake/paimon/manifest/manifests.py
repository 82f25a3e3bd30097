"""Manifests: which files came and went. Read, written, and merged, so that rounds do not slow down as they add up."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import fastavro

from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.manifest.manifest_layout import MANIFEST, MANIFEST_LIST
from lakeward.lake.paimon.schema.binary_row import of_binary, to_binary
from lakeward.lake.paimon.schema.format_version import PaimonFile
from lakeward.model.data_types import DataType
from lakeward.runtime.entropy import SystemEntropy

ADDED, DELETED = 0, 1
DIRECTORY = "manifest"
_CODEC = "zstandard"
#: Manifests below this size are merged once so many follow each other; all of them when a third of the files are gone.
_SMALL_BYTES = 8 << 20
_SMALL_MAX = 30
_GONE_SHARE = 3

#: One line of a list of manifests, as Avro has it.
ManifestLine = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A data file that came or went. `file` is its Avro record: what other writers put there is kept."""

    kind: int
    partition: bytes
    bucket: int
    total_buckets: int
    file: dict[str, Any]

    @property
    def name(self) -> str:
        """The file's name."""
        return str(self.file["_FILE_NAME"])

    @property
    def level(self) -> int:
        """0 for what rounds write; higher ones are merged from it."""
        return int(self.file["_LEVEL"])

    @property
    def rows(self) -> int:
        """Rows in the file."""
        return int(self.file["_ROW_COUNT"])

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return int(self.file["_FILE_SIZE"])

    @property
    def identity(self) -> tuple[Any, ...]:
        """What makes two entries speak of the same file."""
        return self.partition, self.bucket, self.level, self.name

    def removal(self) -> FileEntry:
        """The entry that takes this file away."""
        return FileEntry(DELETED, self.partition, self.bucket, self.total_buckets, self.file)


class Manifests:
    """The manifest directory of a table."""

    def __init__(self, table: LakePath, partition_types: Sequence[DataType], schema_id: int) -> None:
        self._directory = table / DIRECTORY
        self._partition_types = partition_types
        self._schema_id = schema_id

    def read_list(self, name: str) -> list[ManifestLine]:
        """The manifests that a list names."""
        return _read(self._directory / name)

    def entries(self, lines: Iterable[ManifestLine]) -> Iterable[FileEntry]:
        """Every entry of these manifests, oldest first."""
        for line in lines:
            for found in _read(self._directory / line["_FILE_NAME"]):
                yield FileEntry(
                    found["_KIND"], found["_PARTITION"], found["_BUCKET"], found["_TOTAL_BUCKETS"], found["_FILE"]
                )

    def live(self, lines: Iterable[ManifestLine]) -> dict[tuple[Any, ...], FileEntry]:
        """Files that came and have not gone, by identity."""
        return {key: e for key, e in self._net_entries(lines).items() if e.kind == ADDED}

    def write(self, entries: Sequence[FileEntry]) -> list[ManifestLine]:
        """A manifest of these entries, and its line; nothing for no entries."""
        if not entries:
            return []
        name = f"manifest-{SystemEntropy().uuid()}-0"
        records = [
            {
                "_VERSION": PaimonFile.MANIFEST.written,
                "_KIND": e.kind,
                "_PARTITION": e.partition,
                "_BUCKET": e.bucket,
                "_TOTAL_BUCKETS": e.total_buckets,
                "_FILE": e.file,
            }
            for e in entries
        ]
        size = _write(self._directory / name, MANIFEST, records)
        return [self._line(name, size, entries)]

    def write_list(self, name: str, lines: Sequence[ManifestLine]) -> int:
        """A list of manifests; returns its size."""
        return _write(self._directory / name, MANIFEST_LIST, lines)

    def merge(self, lines: Sequence[ManifestLine]) -> list[ManifestLine]:
        """The same files in fewer manifests, once there are many small ones in a row."""
        added, gone = (sum(line[f"_NUM_{k}_FILES"] for line in lines) for k in ("ADDED", "DELETED"))
        if len(lines) >= _SMALL_MAX and gone * _GONE_SHARE > added:
            return self.write(list(self._net_entries(lines).values()))
        start = len(lines)
        while start and lines[start - 1]["_FILE_SIZE"] < _SMALL_BYTES:
            start -= 1
        if len(lines) - start < _SMALL_MAX:
            return list(lines)
        return [*lines[:start], *self.write(list(self._net_entries(lines[start:]).values()))]

    def discard(self, lines: Iterable[ManifestLine], lists: Iterable[str]) -> None:
        """Remove manifests and lists of a snapshot that did not come to be."""
        for name in (*(line["_FILE_NAME"] for line in lines), *lists):
            (self._directory / name).unlink(missing_ok=True)

    def _net_entries(self, lines: Iterable[ManifestLine]) -> dict[tuple[Any, ...], FileEntry]:
        """What is left when files that came and went are taken out; a file that came earlier stays gone."""
        found: dict[tuple[Any, ...], FileEntry] = {}
        for entry in self.entries(lines):
            if entry.kind == DELETED and entry.identity in found:
                del found[entry.identity]
            else:
                found[entry.identity] = entry
        return found

    def _line(self, name: str, size: int, entries: Sequence[FileEntry]) -> ManifestLine:
        buckets, levels = [e.bucket for e in entries], [e.level for e in entries]
        gone = sum(e.kind == DELETED for e in entries)
        return {
            "_VERSION": PaimonFile.MANIFEST.written,
            "_FILE_NAME": name,
            "_FILE_SIZE": size,
            "_NUM_ADDED_FILES": len(entries) - gone,
            "_NUM_DELETED_FILES": gone,
            "_PARTITION_STATS": self._partition_statistics({e.partition for e in entries}),
            "_SCHEMA_ID": self._schema_id,
            "_MIN_BUCKET": min(buckets),
            "_MAX_BUCKET": max(buckets),
            "_MIN_LEVEL": min(levels),
            "_MAX_LEVEL": max(levels),
        }

    def _partition_statistics(self, partitions: Iterable[bytes]) -> dict[str, Any]:
        types = self._partition_types
        columns = list(zip(*(of_binary(types, p) for p in partitions), strict=True))
        known = [[value for value in column if value is not None] for column in columns]
        return {
            "_MIN_VALUES": to_binary(types, [min(values, default=None) for values in known]),
            "_MAX_VALUES": to_binary(types, [max(values, default=None) for values in known]),
            "_NULL_COUNTS": [len(column) - len(values) for column, values in zip(columns, known, strict=True)],
        }


def _read(path: LakePath) -> list[dict[str, Any]]:
    with path.open("rb") as stream:
        found: list[dict[str, Any]] = list(fastavro.reader(stream))  # type: ignore[arg-type]
    for version in {record["_VERSION"] for record in found}:
        PaimonFile.MANIFEST.check(version, path)
    return found


def _write(path: LakePath, layout: dict[str, Any], records: Sequence[dict[str, Any]]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    fastavro.writer(buffer, layout, records, codec=_CODEC)
    size = path.write_bytes(buffer.getvalue())
    whole_files.sync(path)
    return size
