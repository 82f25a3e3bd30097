"""Piece: a stretch of a bucket's log as files, which snapshots of the table share."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.lake.iceberg.now.hot_files import HotFile


@dataclass(frozen=True, slots=True)
class Piece:
    """Offsets from `start` up to, not including, `stop`; or, as a state, all that led up to `stop`."""

    start: int
    stop: int
    made_ms: int
    data: tuple[HotFile, ...] = ()
    #: Which rows of committed files, and of pieces before this one, are gone by it.
    deletes: tuple[HotFile, ...] = ()
    is_state: bool = False

    @property
    def rows(self) -> int:
        """How many rows it brings."""
        return sum(file.rows for file in self.data)

    @property
    def weight(self) -> int:
        """How much work it was: rows that it brings, and rows that are gone by it."""
        return max(self.rows, 0 if self.is_state else self.stop - self.start)

    @property
    def files(self) -> tuple[HotFile, ...]:
        """All its files."""
        return self.data + self.deletes
