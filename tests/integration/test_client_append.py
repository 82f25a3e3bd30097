"""Rows in through the Python API: every form, every route, acknowledged and in order."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from client_rows import EVERY_TYPE, EVERY_VALUE, fresh, numbered

import lakeward


@pytest.fixture(scope="module")
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection, and a database that goes with it."""
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("client_append", exist_ok=True)
        yield made
        made.drop_database("client_append", cascade=True)


def table_of(conn: lakeward.Connection, schema: str = "id BIGINT, name STRING", **rest: Any) -> lakeward.Table:
    """A fresh table."""
    return conn.create_table(f"client_append.{fresh('t')}", schema, **rest)


def ids(table: lakeward.Table) -> list[int]:
    """All ids, as scanned."""
    return table.scan(["id"]).to_arrow().column("id").to_pylist()


@pytest.mark.parametrize(
    "form",
    [
        pa.Table.from_batches([numbered(0, 3)]),
        numbered(0, 3),
        numbered(0, 3).to_pylist(),
        numbered(0, 3).to_pydict(),
        numbered(0, 3).to_pandas(),
        pl.from_arrow(numbered(0, 3)),
        [numbered(0, 1), numbered(1, 2)],
    ],
    ids=lambda f: type(f).__module__.split(".")[0] + "." + type(f).__name__,
)
def test_every_form_of_rows(conn: lakeward.Connection, form: Any) -> None:
    """What pandas, polars, Arrow and plain Python hold is appended alike."""
    table = table_of(conn)
    result = table.append(form)
    assert (result.rows, result.batches >= 1, result.bytes > 0) == (3, True, True)
    assert table.scan().to_arrow().to_pylist() == numbered(0, 3).to_pylist()


def test_every_type_survives(conn: lakeward.Connection) -> None:
    """Values of all types, and NULL in each, come back as they were."""
    table = table_of(conn, EVERY_TYPE)
    rows = [EVERY_VALUE, dict.fromkeys(EVERY_VALUE)]
    table.append(rows)
    assert table.scan().to_arrow().to_pylist() == rows


@pytest.mark.parametrize("log_format", ["INDEXED", "COMPACTED"])
def test_logs_of_rows(conn: lakeward.Connection, log_format: str) -> None:
    """Row-formatted logs hold the same rows."""
    table = table_of(conn, EVERY_TYPE, properties={"table.log.format": log_format})
    rows = [EVERY_VALUE, dict.fromkeys(EVERY_VALUE)]
    table.append(rows)
    assert table.scan(["i32", "s"]).to_arrow().to_pylist() == [{"i32": r["i32"], "s": r["s"]} for r in rows]


@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
def test_every_codec(conn: lakeward.Connection, codec: str) -> None:
    """The table's compression is used, and read."""
    table = table_of(conn, properties={"table.log.arrow.compression.type": codec})
    table.append(numbered(0, 1000))
    assert ids(table) == list(range(1000))


def test_a_large_write_becomes_several_batches(conn: lakeward.Connection) -> None:
    """One table of half a million rows is cut, spread over the buckets, and whole again when read."""
    table = table_of(conn, buckets=3)
    result = table.append(pa.Table.from_batches([numbered(0, 500_000)]))
    assert result.rows == 500_000
    assert result.batches > 3
    assert sorted(ids(table)) == list(range(500_000))
    assert all(offset > 0 for offset in table.offsets("latest").values())


def test_a_writer_pipelines_and_keeps_order(conn: lakeward.Connection) -> None:
    """Thousands of small writes arrive in order; `written` counts what is acknowledged."""
    table = table_of(conn)
    with table.writer(batch_rows=100) as writer:
        for i in range(2000):
            writer.write([{"id": i, "name": "x"}])
        writer.flush()
        assert writer.written == 2000
        writer.write([{"id": 2000, "name": "last"}])
    assert writer.written == 2001
    assert ids(table) == list(range(2001))


def test_rows_leave_by_themselves_after_a_while(conn: lakeward.Connection) -> None:
    """A writer that is not flushed still sends when its linger time is over."""
    table = table_of(conn)
    writer = table.writer(linger_ms=5)
    writer.write([{"id": 1, "name": "x"}])
    (batch,) = [b for _, b in zip(range(1), table.scan(end=None).follow(), strict=False)]
    assert batch.column("id").to_pylist() == [1]
    writer.close()


def test_a_connection_that_nobody_holds_any_more_sends_its_rows_and_ends(
    server: Any, conn: lakeward.Connection
) -> None:
    """Of a cell that is run again, a request that forgot to close: no threads and files pile up, no row is lost."""
    table = table_of(conn)
    before = threading.enumerate()
    forgotten = lakeward.connect(server.bootstrap)
    loops = [one for one in threading.enumerate() if one not in before and one.name == "lakeward-client"]
    used = forgotten.table(str(table.path))
    del forgotten
    gc.collect()
    writer = used.writer(linger_ms=60_000)
    writer.write([{"id": 1, "name": "x"}])
    del used, writer
    gc.collect()
    for loop in loops:
        loop.join(20)
    assert [loop.is_alive() for loop in loops] == [False]
    assert ids(table) == [1]


def test_a_bucket_key_keeps_a_key_together(conn: lakeward.Connection) -> None:
    """All rows of one key are in one bucket, in order, whoever wrote them."""
    table = table_of(conn, "id BIGINT, name STRING", bucket_by=["name"], buckets=4)
    for round_ in range(3):
        table.append({"id": [round_] * 50, "name": [f"key {k}" for k in range(50)]})
    seen: dict[str, tuple[int, list[int]]] = {}
    for row in table.scan(metadata_columns=True).to_arrow().to_pylist():
        bucket, rounds = seen.setdefault(row["name"], (row["_bucket"], []))
        assert bucket == row["_bucket"]
        rounds.append(row["id"])
    assert len(seen) == 50
    assert all(rounds == [0, 1, 2] for _, rounds in seen.values())
    assert len({bucket for bucket, _ in seen.values()}) == 4


def test_missing_partitions_are_created(conn: lakeward.Connection) -> None:
    """Rows name their partitions; those that are not there come to be."""
    table = table_of(conn, "id BIGINT, dt STRING", partition_by=["dt"], buckets=2)
    table.append({"id": list(range(10)), "dt": ["a", "b"] * 5})
    assert [p.name for p in table.partitions()] == ["a", "b"]
    assert sorted(table.scan(["id"], partitions=["a"]).to_arrow().column("id").to_pylist()) == [0, 2, 4, 6, 8]
    assert table.count() == 10


def test_creating_partitions_can_be_switched_off(server: Any, conn: lakeward.Connection) -> None:
    """Then a row without a partition is an error."""
    path = str(table_of(conn, "id BIGINT, dt STRING", partition_by=["dt"]).path)
    with (
        lakeward.connect(server.bootstrap, writer_dynamic_create_partition_enabled=False) as strict,
        pytest.raises(lakeward.NotFoundError),
    ):
        strict.table(path).append([{"id": 1, "dt": "a"}])


def test_several_threads_share_a_connection(conn: lakeward.Connection) -> None:
    """Appends at the same time do not disturb each other; each thread's rows are in order."""
    table = table_of(conn)

    def work(thread: int) -> None:
        for i in range(20):
            table.append([{"id": thread * 1000 + i, "name": "x"}])

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    found = ids(table)
    for t in range(4):
        assert [i for i in found if i // 1000 == t] == [t * 1000 + i for i in range(20)]


def test_a_dropped_table_fails_the_writer_clearly(conn: lakeward.Connection) -> None:
    """The error names the table and nothing hangs; a server may take a moment to let the bucket go."""
    table = table_of(conn)
    writer = table.writer()
    writer.write(numbered(0, 1))
    writer.flush()
    conn.drop_table(str(table.path))

    def write_on() -> None:
        for i in range(100_000):
            writer.write(numbered(i, 1))
            writer.flush()

    with pytest.raises(lakeward.LakewardError, match=str(table.path)):
        write_on()
    with pytest.raises(lakeward.LakewardError, match=str(table.path)):
        writer.write(numbered(2, 1))


def test_what_does_not_fit_is_refused_before_anything_is_sent(conn: lakeward.Connection) -> None:
    """A wrong column or value names itself, and no row of that write is stored."""
    table = table_of(conn)
    with pytest.raises(lakeward.InvalidError, match="nmae"):
        table.append([{"id": 1, "nmae": "x"}])
    with pytest.raises(lakeward.InvalidError, match="id"):
        table.append(pd.DataFrame({"id": ["one"]}))
    assert table.count() == 0


def test_without_idempotence(server: Any, conn: lakeward.Connection) -> None:
    """Writers may do without writer ids."""
    path = str(table_of(conn).path)
    with lakeward.connect(server.bootstrap, writer_enable_idempotence=False, writer_acks="1") as plain:
        with plain.table(path).writer(batch_rows=10) as writer:
            writer.write(numbered(0, 100))
        assert ids(plain.table(path)) == list(range(100))


def test_an_empty_append_is_fine(conn: lakeward.Connection) -> None:
    """No rows, no batches, no error."""
    assert table_of(conn).append([]) == lakeward.AppendResult(0, 0, 0)


def test_a_writer_that_nobody_closes_loses_nothing(server: Any, conn: lakeward.Connection) -> None:
    """The end of its connection sends what it holds, and the end of the program, too; a `with` that fails does not."""
    table = table_of(conn)
    path = table.path
    with lakeward.connect(server.bootstrap) as other:
        other.table(str(path)).writer(linger_ms=60_000).write(numbered(0, 3))
        left_open = other.table(str(path)).writer(linger_ms=60_000)
        left_open.write(numbered(3, 3))
    assert sorted(ids(table)) == list(range(6))
    program = (
        "import lakeward\n"
        f"writer = lakeward.connect({server.bootstrap!r}).table({str(path)!r}).writer(linger_ms=60_000)\n"
        "writer.write([{'id': 6, 'name': 'x'}])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert sorted(ids(table)) == list(range(7))
    failed = lakeward.connect(server.bootstrap)
    given_up = failed.table(str(path)).writer(linger_ms=60_000)
    given_up.write(numbered(7, 1))
    failed.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert sorted(ids(table)) == list(range(7))
