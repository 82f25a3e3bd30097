"""History in S3: the official client reads it with keys it is given; a store on a bad day loses nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from arrow_batches import read_batch
from eventually import eventually
from faulty_proxy import Faults, FaultyProxy
from pyfluss_session import Session, append, scan
from remote_tables import EAGER, append_ids, manifest_urls, remote_end
from seaweed import Bucket
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import EARLIEST, LATEST, WireTable, create_database

from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.batch.log_batch import walk_batches
from lakeward.remote.formats.layout import LOG, segment_file
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.remote.open_store import open_store

IDS = pa.schema([("id", pa.int64())])
Start = Callable[..., ServerProcess]
IMPATIENT = {
    "remote__store__retry_timeout": "300ms",
    "remote__store__request_timeout": "1s",
    "remote__store__retries": "3",
}
#: pyfluss 1.0.0 does not send the token of a session, so it needs keys that live without.
STATIC_KEYS = {
    "remote__security_token__allow_static": "true",
    "s3__assumed__role__sts__endpoint": "http://127.0.0.1:9",
}
#: What goes wrong, and whether copies can go on all the same.
BAD_DAYS = {
    "busy": (Faults(busy_share=0.05), True),
    "slow": (Faults(bytes_per_second=200_000, matches=lambda request: request.is_write), True),
    "stalled": (Faults(stall_s=30), False),
    "denied": (Faults(is_denied=True), False),
    "cut": (Faults(cut_after_bytes=100, matches=lambda request: request.is_write), False),
    "gone": (None, False),
}


@pytest.mark.oracle
async def test_the_official_client_reads_history_from_s3(new_server: Start, s3: Bucket) -> None:
    """It asks for keys, downloads the segments itself, and goes on with the local log; projected, too."""
    server = new_server(**s3.server_options, **EAGER, **STATIC_KEYS)
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    async with await Session.open(server.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        table = await session.create("history", schema)
        for number in range(20):
            ids = range(number * 500, number * 500 + 500)
            names = pa.array([f"{i * 7919:x}" for i in ids])
            await append(table, pa.record_batch([pa.array(ids, pa.int64()), names], schema=schema))
        with WireCluster.of(server.bootstrap) as cluster:
            wire = WireTable.find(cluster, PbTablePath(database_name="fluss", table_name="history"))
            assert eventually(lambda: remote_end(wire) > 5000 and wire.fetch(0).remote_log_fetch_info is not None)
            info = wire.fetch(0).remote_log_fetch_info
            assert info is not None
            assert info.remote_log_tablet_dir == f"{s3.url}/log/fluss/history-{wire.table_id}/0"
        everything = await scan(table)
        assert everything.column("id").to_pylist() == list(range(10_000))
        names = await scan(table, columns=["name"], start=777)
        assert names.column("name").to_pylist() == [f"{i * 7919:x}" for i in range(777, 10_000)]


@pytest.mark.covering("stalled", "gone")
@pytest.mark.parametrize("day", BAD_DAYS)
def test_a_bad_day_of_the_store_loses_nothing(new_server: Start, s3: Bucket, day: str) -> None:
    """Rows are taken and served, the log says it once, and when the store is well again copies catch up."""
    faults, goes_on = BAD_DAYS[day]
    with FaultyProxy(s3.endpoint) as proxy:
        options = s3.server_options | EAGER | IMPATIENT | {"s3__endpoint": proxy.endpoint}
        server = new_server(**options)
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            table = WireTable.create(cluster, "db", "t")
            append_ids(table, 30)
            assert eventually(lambda: remote_end(table) > 1000)
            with _bad(proxy, faults):
                before = remote_end(table)
                for _ in range(10):
                    end = append_ids(table, 10)
                    assert table.fetch(end - 1).records, "hot rows are served"
                if not goes_on:
                    # Backups of the metadata may fail, and say so, before the first segment does.
                    assert eventually(lambda: re.search("copies to .* fail and will be tried again", server.log_text))
                    assert remote_end(table) <= before + 1500
                    assert table.fetch(before).records, "what was not copied is here"
            assert eventually(lambda: remote_end(table) > 11_500), server.log_text
            assert append_ids(table, 1) == 13_100
            assert table.offset(EARLIEST) == 0
            assert eventually(lambda: remote_end(table) == _active_offset(server, table))
            _check_all(s3, table)
        assert server.stop() == 0
        said = [line for line in server.log_text.splitlines() if "copies to" in line or "Traceback" in line]
        assert len(said) <= 2, "\n".join(said)
        if not goes_on:
            assert "work again" in said[-1]


@contextmanager
def _bad(proxy: FaultyProxy, faults: Faults | None) -> Iterator[None]:
    if faults is None:
        proxy.go_away()
    else:
        proxy.faults = faults
    yield
    if faults is None:
        proxy.come_back()
    else:
        proxy.faults = Faults()


def _active_offset(server: ServerProcess, table: WireTable) -> int:
    directory = server.data_dir / "db" / f"t-{table.table_id}" / "log-0"
    return max(int(file.stem) for file in directory.glob("*.log"))


def _check_all(s3: Bucket, table: WireTable) -> None:
    """Every row is in S3 or here, as it was written."""
    import asyncio

    asyncio.run(_check_remote(s3, table))
    offset = remote_end(table)
    while offset < table.offset(LATEST):
        offset = _checked(bytes(table.fetch(offset).records or b""), offset)
    assert offset == 13_100


async def _check_remote(s3: Bucket, table: WireTable) -> None:
    store = open_store(s3.url, s3.settings)
    try:
        path = manifest_urls(table)[0].removeprefix(f"{s3.url}/")
        manifest = LogManifest.of_json(await store.get(path))
        offset = 0
        for segment in manifest.segments:
            path = segment_file(manifest.place.log, segment.segment_id, segment.start_offset, LOG)
            offset = _checked(await store.get(path), offset)
        assert offset == manifest.end_offset
    finally:
        await store.close()


def _checked(records: bytes, offset: int) -> int:
    for span in walk_batches(records):
        assert span.header.base_offset == offset
        ids = read_batch(records[span.start : span.end], IDS).column(0)
        assert ids.to_pylist() == list(range(offset, offset + len(ids)))
        offset += len(ids)
    return offset
