"""CaptureStream: a database followed step by step. It remembers nothing: each step is from one Progress to the next."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from lakeward.capture.port import (
    Database,
    Event,
    Position,
    SchemaChange,
    SchemaChangeKind,
    SourceTable,
    TableId,
    TableRows,
)
from lakeward.capture.progress import ChunkWork, NewsWork, Progress, Work, known_after, of_followed
from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock

#: Rows of a copy that one step takes, unless there is a limit.
_STEP_ROWS = 1_000_000


class Startup(enum.StrEnum):
    """What a stream begins with."""

    INITIAL = "initial"
    SNAPSHOT = "snapshot"
    LATEST = "latest-offset"


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How a database is followed."""

    startup: Startup = Startup.INITIAL
    chunk_rows: int = 50_000


class CaptureStream:
    """Steps of a stream, decided where it is planned, and the reading of one, wherever that is."""

    def __init__(self, database: Database, settings: StreamSettings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    def advance(self, start: Progress, rows: int | None = None, until: Position | None = None) -> Progress:
        """The next step, of about so many rows; `start` itself where there is none.

        Changes are followed to `until` at most. A copy that has begun is finished in any case.
        """
        if start.at is None:
            return self._begin()
        if start.copying:
            return start.copy_chunks(max(1, (rows or _STEP_ROWS) // self._settings.chunk_rows))
        if self._settings.startup is Startup.SNAPSHOT:
            return self._begin_group(start) if start.waiting else start
        if not start.waiting:
            return self._follow(start, start.at, rows, until)
        head = self._database.now()
        caught_up = self._follow(start, start.at, rows, head)
        is_there = caught_up.at is not None and not self._database.is_after(head, caught_up.at)
        return self._begin_group(caught_up) if is_there else caught_up

    def read(self, work: Work) -> Iterator[Event]:
        """The events of some work."""
        if isinstance(work, NewsWork):
            found = {table.id: table for table in self._database.tables()}
            yield from (
                SchemaChange(SchemaChangeKind.CREATE, id_, None, found[id_]) for id_ in work.ids if id_ in found
            )
            return
        if isinstance(work, ChunkWork):
            for chunk in work.chunks:
                for batch in self._database.read_chunk(work.table, chunk, work.as_of):
                    yield TableRows(work.table, batch)
            return
        changes = self._database.changes(work.start, work.end, work.known)
        yield from of_followed(changes, work.known, work.waiting)

    def head(self, start: Progress) -> Progress:
        """Where the stream would be if it had read all there is."""
        return Progress(self._database.now(), start.known, seen_ms=self._clock.now_ms())

    def lag_ms(self, start: Progress) -> int:
        """How long ago the stream stood where the database ended; 0 where it still does."""
        if start.at is None or not self._database.is_after(self._database.now(), start.at):
            return 0
        return max(0, self._clock.now_ms() - start.seen_ms)

    def _begin(self) -> Progress:
        tables = self._database.tables()  # what cannot be captured is told before anything is made on the server
        at = self._database.begin()
        is_copied = self._settings.startup is not Startup.LATEST
        begun = Progress().begin(at, tables, self._clock.now_ms(), copies=is_copied)
        return self._begin_group(begun) if begun.waiting else begun

    def _begin_group(self, start: Progress) -> Progress:
        """As many of the tables that wait as one step can copy, or a large one."""
        now = {table.id: table for table in self._database.tables()}
        start = start.forget(id_ for id_ in start.waiting if id_ not in now)
        group, chunks_max = [], _STEP_ROWS // self._settings.chunk_rows
        for id_ in start.waiting:
            group.append((now[id_], self._database.chunks(now[id_], self._settings.chunk_rows)))
            chunks_max -= len(group[-1][1])
            if chunks_max <= 0:
                break
        return start.begin_group(group)

    def _follow(self, start: Progress, at: Position, rows: int | None, until: Position | None) -> Progress:
        now_ms = self._clock.now_ms()
        head = self._database.now() if until is None else until
        if not self._database.is_after(head, at):
            return start
        try:
            now = {table.id: table for table in self._database.tables()}
        except LakewardError:  # one may be gone: the log says when
            now = {}
        there = {*start.waiting, *(table.id for table in start.known)}
        if now.keys() - there:
            return start.wait_for(id_ for id_ in now if id_ not in there)
        end = head if rows is None else self._database.limit(at, head, rows)
        is_all = not self._database.is_after(head, end)
        return start.follow(end, self._known_at(start, now, at, end), now_ms if is_all else start.seen_ms)

    def _known_at(
        self, start: Progress, now: dict[TableId, SourceTable], at: Position, end: Position
    ) -> tuple[SourceTable, ...]:
        """The tables at the end. The log is asked only where the database has other tables than those known."""
        known = {table.id: table for table in start.known}
        if known == {id_: table for id_, table in now.items() if id_ not in start.waiting}:
            return start.known
        changes = of_followed(self._database.changes(at, end, start.known), start.known, start.waiting)
        found = known_after(start.known, (event for event in changes if isinstance(event, SchemaChange)))
        return tuple(table for table in found if table.id not in start.waiting)
