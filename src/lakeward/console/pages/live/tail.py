"""Tail: a scan that goes on, as documents for a page, a few a second, each with the newest rows that have come.

The scan runs beside the page and never waits for it: what a slow browser does not take is let go and counted
(tail_buffer). It ends when the documents are no longer asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, aclosing, suppress
from typing import Any

import pyarrow as pa

from lakeward.client.decode.log_decoder import METADATA_FIELDS
from lakeward.client.forms.results import BucketId, Timestamp
from lakeward.client.tables.table import AsyncTable
from lakeward.console.pages.live.position import Position
from lakeward.console.pages.live.tail_buffer import TailBuffer, Taken
from lakeward.console.pages.live.tail_form import AGO_MS, LAST_ROWS, TailForm
from lakeward.console.rows.shown_rows import shown_columns, shown_rows
from lakeward.query.duckdb.question.batch_filter import BatchFilter, batch_filter
from lakeward.query.read.view_rows import CHANGE_WORDS
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.runtime.clock import Clock

ROWS_PER_DOCUMENT = 200
_TICK_S = 0.25
_HEARTBEAT_S = 10.0
_FULL_LENGTH_MAX = 2000
_DOCUMENT_LENGTH_MAX = 1 << 20
_CHANGE_TYPE = "_change_type"
_SIGNED = {word: f"{sign} {word.replace('_', ' ')}" for sign, word in CHANGE_WORDS.items()}
ORIGIN = ("_bucket", "_offset", "_timestamp")


#: Where a tail goes on: offsets, a time in milliseconds where there are too many of those, or None where it begins.
After = dict[BucketId, int] | int | None


class Tail:
    """What a page was asked to show of a table, from a position on."""

    def __init__(self, table: AsyncTable, form: TailForm, clock: Clock, after: After) -> None:
        self._table = table
        self._form = form
        self._clock = clock
        self._after = after
        self._buffer = TailBuffer(ROWS_PER_DOCUMENT)
        self._news = asyncio.Event()
        has_changes = table.info.descriptor.has_primary_key
        self._shown = ((_CHANGE_TYPE,) if has_changes else ()) + form.columns + (ORIGIN if form.with_origin else ())

    async def documents(self) -> AsyncIterator[dict[str, Any]]:
        """First how the rows look and where the tail is, then rows as they come."""
        position = Position(self._table.info, await self._start())
        yield {"columns": self._heads(), **self._place(position)}
        reading = asyncio.create_task(self._read(position))
        try:
            while True:
                await self._wait(reading)
                if self._buffer.has_news:
                    yield self._document(self._buffer.take(), position)
                    await asyncio.sleep(_TICK_S)
                elif reading.done():
                    reading.result()
                    return
                else:
                    yield {"rows": [], "seen": 0, "left_out": 0}  # a heartbeat: proxies and browsers see that it lives
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({reading})
            if not reading.cancelled():
                reading.exception()  # looked at

    async def _wait(self, reading: asyncio.Task[None]) -> None:
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({news, reading}, timeout=_HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            self._news.clear()

    # -- rows ---------------------------------------------------------------------------------------------------------

    async def _start(self) -> dict[BucketId, int]:
        """The offset of each bucket at which it begins."""
        word, after = self._form.start, self._after
        if after is None and word in AGO_MS:
            after = self._clock.now_ms() - AGO_MS[word]
        if isinstance(after, int):
            return await self._table.offsets(Timestamp(after))
        earliest = await self._table.offsets("earliest")
        if after is not None:  # retention may have been there, and partitions may have gone or come
            return {id_: max(after.get(id_, first), first) for id_, first in earliest.items()}
        if word == "earliest":
            return earliest
        latest = await self._table.offsets("latest")
        back = LAST_ROWS if word == "last" else 0
        return {id_: max(end - back, earliest.get(id_, 0)) for id_, end in latest.items()}

    async def _read(self, position: Position) -> None:
        info = self._table.info
        needed = (*self._form.columns, *info.descriptor.partition_keys)
        columns = None if self._form.where else tuple(name for name in info.schema.names if name in needed)
        scan = self._table.scan(columns, start=position.offsets.copy(), end=None, metadata_columns=True)
        with ExitStack() as stack:
            kept = None
            async with aclosing(scan.follow()) as batches:
                async for batch in batches:
                    position.advance(batch)
                    rows = in_words(batch)
                    if self._form.where and kept is None:
                        opened = batch_filter(self._form.where, rows.schema)
                        kept = await asyncio.to_thread(stack.enter_context, opened)
                    matching = rows if kept is None else await _decide(kept, rows)
                    self._buffer.add(with_signs(matching.select(list(self._shown))), batch.num_rows)
                    self._news.set()
                    await asyncio.sleep(0)  # a scan that is far behind must not keep the loop to itself

    # -- documents ----------------------------------------------------------------------------------------------------

    def _heads(self) -> list[dict[str, Any]]:
        schema = filter_schema(self._table)
        heads = shown_columns(pa.schema([schema.field(name) for name in self._shown]), self._table.info.schema)
        return [{"name": h.name, "type": h.type, "is_number": h.is_number, "rule": h.rule} for h in heads]

    def _document(self, taken: Taken, position: Position) -> dict[str, Any]:
        rows = [
            [cell.to_json() for cell in row]
            for batch in taken.batches
            for row in shown_rows(batch, full_length_max=_FULL_LENGTH_MAX).rows
        ]
        kept = newest_that_fit(rows, _DOCUMENT_LENGTH_MAX)
        return {
            "rows": rows[len(rows) - kept :],
            "seen": taken.seen,
            "left_out": taken.left_out + len(rows) - kept,
            **self._place(position),
        }

    def _place(self, position: Position) -> dict[str, Any]:
        """How far the tail is, for a page that goes on later."""
        text = position.to_text()
        return {"position": text} if text is not None else {"position": "", "now_ms": self._clock.now_ms()}


def filter_schema(table: AsyncTable) -> pa.Schema:
    """The columns that a condition may look at: those of the table, and what a scan knows of each row."""
    return pa.schema([*arrow_schema(table.info.schema), *METADATA_FIELDS])


def in_words(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same, with kinds of changes as Spark and Flink call them, which is how conditions name them."""
    return _rename_changes(batch, CHANGE_WORDS)


def with_signs(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same, with the sign of each change before its word."""
    return _rename_changes(batch, _SIGNED)


def _rename_changes(batch: pa.RecordBatch, names: Mapping[str, str]) -> pa.RecordBatch:
    place = batch.schema.get_field_index(_CHANGE_TYPE)
    if place < 0:
        return batch
    kinds = batch.column(place).dictionary_encode()
    renamed = pa.array([names[kind] for kind in kinds.dictionary.to_pylist()], pa.string())
    return batch.set_column(place, _CHANGE_TYPE, renamed.take(kinds.indices))


def newest_that_fit(rows: list[list[Any]], length_max: int) -> int:
    """How many rows, from the last one back, have no more characters than this."""
    length = 0
    for count, row in enumerate(reversed(rows)):
        length += sum(sum(map(len, cell)) if isinstance(cell, list) else len(cell or "") for cell in row)
        if length > length_max:
            return count
    return len(rows)


async def _decide(kept: BatchFilter, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The matching rows, found on a thread, which has ended when this has."""
    work = asyncio.ensure_future(asyncio.to_thread(kept.matching, rows))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        kept.stop()
        await asyncio.wait({work})
        raise
