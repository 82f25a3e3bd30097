"""State coming back when a bucket is opened: the newest good snapshot, then what the log has since."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.storage.kv.engines import open_store, restore_any
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.replay import replay_pieces
from lakeward.storage.kv.store.snapshots import usable_snapshot
from lakeward.storage.kv.store.store import KvStore
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.segment.damage import repair_command

#: Changes that are played back in a few milliseconds.
_FEW_CHANGES = 10_000


class Recovery:
    """A store on its way to the state of its log's end."""

    store: KvStore

    def __init__(self, directory: Path, log: LogTablet, table: KvTable, engine: str) -> None:
        self.directory = directory
        self._log = log
        self._table = table
        self._engine = engine
        self.snapshot_offset = -1

    @property
    def is_short(self) -> bool:
        """Whether nobody would notice that it has to be done."""
        is_long = self._log.end_offset - self._log.start_offset > _FEW_CHANGES
        return not is_long and not self._log.disk.exists(self.directory)

    def pieces(self) -> Iterator[Callable[[], None]]:
        """The work, to be done in order. A piece may run on another thread; the iterator reads the log and may not."""
        start, end = self._log.start_offset, self._log.end_offset
        yield lambda: self._restore(start, end)
        yield from replay_pieces(self._log, self.store, self._table, max(start, self.snapshot_offset))

    def _restore(self, log_start: int, log_end: int) -> None:
        work = self.directory / "work"
        self.store = open_store(self._engine, work)
        snapshot = usable_snapshot(self._log.disk, self.directory, log_start, log_end)
        if snapshot is not None:
            restore_any(self.store, snapshot, work)
            self.snapshot_offset = snapshot.log_offset
        elif log_start > 0 and not self._log.gave_up(log_start - 1):
            self.store.close()
            remedy = repair_command(self._log.name, 0, log_start, self.directory)
            raise ErrorCode.KV_STORAGE.error(
                f"The state of {self._log.name} is damaged: no good snapshot in {self.directory} reaches back to "
                f"offset {log_start}, where the log begins. Stop the server and bring a snapshot back from a copy, or "
                f"give up what the rows were before with `{remedy}`."
            )

    def close(self) -> None:
        """Give up what there is so far."""
        if hasattr(self, "store"):
            self.store.close()

    def run(self) -> Recovery:
        """All of it, here and now."""
        for piece in self.pieces():
            piece()
        return self
