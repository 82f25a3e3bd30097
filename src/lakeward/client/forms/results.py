"""What the client answers with: small frozen values, ready to print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class BucketId(NamedTuple):
    """One bucket of a table as people name it: the partition's name (None without partitions) and the bucket."""

    partition: str | None
    bucket: int

    def __str__(self) -> str:
        return str(self.bucket) if self.partition is None else f"{self.partition}/{self.bucket}"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time as epoch milliseconds, where a plain int would mean an offset."""

    epoch_ms: int


@dataclass(frozen=True, slots=True)
class AppendResult:
    """What an append has put into the log; every row of it is acknowledged."""

    rows: int
    batches: int
    bytes: int


@dataclass(frozen=True, slots=True)
class UpsertResult:
    """What an upsert or delete has sent; every change of it is acknowledged."""

    rows: int
    batches: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """A database that exists."""

    name: str
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    created_ms: int = 0
    modified_ms: int = 0


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition that exists; `spec` maps partition columns to their values as text."""

    id: int
    name: str
    spec: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server of the cluster; `role` is `coordinator` or `tablet`."""

    id: int
    role: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ClusterOption:
    """An option of the cluster, and where its value comes from."""

    key: str
    value: str | None
    source: str
