"""The official client reads a compacted changelog unharmed."""

from __future__ import annotations

import asyncio

import fluss
import pyarrow as pa
import pytest
from server_process import ServerProcess

import lakeward as lw

pytestmark = pytest.mark.oracle

PROPERTIES = {
    "log.compaction.enabled": "true",
    "log.compaction.interval.ms": "200",
    "log.segment.bytes": "4000",
}


async def _changes(connection: fluss.FlussConnection, path: fluss.TablePath, end: int) -> list[tuple[int, str, dict]]:
    scanner = await (await connection.get_table(path)).new_scan().create_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    found: list[tuple[int, str, dict]] = []
    while not found or found[-1][0] < end - 1:
        for record in await scanner.poll(2000):
            found.append((record.offset, record.change_type.short_string(), record.row))  # noqa: PERF401
    return found


@pytest.mark.timeout(60)
async def test_a_reader_from_the_beginning_ends_with_the_same_rows(lakeward: ServerProcess, database: str) -> None:
    """Fewer changes arrive, and they lead to the same state."""
    with lw.connect(lakeward.bootstrap) as ours:
        table = ours.create_table(
            f"{database}.compacted", "id INT, name STRING", primary_key=["id"], buckets=1, properties=PROPERTIES
        )
        for round_ in range(60):
            table.upsert(pa.table({"id": pa.array(range(20), pa.int32()), "name": [f"{round_}"] * 20}))
        table.upsert(pa.table({"id": pa.array([99], pa.int32()), "name": ["last"]}))
        (end,) = table.offsets("latest").values()
    connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": lakeward.bootstrap}))
    path = fluss.TablePath(database, "compacted")
    all_changes = 60 * 20 * 2 - 20 + 1
    for _ in range(100):
        found = await _changes(connection, path, end)
        if len(found) < all_changes / 2:
            break
        await asyncio.sleep(0.1)
    assert len(found) < all_changes / 2, "the log was never compacted"
    state = {row["id"]: row["name"] for _, kind, row in found if kind in {"+I", "+U"}}
    assert state == {**dict.fromkeys(range(20), "59"), 99: "last"}
    assert [offset for offset, _, _ in found] == sorted({offset for offset, _, _ in found})
    await connection.close()
