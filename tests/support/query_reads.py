"""Whole reads and streams through lakeward.query, as an engine makes them: everything crosses as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

import lakeward
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import split_of_json
from lakeward.query.read.read import read_split, result_schema
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.admission import ReadLimit
from lakeward.query.stream.stream import TableStream
from lakeward.query.stream.stream_offset import StreamOffset


def crossed(request: ReadRequest) -> ReadRequest:
    """The request as a task gets it."""
    return ReadRequest.of_json(json.loads(json.dumps(request.to_json())))


def rows_of(conn: lakeward.Connection, request: ReadRequest, plan: Plan) -> pa.Table:
    """The rows of a plan's splits; every batch has the promised schema."""
    table = conn.table(str(request.path))
    schema = result_schema(table.info.schema, request)
    batches = []
    for split in plan.splits:
        sent = split_of_json(json.loads(json.dumps(split.to_json())))
        for batch in read_split(conn, crossed(request), sent):
            assert batch.schema.equals(schema), (batch.schema, schema)
            assert batch.num_rows
            batches.append(batch)
    return pa.Table.from_batches(batches, schema)


def read(conn: lakeward.Connection, name: str, **asked: Any) -> pa.Table:
    """A bounded read."""
    request = ReadRequest.of_name(name, **asked)
    return rows_of(conn, request, plan_read(conn, crossed(request)))


class Reader:
    """A stream and how far it has come. Forgets everything but its offset between batches."""

    def __init__(self, conn: lakeward.Connection, name: str, **asked: Any) -> None:
        self._conn = conn
        self._request = ReadRequest.of_name(name, **asked)
        self.at = self.stream.initial()

    @property
    def stream(self) -> TableStream:
        """A stream that has just been made."""
        return TableStream(self._conn, crossed(self._request))

    def next(self, rows: int | None = None, size: int | None = None, **rest: Any) -> list[dict[str, Any]]:
        """The rows of the next batch."""
        end = _crossed(self.stream.latest(self.at, ReadLimit(rows, size), **rest))
        plan = self.stream.plan(_crossed(self.at), end)
        found: list[dict[str, Any]] = rows_of(self._conn, self._request, plan).to_pylist()
        self.at = end
        return found

    def batches(self, rows: int | None = None) -> Iterator[list[dict[str, Any]]]:
        """Batches until there is nothing new."""
        while True:
            before = self.at
            found = self.next(rows)
            if self.at == before:
                return
            yield found

    def rest(self, rows: int | None = None) -> list[dict[str, Any]]:
        """All rows until there is nothing new."""
        return [row for batch in self.batches(rows) for row in batch]


def _crossed(offset: StreamOffset) -> StreamOffset:
    found = StreamOffset.of_json(json.loads(json.dumps(offset.to_json())))
    assert found == offset
    return found
