"""SnapshotMetadata: what a snapshot's `_METADATA` says, in the JSON of Apache Fluss. Pure.

Files that snapshots share lie in `shared/`, all others in the snapshot's own directory; each has a random name there
and its own name in `local_path`. Paths are absolute, as clients open them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.model.bucket import TableBucket

VERSION = 1
FILE_NAME = "_METADATA"
SHARED = "shared"


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A file of a snapshot: where it is, how large, and what it was called."""

    path: str
    size_bytes: int
    name: str


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Numbers of an auto-increment column that a bucket has taken and not used up."""

    column_id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMetadata:
    """A snapshot that is whole."""

    bucket: TableBucket
    snapshot_id: int
    location: str
    shared_files: tuple[SnapshotFile, ...]
    own_files: tuple[SnapshotFile, ...]
    #: Bytes that this snapshot has and no earlier one had.
    incremental_bytes: int
    #: The offset at which the log goes on.
    log_offset: int
    row_count: int | None = None
    number_ranges: tuple[NumberRange, ...] = ()

    @property
    def files(self) -> tuple[SnapshotFile, ...]:
        """All of them."""
        return (*self.shared_files, *self.own_files)

    def to_json(self) -> bytes:
        """As it is stored."""
        node: dict[str, Any] = {"version": VERSION, "table_id": self.bucket.table_id}
        if self.bucket.partition_id is not None:
            node["partition_id"] = self.bucket.partition_id
        node |= {
            "bucket_id": self.bucket.bucket,
            "snapshot_id": self.snapshot_id,
            "snapshot_location": self.location,
            "kv_snapshot_handle": {
                "shared_file_handles": [_file_node(file) for file in self.shared_files],
                "private_file_handles": [_file_node(file) for file in self.own_files],
                "snapshot_incremental_size": self.incremental_bytes,
            },
            "log_offset": self.log_offset,
        }
        if self.row_count is not None:
            node["row_count"] = self.row_count
        if self.number_ranges:
            node["auto_inc_id_range"] = [
                {"column_id": one.column_id, "start": one.start, "end": one.end} for one in self.number_ranges
            ]
        return json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def of_json(cls, data: bytes) -> SnapshotMetadata:
        """One that was stored; raises ValueError when it is none, or not one of this version."""
        try:
            node = json.loads(data)
            if node["version"] != VERSION:
                raise ValueError(f"version {node['version']} of snapshot metadata is not known, only {VERSION}")
            handle = node["kv_snapshot_handle"]
            row_count = node.get("row_count")
            return cls(
                bucket=TableBucket(int(node["table_id"]), node.get("partition_id"), int(node["bucket_id"])),
                snapshot_id=int(node["snapshot_id"]),
                location=str(node["snapshot_location"]),
                shared_files=tuple(map(_file_of, handle["shared_file_handles"])),
                own_files=tuple(map(_file_of, handle["private_file_handles"])),
                incremental_bytes=int(handle["snapshot_incremental_size"]),
                log_offset=int(node["log_offset"]),
                row_count=None if row_count is None else int(row_count),
                number_ranges=tuple(
                    NumberRange(one["column_id"], one["start"], one["end"]) for one in node.get("auto_inc_id_range", ())
                ),
            )
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"this is no snapshot metadata: {wrong!r}") from wrong


def snapshot_directory(kv_directory: str, snapshot_id: int) -> str:
    """Where the files of one snapshot are, within a bucket's directory."""
    return f"{kv_directory}/snap-{snapshot_id}"


def path_in_store(path: str, kv_directory: str) -> str:
    """An absolute path of a bucket's file, relative to the store's root; the root may be called otherwise today."""
    place = path.rfind(kv_directory + "/")
    if place < 0:
        raise ValueError(f"'{path}' is not in {kv_directory}")
    return path[place:]


def _file_node(file: SnapshotFile) -> dict[str, Any]:
    return {"kv_file_handle": {"path": file.path, "size": file.size_bytes}, "local_path": file.name}


def _file_of(node: Mapping[str, Any]) -> SnapshotFile:
    handle = node["kv_file_handle"]
    return SnapshotFile(str(handle["path"]), int(handle["size"]), str(node["local_path"]))
