"""ADD COLUMN while somebody writes and reads: who can follows, who cannot says so."""

from __future__ import annotations

import logging

import pytest
from server_process import ServerProcess

import lakeward
from lakeward.client.forms.new_columns import NewColumns
from lakeward.model.table import TablePath

pytestmark = pytest.mark.slow


@pytest.fixture
def conn(server: ServerProcess) -> lakeward.Connection:
    """A connection that has opened its tables before they change."""
    return lakeward.connect(server.bootstrap)


def test_a_writer_follows_rows_that_have_the_new_column(conn: lakeward.Connection, database: str) -> None:
    """An open writer and an old table object write it; nobody has to open anything again."""
    table = conn.create_table(f"{database}.t", "id INT", buckets=1)
    with table.writer() as writer:
        writer.write([{"id": 1}])
        conn.alter_table(str(table.path), add_columns="note STRING")
        writer.write([{"id": 2, "note": "b"}])
        writer.write([{"id": 3}])
    table.append([{"id": 4, "note": "d"}])
    found = conn.sql(f"SELECT * FROM {table.path} ORDER BY id").to_pylist()
    assert [row["note"] for row in found] == [None, "b", None, "d"]


def test_an_upsert_follows_rows_that_have_the_new_column(conn: lakeward.Connection, database: str) -> None:
    """The table object is older than the column."""
    table = conn.create_table(f"{database}.k", "id INT NOT NULL", primary_key=["id"], buckets=1)
    conn.alter_table(str(table.path), add_columns="note STRING")
    table.upsert([{"id": 1, "note": "a"}])
    assert table.lookup({"id": 1}).to_pylist() == [{"id": 1, "note": "a"}]


def test_a_scan_that_follows_says_what_it_does_not_show(
    conn: lakeward.Connection, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its columns were chosen when it began."""
    table = conn.create_table(f"{database}.s", "id INT", buckets=1)
    conn.alter_table(str(table.path), add_columns="note STRING")
    conn.table(str(table.path)).append([{"id": 1, "note": "a"}])
    with caplog.at_level(logging.WARNING, "lakeward.client"):
        assert table.scan().to_arrow().to_pylist() == [{"id": 1}]
    assert f"{table.path} has got column 'note' meanwhile. This scan does not show it" in caplog.text


def test_a_stream_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Of columns that came after it began and that it does not use."""
    streams, path = NewColumns(), TablePath("d", "t")
    with caplog.at_level(logging.WARNING, "lakeward.client"):
        for names in (("a", "b"), ("a", "b", "c"), ("a", "b", "c"), ("a", "b", "c", "d")):
            streams.look("q", path, names, ["a", "d"], "NULL is written.")
    assert [record.getMessage() for record in caplog.records] == [
        "d.t has got column 'c' meanwhile. NULL is written.",
    ]
