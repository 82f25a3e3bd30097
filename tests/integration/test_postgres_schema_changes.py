"""Tables that change while they are followed: columns, truncations, new tables, tables that go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from postgres import Database

from lakeward.capture.port import Chunk, Event, SchemaChange, TableRows
from lakeward.capture.postgres.postgres_database import PostgresDatabase


@pytest.fixture
def source(pg: Database) -> Iterator[PostgresDatabase]:
    """The capture of every table of a database with one table."""
    with pg.connect() as connection:
        connection.execute("CREATE TABLE t (id int PRIMARY KEY, a text, b int)")
    database = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
    yield database
    database.close()


def said(events: Sequence[Event]) -> list[object]:
    """Rows as they are; of schema changes what happened, the columns after it, and what was renamed."""
    told: list[object] = []
    for event in events:
        if isinstance(event, SchemaChange):
            columns = event.after.schema.names if event.after else ()
            told.append((str(event.kind), event.id.name, columns, dict(event.renamed)))
        else:
            told += [tuple(row.values()) for row in event.rows.to_pylist()]
    return told


def run(pg: Database, *statements: str) -> None:
    """Each statement in a transaction of its own."""
    with pg.connect() as connection:
        for statement in statements:
            connection.execute(statement)


def test_columns_that_come_go_and_change_their_names(pg: Database, source: PostgresDatabase) -> None:
    """Rows before a change have the old columns, rows after it the new ones; a rename is told from drop and add."""
    tables = source.tables()
    start = source.begin()
    run(
        pg,
        "INSERT INTO t VALUES (1, 'x', 1)",
        "ALTER TABLE t ADD COLUMN c numeric(6,2)",
        "INSERT INTO t VALUES (2, 'y', 2, 1.5)",
        "ALTER TABLE t RENAME COLUMN a TO a2",
        "INSERT INTO t VALUES (3, 'z', 3, 2.5)",
        "ALTER TABLE t DROP COLUMN b",
        "ALTER TABLE t ALTER COLUMN c TYPE numeric(12,4)",
        "INSERT INTO t VALUES (4, 'w', 3.5)",
        "ALTER TABLE t ADD COLUMN b int",
        "TRUNCATE t",
        "INSERT INTO t VALUES (5, 'v', 4.5, 9)",
    )
    events = list(source.changes(start, source.now(), tables))
    rows = [tuple(map(str, entry)) if isinstance(entry[0], int) else entry for entry in said(events)]  # type: ignore[index,call-overload]
    assert rows == [
        ("1", "x", "1"),
        ("alter", "t", ("id", "a", "b", "c"), {}),
        ("2", "y", "2", "1.50"),
        ("alter", "t", ("id", "a2", "b", "c"), {"a": "a2"}),
        ("3", "z", "3", "2.50"),
        ("alter", "t", ("id", "a2", "c"), {}),
        ("4", "w", "3.5000"),
        ("alter", "t", ("id", "a2", "c", "b"), {}),
        ("truncate", "t", ("id", "a2", "c", "b"), {}),
        ("5", "v", "4.5000", "9"),
    ]
    last = [event for event in events if isinstance(event, TableRows)][-1].table
    (now,) = source.tables()
    assert last.schema.names == now.schema.names
    assert last.schema.primary_key == ("id",)


def test_a_name_that_was_changed_twice(pg: Database, source: PostgresDatabase) -> None:
    """The catalog has the third name only, and still it is one column."""
    tables = source.tables()
    start = source.begin()
    run(pg, "ALTER TABLE t RENAME a TO a2", "INSERT INTO t VALUES (1, 'x', 1)", "ALTER TABLE t RENAME a2 TO a3")
    run(pg, "INSERT INTO t VALUES (2, 'y', 2)")
    assert said(list(source.changes(start, source.now(), tables))) == [
        ("alter", "t", ("id", "a2", "b"), {"a": "a2"}),
        (1, "x", 1),
        ("alter", "t", ("id", "a3", "b"), {"a2": "a3"}),
        (2, "y", 2),
    ]


def test_a_copy_of_a_table_that_was_changed_since(pg: Database, source: PostgresDatabase) -> None:
    """Chunks of the table as it was known: a column under its old name, one that is gone as NULL, no new ones."""
    run(pg, "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 2)")
    source.begin()
    (table,) = source.tables()
    as_of = source.now()
    run(pg, "ALTER TABLE t RENAME a TO a2", "ALTER TABLE t DROP b", "ALTER TABLE t ADD c int DEFAULT 7")
    run(pg, "DELETE FROM t WHERE id = 2")
    (batch,) = source.read_chunk(table, Chunk(0), as_of)
    assert batch.to_pylist() == [{"id": 1, "a": "x", "b": None}]


def test_new_tables(pg: Database, source: PostgresDatabase) -> None:
    """A table that matches is published when it is found, and is told of before its first row."""
    start, known = source.begin(), source.tables()
    run(pg, "CREATE TABLE u (k text PRIMARY KEY)")
    assert [table.id.name for table in source.tables()] == ["t", "u"]
    run(pg, "INSERT INTO u VALUES ('first')", "INSERT INTO t VALUES (1)")
    assert said(list(source.changes(start, source.now(), known))) == [
        ("create", "u", ("k",), {}),
        ("first",),
        (1, None, None),
    ]


def test_new_tables_of_a_publication_for_all(pg: Database) -> None:
    """They are followed from their first row on, without anybody having looked; others are passed over."""
    run(pg, "CREATE TABLE t (id int PRIMARY KEY)")
    source = PostgresDatabase.of({**pg.options, "tables": "public.[tu]", "publication.tables": "all"})
    start, known = source.begin(), source.tables()
    run(pg, "CREATE TABLE u (id int PRIMARY KEY)", "INSERT INTO u VALUES (1)")
    run(pg, "CREATE TABLE v (id int PRIMARY KEY)", "INSERT INTO v VALUES (2)")
    assert said(list(source.changes(start, source.now(), known))) == [("create", "u", ("id",), {}), (1,)]
    source.close()


def test_a_table_that_is_dropped(pg: Database, source: PostgresDatabase) -> None:
    """Its rows come first; that it is gone is said when the stream is past it."""
    run(pg, "CREATE TABLE u (id int PRIMARY KEY)")
    start, known = source.begin(), source.tables()
    run(pg, "INSERT INTO u VALUES (1)")
    middle = source.now()
    run(pg, "DROP TABLE u")
    assert said(list(source.changes(start, middle, known))) == [(1,)]
    run(pg, "INSERT INTO t VALUES (1)")
    assert said(list(source.changes(middle, source.now(), known))) == [(1, None, None), ("drop", "u", (), {})]


def test_partitions_are_one_table(pg: Database) -> None:
    """Rows of partitions come as rows of the table that is partitioned, copied and streamed."""
    run(
        pg,
        "CREATE TABLE p (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2024-01-01') TO ('2024-02-01')",
        "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2024-02-01') TO ('2024-03-01')",
        "INSERT INTO p VALUES (1, '2024-01-05'), (2, '2024-02-05')",
    )
    source = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
    source.begin()
    (table,) = source.tables()
    as_of = source.now()
    assert sorted(row["id"] for b in source.read_chunk(table, Chunk(0), as_of) for row in b.to_pylist()) == [1, 2]
    run(pg, "INSERT INTO p VALUES (3, '2024-02-06')", "UPDATE p SET day = '2024-01-06' WHERE id = 2")
    events = list(source.changes(as_of, source.now(), [table]))
    assert {event.table.id for event in events if isinstance(event, TableRows)} == {table.id}
    kinds = [kind for event in events if isinstance(event, TableRows) for kind in (event.kinds or [])]
    assert [kind.as_py() for kind in kinds] == [1, 4, 1]
    source.close()


def test_a_change_of_the_identity_is_no_change_of_the_table(pg: Database, source: PostgresDatabase) -> None:
    """From FULL on updates have the row before; the columns are the same."""
    start, known = source.begin(), source.tables()
    run(pg, "INSERT INTO t VALUES (1, 'x', 1)", "UPDATE t SET b = 2", "ALTER TABLE t REPLICA IDENTITY FULL")
    run(pg, "UPDATE t SET b = 3")
    events = list(source.changes(start, source.now(), known))
    assert all(isinstance(event, TableRows) for event in events)
    kinds = [k.as_py() for event in events if isinstance(event, TableRows) for k in (event.kinds or [])]
    assert kinds == [1, 3, 2, 3]
    has_before = [event.table.has_before for event in events if isinstance(event, TableRows) for _ in event.kinds or ()]
    assert has_before == [False, False, True, True]


@pytest.mark.long
def test_chunks_cover_all_keys_in_the_order_of_the_server(pg: Database) -> None:
    """Numbers with and without gaps, text with an order of its own, several columns: each row in one chunk."""
    with pg.connect() as connection:
        connection.execute("CREATE TABLE dense (id int PRIMARY KEY)")
        connection.execute("INSERT INTO dense SELECT generate_series(-50, 49)")
        connection.execute("CREATE TABLE sparse (id bigint PRIMARY KEY)")
        connection.execute("INSERT INTO sparse SELECT n::bigint * 1000000007 FROM generate_series(1, 100) n")
        connection.execute('CREATE TABLE words (a text COLLATE "C", b uuid, PRIMARY KEY (a, b))')
        connection.execute(
            "INSERT INTO words SELECT chr(65 + n % 50) || '''\\', gen_random_uuid() FROM generate_series(1, 100) n"
        )
        connection.execute("CREATE TABLE keyless (a int)")
        connection.execute("ALTER TABLE keyless REPLICA IDENTITY FULL")
        connection.execute("INSERT INTO keyless SELECT generate_series(1, 100)")
        source = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
        source.begin()
        as_of = source.now()
        for table in source.tables():
            chunks = source.chunks(table, 20)
            assert (len(chunks), chunks[0].low, chunks[-1].high) == (1 if table.id.name == "keyless" else 5, None, None)
            parts = [[r for b in source.read_chunk(table, c, as_of) for r in b.to_pylist()] for c in chunks]
            assert sum(map(len, parts)) == 100
            assert max(map(len, parts)) <= 100 // len(chunks) + 5
            expected = connection.execute(f"SELECT * FROM {table.id}").fetchall()
            assert sorted(map(repr, ([str(v) for v in r.values()] for p in parts for r in p))) == sorted(
                repr([str(v) for v in row]) for row in expected
            )
        source.close()
