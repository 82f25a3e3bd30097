"""Tables of DuckDB that go when nobody holds them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import duckdb
import pyarrow as pa
import pytest

from lakeward.query.duckdb import duck_session
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.duck_tables import DuckTable, TooLargeError, row_bytes

SCHEMA = pa.schema([("n", pa.int64())])


def batches(count: int) -> Iterator[pa.RecordBatch]:
    """Batches of one row."""
    return (pa.record_batch([pa.array([n])], schema=SCHEMA) for n in range(count))


def test_a_table_has_its_rows_until_nobody_holds_it() -> None:
    """Memory is given back without anybody being told to."""
    table = DuckTable.of_rows(pa.table({"n": [1, 2]}))
    name = table.name
    assert table.column("SELECT n FROM {} ORDER BY n") == [1, 2]
    del table
    with duck_cursor() as duck, pytest.raises(duckdb.CatalogException):
        duck.execute(f"FROM {name}")


def test_rows_come_as_batches_or_by_a_query() -> None:
    """Their bytes are counted on the way."""
    table = DuckTable.of_batches(SCHEMA, batches(3), 1000)
    assert (table.bytes, table.column("SELECT n FROM {} ORDER BY n")) == (24, [0, 1, 2])
    assert DuckTable.of_query(f"SELECT sum(n) FROM {table.name}", 8).column("FROM {}") == [3]


def test_what_a_table_takes_is_not_what_arrow_takes() -> None:
    """DuckDB has 16 bytes for each text, beside long ones, and a byte for each bit."""
    table = DuckTable.of_rows(pa.table({"s": ["a"] * 1000, "b": [True] * 1000, "n": [1] * 1000}))
    assert 25_000 <= table.bytes <= 27_000
    assert row_bytes([table, table]) == table.bytes / 1000
    half = DuckTable.of_query(f"FROM {table.name} LIMIT 500", row_bytes([table]))
    assert (half.rows, half.bytes) == (500, table.bytes // 2)


def test_more_than_may_be_kept_is_refused() -> None:
    """It is said as it is, not as an error of DuckDB."""
    with pytest.raises(TooLargeError):
        DuckTable.of_batches(SCHEMA, batches(3), 20)


def test_what_goes_wrong_in_a_source_is_raised() -> None:
    """Whoever plans again must see which error it was."""

    def fail() -> Iterator[pa.RecordBatch]:
        yield from batches(1)
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        DuckTable.of_batches(SCHEMA, fail(), 1000)


def test_the_first_tables_of_a_process_may_be_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of a process's first join are: one in five such queries ended with an error."""
    opened: dict[int, duckdb.DuckDBPyConnection] = {}
    monkeypatch.setattr(duck_session, "_opened", opened)
    for process in range(-20, 0):  # each is a process with an instance of its own
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        duck_cursor()
        together = Barrier(8)

        def make(number: int, together: Barrier = together) -> list[object]:
            together.wait(30)
            return DuckTable.of_rows(pa.table({"n": [number]})).column("FROM {}")

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(make, range(8))) == [[number] for number in range(8)]
        opened[process].close()
