"""A table as checks see it: what it was told, how its buckets are filled, how far lake and readers are behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table. `rows` and `ends` are those of the buckets that were looked at, in their order."""

    name: str
    table_id: int = 0
    has_key: bool = False
    is_partitioned: bool = False
    bucket_keys: Sequence[str] = ()
    buckets: int = 1
    partitions: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)
    custom: Mapping[str, str] = field(default_factory=dict)
    created_ms: int = 0
    #: Rows (changes, of a primary key table) that each bucket's log holds, and what each has ever got.
    rows: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    #: Of a table that is tiered: rows that the lake lacks, and for how long the oldest has waited.
    lag_rows: int | None = None
    lag_seconds: float | None = None

    @property
    def buckets_in_all(self) -> int:
        """Those of all partitions."""
        return self.buckets * (self.partitions if self.is_partitioned else 1)


@dataclass(frozen=True, slots=True)
class TieringFacts:
    """What a tiering service last wrote down of a table."""

    state: str
    state_since_ms: int | None = None
    last_round_ms: int | None = None
    failures: int = 0
    reason: str | None = None
    failed_ms: int | None = None
    retry_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LakeFacts:
    """A lake, tried with one of its tables; `trouble` says why it cannot be opened from here."""

    format: str
    table: str
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """How far a group of readers is behind in a table."""

    group: str
    table: str
    lag_rows: int
    #: What the table's log holds in all.
    rows: int
    #: Rows that were deleted before the group has read them.
    lost_rows: int
    committed_ms: int
