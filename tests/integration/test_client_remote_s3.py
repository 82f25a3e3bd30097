"""Our client on history in S3: it is given keys, gets what it needs of segments, and is patient with a bad day."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from eventually import eventually
from faulty_proxy import Faults, FaultyProxy
from remote_tables import EAGER, remote_end
from seaweed import Bucket
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import WireTable

import lakeward as lw
from lakeward.errors import LakewardError
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.remote.open_store import open_store

Start = Callable[..., ServerProcess]
ROWS = 10_000
IMPATIENT = {
    "remote.store.retry-timeout": "200ms",
    "remote.store.request-timeout": "1s",
    "remote.store.retries": "2",
}


@pytest.fixture
def server(new_server: Start, s3: Bucket) -> ServerProcess:
    """A server that copies its history to a bucket, often, and gives clients temporary keys to it."""
    return new_server(**s3.server_options, **EAGER)


@pytest.fixture
def proxy(s3: Bucket) -> Iterator[FaultyProxy]:
    """The way of a client to the bucket."""
    with FaultyProxy(s3.endpoint) as made:
        yield made


def rows(first: int, count: int) -> pa.Table:
    """Ids, and names that do not compress to nothing."""
    ids = range(first, first + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"{i * 7919:x}" for i in ids]})


def history(server: ServerProcess, name: str) -> int:
    """Make a table of one bucket whose history is remote; the end of that."""
    with lw.connect(server.bootstrap, writer_batch_timeout="0ms") as conn:
        table = conn.create_table(f"fluss.{name}", "id BIGINT, name STRING", buckets=1)
        for first in range(0, ROWS, 500):
            table.append(rows(first, 500))
    with WireCluster.of(server.bootstrap) as cluster:
        wire = WireTable.find(cluster, PbTablePath(database_name="fluss", table_name=name))
        assert eventually(lambda: remote_end(wire) > 8000 and wire.fetch(0).remote_log_fetch_info is not None)
        return remote_end(wire)


def test_a_client_needs_no_keys(server: ServerProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It asks the server; nothing it says shows them; scans share what was got, and its files go with it."""
    caplog.set_level(logging.DEBUG)
    history(server, "given")
    with lw.connect(server.bootstrap, scanner_io_tmpdir=str(tmp_path / "cache")) as conn:
        table = conn.table("fluss.given")
        assert table.scan().to_arrow() == rows(0, ROWS)
        assert table.scan(["name"], start=1234).to_arrow() == rows(1234, ROWS - 1234).select(["name"])
        assert table.scan(limit=10).to_arrow() == rows(0, 10)
        assert list((tmp_path / "cache").glob("*/*.piece"))
        assert "secret" not in repr(conn) + repr(conn._inner._cluster.settings)
    assert not list((tmp_path / "cache").iterdir())
    assert "lakeward-test-secret" not in caplog.text


def test_a_client_may_have_its_own_way_and_its_own_keys(
    new_server: Start, s3: Bucket, proxy: FaultyProxy, tmp_path: Path
) -> None:
    """Options of the connection win; a server that gives no keys says so, and a client with keys does not mind."""
    server = new_server(**s3.server_options, **EAGER, s3__assumed__role__sts__endpoint="http://127.0.0.1:1")
    history(server, "own")
    with lw.connect(server.bootstrap, scanner_io_tmpdir=str(tmp_path)) as conn:
        with pytest.raises(LakewardError, match=r"fluss\.own, bucket 0: .*s3\.access-key") as caught:
            conn.table("fluss.own").scan().to_arrow()
        assert s3.secret_key not in caught.value.message
    mine = {**s3.settings, "fs.s3a.endpoint": proxy.endpoint}
    del mine["s3.endpoint"]
    with lw.connect(server.bootstrap, scanner_io_tmpdir=str(tmp_path), **mine) as conn:
        assert conn.table("fluss.own").scan().to_arrow() == rows(0, ROWS)
    assert proxy.requests


def test_scans_of_one_process_get_a_piece_once(server: ServerProcess, proxy: FaultyProxy, tmp_path: Path) -> None:
    """What one connection got, another reads from disk."""
    history(server, "shared")
    options = {"scanner_io_tmpdir": str(tmp_path), "s3.endpoint": proxy.endpoint}
    with lw.connect(server.bootstrap, **options) as one, lw.connect(server.bootstrap, **options) as other:
        assert one.table("fluss.shared").scan(end=5000).to_arrow() == rows(0, 5000)
        got = len(proxy.requests)
        assert got > 0
        assert other.table("fluss.shared").scan(end=5000).to_arrow() == rows(0, 5000)
        assert one.table("fluss.shared").scan(["id"], end=5000).to_arrow().num_rows == 5000
        assert len(proxy.requests) == got


@pytest.mark.covering("busy", "cut")
@pytest.mark.parametrize(
    "faults",
    [
        Faults(busy_share=0.5),
        Faults(stall_s=0.05, bytes_per_second=200_000),
        Faults(cut_after_bytes=2000, times=3),
        Faults(is_denied=True, times=1),
    ],
    ids=["busy", "slow", "cut", "denied"],
)
def test_a_bad_day_of_the_store_is_not_seen(
    server: ServerProcess, proxy: FaultyProxy, tmp_path: Path, faults: Faults
) -> None:
    """Calls are repeated, a refused key is asked for anew; every row comes once."""
    history(server, "bad_day")
    proxy.faults = faults
    options = {"scanner_io_tmpdir": str(tmp_path), "s3.endpoint": proxy.endpoint}
    with lw.connect(server.bootstrap, **options) as conn:
        assert conn.table("fluss.bad_day").scan().to_arrow() == rows(0, ROWS)
    assert faults.seen


def test_a_store_that_comes_back_is_waited_for(server: ServerProcess, proxy: FaultyProxy, tmp_path: Path) -> None:
    """A scan goes on where it was."""
    history(server, "away")
    options = {"scanner_io_tmpdir": str(tmp_path), "s3.endpoint": proxy.endpoint, **IMPATIENT}
    with lw.connect(server.bootstrap, **options) as conn:
        proxy.go_away()
        timer = threading.Timer(1, proxy.come_back)
        timer.start()
        assert conn.table("fluss.away").scan().to_arrow() == rows(0, ROWS)
        timer.join()


async def test_a_segment_that_is_gone_is_told(server: ServerProcess, s3: Bucket, tmp_path: Path) -> None:
    """After the server was asked again: table, bucket and object, in one sentence."""
    history(server, "lost")
    store = open_store(s3.url, s3.settings)
    found = [one.path async for one in store.list("log/fluss") if one.path.endswith(".log")]
    await store.delete(sorted(found)[:])
    async with await lw.aconnect(server.bootstrap, scanner_io_tmpdir=str(tmp_path)) as conn:
        scan = (await conn.table("fluss.lost")).scan()
        with pytest.raises(LakewardError, match=r"fluss\.lost, bucket 0: s3://.*/0{20}\.log does not exist"):
            await scan.to_arrow()
