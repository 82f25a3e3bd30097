"""A disk that is really full: writes are refused, reads go on, and writes too once there is room again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eventually import eventually
from server_process import ServerProcess
from small_disk import SmallDisk, small_disk

import lakeward
from lakeward.errors import ErrorCode

_ENGINES = ["hash", "rocksdb"]
_COLUMNS = "id INT, turn INT, payload STRING"
_PAYLOAD = "x" * 2000
_ROWS = 100
#: More than enough to fill the pages that files have already got.
_ATTEMPTS = 200
#: Room for a batch in the log, which is compressed, and not for a snapshot.
_LITTLE_BYTES = 12 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small one of this test's own."""
    with small_disk(tmp_path / "disk") as made:
        yield made


@pytest.fixture
def start(disk: SmallDisk) -> Iterator[Any]:
    """Start a server that keeps all it has on the small disk."""
    started: list[ServerProcess] = []

    def begin(**options: str) -> ServerProcess:
        options = {"server__data_disk__write_limit_ratio": "1"} | options  # here the disk itself refuses
        started.append(ServerProcess(disk.path / "data", **options))
        started[-1].log_file = disk.path.with_name("server.log")
        return started[-1].start()

    yield begin
    for server in started:
        server.kill()


def connected(server: ServerProcess) -> lakeward.Connection:
    """A client that says at once what is wrong."""
    return lakeward.connect(server.bootstrap, writer_retries=0)


def rows(first: int, turn: int = 0) -> list[dict[str, Any]]:
    """A batch of new or changed rows."""
    return [{"id": i, "turn": turn, "payload": f"{turn} {_PAYLOAD}"} for i in range(first, first + _ROWS)]


def refused(write: Any) -> None:
    """Write until there is no room, and check what is said."""
    with pytest.raises(lakeward.RetriableError, match=r"(?i)no space left") as raised:
        list(map(write, range(_ATTEMPTS)))
    assert raised.value.code in {ErrorCode.LOG_STORAGE, ErrorCode.KV_STORAGE}


def turns(table: lakeward.Table) -> dict[int, int]:
    """The state of a primary key table: the turn in which each row was last written."""
    found = table.snapshot(["id", "turn"]).to_pylist()
    return {row["id"]: row["turn"] for row in found}


def folded(table: lakeward.Table) -> dict[int, int]:
    """The same by the changelog."""
    state: dict[int, int] = {}
    for change in table.changelog(["id", "turn"]).to_arrow().to_pylist():
        if change["_change_type"] in {"+I", "+U"}:
            state[change["id"]] = change["turn"]
        else:
            state.pop(change["id"])
    return state


def test_a_log_table_goes_on(start: Any, disk: SmallDisk) -> None:
    """Refused rows are not there, acknowledged ones are, before and after a crash; later writes need no help."""
    server = start()
    acknowledged: list[int] = []
    with connected(server) as connection:
        table = connection.create_table("fluss.events", _COLUMNS, buckets=1)

        def append(turn: int) -> None:
            table.append(rows(turn * _ROWS))
            acknowledged.extend(range(turn * _ROWS, (turn + 1) * _ROWS))

        append(0)
        disk.fill()
        refused(lambda turn: append(turn + 1))
        for _ in range(3):
            refused(lambda turn: append(turn + 500))
        assert table.scan(["id"]).to_arrow()["id"].to_pylist() == acknowledged
        disk.make_room()
        append(1000)
        assert table.scan(["id"]).to_arrow()["id"].to_pylist() == acknowledged
    server.restart(kill=True)
    with connected(server) as connection:
        assert connection.table("fluss.events").scan(["id"]).to_arrow()["id"].to_pylist() == acknowledged


@pytest.mark.covering("hash")
@pytest.mark.parametrize("engine", _ENGINES)
def test_a_primary_key_table_goes_on(start: Any, disk: SmallDisk, engine: str) -> None:
    """State and changelog are those of the acknowledged rows, whatever was refused, before and after a crash."""
    server = start(kv__engine=engine)
    acknowledged: dict[int, int] = {}
    with connected(server) as connection:
        table = connection.create_table("fluss.state", _COLUMNS, primary_key=["id"], buckets=1)

        def upsert(turn: int) -> None:
            table.upsert(rows(turn % 3 * _ROWS, turn))
            acknowledged.update((i, turn) for i in range(turn % 3 * _ROWS, (turn % 3 + 1) * _ROWS))

        for turn in range(4):
            upsert(turn)
        disk.fill()
        refused(lambda turn: upsert(turn + 10))
        for _ in range(5):
            refused(lambda turn: upsert(turn + 500))
        assert turns(table) == acknowledged
        assert table.lookup([0, 250])["turn"].to_pylist() == [acknowledged[0], acknowledged[250]]
        disk.make_room()
        assert eventually(lambda: goes_on(lambda: upsert(1000))), server.log_text[-4000:]
        upsert(1001)
        assert turns(table) == acknowledged == folded(table)
    server.restart(kill=True)
    with connected(server) as connection:
        table = connection.table("fluss.state")
        assert turns(table) == acknowledged == folded(table)


def goes_on(write: Any) -> bool:
    """Whether a write is taken again. RocksDB looks for room by itself, a moment later."""
    try:
        write()
    except lakeward.RetriableError:
        return False
    return True


@pytest.mark.covering("rocksdb")
@pytest.mark.parametrize("engine", _ENGINES)
def test_a_snapshot_waits_for_room(start: Any, disk: SmallDisk, engine: str) -> None:
    """Without room for a snapshot rows are read on; the next one with room is taken, and the state comes back."""
    server = start(kv__engine=engine, kv__snapshot__interval="1s")
    with connected(server) as connection:
        table = connection.create_table("fluss.state", _COLUMNS, primary_key=["id"], buckets=1)
        table.upsert(rows(0))
        assert eventually(lambda: len(snapshots(disk)) == 1), server.log_text[-4000:]
        disk.fill(but_bytes=_LITTLE_BYTES)
        table.upsert(rows(0, 1))
        assert eventually(lambda: "No space left" in server.log_text), server.log_text[-4000:]
        assert len(snapshots(disk)) == 1
        assert table.lookup([5])["turn"].to_pylist() == [1]
        disk.make_room()
        assert eventually(lambda: len(snapshots(disk)) == 2), server.log_text[-4000:]
        table.upsert(rows(_ROWS, 2))
        expected = turns(table)
        assert len(expected) == 2 * _ROWS
    server.restart(kill=True)
    with connected(server) as connection:
        table = connection.table("fluss.state")
        assert turns(table) == expected == folded(table)


def snapshots(disk: SmallDisk) -> list[Path]:
    """Those that are whole."""
    return [file for file in disk.path.rglob("manifest.json") if not file.parent.name.endswith(".taking")]
