"""TableFigures: what is known of a table when somebody asks what to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableFigures:
    """Counts, sizes and rates; None is what could not be learned."""

    table: str
    has_primary_key: bool
    #: Buckets of the table, or of each of its partitions.
    bucket_count: int
    partition_count: int = 1
    partition_keys: tuple[str, ...] = ()
    bucket_keys: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    #: Rows of the log that are there, changes of a primary key table, and those of the fullest bucket.
    log_rows: int = 0
    largest_bucket_rows: int = 0
    #: Rows by key.
    key_rows: int | None = None
    #: Bytes of a row in the log, by a look at its newest batches.
    row_bytes: float | None = None
    #: Rows of a batch, by the same look: small ones are all head.
    batch_rows: float | None = None
    #: Rows a second: in the last minute, and since the log's first row.
    rows_per_s_now: float | None = None
    rows_per_s: float | None = None
    #: How old the first row of the log is.
    log_age_s: float | None = None
    #: Of a sample of the changelog: how many changes, and the share of updates and deletes.
    sampled_changes: int = 0
    update_share: float = 0.0
    delete_share: float = 0.0
    #: Of a sample of rows: how many, and how many values each column has in it.
    sampled_rows: int = 0
    distinct: Mapping[str, int] = field(default_factory=dict)
    #: Of the lake: whether the table goes there, what is there, and how far it is behind.
    is_tiered: bool = False
    lake_format: str | None = None
    lake_files: int | None = None
    lake_bytes: int | None = None
    lake_delete_files: int | None = None
    lake_snapshots: int | None = None
    lake_lag_rows: int | None = None

    @property
    def log_bytes(self) -> float | None:
        """Bytes of the log, about."""
        return None if self.row_bytes is None else self.row_bytes * self.log_rows

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes that come in a second: now, or on the average where that is more."""
        rates = [rate for rate in (self.rows_per_s_now, self.rows_per_s) if rate is not None]
        return None if self.row_bytes is None or not rates else max(rates) * self.row_bytes

    @property
    def buckets(self) -> int:
        """All buckets, of all partitions."""
        return self.bucket_count * max(self.partition_count, 1)

    @property
    def skew(self) -> float | None:
        """Rows of the fullest bucket against those of an average one."""
        return None if not self.log_rows else self.largest_bucket_rows * self.buckets / self.log_rows
