"""Splits: the unit of work of a task. A stretch of a bucket's log, a bucket's state, files of the lake, or both halves.

    {"kind": "log", "tier": "LOG_ONLY", "partition": null, "bucket": 0, "start": 10, "stop": 20}
    {"kind": "lake", "tier": "HYBRID", "partition": "2026-11-01", "bucket": 0, "format": "iceberg", "snapshot_id": 42,
     "files": [{"path": "…", "rows": 5, "bytes": 900, "deletes": [{"path": "…", "rows": 2}]}],
     "log_start": 10, "log_stop": 20}

    {"kind": "lake_range", "tier": "LAKE_ONLY", "partition": null, "format": "iceberg", "snapshot_id": 42, "files": […],
     "windows": [[0, 10, 20]], "until_ms": null}

docs/reference/plan.schema.json is the schema of these.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeDeletes, LakeEqualityDeletes, LakeFile


class Tier(enum.StrEnum):
    """Where the rows of a split come from."""

    LAKE_ONLY = "LAKE_ONLY"
    LOG_ONLY = "LOG_ONLY"
    HYBRID = "HYBRID"


@dataclass(frozen=True, slots=True)
class LogSplit:
    """The changes of one bucket from `start` up to, not including, `stop`."""

    partition: str | None
    bucket: int
    start: int
    stop: int
    #: Whether a stream reads it, which minds offsets that are missing.
    in_stream: bool = False

    @property
    def id(self) -> BucketId:
        """The bucket."""
        return BucketId(self.partition, self.bucket)

    @property
    def partitions(self) -> list[str] | None:
        """The partition, as scans want it: None where the table has none."""
        return None if self.partition is None else [self.partition]

    @property
    def tier(self) -> Tier:
        """The servers alone."""
        return Tier.LOG_ONLY

    @property
    def weight(self) -> int:
        """How much work it is, in offsets."""
        return self.stop - self.start

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "log",
            "tier": str(self.tier),
            "partition": self.partition,
            "bucket": self.bucket,
            "start": self.start,
            "stop": self.stop,
            **({"in_stream": True} if self.in_stream else {}),
        }


@dataclass(frozen=True, slots=True)
class StateSplit:
    """The rows of one bucket as they are when it is read, or as of an offset of its changelog.

    `offsets` is how many changes led to the state, as a measure of the work. `time_ms` is what a view shows as the
    time of these rows.
    """

    partition: str | None
    bucket: int
    as_of: int | None = None
    offsets: int = 0
    time_ms: int = 0

    @property
    def id(self) -> BucketId:
        """The bucket."""
        return BucketId(self.partition, self.bucket)

    @property
    def partitions(self) -> list[str] | None:
        """The partition, as scans want it: None where the table has none."""
        return None if self.partition is None else [self.partition]

    @property
    def tier(self) -> Tier:
        """The servers alone."""
        return Tier.LOG_ONLY

    @property
    def weight(self) -> int:
        """How much work it is, in offsets."""
        return self.offsets

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "state",
            "tier": str(self.tier),
            "partition": self.partition,
            "bucket": self.bucket,
            "as_of": self.as_of,
            "offsets": self.offsets,
            "time_ms": self.time_ms,
        }


@dataclass(frozen=True, slots=True)
class LakeSplit:
    """Files of a bucket in a snapshot of the lake, and the changes to them: offsets from `log_start` to `log_stop`."""

    partition: str | None
    bucket: int
    format: str
    snapshot_id: int
    files: tuple[LakeFile, ...]
    log_start: int = 0
    log_stop: int = 0

    @property
    def id(self) -> BucketId:
        """The bucket."""
        return BucketId(self.partition, self.bucket)

    @property
    def tail(self) -> LogSplit:
        """The changes to the files."""
        return LogSplit(self.partition, self.bucket, self.log_start, self.log_stop)

    @property
    def tier(self) -> Tier:
        """The lake alone, or both."""
        return Tier.HYBRID if self.log_stop > self.log_start else Tier.LAKE_ONLY

    @property
    def lake_rows(self) -> int:
        """Rows that come from files, before changes are laid over them."""
        if len(self.files) == 1 and not self.files[0].deletes:  # the many splits of many small buckets
            return self.files[0].rows
        rows = sum([file.rows for file in self.files])
        deleted = {d.path: d.rows for file in self.files if file.deletes for d in file.deletes}
        return max(rows - sum(deleted.values()), 0) if deleted else rows

    @property
    def lake_bytes(self) -> int:
        """The size of the files."""
        return sum(file.bytes for file in self.files)

    @property
    def log_offsets(self) -> int:
        """How many changes are laid over the files."""
        return self.log_stop - self.log_start

    @property
    def weight(self) -> int:
        """How much work it is, in rows and offsets."""
        return self.lake_rows + self.log_offsets

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "lake",
            "tier": str(self.tier),
            "partition": self.partition,
            "bucket": self.bucket,
            "format": self.format,
            "snapshot_id": self.snapshot_id,
            "files": [_file_json(file) for file in self.files],
            "log_start": self.log_start,
            "log_stop": self.log_stop,
        }


class OffsetWindow(NamedTuple):
    """Offsets of one bucket from `start` up to, not including, `stop`."""

    bucket: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class LakeRangeSplit:
    """Rows of a log table in files of the lake, by their offsets: those within the windows of their buckets."""

    partition: str | None
    format: str
    snapshot_id: int
    files: tuple[LakeFile, ...]
    windows: tuple[OffsetWindow, ...]
    #: Only rows that are not younger.
    until_ms: int | None = None

    @property
    def id(self) -> BucketId:
        """The bucket, the first if there are several."""
        return BucketId(self.partition, self.windows[0].bucket)

    @property
    def tier(self) -> Tier:
        """The lake alone."""
        return Tier.LAKE_ONLY

    @property
    def weight(self) -> int:
        """How much work it is, in rows of files."""
        return sum(file.rows for file in self.files)

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "lake_range",
            "tier": str(self.tier),
            "partition": self.partition,
            "format": self.format,
            "snapshot_id": self.snapshot_id,
            "files": [_file_json(file) for file in self.files],
            "windows": [list(window) for window in self.windows],
            "until_ms": self.until_ms,
        }


def _file_json(file: LakeFile) -> dict[str, Any]:
    deletes = [{"path": d.path, "rows": d.rows} for d in file.deletes]
    equal = [{"path": d.path, "rows": d.rows, "columns": list(d.columns)} for d in file.equality_deletes]
    return {
        "path": file.path,
        "rows": file.rows,
        "bytes": file.bytes,
        "deletes": deletes,
        "equality_deletes": equal,
        "merged": file.is_merged,
    }


def _file_of_json(json: Mapping[str, Any]) -> LakeFile:
    deletes = tuple(LakeDeletes(**d) for d in json["deletes"])
    equal = tuple(
        LakeEqualityDeletes(d["path"], d["rows"], tuple(d["columns"])) for d in json.get("equality_deletes", ())
    )
    return LakeFile(json["path"], json["rows"], json["bytes"], deletes, equal, json["merged"])


Split = LogSplit | StateSplit | LakeSplit | LakeRangeSplit


def split_of_json(json: Mapping[str, Any]) -> Split:
    """The split of a JSON form."""
    rest = {key: value for key, value in json.items() if key not in {"kind", "tier"}}
    match json["kind"]:
        case "log":
            return LogSplit(**rest)
        case "state":
            return StateSplit(**rest)
        case "lake_range":
            windows = tuple(OffsetWindow(*window) for window in rest.pop("windows"))
            return LakeRangeSplit(**_with_files(rest), windows=windows)
        case _:
            return LakeSplit(**_with_files(rest))


def _with_files(json: Mapping[str, Any]) -> dict[str, Any]:
    return {**json, "files": tuple(_file_of_json(f) for f in json["files"])}
