"""Staged writes: what is committed is in the table, and what is not committed leaves nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from server_process import ServerProcess
from staged_runs import SMALL_BATCHES, Cut, PowerCutError, check, log_table, rows_of_batch, run_batch, staged, sum_table

import lakeward
from lakeward.client.blocking.sync import Connection
from lakeward.client.staged import CommitResult, StagedSink, StagedWriter
from lakeward.runtime.clock import ManualClock, SystemClock


@pytest.fixture
def conn(server: Any) -> Iterator[Connection]:
    """Our connection."""
    with lakeward.connect(server.bootstrap) as made:
        yield made


def _files(directory: Path) -> list[str]:
    return sorted(f.name for f in directory.rglob("*") if f.is_file())


def _part(conn: Connection, path: str, rows: Any, staging: Path | None = None, **more: Any) -> bytes:
    writer = StagedWriter(conn, path, staging=None if staging is None else str(staging), **more)
    writer.write(rows)
    return writer.finish()


def test_nothing_shows_before_the_commit(conn: Connection, database: str, tmp_path: Path) -> None:
    """A part is bytes in a task's hand."""
    path = f"{database}.t"
    table = log_table(conn, path)
    part = _part(conn, path, rows_of_batch("log", 0))
    assert table.count() == 0
    result = StagedSink(conn, path, str(tmp_path)).commit(0, [part])
    assert result.rows == table.count() == rows_of_batch("log", 0).num_rows
    assert not result.already_done


def test_rows_reach_all_buckets_of_a_table_without_bucket_key(conn: Connection, database: str, tmp_path: Path) -> None:
    """Small batches of many tasks are spread evenly."""
    path = f"{database}.t"
    table = log_table(conn, path, buckets=3)
    parts = [_part(conn, path, rows_of_batch("log", i, 100)) for i in range(6)]
    StagedSink(conn, path, str(tmp_path)).commit(0, parts)
    assert list(table.offsets().values()) == [200, 200, 200]


def test_an_empty_batch_leaves_no_files(conn: Connection, database: str, tmp_path: Path) -> None:
    """Tasks without rows commit nothing."""
    path = f"{database}.t"
    log_table(conn, path)
    part = StagedWriter(conn, path, staging=str(tmp_path)).finish()
    assert StagedSink(conn, path, str(tmp_path)).commit(0, [part, part]) == CommitResult(0, 0, already_done=False)
    assert _files(tmp_path) == []


def test_large_parts_lie_in_files_that_are_gone_after_the_commit(
    conn: Connection, database: str, tmp_path: Path
) -> None:
    """What travels to the driver is only where they are."""
    path = f"{database}.t"
    table = log_table(conn, path)
    rows = pa.table({"id": pa.array(range(300_000), pa.int64()), "batch": pa.array([0] * 300_000, pa.int32())})
    part = _part(conn, path, rows, tmp_path, inline_bytes=1000, batch_id=0)
    assert len(part) < 2000
    assert len(_files(tmp_path)) == 1
    StagedSink(conn, path, str(tmp_path)).commit(0, [part])
    assert table.count() == 300_000
    assert [n.partition("-")[0] for n in _files(tmp_path)] == ["done", "manifest"]


def test_one_writer_id_serves_many_batches(conn: Connection, database: str, tmp_path: Path) -> None:
    """Servers remember writers for a week; a query must not leave a new one behind twice a second."""
    path = f"{database}.t"
    table = log_table(conn, path, buckets=1)
    sink = StagedSink(conn, path, str(tmp_path))
    for batch_id in range(5):
        sink.commit(batch_id, [_part(conn, path, rows_of_batch("log", batch_id))])
    (done,) = [f for f in tmp_path.rglob("done-*") if f.name.endswith("4")]
    assert '"sequences":{"0":5}' in done.read_text()
    check(table, "log", 5)
    assert len(_files(tmp_path)) == 3


def test_after_a_long_pause_the_writer_id_is_a_new_one(conn: Connection, database: str, tmp_path: Path) -> None:
    """Nobody knows whether the servers still remember the old one."""
    path = f"{database}.t"
    table = log_table(conn, path, buckets=1)
    clock = ManualClock(SystemClock().now_ms())
    sink = StagedSink(conn, path, str(tmp_path), clock=clock)
    sink.commit(0, [_part(conn, path, rows_of_batch("log", 0))])
    clock.advance(2 * 3600 * 1000)
    sink.commit(1, [_part(conn, path, rows_of_batch("log", 1))])
    assert '"sequences":{"0":1}' in max(tmp_path.rglob("done-*")).read_text()
    check(table, "log", 2)


def test_partitions_are_created_when_rows_need_them(conn: Connection, database: str, tmp_path: Path) -> None:
    """Not by the tasks: only by a commit."""
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, dt STRING", partition_by=["dt"], bucket_by=["id"], buckets=2)
    rows = pa.table({"id": range(100), "dt": [f"d{i % 5}" for i in range(100)]})
    part = _part(conn, path, rows)
    assert table.partitions() == []
    StagedSink(conn, path, str(tmp_path)).commit(0, [part])
    assert [p.name for p in table.partitions()] == [f"d{i}" for i in range(5)]
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(100))


def test_a_partition_that_was_dropped_between_batches_is_created_again(
    conn: Connection, database: str, tmp_path: Path
) -> None:
    """A sink that lives long asks again."""
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
    sink = StagedSink(conn, path, str(tmp_path))
    sink.commit(0, [_part(conn, path, {"id": [1], "dt": ["a"]})])
    table.drop_partition({"dt": "a"})
    sink.commit(1, [_part(conn, path, {"id": [2], "dt": ["a"]})])
    assert table.scan().to_arrow()["id"].to_pylist() == [2]


def test_rows_of_a_partition_that_was_dropped_during_a_commit_are_dropped_with_it(
    server: Any, database: str, tmp_path: Path
) -> None:
    """The other partitions get theirs."""
    path = f"{database}.t"
    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = conn.create_table(path, "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
        rows = pa.table({"id": range(1000), "dt": ["ab"[i % 2] for i in range(1000)]})
        with pytest.raises(PowerCutError):
            StagedSink(conn, path, str(tmp_path), tell=Cut("append", 5)).commit(
                0, staged(conn, path, rows, str(tmp_path))
            )
        table.drop_partition({"dt": "a"})
        StagedSink(conn, path, str(tmp_path)).commit(0, [])
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(1, 1000, 2))


@pytest.mark.parametrize("names", [("+I", "+U", "-U", "-D"), ("insert", "update_after", "update_before", "delete")])
def test_a_column_says_what_becomes_of_each_row(
    conn: Connection, database: str, tmp_path: Path, names: tuple[str, ...]
) -> None:
    """In the order of the rows; old images are left out; of rows to delete only the key counts."""
    put, update, old, delete = names
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, name STRING NOT NULL", primary_key=["id"], buckets=2)
    rows = pa.table(
        {
            "id": [1, 2, 3, 1, 1, 2, 2, 4],
            "name": ["a", "b", "c", None, "a2", "b", "b2", "d"],
            "kind": [put, put, put, delete, put, old, update, delete],
        }
    )
    StagedSink(conn, path, str(tmp_path)).commit(0, [_part(conn, path, rows, change_type_column="kind")])
    found = sorted(table.snapshot().to_pylist(), key=lambda r: r["id"])
    assert found == [{"id": 1, "name": "a2"}, {"id": 2, "name": "b2"}, {"id": 3, "name": "c"}]


def test_named_columns_are_written_and_the_others_kept(conn: Connection, database: str, tmp_path: Path) -> None:
    """A partial update; its deletes clear the named columns only."""
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, a STRING, b STRING", primary_key=["id"], buckets=2)
    table.upsert({"id": [1, 2], "a": ["a1", "a2"], "b": ["b1", "b2"]})
    rows = pa.table({"id": [1, 2, 3], "a": ["x", None, "z"], "kind": ["+U", "-D", "+I"]})
    part = _part(conn, path, rows, columns=["id", "a"], change_type_column="kind")
    StagedSink(conn, path, str(tmp_path), columns=["id", "a"]).commit(0, [part])
    found = sorted(table.snapshot().to_pylist(), key=lambda r: r["id"])
    assert found == [
        {"id": 1, "a": "x", "b": "b1"},
        {"id": 2, "a": None, "b": "b2"},
        {"id": 3, "a": "z", "b": None},
    ]


def test_tasks_and_commit_must_name_the_same_columns(conn: Connection, database: str, tmp_path: Path) -> None:
    """Otherwise whole rows would be taken for parts of rows."""
    path = f"{database}.t"
    conn.create_table(path, "id BIGINT, a STRING", primary_key=["id"], buckets=1)
    part = _part(conn, path, {"id": [1], "a": ["x"]})
    with pytest.raises(lakeward.LakewardError, match="must name the same ones"):
        StagedSink(conn, path, str(tmp_path), columns=["id"]).commit(0, [part])


def test_named_columns_of_a_log_table_leave_the_others_null(conn: Connection, database: str, tmp_path: Path) -> None:
    """Columns of the data that are not named are left aside."""
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, a STRING", buckets=1)
    part = _part(conn, path, {"id": [1], "a": ["x"]}, columns=["id"])
    StagedSink(conn, path, str(tmp_path), columns=["id"]).commit(0, [part])
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "a": None}]


def test_who_was_silent_for_long_asks_the_log_before_going_on(server: Any, database: str, tmp_path: Path) -> None:
    """A laptop that slept in the middle of a commit: meanwhile somebody else may have finished it."""
    path, clock = f"{database}.t", ManualClock(SystemClock().now_ms())
    told: list[str] = []

    def sleep(step: str) -> None:
        told.append(step)
        if told.count("append") in {5, 20}:
            clock.advance(3600 * 1000)

    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = log_table(conn, path)
        parts = staged(conn, path, rows_of_batch("log", 0), str(tmp_path))
        StagedSink(conn, path, str(tmp_path), clock=clock, tell=sleep).commit(0, parts)
        check(table, "log", 1)


def test_several_tables_share_a_directory(conn: Connection, database: str, tmp_path: Path) -> None:
    """Each has its own batch ids."""
    one, two = log_table(conn, f"{database}.one"), sum_table(conn, f"{database}.two")
    for batch_id in range(2):
        run_batch(conn, f"{database}.one", str(tmp_path), "log", batch_id)
        run_batch(conn, f"{database}.two", str(tmp_path), "sum", batch_id)
    check(one, "log", 2)
    check(two, "sum", 2)


@pytest.mark.parametrize("key", [[], ["id"]], ids=["log", "keyed"])
def test_a_column_added_between_staging_and_commit_is_null(
    conn: Connection, database: str, tmp_path: Path, key: list[str]
) -> None:
    """Batches say which schema they were written with; tasks may even differ."""
    path = f"{database}.t"
    table = conn.create_table(path, "id BIGINT, a STRING", primary_key=key, buckets=1)
    before = _part(conn, path, {"id": [1], "a": ["x"]})
    conn.alter_table(path, add_columns="b STRING")
    after = _part(conn, path, {"id": [2], "a": ["y"], "b": ["new"]})
    StagedSink(conn, path, str(tmp_path)).commit(0, [before, after])
    table.refresh()
    found = (table.snapshot() if key else table.scan().to_arrow()).to_pylist()
    assert sorted(found, key=lambda r: r["id"]) == [{"id": 1, "a": "x", "b": None}, {"id": 2, "a": "y", "b": "new"}]


def test_rows_staged_for_a_table_that_was_created_anew_are_refused(
    conn: Connection, database: str, tmp_path: Path
) -> None:
    """They were encoded for another table of that name; the same batch staged again is written."""
    path = f"{database}.t"
    log_table(conn, path)
    sink = StagedSink(conn, path, str(tmp_path))
    sink.commit(0, [_part(conn, path, rows_of_batch("log", 0))])
    part = _part(conn, path, rows_of_batch("log", 1))
    conn.drop_table(path)
    table = log_table(conn, path)
    with pytest.raises(lakeward.LakewardError, match="created anew"):
        sink.commit(1, [part])
    sink.commit(0, [_part(conn, path, rows_of_batch("log", 0))])
    check(table, "log", 1)


def test_parts_of_an_aborted_batch_are_deleted(conn: Connection, database: str, tmp_path: Path) -> None:
    """Spark calls abort when a batch fails before it is committed."""
    path = f"{database}.t"
    log_table(conn, path)
    parts = staged(conn, path, rows_of_batch("log", 0), str(tmp_path), inline_bytes=0)
    StagedSink(conn, path, str(tmp_path)).abort(parts)
    assert _files(tmp_path) == []


def test_an_abort_after_a_failed_commit_keeps_what_its_repetition_needs(
    server: Any, database: str, tmp_path: Path
) -> None:
    """Spark calls abort also when the commit itself has failed half-way."""
    path = f"{database}.t"
    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = log_table(conn, path)
        parts = staged(conn, path, rows_of_batch("log", 0), str(tmp_path), inline_bytes=0)
        with pytest.raises(PowerCutError):
            StagedSink(conn, path, str(tmp_path), tell=Cut("append", 9)).commit(0, parts)
        StagedSink(conn, path, str(tmp_path)).abort(parts)
        StagedSink(conn, path, str(tmp_path)).commit(0, [])
        check(table, "log", 1)


def test_leftovers_of_lost_tasks_go_with_the_next_commit(conn: Connection, database: str, tmp_path: Path) -> None:
    """Those of a known batch id at once, others when they are a day old; tasks of later batches keep theirs."""
    path = f"{database}.t"
    log_table(conn, path)
    rows = rows_of_batch("log", 0)
    _part(conn, path, rows, tmp_path, inline_bytes=0, batch_id=0)
    unknown = _part(conn, path, rows, tmp_path, inline_bytes=0)
    later = _part(conn, path, rows, tmp_path, inline_bytes=0, batch_id=1)
    assert unknown != later
    clock = ManualClock(SystemClock().now_ms())
    sink = StagedSink(conn, path, str(tmp_path), clock=clock)
    sink.commit(0, [_part(conn, path, rows, tmp_path, inline_bytes=0, batch_id=0)])
    assert len(list(tmp_path.rglob("parts/*/*"))) == 2
    clock.advance(25 * 3600 * 1000)
    sink.commit(1, [later])
    assert list(tmp_path.rglob("parts/*/*")) == []


def test_a_writer_that_fails_leaves_no_file(conn: Connection, database: str, tmp_path: Path) -> None:
    """A task whose rows do not fit."""
    path = f"{database}.t"
    log_table(conn, path)
    writer = StagedWriter(conn, path, staging=str(tmp_path), inline_bytes=0)
    writer.write(rows_of_batch("log", 0, 100_000))
    with pytest.raises(lakeward.LakewardError, match="colour"):
        writer.write({"colour": ["red"]})
    assert _files(tmp_path) == []
    with pytest.raises(lakeward.LakewardError, match="has ended"):
        writer.finish()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"id": [1], "total": [1], "kind": ["upsert"]}, "'UPSERT', which is no change type"),
        ({"id": [1], "total": [1], "kind": [None]}, "None, which is no change type"),
        ({"id": [1], "total": [1], "kind": [7]}, "must hold text"),
        ({"id": [1], "total": [1]}, "no column 'kind'"),
    ],
)
def test_unknown_change_types_are_refused(conn: Connection, database: str, rows: dict[str, Any], message: str) -> None:
    """One sentence that names the column."""
    sum_table(conn, f"{database}.t")
    with pytest.raises(lakeward.LakewardError, match=message):
        _part(conn, f"{database}.t", pa.table(rows), change_type_column="kind")


def test_a_log_table_has_no_change_types(conn: Connection, database: str) -> None:
    """Its rows can only be appended."""
    log_table(conn, f"{database}.t")
    with pytest.raises(lakeward.LakewardError, match="no primary key"):
        StagedWriter(conn, f"{database}.t", staging=None, change_type_column="kind")


def test_acknowledgements_of_all_replicas_are_required(server: Any, database: str) -> None:
    """Otherwise rows could be lost after they were said to be there."""
    with lakeward.connect(server.bootstrap, writer_acks="1") as conn:
        log_table(conn, f"{database}.t")
        with pytest.raises(lakeward.LakewardError, match="acks=all"):
            StagedWriter(conn, f"{database}.t", staging=None)


def test_a_part_whose_file_is_not_there_is_a_clear_error(conn: Connection, database: str, tmp_path: Path) -> None:
    """As when a cluster's tasks stage into directories of their own machines."""
    path = f"{database}.t"
    log_table(conn, path)
    part = _part(conn, path, rows_of_batch("log", 0), tmp_path, inline_bytes=0)
    for file in tmp_path.rglob("parts/*/*"):
        file.unlink()
    with pytest.raises(lakeward.LakewardError, match="the driver and all tasks can reach"):
        StagedSink(conn, path, str(tmp_path)).commit(0, [part])


@pytest.mark.covering("sum")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["log", "sum"])
def test_a_writer_that_the_server_has_forgotten_goes_on_under_a_new_id(
    new_server: Callable[..., ServerProcess], tmp_path: Path, kind: str
) -> None:
    """Only after the log has shown what it holds of the old one."""
    server = new_server(server__writer_id__expiration_time="300ms", log__retention__check_interval="20ms")
    make = log_table if kind == "log" else sum_table
    waits = iter([1.0])

    def wait_until_forgotten(step: str) -> None:
        if step == "append":
            threading.Event().wait(next(waits, 0))  # what this test is about is that time passes

    with lakeward.connect(server.bootstrap, **SMALL_BATCHES) as conn:
        table = make(conn, "fluss.t")
        with pytest.raises(PowerCutError):
            run_batch(conn, "fluss.t", str(tmp_path), kind, 0, seed=1, tell=Cut("append", 12))
        run_batch(conn, "fluss.t", str(tmp_path), kind, 0, seed=2, tell=wait_until_forgotten)
        check(table, kind, 1)
        assert list(tmp_path.rglob("manifest-*.2")), "the server still knew the writer"
        run_batch(conn, "fluss.t", str(tmp_path), kind, 1, seed=3)
        check(table, kind, 2)
