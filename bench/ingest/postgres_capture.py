"""How fast changes and rows of a PostgreSQL become Arrow: krow/s of the stream and of a copy, beside plain COPY.

python -m bench.ingest.postgres_capture [rows]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from postgres import Database, Postgres

from lakeward.capture.port import TableRows
from lakeward.capture.postgres.postgres_database import PostgresDatabase

_TABLE = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer int, amount numeric(10,2), status text, placed timestamptz,
                     note varchar(200), paid boolean, weight double precision)
"""
_ROWS = """
INSERT INTO orders SELECT n, n % 1000, (n % 100000) / 100.0, 'status ' || n % 7, now() - n * interval '1 second',
                          repeat('x', 60), n % 2 = 0, n / 7.0 FROM generate_series({}, {}) n
"""


def main(rows: int) -> None:
    """Print the figures."""
    with Postgres({"max_wal_size": "8GB"}) as server, server.new_database() as pg:
        with pg.connect() as connection:
            connection.execute(_TABLE)
        source = PostgresDatabase.of({**pg.options, "table-name": "orders"})
        source.begin()
        warm_up(pg, source)
        stream(pg, source, rows)
        copy(pg, source)
        reopen(pg, source)
        source.close()


def warm_up(pg: Database, source: PostgresDatabase) -> None:
    """Loops are compiled once, and kept."""
    start = source.now()
    with pg.connect() as connection:
        connection.execute(_ROWS.format(-10, -1))
    (table,) = source.tables()
    list(source.changes(start, source.now(), [table]))
    list(source.read_chunk(table, source.chunks(table, 100)[0], start))


def stream(pg: Database, source: PostgresDatabase, rows: int) -> None:
    """Inserts of ten thousand rows each, then updates of single rows."""
    (table,) = source.tables()
    for name, work in (("inserts, 10,000 a commit", bulk), ("updates, one a commit", singles)):
        start = source.now()
        work(pg, rows)
        end = source.now()

        def read(start: object = start, end: object = end) -> int:
            events = source.changes(start, end, [table])  # type: ignore[arg-type]
            return sum(event.rows.num_rows for event in events if isinstance(event, TableRows))

        show(f"stream: {name}", read)


def bulk(pg: Database, rows: int) -> None:
    """Many rows a transaction."""
    with pg.connect() as connection:
        for first in range(1, rows, 10_000):
            connection.execute(_ROWS.format(first, first + 9_999))


def singles(pg: Database, rows: int) -> None:
    """One row a transaction."""
    with pg.connect() as connection, connection.pipeline():
        for n in range(1, rows // 5):
            connection.execute("UPDATE orders SET amount = amount + 1, status = 'changed' WHERE id = %s", [n])


def copy(pg: Database, source: PostgresDatabase) -> None:
    """The table in chunks, beside what psycopg itself does with COPY."""
    (table,) = source.tables()
    as_of = source.now()
    chunks = source.chunks(table, 100_000)

    def read() -> int:
        return sum(batch.num_rows for chunk in chunks for batch in source.read_chunk(table, chunk, as_of))

    def plain() -> int:
        with pg.connect() as connection, connection.cursor().copy("COPY orders TO STDOUT") as copied:
            return sum(1 for _ in copied)

    show(f"copy: {len(chunks)} chunks", read)
    show("copy: psycopg alone, bytes of lines", plain)


def reopen(pg: Database, source: PostgresDatabase) -> None:
    """What it saves to keep the stream open from one range to the next."""
    (table,) = source.tables()
    for name, keeps in (("kept open", True), ("opened again", False)):
        times = []
        at = source.now()
        for n in range(10):
            with pg.connect() as connection:
                connection.execute("UPDATE orders SET amount = %s WHERE id = 1", [n])
            end = source.now()
            if not keeps:
                source.close()
                source.held_bytes()  # the other connection is not what is measured
            begin = time.perf_counter()
            list(source.changes(at, end, [table]))
            times.append(time.perf_counter() - begin)
            at = end
        print(f"a range of one change, stream {name}: {sorted(times)[5] * 1000:.1f} ms")


def show(name: str, work: Callable[[], int]) -> None:
    """Print how many thousand rows a second some work does."""
    begin = time.perf_counter()
    count = work()
    taken_s = time.perf_counter() - begin
    print(f"{name:40} {count:9,} rows {taken_s:6.2f} s {count / taken_s / 1000:8.0f} krow/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
