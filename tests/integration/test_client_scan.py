"""Rows out through the Python API: ranges, columns, following, old and new schemas."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from client_rows import fresh, numbered

import lakeward


@pytest.fixture(scope="module")
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection, and a database that goes with it."""
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("client_scan", exist_ok=True)
        yield made
        made.drop_database("client_scan", cascade=True)


def table_of(conn: lakeward.Connection, schema: str = "id BIGINT, name STRING", **rest: Any) -> lakeward.Table:
    """A fresh table."""
    return conn.create_table(f"client_scan.{fresh('t')}", schema, **rest)


@pytest.fixture(scope="module")
def hundred(conn: lakeward.Connection) -> lakeward.Table:
    """A hundred rows in batches of ten, one bucket."""
    table = table_of(conn)
    for start in range(0, 100, 10):
        table.append(numbered(start, 10))
    return table


def ids(scan: lakeward.Scan) -> list[int]:
    """The ids a scan finds."""
    return scan.to_arrow().column("id").to_pylist()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, range(100)),
        ({"start": 25}, range(25, 100)),
        ({"start": 25, "end": 31}, range(25, 31)),
        ({"start": {0: 95}}, range(95, 100)),
        ({"end": {0: 5}}, range(5)),
        ({"start": "latest"}, ()),
        ({"start": 50, "end": 50}, ()),
        ({"start": 80, "end": 20}, ()),
        ({"limit": 7}, range(7)),
        ({"start": 5, "limit": 12}, range(5, 17)),
        ({"limit": 0}, ()),
        ({"start": lakeward.Timestamp(0)}, range(100)),
        ({"start": dt.datetime(2001, 1, 1, tzinfo=dt.UTC)}, range(100)),
        ({"buckets": [0]}, range(100)),
        ({"buckets": []}, ()),
    ],
    ids=str,
)
def test_ranges(hundred: lakeward.Table, asked: dict[str, Any], found: Any) -> None:
    """Start, end and limit mean what they say, wherever they fall inside batches."""
    assert ids(hundred.scan(**asked)) == list(found)


def test_times_find_their_offsets(conn: lakeward.Connection) -> None:
    """A row's own commit time is a start from which it is read."""
    table = table_of(conn)
    for i in range(3):
        table.append(numbered(i, 1))
    rows = table.scan(metadata_columns=True).to_arrow().to_pylist()
    last = rows[-1]["_timestamp"]
    expected = [r["id"] for r in rows if r["_timestamp"] >= last]
    assert ids(table.scan(start=last)) == expected
    assert table.offsets(last) == {lakeward.BucketId(None, 0): expected[0]}


def test_columns_in_the_asked_order(hundred: lakeward.Table) -> None:
    """The schema of a scan is the list of columns, whatever the table's order."""
    found = hundred.scan(["name", "id"], start=3, end=5).to_arrow()
    assert found.schema.names == ["name", "id"]
    assert found.to_pylist() == [{"name": "row 3", "id": 3}, {"name": "row 4", "id": 4}]


def test_one_column_may_be_given_as_it_is(hundred: lakeward.Table) -> None:
    """A text is one name, not as many as it has letters; and it is no condition."""
    assert hundred.scan("name").to_arrow().column_names == ["name"]
    condition: Any = "id > 5"
    with pytest.raises(lakeward.InvalidError, match=r"not a text; for a condition in SQL: table\.query"):
        hundred.scan(where=condition)


def test_an_unknown_column_is_refused_at_once(hundred: lakeward.Table) -> None:
    """Before anything is fetched, with the names that there are."""
    with pytest.raises(lakeward.InvalidError, match="'nmae'; the columns are id, name"):
        hundred.scan(["nmae"])


def test_metadata_columns(hundred: lakeward.Table) -> None:
    """Offset, bucket, time and change type stand behind the row's own columns."""
    rows = hundred.scan(["id"], metadata_columns=True).to_arrow().to_pylist()
    assert [r["_offset"] for r in rows] == list(range(100))
    assert {(r["_bucket"], r["_change_type"]) for r in rows} == {(0, "+A")}
    times = [r["_timestamp"] for r in rows]
    assert times == sorted(times)


def test_every_way_out(hundred: lakeward.Table) -> None:
    """Arrow, pandas, polars and batches hold the same rows."""
    scan = hundred.scan(["id"])
    expected = list(range(100))
    assert scan.to_pandas()["id"].tolist() == expected
    assert scan.to_polars()["id"].to_list() == expected
    assert [i for batch in scan for i in batch.column("id").to_pylist()] == expected
    assert [i for batch in scan.batches() for i in batch.column("id").to_pylist()] == expected


def test_an_empty_table(conn: lakeward.Connection) -> None:
    """No rows, but the columns."""
    found = table_of(conn).scan().to_arrow()
    assert (found.num_rows, found.schema.names) == (0, ["id", "name"])


def test_several_buckets_are_all_read(conn: lakeward.Connection) -> None:
    """Each bucket in its own order; some buckets only, if asked."""
    table = table_of(conn, buckets=5)
    with table.writer(batch_rows=10) as writer:
        writer.write(numbered(0, 500))
    rows = table.scan(metadata_columns=True).to_arrow().to_pylist()
    assert sorted(r["id"] for r in rows) == list(range(500))
    for bucket in range(5):
        own = [r["_offset"] for r in rows if r["_bucket"] == bucket]
        assert own == list(range(100))
    assert table.scan(buckets=[1, 3]).to_arrow().num_rows == 200
    assert table.scan(start={1: 90}, buckets=[1]).to_arrow().num_rows == 10


def test_offsets_and_counts(hundred: lakeward.Table) -> None:
    """Where the log begins, where it ends, how many rows that is."""
    bucket = lakeward.BucketId(None, 0)
    assert hundred.offsets("earliest") == {bucket: 0}
    assert hundred.offsets("latest") == {bucket: 100}
    assert hundred.offsets() == {bucket: 100}
    assert hundred.count() == 100


def test_a_time_to_come_is_refused(hundred: lakeward.Table) -> None:
    """The server knows no future offsets."""
    with pytest.raises(lakeward.InvalidError) as caught:
        hundred.offsets(lakeward.Timestamp(1 << 45))
    assert caught.value.code is lakeward.ErrorCode.INVALID_TIMESTAMP


def test_an_offset_that_is_not_there_is_told(hundred: lakeward.Table) -> None:
    """Behind the end of the log there is nothing to wait for."""
    with pytest.raises(lakeward.InvalidError, match="offset 1000") as caught:
        ids(hundred.scan(start=1000, end=2000))
    assert caught.value.code is lakeward.ErrorCode.LOG_OFFSET_OUT_OF_RANGE


def test_head_is_a_few_rows(hundred: lakeward.Table) -> None:
    """Quick and small."""
    assert hundred.head(3).num_rows == 3
    assert hundred.head(1000).num_rows == 100


def test_a_scan_without_end_is_no_table(hundred: lakeward.Table) -> None:
    """It would never return; a limit makes it finite."""
    with pytest.raises(lakeward.InvalidError, match="follow"):
        hundred.scan(end=None).to_arrow()
    assert ids(hundred.scan(end=None, limit=5)) == [0, 1, 2, 3, 4]


def test_following_yields_what_arrives(conn: lakeward.Connection) -> None:
    """Rows written before and after the reader came are seen, in order; leaving the loop ends it."""
    table = table_of(conn, buckets=2)
    table.append(numbered(0, 5))
    seen: list[int] = []
    started = threading.Event()

    def write() -> None:
        started.wait(30)
        for start in range(5, 50, 5):
            table.append(numbered(start, 5))

    writing = threading.Thread(target=write)
    writing.start()
    for batch in table.scan().follow():
        seen += batch.column("id").to_pylist()
        started.set()
        if len(seen) == 50:
            break
    writing.join()
    assert sorted(seen) == list(range(50))


def test_following_from_the_end_sees_only_news(conn: lakeward.Connection) -> None:
    """`start="latest"` skips what is there."""
    table = table_of(conn)
    table.append(numbered(0, 5))
    following = table.scan(start="latest", limit=3).follow()
    end = table.offsets()
    reader: list[int] = []
    reading = threading.Thread(target=lambda: reader.extend(i for b in following for i in b.column("id").to_pylist()))
    reading.start()
    while not reader:
        table.append(numbered(5, 3))
    reading.join()
    assert set(reader) <= {5, 6, 7}
    assert end == {lakeward.BucketId(None, 0): 5}


def test_a_new_column_is_null_in_old_rows(conn: lakeward.Connection) -> None:
    """Rows written before and after a column was added are read under the new schema, projected or not."""
    table = table_of(conn)
    table.append(numbered(0, 1))
    conn.alter_table(str(table.path), add_columns="size INT")
    newer = conn.table(str(table.path))
    newer.append([{"id": 1, "name": "row 1", "size": 7}])
    old, new = {"id": 0, "name": "row 0", "size": None}, {"id": 1, "name": "row 1", "size": 7}
    assert newer.scan().to_arrow().to_pylist() == [old, new]
    assert newer.scan(["size"]).to_arrow().to_pylist() == [{"size": None}, {"size": 7}]
    assert newer.scan(["size", "id"]).to_arrow().to_pylist() == [{"size": None, "id": 0}, {"size": 7, "id": 1}]
    assert newer.head(2).to_pylist() == [old, new]
    without = [{k: r[k] for k in ("id", "name")} for r in (old, new)]
    assert table.scan().to_arrow().to_pylist() == without, "a reader of the old schema goes on as before"


def test_scans_at_the_same_time(hundred: lakeward.Table) -> None:
    """One connection serves several readers."""
    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append(ids(hundred.scan()))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [list(range(100))] * 4
