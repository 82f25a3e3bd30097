"""The official client's filters: whole batches are skipped by their statistics, never a row that matches."""

from __future__ import annotations

import fluss
import pyarrow as pa
import pytest
from server_process import ServerProcess

pytestmark = pytest.mark.oracle

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string())])


async def _written(lakeward: ServerProcess, database: str, properties: dict[str, str]) -> fluss.FlussConnection:
    connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": lakeward.bootstrap}))
    path = fluss.TablePath(database, "filtered")
    descriptor = fluss.TableDescriptor(fluss.Schema(SCHEMA), bucket_count=1, properties=properties)
    await connection.get_admin().create_table(path, descriptor, ignore_if_exists=False)
    writer = (await connection.get_table(path)).new_append().create_writer()
    for first in range(0, 500, 100):
        ids = list(range(first, first + 100))
        writer.write_arrow_batch(
            pa.record_batch([pa.array(ids, pa.int32()), pa.array([f"n{i:03}" for i in ids])], SCHEMA)
        )
        await writer.flush()
    return connection


async def _scanned(connection: fluss.FlussConnection, database: str, predicate: fluss.Predicate) -> list[int]:
    table = await connection.get_table(fluss.TablePath(database, "filtered"))
    scanner = await table.new_scan().filter(predicate).create_record_batch_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    found: list[int] = []
    for _ in range(6):  # to_arrow() waits for the last row, which may have been filtered out
        found += (await scanner.poll_arrow(200)).column("id").to_pylist()
    return found


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (fluss.col("id") == 250, range(200, 300)),
        (fluss.col("id") < 100, range(100)),
        (fluss.col("id") > 399, range(400, 500)),
        (fluss.col("name") == "n450", range(400, 500)),
        (fluss.col("id") == 1000, range(0)),
    ],
    ids=["middle", "first", "last", "text", "none"],
)
async def test_batches_that_cannot_match_are_not_sent(
    lakeward: ServerProcess, database: str, predicate: fluss.Predicate, expected: range
) -> None:
    """With statistics, only the batch that may hold a match arrives, and a filtered tail does not stall the scan."""
    connection = await _written(lakeward, database, {"table.statistics.columns": "*"})
    assert await _scanned(connection, database, predicate) == list(expected)
    await connection.close()


async def test_without_statistics_everything_is_sent(lakeward: ServerProcess, database: str) -> None:
    """A filter is a hint: batches that cannot be judged are kept."""
    connection = await _written(lakeward, database, {})
    assert await _scanned(connection, database, fluss.col("id") == 250) == list(range(500))
    await connection.close()
