"""Progress: tables are copied in groups as of one position, and caught up between them."""

from __future__ import annotations

import json

import pyarrow as pa

from lakeward.capture.port import Chunk, SchemaChange, SchemaChangeKind, SourceTable, TableId, TableRows
from lakeward.capture.progress import (
    CHUNKS_MAX,
    ChangeWork,
    ChunkWork,
    Progress,
    TableCopy,
    known_after,
    of_followed,
    work_between,
)
from lakeward.model.data_types import BIGINT, STRING
from lakeward.model.schema import Schema


def _table(name: str, *more: str) -> SourceTable:
    return SourceTable(TableId("shop", name), Schema.of([("id", BIGINT()), *((c, STRING()) for c in more)], ["id"]))


def _chunks(count: int) -> list[Chunk]:
    cuts = [None, *((n * 100,) for n in range(1, count)), None]
    return [Chunk(n, cuts[n], cuts[n + 1]) for n in range(count)]


USERS, ORDERS = _table("users"), _table("orders")
P1, P2 = {"lsn": 1}, {"lsn": 2}


def test_a_stream_copies_group_by_group_and_then_follows() -> None:
    """Each step says what lies between it and the one before."""
    nothing = Progress()
    begun = nothing.begin(P1, [USERS, ORDERS], 10, copies=True)
    assert work_between(nothing, begun, 4) == []
    group = begun.begin_group([(USERS, _chunks(3))])
    assert (group.phase, group.waiting, group.chunks_left) == ("snapshot 0 %", (ORDERS.id,), 3)
    part = group.copy_chunks(2)
    assert part.phase == "snapshot 33 %"
    first, second, third = _chunks(3)
    assert work_between(group, part, 2) == [ChunkWork(USERS, (first,), P1), ChunkWork(USERS, (second,), P1)]
    done = part.copy_chunks(5)
    assert work_between(part, done, 2) == [ChunkWork(USERS, (third,), P1)]
    assert (done.copying, done.phase) == ((), "snapshot 50 %")
    caught_up = done.follow(P2, done.known, 20)
    assert work_between(done, caught_up, 2) == [ChangeWork(P1, P2, (USERS,), frozenset([ORDERS.id]))]
    copied = caught_up.begin_group([(ORDERS, _chunks(1))]).copy_chunks(1)
    assert (copied.phase, copied.is_copied, copied.known) == ("streaming", True, (USERS, ORDERS))


def test_chunks_of_several_tables_are_spread_over_tasks() -> None:
    """A task reads chunks of one table."""
    group = Progress().begin(P1, [USERS, ORDERS], 10, copies=True)
    group = group.begin_group([(USERS, _chunks(1)), (ORDERS, _chunks(5))])
    work = work_between(group, group.copy_chunks(6), 2)
    assert [(w.table, len(w.chunks)) for w in work if isinstance(w, ChunkWork)] == [
        (USERS, 1),
        (ORDERS, 3),
        (ORDERS, 2),
    ]


def test_an_offset_is_json_and_comes_back() -> None:
    """Also the one before anything has begun, which is empty."""
    assert Progress().to_json() == {}
    assert Progress.of_json({}) == Progress()
    group = Progress().begin(P1, [USERS, ORDERS], 10, copies=True).begin_group([(USERS, _chunks(3))]).copy_chunks(1)
    assert Progress.of_json(json.loads(json.dumps(group.to_json()))) == group


def test_offsets_of_a_huge_table_stay_small() -> None:
    """A hundred million rows, and a thousand tables: kilobytes."""
    copy = TableCopy.of(USERS.id, _chunks(12_000))
    assert copy.total <= CHUNKS_MAX
    assert [c.low for c in copy.left[1:]] == [c.high for c in copy.left[:-1]]
    assert (copy.left[0].low, copy.left[-1].high) == (None, None)
    group = Progress().begin(P1, [USERS], 10, copies=True).begin_group([(USERS, _chunks(12_000))])
    assert len(json.dumps(group.to_json())) < 40_000
    many = Progress().begin(P1, [_table(f"table_{n}", "name", "town", "street") for n in range(1000)], 10, copies=False)
    assert len(json.dumps(many.to_json())) < 40_000


def test_tables_that_are_gone_are_not_waited_for() -> None:
    """A table that was dropped before its turn is no error."""
    begun = Progress().begin(P1, [USERS, ORDERS], 10, copies=True)
    assert begun.forget([ORDERS.id]).waiting == (USERS.id,)


def test_schema_changes_tell_what_is_known() -> None:
    """Tables come, change, and go."""
    wider = _table("users", "name")
    changes = [
        SchemaChange(SchemaChangeKind.ALTER, USERS.id, USERS, wider),
        SchemaChange(SchemaChangeKind.CREATE, ORDERS.id, None, ORDERS),
        SchemaChange(SchemaChangeKind.TRUNCATE, ORDERS.id, ORDERS, ORDERS),
    ]
    assert known_after([USERS], changes) == (wider, ORDERS)
    assert known_after([USERS, ORDERS], [SchemaChange(SchemaChangeKind.DROP, USERS.id, USERS)]) == (ORDERS,)


def test_a_table_that_came_and_went_unseen_is_left_out() -> None:
    """Its rows would stay in a sink: when the table is there again it waits, and that it was dropped is not told."""
    made = SchemaChange(SchemaChangeKind.CREATE, ORDERS.id, None, ORDERS)
    gone = SchemaChange(SchemaChangeKind.DROP, ORDERS.id, ORDERS)
    rows = TableRows(ORDERS, pa.record_batch({"id": [1]}))
    of_users = TableRows(USERS, pa.record_batch({"id": [1]}))
    assert list(of_followed([made, rows, of_users, gone], [USERS], [])) == [of_users]
    assert list(of_followed([rows, gone, made, rows], [USERS, ORDERS], [])) == [rows, gone, made, rows]
    assert list(of_followed([rows, of_users], [USERS], [ORDERS.id])) == [of_users]
