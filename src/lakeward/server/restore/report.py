"""What came back of each table, and what is known to be missing."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeward.model.table import TableInfo


@dataclass(slots=True)
class RestoredTable:
    """One table."""

    info: TableInfo
    buckets: int = 0
    #: Offsets up to which the logs of its buckets came back, added up.
    log_rows: int = 0
    #: Rows in the snapshots that its state is rebuilt from; changes that follow in the log.
    snapshot_rows: int = 0
    changes_since: int = 0
    #: Records that the old server had taken and not yet copied when it last gave a sign of life.
    lost_rows: int = 0
    #: When the newest record that came back was appended.
    last_ms: int | None = None
    troubles: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RestoreReport:
    """All of it."""

    url: str
    epoch: int
    #: When the old server last gave a sign of life; None when it never did.
    seen_ms: int | None
    #: Whether it was stopped then, so that nothing can have come after it.
    was_stopped: bool
    tables: list[RestoredTable] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    downloaded_bytes: int = 0

    @property
    def lost_rows(self) -> int:
        """Records that are known to be missing."""
        return sum(table.lost_rows for table in self.tables)
