"""Tiering from a real server into Iceberg, read back by readers that never heard of us."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from eventually import eventually
from lake_tables import pyiceberg_table, read_by_pyiceberg
from log_watcher import LogWatcher
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.client.admin.lake import TieringRound
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.tiering.round.round import RoundReport, run_round
from lakeward.tiering.watch.housekeeper import Housekeeper

pytestmark = pytest.mark.slow
PARTITIONED = "id BIGINT, name STRING, dt STRING"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A plain server: a table's own properties suffice."""
    with ServerProcess(tmp_path_factory.mktemp("tiering") / "data") as process:
        yield process
        assert "Traceback" not in process.log_text, process.log_text[-8000:]


@pytest.fixture
def log(lake: Warehouse, database: str) -> lakeward.Table:
    """A log table of two buckets."""
    return lake.conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=2, properties=TIERED)


@pytest.fixture
def users(lake: Warehouse, database: str) -> lakeward.Table:
    """A primary key table of two buckets."""
    return lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=TIERED
    )


def rows(start: int, stop: int, **more: Any) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"name {i}", **more} for i in range(start, stop)]


# -- what is moved -----------------------------------------------------------------------------------------------------


def test_a_log_is_in_the_lake_round_by_round(lake: Warehouse, log: lakeward.Table) -> None:
    """Each round adds what came since; one without news makes no snapshot."""
    log.append(rows(0, 1000))
    assert lake.round(log).rows == 1000
    assert lake.round(log).snapshot_id is None
    log.append(rows(1000, 1500))
    report = lake.round(log)
    assert (report.rows, report.repaired) == (500, False)
    assert lake.assert_same_log(log) == 1500


def test_a_table_without_rows_has_a_lake_table(lake: Warehouse, log: lakeward.Table) -> None:
    """It can be queried, and is empty."""
    assert lake.round(log).snapshot_id is None
    assert read_by_pyiceberg(lake.directory, str(log.path)) == []


def test_a_primary_key_table_is_in_the_lake_as_it_is(lake: Warehouse, users: lakeward.Table) -> None:
    """First its state, then its changes: updates, deletes, keys that come back."""
    users.upsert(rows(0, 300))
    users.delete([{"id": i} for i in range(0, 300, 7)])
    lake.round(users)
    assert lake.assert_same_state(users) == 257
    users.upsert(rows(0, 30, name="new"))
    users.delete([{"id": i} for i in range(100, 120)])
    users.upsert([{"id": 100, "name": "back"}])
    lake.round(users)
    lake.assert_same_state(users)
    for number in range(8):
        users.upsert(rows(number * 10, number * 10 + 30, name=f"round {number}"))
        lake.round(users)
    lake.assert_same_state(users)


def test_a_cluster_that_reads_no_state_is_tiered_by_its_changes(lake: Warehouse, users: lakeward.Table) -> None:
    """Apache Fluss before SCAN_KV: the changelog from its beginning tells the same."""
    users.upsert(rows(0, 50))
    users.upsert(rows(0, 10, name="new"))
    users.delete([{"id": 3}])
    lake.round(users, reads_state=False)
    assert lake.assert_same_state(users) == 49


def test_partitions_come_and_go(lake: Warehouse, database: str) -> None:
    """A new partition is tiered with the others; a dropped one stays in the lake and leaves the offsets."""
    table = lake.conn.create_table(f"{database}.parts", PARTITIONED, partition_by=["dt"], buckets=2, properties=TIERED)
    for day in ("2026-11-01", "2026-11-02"):
        table.create_partition({"dt": day})
        table.append(rows(0, 20, dt=day))
    lake.round(table)
    assert lake.assert_same_log(table) == 40
    table.create_partition({"dt": "2026-11-03"})
    table.append(rows(0, 5, dt="2026-11-03"))
    table.append(rows(20, 25, dt="2026-11-01"))
    table.drop_partition({"dt": "2026-11-02"})
    assert lake.round(table).rows == 10
    found = read_by_pyiceberg(lake.directory, str(table.path))
    assert len(found) == 50
    live = {p.id for p in table.partitions()}
    told = lake.conn.lake.snapshot(table.path)
    assert told is not None
    ours = pyiceberg_table(lake.directory, str(table.path)).current_snapshot().summary["lakeward-offsets"]
    assert {b.partition_id for b in told.offsets} >= live
    assert ours.count("partition_id") == len(live)


def test_a_partitioned_primary_key_table(lake: Warehouse, database: str) -> None:
    """The same key in two partitions is two rows."""
    table = lake.conn.create_table(
        f"{database}.parts",
        "id BIGINT NOT NULL, dt STRING NOT NULL, name STRING",
        primary_key=["id", "dt"],
        partition_by=["dt"],
        bucket_by=["id"],
        buckets=2,
        properties=TIERED,
    )
    for day in ("a", "b"):
        table.create_partition({"dt": day})
        table.upsert(rows(0, 20, dt=day))
    lake.round(table)
    table.delete([{"id": 1, "dt": "a"}])
    table.upsert([{"id": 1, "dt": "b", "name": "new"}])
    lake.round(table)
    assert lake.assert_same_state(table) == 39


def test_new_columns_follow(lake: Warehouse, log: lakeward.Table, users: lakeward.Table) -> None:
    """Earlier rows have NULL there."""
    log.append(rows(0, 10))
    users.upsert(rows(0, 10))
    lake.round(log)
    lake.round(users)
    for table in (log, users):
        lake.conn.alter_table(str(table.path), add_columns="city STRING, tags ARRAY<STRING>")
        table.refresh()
    log.append(rows(10, 20, city="Oslo", tags=["a", None]))
    users.upsert(rows(5, 15, city="Rome", tags=[]))
    lake.round(log)
    lake.round(users)
    assert lake.assert_same_log(log) == 20
    assert lake.assert_same_state(users) == 15


def test_old_rows_are_read_after_a_column_was_added(lake: Warehouse, log: lakeward.Table) -> None:
    """A round over batches of two schemas."""
    log.append(rows(0, 10))
    lake.conn.alter_table(str(log.path), add_columns="city STRING")
    log.refresh()
    log.append(rows(10, 20, city="Oslo"))
    lake.round(log)
    assert lake.assert_same_log(log) == 20


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_crash_before_the_report_is_repaired(lake: Warehouse, log: lakeward.Table) -> None:
    """The lake has a snapshot that the server never heard of: it is told, and no row comes twice."""
    log.append(rows(0, 100))
    with pytest.raises(ConnectionError):
        lake.round(log, conn=_Cut(lake.conn, "commit"))
    assert lake.conn.lake.snapshot(log.path) is None
    log.append(rows(100, 150))
    report = lake.round(log)
    assert (report.rows, report.repaired) == (50, True)
    assert lake.assert_same_log(log) == 150


def test_a_crash_before_the_report_with_no_news(lake: Warehouse, users: lakeward.Table) -> None:
    """A round that finds its work done says so and moves on."""
    users.upsert(rows(0, 100))
    with pytest.raises(ConnectionError):
        lake.round(users, conn=_Cut(lake.conn, "commit"))
    report = lake.round(users)
    assert (report.snapshot_id, report.repaired) == (None, True)
    assert lake.assert_same_state(users) == 100


@pytest.mark.parametrize("keyed", [False, True])
def test_a_crash_after_the_files(lake: Warehouse, log: lakeward.Table, users: lakeward.Table, keyed: bool) -> None:
    """Files without a commit are nobody's."""
    table = users if keyed else log
    (table.upsert if keyed else table.append)(rows(0, 100))
    with pytest.raises(ConnectionError):
        lake.round(table, conn=_Cut(lake.conn, "prepare"))
    assert lake.round(table).rows == 100
    if keyed:
        lake.assert_same_state(table)
    else:
        lake.assert_same_log(table)


def test_two_rounds_of_the_same_rows(lake: Warehouse, log: lakeward.Table) -> None:
    """The second to commit is refused, and its files are gone."""
    log.append(rows(0, 100))
    context = lake.context()
    late = replace(context, runner=_After(context.runner, lambda: lake.round(log)))
    with pytest.raises(LakeConflictError):
        run_round(late, lake.assigned(log))
    live = pyiceberg_table(lake.directory, str(log.path)).inspect.files()
    assert len(list(lake.directory.rglob("*.parquet"))) == live.num_rows
    assert lake.assert_same_log(log) == 100


def test_two_rounds_of_the_same_keys(lake: Warehouse, users: lakeward.Table) -> None:
    """A late round over older changes cannot undo a newer one."""
    users.upsert(rows(0, 100))
    lake.round(users)
    users.upsert(rows(0, 50, name="older"))
    context = lake.context()

    def overtake() -> None:
        users.upsert(rows(0, 50, name="newer"))
        lake.round(users)

    with pytest.raises(LakeConflictError):
        run_round(replace(context, runner=_After(context.runner, overtake)), lake.assigned(users))
    assert lake.assert_same_state(users) == 100


def test_a_table_that_was_dropped_and_created_anew(lake: Warehouse, log: lakeward.Table) -> None:
    """A round of the old one ends; the new one says that the lake's table is another's."""
    log.append(rows(0, 10))
    lake.round(log)
    old = lake.assigned(log)
    lake.conn.drop_table(str(log.path))
    new = lake.conn.create_table(str(log.path), "id BIGINT, name STRING", buckets=2, properties=TIERED)
    new.append(rows(0, 5))
    with pytest.raises(LakewardError, match="dropped and created anew"):
        run_round(lake.context(), old)
    with pytest.raises(LakewardError, match="earlier table of this name"):
        lake.round(new)


def test_a_table_dropped_in_the_middle_of_a_round(lake: Warehouse, log: lakeward.Table) -> None:
    """The round fails; nothing is committed under its name."""
    log.append(rows(0, 10))
    context = lake.context()
    runner = _After(context.runner, lambda: lake.conn.drop_table(str(log.path)))
    with pytest.raises(LakewardError) as failed:
        run_round(replace(context, runner=runner), lake.assigned(log))
    assert failed.value.code is ErrorCode.TABLE_NOT_EXIST
    assert read_by_pyiceberg(lake.directory, str(log.path)) == []


# -- others in the lake ------------------------------------------------------------------------------------------------


def outside_rows(lake: Warehouse, table: lakeward.Table, ids: list[int]) -> pa.Table:
    """Rows as somebody else would write them into the lake's table."""
    schema = pyiceberg_table(lake.directory, str(table.path)).schema().as_arrow()
    return pa.Table.from_pylist(
        [{"id": i, "name": "outside", "__bucket": 0, "__offset": -1, "__timestamp": 0} for i in ids], schema
    )


def test_an_outside_append_is_kept(lake: Warehouse, log: lakeward.Table) -> None:
    """Between rounds and in the middle of one."""
    log.append(rows(0, 10))
    lake.round(log)
    theirs = pyiceberg_table(lake.directory, str(log.path))
    theirs.append(outside_rows(lake, log, [100]))
    log.append(rows(10, 20))
    context = lake.context()
    run_round(
        replace(context, runner=_After(context.runner, lambda: theirs.append(outside_rows(lake, log, [101])))),
        lake.assigned(log),
    )
    found = sorted(row["id"] for row in read_by_pyiceberg(lake.directory, str(log.path)))
    assert found == [*range(20), 100, 101]


@pytest.mark.filterwarnings("ignore:Merge on read is not yet supported")
@pytest.mark.parametrize("during", [False, True])
def test_an_outside_rewrite_of_a_table_by_key(lake: Warehouse, users: lakeward.Table, during: bool) -> None:
    """Files that were replaced while a round was written refuse the round; the next one is right."""
    users.upsert(rows(0, 100))
    lake.round(users)
    users.upsert(rows(0, 10, name="second"))
    lake.round(users)
    users.upsert(rows(20, 30, name="third"))

    def compact() -> None:
        theirs = pyiceberg_table(lake.directory, str(users.path))
        theirs.overwrite(theirs.scan().to_arrow())

    if during:
        context = lake.context()
        with pytest.raises(LakeConflictError):
            run_round(replace(context, runner=_After(context.runner, compact)), lake.assigned(users))
    else:
        compact()
    lake.round(users)
    assert lake.assert_same_state(users) == 100


# -- rows that do not fit, rows that are gone --------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [False, True])
def test_a_row_that_does_not_fit_goes_to_the_dead_letters(lake: Warehouse, database: str, keyed: bool) -> None:
    """Once, however often the round is run; without a table for them the table fails and names the row."""
    columns = "id BIGINT NOT NULL, at TIMESTAMP(3)"
    table = lake.conn.create_table(
        f"{database}.moments", columns, primary_key=["id"] if keyed else [], buckets=1, properties=TIERED
    )
    far = pa.scalar(1 << 61, pa.timestamp("ms"))
    schema = pa.schema({"id": pa.int64(), "at": pa.timestamp("ms")})
    (table.upsert if keyed else table.append)(
        pa.table([pa.array([1, 2, 3]), pa.array([0, far.value, 5], pa.int64()).cast(pa.timestamp("ms"))], schema=schema)
    )
    with pytest.raises(LakewardError, match="'at' does not fit into the lake") as wrong:
        lake.round(table)
    assert "bucket 0, offset" in wrong.value.message
    letters = f"{database}.letters"
    lake.conn.alter_table(str(table.path), set={"lakeward.tiering.dead-letter-table": letters})
    with pytest.raises(ConnectionError):
        lake.round(table, conn=_Cut(lake.conn, "prepare"))
    report = lake.round(table)
    assert (report.rows, report.dead_letters) == (2, 1)
    assert sorted(row["id"] for row in read_by_pyiceberg(lake.directory, str(table.path))) == [1, 3]
    (letter,) = lake.conn.table(letters).snapshot().to_pylist()
    assert letter["table_name"] == str(table.path)
    assert '"id": 2' in letter["row_json"]
    assert "does not fit" in letter["reason"]


def test_the_lake_is_tidied_up_as_a_table_asks(lake: Warehouse, database: str) -> None:
    """Small files become fewer and old snapshots go; rows stay as they are."""
    asked = {"table.datalake.auto-compaction": "true", "table.datalake.auto-expire-snapshot": "true"}
    table = lake.conn.create_table(
        f"{database}.log",
        "id BIGINT, name STRING",
        buckets=1,
        properties={**TIERED, **asked},
        custom_properties={"iceberg.history.expire.max-snapshot-age-ms": "0"},
    )
    context = lake.context()
    housekeeper = Housekeeper(lake.conn, context.catalogs, context.clock)
    for number in range(10):
        table.append(rows(number, number + 1))
        lake.round(table)
    housekeeper.tidy(table.path)
    found = pyiceberg_table(lake.directory, str(table.path))
    assert found.inspect.files().num_rows == 1
    table.append(rows(10, 11))
    lake.round(table)
    housekeeper.tidy(table.path)
    housekeeper.close()
    assert len(pyiceberg_table(lake.directory, str(table.path)).snapshots()) <= 2
    assert lake.assert_same_log(table) == 11


# -- the service -------------------------------------------------------------------------------------------------------


def test_two_services_at_once(lake: Warehouse, log: lakeward.Table, users: lakeward.Table) -> None:
    """They share the tables; rows are written all the while; at the end all is there, once."""
    services = [lake.service(), lake.service()]
    threads = [threading.Thread(target=one.run) for one in services]
    for one in threads:
        one.start()
    for number in range(5):
        log.append(rows(number * 100, number * 100 + 100))
        users.upsert(rows(number * 50, number * 50 + 100, name=f"round {number}"))
    assert eventually(lambda: _is_tiered(lake, log) and _is_tiered(lake, users), within_s=60)
    for service in services:
        service.stop()
    for one in threads:
        one.join()
    assert lake.assert_same_log(log) == 500
    assert lake.assert_same_state(users) == 300


def test_the_first_tables_of_a_database_are_created_side_by_side(lake: Warehouse, database: str) -> None:
    """By two services and two slots each, in a catalog that knows neither database nor table."""
    tables = [
        lake.conn.create_table(f"{database}.t{i}", "id BIGINT, name STRING", buckets=1, properties=TIERED)
        for i in range(4)
    ]
    for table in tables:
        table.append(rows(0, 5))
    with ThreadPoolExecutor(4) as threads:
        reports = list(threads.map(lake.round, tables))
    assert [report.rows for report in reports] == [5] * 4


def test_a_failing_table_does_not_stop_the_others(lake: Warehouse, log: lakeward.Table, database: str) -> None:
    """It is told with its reason, and tried again."""
    columns = "a BIGINT NOT NULL, b BIGINT NOT NULL"
    lake.conn.create_table(f"{database}.bad", columns, primary_key=["a", "b"], buckets=1, properties=TIERED)
    log.append(rows(0, 10))
    watcher = _Remembering()
    service = lake.service(watcher)
    thread = threading.Thread(target=service.run)
    thread.start()
    assert eventually(lambda: _is_tiered(lake, log) and len(watcher.failures) > 1, within_s=60)
    service.stop()
    thread.join()
    assert all("exactly one column" in why for why in watcher.failures)


def _is_tiered(lake: Warehouse, table: lakeward.Table) -> bool:
    told = lake.conn.lake.snapshot(table.path)
    return told is not None and sum(told.offsets.values()) == sum(table.offsets("latest").values())


class _Remembering(LogWatcher):
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.reports: list[RoundReport] = []

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        self.failures.append(why.message)

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        self.reports.append(report)


class _After:
    """A runner after whose tasks something else happens."""

    def __init__(self, runner: Any, happens: Callable[[], Any]) -> None:
        self._runner = runner
        self._happens = happens
        self.slots = runner.slots

    def run(self, name: str, tasks: Any) -> Any:
        done = self._runner.run(name, tasks)
        self._happens()
        return done


class _Cut:
    """A connection that breaks at one call of the lake, before it reaches the server."""

    def __init__(self, conn: lakeward.Connection, call: str) -> None:
        self._conn = conn
        self.lake = self
        self._call = call

    def __getattr__(self, name: str) -> Any:
        if name == self._call:
            raise ConnectionError(name)
        return getattr(self._conn.lake, name, None) or getattr(self._conn, name)
