"""Primary key tables whose changelog is in remote storage: state comes back, and readers see every change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fluss
import pyarrow as pa
import pytest
from eventually import eventually
from remote_tables import EAGER, local_start, manifest_of, remote_end
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import EARLIEST, WireTable

import lakeward as lw
from lakeward.protocol.messages.shared import PbTablePath

PATH = PbTablePath(database_name="fluss", table_name="state")
KEYS, ROUNDS = 200, 40


def _upsert(server: ServerProcess, first: int, rounds: int, **properties: str) -> int:
    with lw.connect(server.bootstrap) as connection:
        if not first:
            connection.create_table(
                "fluss.state", "id INT, name STRING", primary_key=["id"], buckets=1, properties=properties
            )
        table = connection.table("fluss.state")
        for number in range(first, first + rounds):
            table.upsert(pa.table({"id": pa.array(range(KEYS), pa.int32()), "name": [f"{number}"] * KEYS}))
        (end,) = table.offsets("latest").values()
        return int(end)


async def _state(server: ServerProcess, end: int) -> dict[int, str]:
    """What comes of the changelog when the official client reads all of it."""
    connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": server.bootstrap}))
    scanner = await (await connection.get_table(fluss.TablePath("fluss", "state"))).new_scan().create_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    state: dict[int, str] = {}
    last = -1
    while last < end - 1:
        for record in await scanner.poll(2000):
            assert record.offset > last
            last = record.offset
            if record.change_type.short_string() in {"+I", "+U"}:
                state[record.row["id"]] = record.row["name"]
    await connection.close()
    return state


@pytest.mark.oracle
@pytest.mark.timeout(90)
async def test_state_and_changelog_survive_though_most_of_the_log_is_remote(
    new_server: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    """Kept here from the older snapshot on, compacted and copied at the same time; a kill -9 loses nothing."""
    properties = {"log.compaction.enabled": "true", "log.compaction.interval.ms": "100"}
    server = new_server(remote__data__dir=str(tmp_path / "remote"), **EAGER, kv__snapshot__interval="200ms")
    end = _upsert(server, 0, ROUNDS, **properties)
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        # Snapshots of the state come one after the other, so that the log may go up to the older of the last two.
        begin = local_start(server.data_dir, table)
        rounds = ROUNDS
        while begin == 0 and rounds < ROUNDS + 20:
            end = _upsert(server, rounds, 1)
            rounds += 1
            assert eventually(lambda end=end: remote_end(table) > end - 2000)
            begin = local_start(server.data_dir, table)
        assert begin > 0, "the local log never shrinks"
        assert table.offset(EARLIEST) == 0
        assert manifest_of(table).start_offset == 0
    server.restart(kill=True)
    expected = dict.fromkeys(range(KEYS), f"{rounds - 1}")
    with lw.connect(server.bootstrap) as connection:
        keys = pa.table({"id": pa.array(range(KEYS), pa.int32())})
        found = connection.table("fluss.state").lookup(keys)
        assert dict(zip(found["id"].to_pylist(), found["name"].to_pylist(), strict=True)) == expected
    assert await _state(server, end) == expected
    assert server.stop() == 0
    assert "Traceback" not in server.log_text
    assert "older rows are gone" not in server.log_text
