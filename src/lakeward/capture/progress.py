"""Progress: how far a stream of a database is, and what lies between two such points. Pure; its JSON is Spark's offset.

One position is enough. Everything up to `at` has been read of the tables that were copied; tables are copied in
groups, every chunk of a group as of `at`, which stands still meanwhile; then the tables that were copied before catch
up, and the next group is copied as of where they got to:

    nothing ─ begin ─▶ group 1 as of p1 ─ changes to p2 ─▶ group 2 as of p2 ─ changes … ─▶ streaming

Changes of tables that still wait are left out: their copy will have them. So no key is ever compared, and the log is
needed from `at` on. A table that is found later waits, too: the log may not have it from its first row on. What is in a
micro-batch is some chunks, some changes, or the news of some tables; both ends of it say which.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, Self

from lakeward.capture.json_forms import id_of_json, id_to_json, table_of_json, table_to_json
from lakeward.capture.port import Chunk, Event, Position, SchemaChange, SchemaChangeKind, SourceTable, TableId

#: A table of more chunks has larger ones: they stand in every offset of its copy.
CHUNKS_MAX = 4000


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table that is being copied: the chunks that are left, and how many there were."""

    id: TableId
    left: tuple[Chunk, ...]
    total: int

    @classmethod
    def of(cls, id_: TableId, chunks: Sequence[Chunk]) -> Self:
        """A table of which nothing was copied; where there are very many chunks, several become one."""
        step = -(-len(chunks) // CHUNKS_MAX)
        if step > 1:
            parts = [chunks[n : n + step] for n in range(0, len(chunks), step)]
            chunks = [Chunk(n, part[0].low, part[-1].high) for n, part in enumerate(parts)]
        assert chunks, "chunks cover every key there is or will be"
        assert all(one.high == next_.low for one, next_ in pairwise(chunks)), "chunks follow one another"
        return cls(id_, tuple(chunks), len(chunks))


@dataclass(frozen=True, slots=True)
class Progress:
    """A point of a stream."""

    at: Position | None = None
    """Changes have been read up to here; None: nothing has begun."""
    known: tuple[SourceTable, ...] = ()
    """The tables that were copied or are being copied, as they were at `at`."""
    copying: tuple[TableCopy, ...] = ()
    waiting: tuple[TableId, ...] = ()
    """Tables whose copy has not begun."""
    seen_ms: int = 0
    """When `at` was the end of what had been committed, or a time before it was; for the lag."""

    @property
    def has_begun(self) -> bool:
        """Whether there is a position."""
        return self.at is not None

    @property
    def is_copied(self) -> bool:
        """Whether all tables that there were at the beginning have been copied."""
        return self.has_begun and not self.copying and not self.waiting

    @property
    def chunks_left(self) -> int:
        """How many chunks of the group are left."""
        return sum(len(copy.left) for copy in self.copying)

    @property
    def share_copied(self) -> float:
        """How much of the copy is done, from 0 to 1; every table counts the same."""
        begun = sum(1 - len(copy.left) / copy.total for copy in self.copying)
        done = len(self.known) - len(self.copying)
        tables = len(self.known) + len(self.waiting)
        return 1.0 if self.is_copied else (done + begun) / tables if tables else 0.0

    @property
    def phase(self) -> str:
        """The phase in words."""
        return "streaming" if self.is_copied else f"snapshot {int(self.share_copied * 100)} %"

    def begin(self, at: Position, tables: Iterable[SourceTable], seen_ms: int, *, copies: bool) -> Progress:
        """The stream begins here, with a copy of the tables or without one."""
        found = tuple(tables)
        if copies:
            return Progress(at, waiting=tuple(table.id for table in found), seen_ms=seen_ms)
        return Progress(at, found, seen_ms=seen_ms)

    def begin_group(self, tables: Iterable[tuple[SourceTable, Sequence[Chunk]]]) -> Progress:
        """A copy of these tables begins, as of `at`."""
        assert not self.copying, "one group is copied at a time"
        begun = {table.id: (table, TableCopy.of(table.id, chunks)) for table, chunks in tables}
        return replace(
            self,
            known=(*self.known, *(table for table, _ in begun.values())),
            copying=tuple(copy for _, copy in begun.values()),
            waiting=tuple(id_ for id_ in self.waiting if id_ not in begun),
        )

    def wait_for(self, new: Iterable[TableId]) -> Progress:
        """Tables that were found since; they will be copied."""
        return replace(self, waiting=(*self.waiting, *new))

    def forget(self, gone: Iterable[TableId]) -> Progress:
        """Tables that are gone are not waited for."""
        dropped = set(gone)
        return replace(self, waiting=tuple(id_ for id_ in self.waiting if id_ not in dropped))

    def copy_chunks(self, count: int) -> Progress:
        """So many chunks of the group have been copied, in their order."""
        left: list[TableCopy] = []
        for copy in self.copying:
            taken = min(count, len(copy.left))
            count -= taken
            left.append(replace(copy, left=copy.left[taken:]))
        is_done = not any(copy.left for copy in left)
        return replace(self, copying=() if is_done else tuple(left))

    def follow(self, at: Position, known: Iterable[SourceTable], seen_ms: int) -> Progress:
        """Changes have been read up to `at`; `known`: the tables as they are there."""
        assert not self.copying, "a group is copied as of one position"
        return replace(self, at=at, known=tuple(known), seen_ms=seen_ms)

    def to_json(self) -> dict[str, Any]:
        """As an offset; what may be long is packed."""
        if not self.has_begun:
            return {}
        form: dict[str, Any] = {"at": dict(self.at or {}), "phase": self.phase, "seen_ms": self.seen_ms}
        form["known"] = _pack([table_to_json(table) for table in self.known])
        if self.copying:
            form["copying"] = _pack([_copy_to_json(copy) for copy in self.copying])
        if self.waiting:
            form["waiting"] = _pack([id_to_json(id_) for id_ in self.waiting])
        return form

    @classmethod
    def of_json(cls, form: Any) -> Self:
        """What `to_json` wrote."""
        if not form:
            return cls()
        return cls(
            form["at"],
            _known_of(form["known"]),
            tuple(_copy_of_json(copy) for copy in _unpack(form.get("copying"))),
            tuple(id_of_json(id_) for id_ in _unpack(form.get("waiting"))),
            form["seen_ms"],
        )


@dataclass(frozen=True, slots=True)
class ChunkWork:
    """Chunks of a table that one task reads, as of a position, or as they are now."""

    table: SourceTable
    chunks: tuple[Chunk, ...]
    as_of: Position | None


@dataclass(frozen=True, slots=True)
class ChangeWork:
    """Changes that one task reads in their order, but for those of tables that wait to be copied."""

    start: Position
    end: Position
    known: tuple[SourceTable, ...]
    waiting: frozenset[TableId] = frozenset()


@dataclass(frozen=True, slots=True)
class NewsWork:
    """Tables that were found since, to be told of before their rows come."""

    ids: tuple[TableId, ...]


Work = ChunkWork | ChangeWork | NewsWork


def work_between(start: Progress, end: Progress, tasks: int) -> list[Work]:
    """What lies between two points of a stream, for about so many tasks."""
    if start.at is None or start == end:
        return []
    assert end.at is not None
    if new := tuple(id_ for id_ in end.waiting if id_ not in start.waiting):
        return [NewsWork(new)]
    if not start.copying:
        return [ChangeWork(start.at, end.at, start.known, frozenset(start.waiting))]
    count = start.chunks_left - end.chunks_left
    pieces = islice(((copy.id, chunk) for copy in start.copying for chunk in copy.left), count)
    by_table: dict[TableId, list[Chunk]] = {}
    for id_, chunk in pieces:
        by_table.setdefault(id_, []).append(chunk)
    size = max(1, -(-count // tasks))
    tables = {table.id: table for table in start.known}
    return [
        ChunkWork(tables[id_], tuple(chunks[n : n + size]), start.at)
        for id_, chunks in by_table.items()
        for n in range(0, len(chunks), size)
    ]


def of_followed(events: Iterable[Event], known: Iterable[SourceTable], waiting: Iterable[TableId]) -> Iterator[Event]:
    """The events of tables that were copied. Those that wait will be copied as they are then.

    One that is neither was made and dropped again before anybody saw it: what came of it would never be taken back.
    """
    were, waits = {table.id for table in known}, set(waiting)
    followed = were - waits
    for event in events:
        if not isinstance(event, SchemaChange):
            if event.table.id in followed:
                yield event
            continue
        new = None if event.after is None else event.after.id
        is_followed = event.id in followed or (new in were and new not in waits)
        followed.discard(event.id)
        if is_followed:
            if new is not None and new not in waits:
                followed.add(new)
            yield event


def known_after(known: Iterable[SourceTable], changes: Iterable[SchemaChange]) -> tuple[SourceTable, ...]:
    """The tables after some schema changes."""
    found = {table.id: table for table in known}
    for change in changes:
        if change.kind is SchemaChangeKind.DROP:
            found.pop(change.id, None)
        elif change.after is not None:
            if change.after.id != change.id:
                found.pop(change.id, None)
            found[change.after.id] = change.after
    return tuple(found.values())


def _copy_to_json(copy: TableCopy) -> list[Any]:
    """Chunks follow one another: the places between them say it all."""
    first = copy.total - len(copy.left)
    cuts = [copy.left[0].low, *(chunk.high for chunk in copy.left)] if copy.left else []
    return [id_to_json(copy.id), copy.total, first, cuts]


def _copy_of_json(form: Any) -> TableCopy:
    id_, total, first, cuts = form
    ends = [None if cut is None else tuple(cut) for cut in cuts]
    left = tuple(Chunk(first + n, low, high) for n, (low, high) in enumerate(pairwise(ends)))
    return TableCopy(id_of_json(id_), left, total)


def _pack(form: list[Any]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(form, separators=(",", ":")).encode(), 6)).decode()


def _unpack(text: str | None) -> list[Any]:
    if text is None:
        return []
    found: list[Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found


@lru_cache(maxsize=16)
def _known_of(text: str) -> tuple[SourceTable, ...]:
    return tuple(table_of_json(table) for table in _unpack(text))
