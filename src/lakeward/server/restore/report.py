"""What came back of each table, and what is known to be missing."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeward.model.table import TableInfo, TablePath


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
    #: Offsets up to which buckets whose logs go on behind the lake are in the lake, added up.
    lake_rows: int = 0
    #: Buckets whose rows are in the lake alone, of a table with a primary key.
    emptied: int = 0
    #: Records that the old server had taken and not yet copied when it last gave a sign of life.
    lost_rows: int = 0
    #: When the newest record that came back was appended.
    last_ms: int | None = None
    troubles: list[str] = field(default_factory=list)

    @property
    def lake_note(self) -> str | None:
        """What the lake has and the log has not, and how to go on; None when there is nothing to say."""
        if not self.lake_rows:
            return None
        path, known = self.info.path, f"the lake had more than was copied ({self.lake_rows:,} offsets)"
        if self.emptied:
            return (
                f"{known}: the rows of {self.emptied} of {self.buckets} buckets are in the lake alone, and so queries "
                "of lake and log find them, but lookups and updates do not. Start the server and, before anything else "
                f"is written to the table, bring them back with `{refill_command(path)}`"
            )
        return f"{known}: its log goes on behind the lake, and lake and log together are read as before"


def refill_command(path: TablePath) -> str:
    """How rows that are in the lake alone become rows of a table again."""
    return f'lakeward sql "FROM {path}" -o json | lakeward upsert {path} - --format json'


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
