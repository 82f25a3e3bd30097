"""Streams of tables and views: every row exactly once, wherever batches are cut and whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from client_rows import fresh
from hypothesis import given, settings
from hypothesis import strategies as st
from query_reads import Reader

import lakeward
from lakeward.errors import LakewardError
from lakeward.query.plan.splits import LogSplit, StateSplit
from lakeward.query.stream.stream_offset import StreamOffset

EARLIEST = {"scan.startup.mode": "earliest"}


@pytest.fixture(scope="module")
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection, and a database that goes with it."""
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("query_stream", exist_ok=True)
        yield made
        made.drop_database("query_stream", cascade=True)


def log_table(conn: lakeward.Connection, **rest: Any) -> lakeward.Table:
    """A fresh log table."""
    return conn.create_table(f"query_stream.{fresh('log')}", "id BIGINT, dt STRING", **{"buckets": 2, **rest})


def keyed_table(conn: lakeward.Connection, **rest: Any) -> lakeward.Table:
    """A fresh primary key table."""
    name = f"query_stream.{fresh('keyed')}"
    return conn.create_table(name, "id BIGINT, name STRING", primary_key=["id"], **{"buckets": 2, **rest})


def numbers(first: int, count: int, day: str = "a") -> list[dict[str, Any]]:
    """Rows that say which they are."""
    return [{"id": i, "dt": day} for i in range(first, first + count)]


def named(*ids: int, name: str = "x") -> list[dict[str, Any]]:
    """Rows of a keyed table."""
    return [{"id": i, "name": name} for i in ids]


def test_batches_go_on_where_the_last_one_ended(conn: lakeward.Connection) -> None:
    """Rows that come meanwhile are in the next batch; with nothing new the offset stays as it is."""
    table = log_table(conn)
    table.append(numbers(0, 10))
    reader = Reader(conn, str(table.path))
    assert sorted(r["id"] for r in reader.next()) == list(range(10))
    before = reader.at
    assert reader.next() == []
    assert reader.at == before
    table.append(numbers(10, 5))
    assert sorted(r["id"] for r in reader.next()) == list(range(10, 15))


def test_startup_modes_of_a_log_table(conn: lakeward.Connection) -> None:
    """Full and earliest begin at the oldest row, latest at the next one, timestamp in between."""
    table = log_table(conn, buckets=1)
    table.append(numbers(0, 3))
    (old,) = set(_times_ms(table))
    while _times_ms(table)[-1] == old:  # the next rows have another time
        table.append(numbers(3, 1))
    time_ms = _times_ms(table)[-1]
    modes = {
        "full": {"scan.startup.mode": "full"},
        "earliest": EARLIEST,
        "latest": {"scan.startup.mode": "latest"},
        "timestamp": {"scan.startup.mode": "timestamp", "scan.startup.timestamp": str(time_ms)},
        "long ago": {"scan.startup.mode": "timestamp", "scan.startup.timestamp": "2001-01-01T00:00:00Z"},
    }
    readers = {name: Reader(conn, str(table.path), options=o) for name, o in modes.items()}
    table.append(numbers(4, 2))
    found = {name: [r["id"] for r in reader.rest()] for name, reader in readers.items()}
    whole = table.scan().to_arrow()["id"].to_pylist()
    since = [i for i, at in zip(whole, _times_ms(table), strict=True) if at >= time_ms]
    assert found == {"full": whole, "earliest": whole, "latest": [4, 5], "timestamp": since, "long ago": whole}
    assert 0 not in since


def _times_ms(table: lakeward.Table) -> list[int]:
    times = table.scan(metadata_columns=True).to_arrow()["_timestamp"]
    return times.cast(pa.int64()).to_pylist()


def test_rows_per_batch_are_shared_by_the_buckets(conn: lakeward.Connection) -> None:
    """No batch is larger than asked, and a large bucket does not starve a small one."""
    table = log_table(conn, buckets=2, bucket_by=["id"])
    table.append(numbers(0, 400))
    ends = table.offsets()
    reader = Reader(conn, str(table.path))
    first = reader.next(10)
    assert len(first) == 10
    assert sorted(p.offset for p in reader.at.buckets.values()) == [5, 5]
    sizes = [len(b) for b in reader.batches(50)]
    assert sizes[:-1] == [50] * (len(sizes) - 1)
    assert {id_: p.offset for id_, p in reader.at.buckets.items()} == ends


def test_bytes_per_batch(conn: lakeward.Connection) -> None:
    """A byte limit becomes rows by the size that rows have in the log; it always lets something through."""
    table = log_table(conn, buckets=1)
    for _ in range(10):
        table.append([{"id": 0, "dt": os.urandom(50).hex()} for _ in range(100)])
    reader = Reader(conn, str(table.path))
    few = reader.next(size=4000)
    assert 20 <= len(few) <= 70
    assert len(reader.next(size=1)) == 1
    assert len(reader.rest()) == 999 - len(few)


def test_available_now_does_not_go_beyond_what_was_there(conn: lakeward.Connection) -> None:
    """With the end fixed once, rows that come later stay for the next run."""
    table = log_table(conn)
    table.append(numbers(0, 20))
    reader = Reader(conn, str(table.path))
    target = reader.stream.latest(reader.at)
    found: list[dict[str, Any]] = []
    for _ in range(10):
        table.append(numbers(100, 1))
        found += reader.next(7, within=target)
    assert sorted(r["id"] for r in found) == list(range(20))
    assert reader.at.buckets == target.buckets


def test_new_partitions_are_found_and_dropped_ones_leave(conn: lakeward.Connection) -> None:
    """A partition that appears is read from its beginning; one that is gone stops nothing."""
    table = log_table(conn, partition_by=["dt"])
    table.append(numbers(0, 4, "a"))
    reader = Reader(conn, str(table.path), options={"scan.startup.mode": "latest"})
    table.append(numbers(4, 4, "a") + numbers(100, 6, "b"))
    assert sorted(r["id"] for r in reader.next()) == [4, 5, 6, 7, *range(100, 106)]
    table.drop_partition({"dt": "a"})
    table.append(numbers(200, 2, "b"))
    assert sorted(r["id"] for r in reader.next()) == [200, 201]
    assert {id_.partition for id_ in reader.at.buckets} == {"b"}
    table.append(numbers(300, 2, "a"))  # another partition of the old name
    assert sorted(r["id"] for r in reader.next()) == [300, 301]


def test_a_partition_dropped_while_its_batch_is_under_way(conn: lakeward.Connection) -> None:
    """What a planned batch cannot read any more is said, or left out if that is asked for."""
    for fails in (True, False):
        table = log_table(conn, partition_by=["dt"])
        table.append(numbers(0, 4, "a") + numbers(10, 4, "b"))
        reader = Reader(conn, str(table.path), options={"failOnDataLoss": str(fails)})
        end = reader.stream.latest(reader.at)
        table.drop_partition({"dt": "a"})
        if fails:
            with pytest.raises(LakewardError, match=r"Partition a of .* was dropped before the stream read offsets 0"):
                reader.stream.plan(reader.at, end)
        else:
            assert {s.partition for s in reader.stream.plan(reader.at, end).splits} == {"b"}


def test_a_table_created_again_is_not_the_same(conn: lakeward.Connection) -> None:
    """A checkpoint of a dropped table does not silently skip the rows of its successor."""
    table = log_table(conn)
    table.append(numbers(0, 10))
    name = str(table.path)
    strict, lenient = Reader(conn, name), Reader(conn, name, options={"failOnDataLoss": "false"})
    strict.next(), lenient.next()
    conn.drop_table(name)
    again = conn.create_table(name, "id BIGINT, dt STRING", buckets=2)
    again.append(numbers(50, 3))
    with pytest.raises(LakewardError, match="created again"):
        strict.next()
    assert sorted(r["id"] for r in lenient.next()) == [50, 51, 52]


def test_a_group_goes_on_where_it_was(conn: lakeward.Connection) -> None:
    """A new stream of a consumer group begins where the last one committed, at the beginning without a commit."""
    table = log_table(conn)
    table.append(numbers(0, 20))
    options = {"scan.startup.mode": "group", "properties.group.id": fresh("group")}
    first = Reader(conn, str(table.path), options=options)
    found = first.next(7)
    first.stream.commit(first.at)
    found += Reader(conn, str(table.path), options=options).rest()
    assert sorted(r["id"] for r in found) == list(range(20))
    assert first.stream.head().next_offsets() == table.offsets()


# -- primary key tables -----------------------------------------------------------------------------------------------


def test_full_is_the_state_and_then_the_changes(conn: lakeward.Connection) -> None:
    """The state is that of the beginning, however late it is read; then comes every change after it."""
    table = keyed_table(conn)
    table.upsert(named(*range(20), name="old"))
    table.upsert(named(3, name="new"))
    table.delete([4])
    reader = Reader(conn, f"{table.path}$changelog")
    table.upsert(named(5, name="later"))
    table.delete([6])
    table.upsert(named(99, name="later"))
    states, changes = [], []
    for batch in reader.batches(1):
        (
            states if not changes and all(r["_change_type"] == "insert" and r["id"] != 99 for r in batch) else changes
        ).extend(batch)
    want = {i: "old" for i in range(20) if i != 4} | {3: "new"}
    assert {r["id"]: r["name"] for r in states} == want
    assert len(states) == len(want)
    told = Counter((r["_change_type"], r["id"], r["name"]) for r in changes)
    assert told == Counter(
        [
            ("update_before", 5, "old"),
            ("update_after", 5, "later"),
            ("delete", 6, "old"),
            ("insert", 99, "later"),
        ]
    )


def test_plain_rows_of_a_primary_key_table(conn: lakeward.Connection) -> None:
    """Inserts and updates come as rows; a delete ends the stream with a sentence, unless it may be left out."""
    table = keyed_table(conn)
    table.upsert(named(1, 2, name="old"))
    name = str(table.path)
    strict, lenient = Reader(conn, name), Reader(conn, name, options={"scan.deletes": "ignore"})
    table.upsert(named(2, 3, name="new"))
    assert sorted((r["id"], r["name"]) for r in strict.rest()) == [(1, "old"), (2, "new"), (2, "old"), (3, "new")]
    table.delete([1])
    with pytest.raises(LakewardError, match=r"was deleted \(offset \d+\), which a stream of rows cannot show"):
        strict.next()
    assert len(lenient.rest()) == 4


def test_the_first_batch_stays_the_same_after_a_crash(conn: lakeward.Connection) -> None:
    """An engine that has written down only where its first batch ends reads the same rows again, however late."""
    table = keyed_table(conn)
    table.upsert(named(*range(10)))
    reader = Reader(conn, f"{table.path}$changelog")
    table.upsert(named(10))
    end = StreamOffset.of_json(json.loads(json.dumps(reader.stream.latest(reader.at).to_json())))
    first = reader.stream.plan(reader.at, end)
    table.upsert(named(1, 11, name="later"))
    assert reader.stream.plan(reader.stream.initial(), end) == first


def test_changes_of_a_key_stay_in_order(conn: lakeward.Connection) -> None:
    """The state and the changes of a bucket belong to one task, the state first."""
    table = keyed_table(conn)
    table.upsert(named(*range(10)))
    reader = Reader(conn, str(table.path), options={"scan.split.rows": "1"})
    table.upsert(named(*range(10), name="y"))
    plan = reader.stream.plan(reader.at, reader.stream.latest(reader.at))
    assert [[type(s) for s in task] for task in plan.tasks(8)] == [[StateSplit, LogSplit]] * 2


def test_views_of_a_binlog_stream(conn: lakeward.Connection) -> None:
    """An update is one row, even when every batch ends after one offset."""
    table = keyed_table(conn, buckets=1)
    table.upsert(named(1, 2, name="a"))
    table.upsert(named(1, 2, name="b"))
    table.delete([1])
    reader = Reader(conn, f"{table.path}$binlog", options=EARLIEST)
    found = [
        (r["_change_type"], r["_log_offset"], (r["before"] or {}).get("name"), (r["after"] or {}).get("name"))
        for r in reader.rest(1)
    ]
    assert found == [
        ("insert", 0, None, "a"),
        ("insert", 1, None, "a"),
        ("update", 3, "a", "b"),
        ("update", 5, "a", "b"),
        ("delete", 6, "b", None),
    ]


def test_progress(conn: lakeward.Connection) -> None:
    """How many changes were not read, and when the oldest of them was written."""
    table = log_table(conn, buckets=1)
    table.append(numbers(0, 10))
    table.append(numbers(10, 10))
    reader = Reader(conn, str(table.path))
    reader.next(15)
    told = reader.stream.progress(reader.at)
    times = table.scan(metadata_columns=True).to_arrow()["_timestamp"].to_pylist()
    assert told.rows_behind == 5
    assert told.oldest_ms == int(times[15].timestamp() * 1000)
    assert told.metrics(told.oldest_ms + 7)["lagMs"] == "7"
    reader.next()
    assert reader.stream.progress(reader.at).rows_behind == 0
    assert reader.stream.progress(reader.at).oldest_ms is None


# -- the model --------------------------------------------------------------------------------------------------------

_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from("abc"), st.integers(1, 30)),
        st.tuples(st.just("read"), st.sampled_from([None, 1, 3, 10, 40]), st.sampled_from([None, 2, 5])),
        st.tuples(st.just("drop"), st.sampled_from("abc"), st.just(0)),
    ),
    min_size=3,
    max_size=12,
)


@settings(max_examples=12)
@given(steps=_STEPS, partitioned=st.booleans())
def test_every_row_of_a_log_exactly_once(conn: lakeward.Connection, steps: list[Any], partitioned: bool) -> None:
    """Whatever is written, dropped and read in whatever portions: no row twice, none missing that was not dropped."""
    table = log_table(conn, partition_by=["dt"] if partitioned else [])
    reader = Reader(conn, str(table.path), options={"failOnDataLoss": "false"})
    written: dict[int, str] = {}
    dropped: set[int] = set()
    found: list[int] = []
    for kind, what, count in steps:
        if kind == "write":
            rows = numbers(len(written), count, what)
            written |= {r["id"]: r["dt"] for r in rows}
            table.append(rows)
        elif kind == "drop" and partitioned:
            with contextlib.suppress(LakewardError):
                table.drop_partition({"dt": what})
                dropped |= {i for i, day in written.items() if day == what}
        elif kind == "read":
            reader._request = type(reader._request).of_name(
                str(table.path),
                options={"failOnDataLoss": "false"} | ({"scan.split.rows": str(count)} if count else {}),
            )
            found += [r["id"] for r in reader.next(what)]
    found += [r["id"] for r in reader.rest()]
    assert len(found) == len(set(found))
    assert set(written) - set(found) <= dropped
    conn.drop_table(str(table.path))


_CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True)),
        st.tuples(st.just("delete"), st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True)),
        st.tuples(st.just("read"), st.sampled_from([None, 1, 2, 5, 20])),
    ),
    min_size=3,
    max_size=14,
)


@settings(max_examples=12)
@given(before=_CHANGES, after=_CHANGES)
def test_state_and_changes_lead_to_the_table(conn: lakeward.Connection, before: list[Any], after: list[Any]) -> None:
    """Applied in order, what a full changelog stream shows is never wrong on the way and ends as the table does."""
    table = keyed_table(conn, buckets=2)
    version = 0

    def change(kind: str, ids: Any) -> None:
        nonlocal version
        version += 1
        if kind == "upsert":
            table.upsert(named(*ids, name=f"v{version}"))
        elif kind == "delete":
            table.delete(ids)

    for kind, what in before:
        change(kind, what)
    reader = Reader(conn, f"{table.path}$changelog")
    seen: dict[int, str] = {}
    for kind, what in [*after, ("read", None), ("read", None)]:
        if kind != "read":
            change(kind, what)
            continue
        for row in reader.next(what):
            match row["_change_type"]:
                case "insert":
                    assert row["id"] not in seen
                    seen[row["id"]] = row["name"]
                case "update_after":
                    assert row["id"] in seen
                    seen[row["id"]] = row["name"]
                case "update_before":
                    assert seen[row["id"]] == row["name"]
                case "delete":
                    assert seen.pop(row["id"]) == row["name"]
    assert seen == {r["id"]: r["name"] for r in table.snapshot().to_pylist()}
    conn.drop_table(str(table.path))
