"""Union reads against a real server and a real lake: hot and cold are one table, every row once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from query_reads import read, rows_of
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.errors import LakewardError
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import Tier
from lakeward.query.read.read import read_split
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import Clock

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose tables name their lake themselves."""
    with ServerProcess(tmp_path_factory.mktemp("union") / "data") as process:
        yield process
        assert "Traceback" not in process.log_text, process.log_text[-8000:]


@pytest.fixture
def lake(server: ServerProcess, tmp_path: Path) -> Iterator[Warehouse]:
    """A new warehouse."""
    opened = Warehouse(server.bootstrap, tmp_path / "lake")
    yield opened
    opened.close()


@pytest.fixture
def log(lake: Warehouse, database: str, tiered: dict[str, str]) -> lakeward.Table:
    """A log table of two buckets."""
    return lake.conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=2, properties=tiered)


@pytest.fixture
def users(lake: Warehouse, database: str, tiered: dict[str, str]) -> lakeward.Table:
    """A primary key table of two buckets."""
    return lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=tiered
    )


def rows(start: int, stop: int, **more: Any) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"name {i}", **more} for i in range(start, stop)]


def options(lake: Warehouse, **more: str) -> dict[str, str]:
    """Where the lake is, and what else a read says."""
    return {"lake.warehouse": str(lake.directory), **{k.replace("_", "."): v for k, v in more.items()}}


def union(lake: Warehouse, name: object, columns: tuple[str, ...] | None = None, **more: str) -> list[dict[str, Any]]:
    """A whole read, sorted by id."""
    found = read(lake.conn, str(name), columns=columns, options=options(lake, **more)).to_pylist()
    return sorted(found, key=lambda row: row["id"])


def tiers(lake: Warehouse, name: object) -> set[Tier]:
    """The tiers of a plan."""
    plan = plan_read(lake.conn, ReadRequest.of_name(str(name), options=options(lake)))
    return {split.tier for split in plan.splits}


# -- log tables --------------------------------------------------------------------------------------------------------


def test_a_log_table_is_the_lake_and_the_log_since(lake: Warehouse, log: lakeward.Table) -> None:
    """Before, between and after rounds: every row once."""
    assert union(lake, log.path) == []
    log.append(rows(0, 100))
    assert union(lake, log.path) == rows(0, 100)
    lake.round(log)
    assert tiers(lake, log.path) == {Tier.LAKE_ONLY}
    assert union(lake, log.path) == rows(0, 100)
    log.append(rows(100, 150))
    assert tiers(lake, log.path) == {Tier.LAKE_ONLY, Tier.LOG_ONLY}
    assert union(lake, log.path) == rows(0, 150)
    assert union(lake, f"{log.path}$lake") == rows(0, 100)
    lake.round(log)
    assert union(lake, f"{log.path}$lake") == union(lake, log.path) == rows(0, 150)


def test_a_count_reads_no_column(lake: Warehouse, log: lakeward.Table) -> None:
    """Files and offsets say how many rows there are."""
    log.append(rows(0, 100))
    lake.round(log)
    log.append(rows(100, 130))
    request = ReadRequest.of_name(str(log.path), columns=(), options=options(lake))
    assert rows_of(lake.conn, request, plan_read(lake.conn, request)).num_rows == 130


def test_a_plan_says_what_each_half_gives(lake: Warehouse, log: lakeward.Table) -> None:
    """Rows and bytes of the lake, offsets of the log."""
    log.append(rows(0, 100))
    lake.round(log)
    log.append(rows(100, 130))
    plan = plan_read(lake.conn, ReadRequest.of_name(str(log.path), options=options(lake)))
    share = plan.summary.lake
    assert share is not None
    assert (share.rows, plan.summary.log_offsets, plan.summary.offsets) == (100, 30, 130)
    assert share.bytes > 0
    assert f"{share.format} snapshot {share.snapshot_id}: " in plan.describe()
    assert "30 offsets" in plan.describe()


def test_files_that_cannot_match_are_left_out(lake: Warehouse, log: lakeward.Table) -> None:
    """By the bounds of their columns."""
    for first in (0, 1000):
        log.append(rows(first, first + 100))
        lake.round(log)
    request = ReadRequest.of_name(str(log.path), filters=(Compare("<", "id", 50),), options=options(lake))
    share = plan_read(lake.conn, request).summary.lake
    assert share is not None
    if share.format == "iceberg":  # the bounds of Paimon's files are not looked at yet
        assert share.files * 2 == share.files_in_all


def test_partitions_on_both_halves(lake: Warehouse, database: str, tiered: dict[str, str]) -> None:
    """Pruned on both; what the cluster has dropped is still in the lake."""
    table = lake.conn.create_table(
        f"{database}.parts", "id BIGINT, name STRING, dt STRING", partition_by=["dt"], buckets=1, properties=tiered
    )
    for day in ("a", "b"):
        table.create_partition({"dt": day})
        table.append(rows(0, 10, dt=day))
    lake.round(table)
    table.append(rows(10, 12, dt="b"))
    request = ReadRequest.of_name(str(table.path), filters=(Compare("=", "dt", "b"),), options=options(lake))
    plan = plan_read(lake.conn, request)
    assert {split.partition for split in plan.splits} == {"b"}
    assert plan.summary.offsets == 12
    table.drop_partition({"dt": "a"})
    assert len(union(lake, table.path)) == 22


def test_columns_that_came_later_are_null_in_the_lake(lake: Warehouse, log: lakeward.Table) -> None:
    """Rows from before the change have no value, in either half."""
    log.append(rows(0, 10))
    lake.round(log)
    lake.conn.alter_table(str(log.path), add_columns="city STRING")
    log.refresh()
    log.append(rows(10, 20, city="Oslo"))
    want = rows(0, 10, city=None) + rows(10, 20, city="Oslo")
    assert union(lake, log.path) == want
    lake.round(log)
    assert union(lake, log.path) == want


# -- primary key tables ------------------------------------------------------------------------------------------------


def test_a_primary_key_table_is_the_lake_with_the_changes_laid_over(lake: Warehouse, users: lakeward.Table) -> None:
    """Updates, deletes, keys that come back, keys that are new; the same as the server's own state."""
    users.upsert(rows(0, 100))
    assert tiers(lake, users.path) == {Tier.LOG_ONLY}
    lake.round(users)
    assert tiers(lake, users.path) == {Tier.LAKE_ONLY}
    users.upsert(rows(90, 110, name="new"))
    users.delete([{"id": i} for i in range(0, 100, 7)])
    users.upsert([{"id": 7, "name": "back"}])
    assert tiers(lake, users.path) == {Tier.HYBRID}
    want = sorted(users.snapshot().to_pylist(), key=lambda row: row["id"])
    assert union(lake, users.path) == want
    assert union(lake, users.path, scan_tiers="log") == want
    assert [row["name"] for row in union(lake, users.path, ("name", "id"))] == [row["name"] for row in want]
    assert union(lake, f"{users.path}$lake") == rows(0, 100)
    lake.round(users)
    assert union(lake, users.path) == union(lake, f"{users.path}$lake") == want


def test_keys_of_several_columns_in_partitions(lake: Warehouse, database: str, tiered: dict[str, str]) -> None:
    """The same key in two partitions is two rows."""
    table = lake.conn.create_table(
        f"{database}.parts",
        "id BIGINT NOT NULL, part STRING NOT NULL, dt STRING NOT NULL, name STRING",
        primary_key=["id", "part", "dt"],
        partition_by=["dt"],
        bucket_by=["id"],
        buckets=2,
        properties=tiered,
    )
    for day in ("a", "b"):
        table.create_partition({"dt": day})
        table.upsert(rows(0, 20, dt=day, part="x"))
    lake.round(table)
    table.delete([{"id": 1, "dt": "a", "part": "x"}])
    table.upsert([{"id": 1, "dt": "b", "part": "x", "name": "new"}, {"id": 1, "dt": "b", "part": "y", "name": "other"}])
    got = sorted(map(repr, union(lake, table.path)))
    assert got == sorted(map(repr, table.snapshot().to_pylist()))


# -- while the world moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [False, True])
def test_every_answer_is_a_prefix_of_history(
    lake: Warehouse, log: lakeward.Table, users: lakeward.Table, keyed: bool
) -> None:
    """Queries race with writes and rounds: no gap, no duplicate, never older than what was acknowledged before."""
    table = users if keyed else log
    acknowledged = 0
    stop = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        nonlocal acknowledged
        conn = lakeward.connect(lake.bootstrap)
        mine = conn.table(str(table.path))
        while not stop.is_set():
            (mine.upsert if keyed else mine.append)(rows(acknowledged, acknowledged + 7))
            acknowledged += 7
        conn.close()

    def tier() -> None:
        while not stop.is_set():
            lake.round(table)

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as wrong:  # noqa: BLE001 - told by the test's own thread
            failed.append(wrong)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (write, tier)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):
            least = acknowledged
            ids = [row["id"] for row in union(lake, table.path, ("id",))]
            assert len(ids) == len(set(ids))
            assert set(range(least)) <= set(ids)
            assert set(ids) <= set(range(acknowledged + 7))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed
    assert union(lake, table.path, ("id",)) == [{"id": i} for i in range(acknowledged)]


# -- time travel -------------------------------------------------------------------------------------------------------


def test_a_table_as_a_snapshot_has_it(lake: Warehouse, users: lakeward.Table) -> None:
    """By its id; one that is not there is told with the oldest that is."""
    users.upsert(rows(0, 10))
    first = lake.round(users).snapshot_id
    users.upsert(rows(5, 15, name="new"))
    lake.round(users)
    assert union(lake, users.path, **{"scan_snapshot-id": str(first)}) == rows(0, 10)
    with pytest.raises(LakewardError, match=f"does not have snapshot 42; the oldest that can be read is {first}"):
        union(lake, users.path, **{"scan_snapshot-id": "42"})


def until_after(clock: Clock, time_ms: int) -> None:
    """What comes next has a later millisecond."""
    while clock.now_ms() <= time_ms:
        pass


@pytest.mark.parametrize("keyed", [False, True])
def test_a_table_as_it_was_at_a_time(lake: Warehouse, log: lakeward.Table, users: lakeward.Table, keyed: bool) -> None:
    """Before the first snapshot, between two, after the last: the older snapshot and the log up to then."""
    table = users if keyed else log
    put = table.upsert if keyed else table.append
    clock = lake.context().clock
    times: list[int] = []
    for number in range(4):
        put(rows(number * 10, number * 10 + 10))
        newest = max(r["_timestamp"] for r in table.scan(metadata_columns=True).to_arrow().to_pylist())
        times.append(int(newest.timestamp() * 1000))
        until_after(clock, times[-1])
        if number in {1, 2}:
            lake.round(table)
            until_after(clock, clock.now_ms())
    for number, at_ms in enumerate(times):
        assert union(lake, table.path, **{"scan_timestamp-millis": str(at_ms)}) == rows(0, number * 10 + 10), number


# -- the lake is out of reach ------------------------------------------------------------------------------------------


def test_without_the_lake_a_whole_log_is_read(lake: Warehouse, log: lakeward.Table) -> None:
    """No catalog is known here: the log still has everything. What only the lake has is refused with the reason."""
    log.append(rows(0, 10))
    lake.round(log)
    lake.conn.alter_table(str(log.path), reset=["lakeward.lake.warehouse"])
    log.append(rows(10, 20))
    assert len(read(lake.conn, str(log.path))) == 20
    with pytest.raises(LakewardError, match=r"cannot be opened: No (Iceberg catalog|Paimon warehouse) is named"):
        read(lake.conn, f"{log.path}$lake")


def test_another_warehouse_is_not_taken_for_an_empty_one(lake: Warehouse, log: lakeward.Table, tmp_path: Path) -> None:
    """The server knows a snapshot that this lake does not have, and as a rule where it is."""
    log.append(rows(0, 10))
    lake.round(log)
    with pytest.raises(LakewardError, match=f"is in the lake at {tmp_path / 'lake'}, and not at"):
        read(lake.conn, f"{log.path}$lake", options={"lake.warehouse": str(tmp_path / "other")})
    lake.conn.alter_table(str(log.path), reset=["lakeward.lake.warehouse"])
    with pytest.raises(LakewardError, match="name the right catalog"):
        read(lake.conn, f"{log.path}$lake", options={"lake.warehouse": str(tmp_path / "other")})


def test_files_of_paimon_are_left_out_by_their_bounds(lake: Warehouse, database: str) -> None:
    """By any column of a log table; by the key of a primary key table, so that no old row comes to light."""
    properties = {**TIERED, "table.datalake.format": "paimon"}
    log = lake.conn.create_table(f"{database}.log", "id BIGINT, v INT", buckets=1, properties=properties)
    users = lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, v INT", primary_key=["id"], buckets=1, properties=properties
    )
    for start in (0, 100):
        log.append([{"id": start + i, "v": start} for i in range(10)])
        users.upsert([{"id": start + i, "v": start} for i in range(10)])
        lake.round(log)
        lake.round(users)
    users.upsert([{"id": 5, "v": 7}])
    lake.round(users)
    options = {"lake.warehouse": str(lake.directory)}
    for table, column, value, want in ((log, "v", 100, 10), (users, "id", 105, 1), (users, "v", 0, 9)):
        request = ReadRequest(table.path, filters=(Compare("=", column, value),), options=options)
        plan = plan_read(lake.conn, request)
        rows = [row for s in plan.splits for batch in read_split(lake.conn, request, s) for row in batch.to_pylist()]
        assert len([row for row in rows if row[column] == value]) == want
        share = plan.summary.lake
        assert share is not None
        assert (share.files < share.files_in_all) is (column == "id" or table is log)


@pytest.mark.parametrize("lake_format", ["iceberg", "paimon"])
def test_a_plan_says_by_what_files_were_left_out(lake: Warehouse, database: str, lake_format: str) -> None:
    """Of a primary key table too, whose log cannot be filtered; Paimon's files are judged by the key alone."""
    users = lake.conn.create_table(
        f"{database}.users",
        "id BIGINT NOT NULL, v INT",
        primary_key=["id"],
        buckets=1,
        properties={**TIERED, "table.datalake.format": lake_format},
    )
    for start in (0, 100):
        users.upsert([{"id": start + i, "v": i} for i in range(10)])
        lake.round(users)
    filters = (Compare(">=", "id", 100), Compare("=", "v", 3))
    request = ReadRequest(users.path, filters=filters, options={"lake.warehouse": str(lake.directory)})
    told = plan_read(lake.conn, request).summary
    assert told.filters == (("id >= 100", "v = 3") if lake_format == "iceberg" else ("id >= 100",))
    assert told.lake is not None
    assert (told.lake.files, told.lake.files_in_all, told.lake.rows) == (1, 2, 10)
    assert 0 < told.lake.bytes < 10_000
