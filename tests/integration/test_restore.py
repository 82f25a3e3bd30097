"""A server that loses its disk comes back from remote storage: metadata, logs, state, writers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arrow_batches import ids_batch
from eventually import eventually
from lost_server import LostServer
from pyfluss_session import Session, scan
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import LATEST, WireTable

import lakeward
from lakeward.errors import ErrorCode

NewLost = Callable[..., LostServer]
LOG, STATE, PARTS = "fluss.log", "fluss.state", "fluss.parts"


@pytest.fixture
def lost(tmp_path: Path) -> Iterator[NewLost]:
    """Start servers with remote storage; by default in a directory."""
    started: list[LostServer] = []

    def start(options: dict[str, str] | None = None, **more: Any) -> LostServer:
        one = LostServer(tmp_path, options or {"remote__data__dir": str(tmp_path / "remote")}, **more)
        started.append(one)
        one.process.start()
        return one

    yield start
    for one in started:
        one.process.kill()


def rows(first: int, count: int, name: str) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"{name}-{i}"} for i in range(first, first + count)]


def fill(connection: lakeward.Connection) -> None:
    """A log table, a primary key table with updates and deletes, and one with partitions."""
    log = connection.create_table(LOG, "id INT, name STRING", buckets=2)
    state = connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=2)
    parts = connection.create_table(
        PARTS, "id INT, day STRING, name STRING", primary_key=["id", "day"], partition_by=["day"], buckets=1
    )
    parts.create_partition({"day": "mon"})
    parts.create_partition({"day": "tue"})
    log.append(rows(0, 500, "log"))
    state.upsert(rows(0, 500, "old"))
    state.upsert(rows(100, 100, "new"))
    state.delete([{"id": i} for i in range(50)])
    parts.upsert([{"id": i, "day": day, "name": day} for i in range(50) for day in ("mon", "tue")])


def contents(connection: lakeward.Connection) -> dict[str, Any]:
    """Everything that can be read: rows, states, changelogs."""

    def state(name: str) -> list[Any]:
        return sorted(map(str, connection.table(name).snapshot().to_pylist()))

    def changes(name: str) -> list[str]:
        return sorted(map(str, connection.table(name).changelog().to_arrow().to_pylist()))

    log = sorted(connection.table(LOG).scan(["id"]).to_arrow()["id"].to_pylist())
    return {"log": log} | {name: (state(name), changes(name)) for name in (STATE, PARTS)}


def check_comes_back(server: LostServer) -> None:
    """Fill, lose, restore; compare, write on, restart, compare again."""
    with server.connect() as connection:
        fill(connection)
        before = contents(connection)
    server.wait_until_copied(LOG, STATE, PARTS, state=[STATE, PARTS])
    server.process.kill()
    shutil.rmtree(server.process.data_dir)
    report = server.come_back()
    assert report["lost_rows"] == 0
    assert [table["troubles"] for table in report["tables"]] == [[], [], []]
    with server.connect() as connection:
        assert contents(connection) == before
        connection.table(LOG).append(rows(500, 10, "log"))
        connection.table(STATE).upsert(rows(0, 10, "after"))
        assert connection.table(STATE).lookup([5])["name"].to_pylist() == ["after-5"]
        created = connection.create_table("fluss.another", "id INT", buckets=1)
        assert created.info.table_id > connection.table(PARTS).info.table_id
        after = contents(connection)
    server.process.restart(kill=True)
    with server.connect() as connection:
        assert contents(connection) == after


@pytest.mark.oracle
async def test_everything_comes_back_from_a_directory(lost: NewLost) -> None:
    """What was copied is there again, can be written to, and is still there after a crash; for pyfluss, too."""
    server = lost()
    check_comes_back(server)
    async with await Session.open(server.process.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        log, state = await session.table("log"), await session.table("state")
        found = await scan(log, buckets=(0, 1))
        assert sorted(found["id"].to_pylist()) == list(range(510))
        lookuper = state.new_lookup().create_lookuper()
        looked_up = [await lookuper.lookup({"id": i}) for i in (5, 20, 99, 120)]
        assert [row and row["name"] for row in looked_up] == ["after-5", None, "old-99", "new-120"]
        writer = log.new_append().create_writer()
        await writer.append({"id": 1000, "name": "on"}).wait()
        assert len(await scan(log, buckets=(0, 1))) == 511


def test_everything_comes_back_from_s3(lost: NewLost, s3: Any) -> None:
    """The same with all of it in S3."""
    check_comes_back(lost(s3.server_options, kv__engine="rocksdb"))


def test_writers_go_on(lost: NewLost) -> None:
    """A batch that came before the loss is known when it is sent again, the next one is taken; ids are new."""
    server = lost()
    with WireCluster.of(server.process.bootstrap) as cluster:
        table = WireTable.create(cluster, "fluss", "ids", ("id", "BIGINT"))
        writer_id = table.new_writer()
        bases = [table.append(ids_batch(range(5), writer_id=writer_id, sequence=number)) for number in range(3)]
    server.wait_until_copied("fluss.ids")
    server.process.kill()
    server.come_back()
    with WireCluster.of(server.process.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert table.append(ids_batch(range(5), writer_id=writer_id, sequence=2)) == bases[2]
        assert table.append(ids_batch(range(5), writer_id=writer_id, sequence=3)) == 15
        assert table.new_writer() > writer_id + 1
        assert table.offset(LATEST) == 20


@pytest.mark.covering("0")
@pytest.mark.parametrize("tablets", [0, 2])
def test_what_was_not_copied_is_told(lost: NewLost, tablets: int) -> None:
    """A server that was stopped knows exactly what is missing, with its tablet servers; what had been copied is whole.

    What tablet servers said of the server before it counts no more."""
    server = lost(tablets=tablets)
    with server.connect() as connection:
        fill(connection)
        server.wait_until_copied(LOG, STATE, PARTS, state=[STATE])
        before = contents(connection)
    slow = {"remote.log.task-interval-duration": "1h", "kv.snapshot.interval": "1h", "remote.log.sync": "1h"}
    server.process.options |= slow
    server.process.restart()
    with server.connect() as connection:
        connection.table(LOG).append(rows(1000, 7, "lost"))
        connection.table(STATE).upsert(rows(5000, 5, "lost"))
    server.process.stop()
    report = server.come_back()
    assert report["was_stopped"]
    assert {table["table"]: table["lost_rows"] for table in report["tables"]} == {LOG: 7, STATE: 5, PARTS: 0}
    with server.connect() as connection:
        assert contents(connection) == before
    server.process.stop()
    assert server.come_back()["lost_rows"] == 0


def test_rows_that_nobody_has_touched_since_the_start_count(lost: NewLost) -> None:
    """A log that was closed when the server started says how far it goes, though nobody opens it."""
    never = {"remote__log__task_interval_duration": "1h", "remote__log__sync": "1h"}
    server = lost(**never)
    del server.process.options["remote.log.sync"]
    with server.connect() as connection:
        connection.create_table(LOG, "id INT, name STRING", buckets=1).append(rows(0, 7, "lost"))
    server.process.restart()
    shown = f'lakeward_remote_log_local_segments{{table="{LOG}"}} 1'
    assert eventually(lambda: shown in server.metrics())
    server.process.stop()
    assert server.come_back()["lost_rows"] == 7


def test_a_server_that_was_replaced_takes_no_more_writes(lost: NewLost, tmp_path: Path) -> None:
    """It finds out by itself, reads go on, it does not start again; nothing of the new server is touched."""
    server = lost()
    with server.connect() as connection:
        fill(connection)
        server.wait_until_copied(LOG, STATE, PARTS, state=[STATE])
        before = contents(connection)
    refused = server.restore()
    assert refused.returncode == 1
    assert "sign of life" in refused.stderr
    old = server.process
    server.come_back()

    def is_refused() -> bool:
        with lakeward.connect(old.bootstrap, writer_retries=0) as connection:
            try:
                connection.table(LOG).append(rows(0, 1, "late"))
            except lakeward.LakewardError as wrong:
                return wrong.code is ErrorCode.FENCED_LEADER_EPOCH and "taken over" in wrong.message
            return False

    assert eventually(is_refused), old.log_text[-4000:]
    with lakeward.connect(old.bootstrap) as connection:
        assert connection.table(STATE).lookup([100])["name"].to_pylist() == ["new-100"]
    old.stop()
    with pytest.raises(AssertionError, match="belongs to another server"):
        old.start()
    with server.connect() as connection:
        assert contents(connection) == before
    server.process.stop()
    server.process.start()


@pytest.mark.long
def test_a_damaged_snapshot_is_passed_over(lost: NewLost, tmp_path: Path) -> None:
    """The one before it and the log since give the same state; the damaged one is never offered again."""
    server = lost(kv__engine="hash")
    with server.connect() as connection:
        fill(connection)
        server.wait_until_copied(LOG, STATE, PARTS, state=[STATE])
        for turn in range(2):
            connection.table(STATE).upsert(rows(turn, 300, f"turn-{turn}"))
            server.wait_until_copied(STATE, state=[STATE])
            assert eventually(lambda: all(len(ids) >= 1 for ids in server.snapshot_ids(STATE).values()))
        before = contents(connection)
        assert eventually(lambda: all(len(ids) == 2 for ids in server.snapshot_ids(STATE).values()))
        server.wait_until_copied(STATE)
        newest = {bucket: ids[-1] for (_, bucket), ids in server.snapshot_ids(STATE).items()}
    server.process.kill()
    (directory,) = (tmp_path / "remote" / "kv" / "fluss").glob("state-*")
    for bucket, snapshot_id in newest.items():
        largest = max((directory / str(bucket) / f"snap-{snapshot_id}").iterdir(), key=lambda file: file.stat().st_size)
        largest.write_bytes(largest.read_bytes()[:-10] + b"0123456789")
    report = server.come_back()
    troubles = [trouble for table in report["tables"] for trouble in table["troubles"]]
    assert len([one for one in troubles if "is damaged" in one]) == 2
    with server.connect() as connection:
        assert contents(connection) == before
    assert all(newest[bucket] not in ids for (_, bucket), ids in server.snapshot_ids(STATE).items())


@pytest.mark.long
def test_an_interrupted_restore_begins_anew(lost: NewLost, tmp_path: Path) -> None:
    """No server starts in a half restored directory; the next restore clears it."""
    server = lost()
    with server.connect() as connection:
        fill(connection)
        server.wait_until_copied(LOG, STATE, PARTS, state=[STATE])
        before = contents(connection)
    server.process.kill()
    half = tmp_path / "data-2"
    (half / "fluss" / "log-0").mkdir(parents=True)
    (half / "restoring.json").write_text("{}")
    (half / "metadata.db").write_text("half of it")
    with pytest.raises(AssertionError, match="was interrupted; run `lakeward restore`"):
        ServerProcess(half, remote__data__dir=server.url).start()
    server.come_back()
    with server.connect() as connection:
        assert contents(connection) == before


def test_what_cannot_be_restored(tmp_path: Path) -> None:
    """Each is told in one sentence."""
    server = LostServer(tmp_path, {"remote__data__dir": str(tmp_path / "remote")})
    (tmp_path / "remote").mkdir()
    nothing = server.restore()
    assert nothing.returncode == 1
    assert "nothing to restore" in nothing.stderr
    used = tmp_path / "used"
    used.mkdir()
    (used / "something").touch()
    refused = server.restore(data_dir=used)
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr
