"""A coordinator and tablet servers as processes: `lakeward serve --tablets`."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from cli_process import Cli
from eventually import eventually
from logins import ASKING, JAAS, fluss_options
from remote_tables import EAGER
from server_process import ServerProcess
from wire_client import WireClient

import lakeward
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import Acl, AclFilter, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.servers.orders import NotifyLeaderAndIsrRequest, StopReplicaRequest
from lakeward.protocol.messages.shared import PbTablePath

_THERE = re.compile(r"tablet server (\d+) is there \(process (\d+)\)")


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A coordinator and three tablet servers."""
    with ServerProcess(tmp_path_factory.mktemp("tablets") / "data", tablets=3) as server:
        yield server
        assert server.stop() == 0
    assert "Traceback" not in server.log_text, server.log_text[-8000:]


@pytest.fixture
def conn(crew: ServerProcess) -> Iterator[lakeward.Connection]:
    """A client of it."""
    with lakeward.connect(crew.bootstrap) as made:
        yield made


def pids(server: ServerProcess) -> dict[int, int]:
    """The processes of the tablet servers, the newest of each."""
    return {int(number): int(pid) for number, pid in _THERE.findall(server.log_text)}


def leaders(server: ServerProcess, table: str) -> dict[int, int | None]:
    """Who leads each bucket of a table of the default database."""
    with WireClient.of(server.bootstrap) as client:
        path = PbTablePath(database_name="fluss", table_name=table)
        answer = client.call(Api.GET_METADATA, MetadataRequest(table_path=(path,)))
    return {one.bucket_id: one.leader_id for one in answer.table_metadata[0].bucket_metadata}


def tablet_addresses(server: ServerProcess) -> list[str]:
    """Where tablet servers are, as clients are told."""
    with WireClient.of(server.bootstrap) as client:
        nodes = client.call(Api.GET_METADATA, MetadataRequest()).tablet_servers
    return [f"{one.host}:{one.port}" for one in nodes]


def test_buckets_are_spread_and_rows_come_back(crew: ServerProcess, conn: lakeward.Connection) -> None:
    """Each server leads as many buckets as the others, and any of them tells where the rest is."""
    table = conn.create_table("fluss.spread", "id BIGINT, name STRING", buckets=6, bucket_by=["id"])
    table.append([{"id": number, "name": f"row {number}"} for number in range(1000)])
    assert sorted(leaders(crew, "spread").values()) == [0, 0, 1, 1, 2, 2]
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == list(range(1000))
    with lakeward.connect(tablet_addresses(crew)[1]) as other:
        assert other.table("fluss.spread").scan().to_arrow().num_rows == 1000


def test_rows_by_key(conn: lakeward.Connection) -> None:
    """Upserted, looked up, deleted, whichever server has the key."""
    table = conn.create_table("fluss.keyed", "id BIGINT NOT NULL, name STRING", primary_key="id", buckets=4)
    table.upsert([{"id": number, "name": f"row {number}"} for number in range(500)])
    table.upsert([{"id": 7, "name": "seven"}])
    table.delete([{"id": 8}])
    assert table.lookup([7, 8, 499]).column("name").to_pylist() == ["seven", None, "row 499"]
    assert table.scan().to_arrow().num_rows > 0


def test_numbers_of_an_auto_increment_column_are_given_once(conn: lakeward.Connection) -> None:
    """Servers take them from one counter."""
    columns, _ = parse_columns("id BIGINT NOT NULL, number BIGINT")
    schema = Schema.of(columns, ("id",), ("number",))
    table = conn.create_table("fluss.numbered", schema, buckets=6, properties={"table.auto-increment.cache-size": "10"})
    for first in range(0, 300, 100):
        table.upsert([{"id": first + number} for number in range(100)], columns=["id"])
    numbers = table.lookup(list(range(300))).column("number").to_pylist()
    assert len(set(numbers) - {None}) == 300


def test_partitions_are_made_written_and_dropped(crew: ServerProcess, conn: lakeward.Connection) -> None:
    """A partition's buckets are spread as a table's are; a dropped one is gone from the disk."""
    table = conn.create_table("fluss.parted", "day STRING, id BIGINT", partition_by="day", buckets=3)
    table.create_partition({"day": "mon"})
    table.create_partition({"day": "tue"})
    table.append([{"day": "mon" if number % 2 else "tue", "id": number} for number in range(300)])
    assert table.scan().to_arrow().num_rows == 300
    table.drop_partition({"day": "mon"})
    assert table.scan().to_arrow().num_rows == 150
    assert eventually(lambda: not list(crew.data_dir.glob("fluss/parted-*/mon-*")))
    conn.drop_table("fluss.parted")
    assert eventually(lambda: not list(crew.data_dir.glob("fluss/parted-*")))


def test_new_columns_are_known_everywhere(conn: lakeward.Connection) -> None:
    """What ALTER_TABLE was answered for, every server knows; rows of before are read by whoever comes back."""
    table = conn.create_table("fluss.grown", "id BIGINT", buckets=3)
    table.append([{"id": number} for number in range(30)])
    conn.alter_table("fluss.grown", add_columns="name STRING")
    table = conn.table("fluss.grown")
    table.append([{"id": number, "name": "new"} for number in range(30, 60)])
    assert table.scan().to_arrow().column("name").to_pylist().count("new") == 30


@pytest.mark.long
def test_a_tablet_server_that_hangs_is_replaced(crew: ServerProcess, conn: lakeward.Connection) -> None:
    """It has not ended, but answers nobody: its buckets are led again soon, and writers go on by themselves."""
    table = conn.create_table("fluss.hung", "id BIGINT", buckets=3, bucket_by=["id"])
    table.append([{"id": number} for number in range(30)])
    before = pids(crew)
    os.kill(before[2], signal.SIGSTOP)
    table.append([{"id": number} for number in range(30, 60)])
    assert pids(crew) == {**before, 2: pids(crew)[2]} != before
    assert "tablet server 2 has not answered for 10 seconds; it is killed" in crew.log_text
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == list(range(60))


def test_a_killed_tablet_server_comes_back_and_nothing_acknowledged_is_lost(
    crew: ServerProcess, conn: lakeward.Connection
) -> None:
    """Under a writer and a reader: its buckets wait for it, the others go on, and every row is read once."""
    table = conn.create_table("fluss.killed", "id BIGINT", buckets=3)
    done, acknowledged = threading.Event(), 0
    read: list[int] = []

    def follow() -> None:
        with lakeward.connect(crew.bootstrap) as mine:
            for batch in mine.table("fluss.killed").scan(end=None).follow():
                read.extend(batch.column("id").to_pylist())
                if done.is_set() and len(set(read)) >= acknowledged:
                    return

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    before = pids(crew)
    for number in range(60):
        table.append([{"id": number * 10 + one} for one in range(10)])
        acknowledged += 10
        if number == 20:
            os.kill(before[1], signal.SIGKILL)
    assert eventually(lambda: pids(crew)[1] != before[1], within_s=30)
    acknowledged += 1
    done.set()
    table.append([{"id": acknowledged - 1}])
    reader.join(60)
    assert sorted(read) == list(range(acknowledged))
    assert {number: pid for number, pid in pids(crew).items() if number != 1} == {0: before[0], 2: before[2]}
    assert set(leaders(crew, "killed").values()) == {0, 1, 2}


def test_only_servers_give_orders(crew: ServerProcess) -> None:
    """Neither the coordinator nor a tablet server takes an order from whoever connects."""
    for address in (crew.bootstrap, *tablet_addresses(crew)):
        with WireClient.of(address) as stranger:
            for api, order in (
                (Api.NOTIFY_LEADER_AND_ISR, NotifyLeaderAndIsrRequest(coordinator_epoch=99)),
                (Api.STOP_REPLICA, StopReplicaRequest(coordinator_epoch=99)),
            ):
                with pytest.raises(LakewardError) as refused:
                    stranger.call(api, order)
                assert refused.value.code in {ErrorCode.AUTHORIZATION, ErrorCode.UNSUPPORTED_VERSION}


@pytest.mark.long
def test_the_directory_is_the_same_for_one_process_and_for_several(tmp_path: Path) -> None:
    """However many servers there are, each finds its buckets; after a restart they are where they were."""
    server = ServerProcess(tmp_path / "data", tablets=0)
    with server, lakeward.connect(server.bootstrap) as conn:
        log = conn.create_table("fluss.log", "id BIGINT", buckets=4)
        log.append([{"id": number} for number in range(100)])
        keyed = conn.create_table("fluss.keyed", "id BIGINT NOT NULL, n INT", primary_key="id", buckets=4)
        keyed.upsert([{"id": number, "n": 1} for number in range(100)])
        server.stop()
    placed = []
    for lives, tablets in enumerate((2, 3, 3, 0), 1):
        with ServerProcess(tmp_path / "data", tablets=tablets) as again, lakeward.connect(again.bootstrap) as conn:
            placed.append(leaders(again, "log"))
            log, keyed = conn.table("fluss.log"), conn.table("fluss.keyed")
            log.append([{"id": 1000 * lives + number} for number in range(10)])
            keyed.upsert([{"id": number, "n": lives + 1} for number in range(50)])
            assert log.scan().to_arrow().num_rows == 100 + 10 * lives
            assert keyed.lookup([3, 99]).column("n").to_pylist() == [lives + 1, 1]
            again.stop()
    assert placed[1] == placed[2]
    assert set(placed[3].values()) == {0}


def _is_alive(pid: int) -> bool:
    """Whether a process can still do something; one that has ended may wait to be noticed."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_children_end_with_their_parent(tmp_path: Path) -> None:
    """Asked to stop, or killed: none is left, and the next start does not trip over those that are just going."""
    with ServerProcess(tmp_path / "data", tablets=2) as server:
        first = set(pids(server).values())
        server.kill()
        server.start()
        assert not any(map(_is_alive, first))
        second = set(pids(server).values())
        assert server.stop() == 0
        assert not any(map(_is_alive, second))


@pytest.mark.long
def test_a_port_that_is_taken_is_said_in_a_sentence(tmp_path: Path) -> None:
    """Whose port it is, and what to do; nothing is left running."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = ServerProcess(tmp_path / "data", tablets=2)
        server.port = taken.getsockname()[1] - 2
        with pytest.raises(AssertionError, match="did not start"):
            server.start()
    assert re.search(r"Tablet server 1 cannot start: Port \d+ of \S+ is in use\.", server.log_text)
    assert "Traceback" not in server.log_text


@pytest.mark.long
def test_history_in_remote_storage_is_everybodys(tmp_path: Path) -> None:
    """Servers copy what they lead, the coordinator commits it; whoever leads a bucket next reads on."""
    remote = tmp_path / "remote"
    options = {"remote__data__dir": str(remote), **EAGER, "kv__snapshot__interval": "1s"}
    with ServerProcess(tmp_path / "data", tablets=2, **options) as server:
        with lakeward.connect(server.bootstrap) as conn:
            log = conn.create_table("fluss.log", "id BIGINT, name STRING", buckets=2)
            for first in range(0, 12000, 200):
                log.append([{"id": number, "name": f"{number * 7919:x}"} for number in range(first, first + 200)])
            keyed = conn.create_table("fluss.keyed", "id BIGINT NOT NULL, n INT", primary_key="id", buckets=2)
            keyed.upsert([{"id": number, "n": number} for number in range(500)])
            assert eventually(lambda: len(list(remote.glob("log/fluss/log-0/*/metadata/*.manifest"))) >= 2)
            assert eventually(lambda: len(list(remote.glob("kv/fluss/keyed-1/*/snap-*/_METADATA"))) >= 2)
            assert eventually(lambda: _first_local(server.data_dir) > 0), "what was copied leaves"
            assert eventually(lambda: _told_segments(server, tmp_path) == _segments(server.data_dir))
            assert sorted(log.scan().to_arrow().column("id").to_pylist()) == list(range(12000))
        server.tablets = 1
        server.restart(kill=True)
        with lakeward.connect(server.bootstrap) as conn:
            log = conn.table("fluss.log")
            assert sorted(log.scan().to_arrow().column("id").to_pylist()) == list(range(12000))
            assert conn.table("fluss.keyed").lookup([0, 499]).column("n").to_pylist() == [0, 499]
            conn.drop_table("fluss.log")
            assert eventually(lambda: not (remote / "log" / "fluss" / "log-0").exists())
        server.stop()
    assert "Traceback" not in server.log_text, server.log_text[-8000:]


def _first_local(data_dir: Path) -> int:
    """The first offset that a bucket of the log still has on this machine, of the one that has lost most."""
    logs = ([int(path.stem) for path in bucket.glob("*.log")] for bucket in data_dir.glob("fluss/log-0/log-*"))
    return max(min(offsets, default=0) for offsets in logs)


def _segments(data_dir: Path) -> dict[str, int]:
    """How many segments of each table are on this machine."""
    found = {"fluss.log": "log-0", "fluss.keyed": "keyed-1"}
    return {name: len(list(data_dir.glob(f"fluss/{directory}/log-*/*.log"))) for name, directory in found.items()}


def _told_segments(server: ServerProcess, directory: Path) -> dict[str, int]:
    """What `lakeward remote status` says of them."""
    told = Cli(server.bootstrap, directory).document("remote", "status")
    assert told["silent"] == []
    return {one["table"]: one["local_segments"] for one in told["tables"]}


def test_logins_and_grants_hold_at_every_server(tmp_path: Path) -> None:
    """Whoever may not is refused by the server that has the rows; a grant holds as soon as it was answered."""
    options = {**ASKING, "authorizer__enabled": "true", "super__users": "User:admin"}
    alice = Principal("alice")
    with (
        ServerProcess(tmp_path / "data", tablets=2, security__sasl__plain__jaas__config=JAAS, **options) as server,
        _log_in(server, "admin") as owner,
        _log_in(server, "alice") as guest,
    ):
        table = owner.create_table("fluss.secret", "id BIGINT", buckets=2)
        table.append([{"id": number} for number in range(10)])
        resource = Resource.table("fluss", "secret")
        owner.acls.grant([Acl(resource, alice, Operation.DESCRIBE)])
        assert _refusal(lambda: guest.table("fluss.secret").scan().to_arrow()) is ErrorCode.AUTHORIZATION
        owner.acls.grant([Acl(resource, alice, Operation.READ)])
        assert guest.table("fluss.secret").scan().to_arrow().num_rows == 10
        assert _refusal(lambda: guest.table("fluss.secret").append([{"id": 11}])) is ErrorCode.AUTHORIZATION
        owner.acls.revoke([AclFilter(operation=Operation.READ)])
        assert _refusal(lambda: guest.table("fluss.secret").scan().to_arrow()) is ErrorCode.AUTHORIZATION


def _log_in(server: ServerProcess, name: str) -> lakeward.Connection:
    where = server.listeners["CLIENT"]
    options = {f"client.{key}": value for key, value in fluss_options(where, name, f"{name}-secret").items()}
    del options["client.bootstrap.servers"]
    return lakeward.connect(where, **options)


def _refusal(act: Callable[[], object]) -> ErrorCode | None:
    try:
        act()
    except LakewardError as wrong:
        return wrong.code
    return None
