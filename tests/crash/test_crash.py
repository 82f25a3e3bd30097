"""kill -9 at random moments: no acknowledged row is lost, none is there twice, order is kept, it starts every time.

CRASH_ROUNDS says how often it is killed, CRASH_SEED repeats the moments of an earlier run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from arrow_batches import read_batch
from crash_settings import OPTIONS, ROUNDS, SEED
from server_process import ServerProcess
from steady_writer import SteadyWriter
from wire_client import WireCluster
from wire_tables import LATEST, WireTable, create_database

from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import DropTableRequest, ListTablesRequest
from lakeward.records.batch.log_batch import crc_is_right, walk_batches

BUCKETS = 3
IDS = pa.schema([("id", pa.int64())])
PATH = PbTablePath(database_name="crash", table_name="numbers")


class Reader:
    """Reads a bucket from where it left off; every row must be the number of its offset."""

    def __init__(self, bucket: int) -> None:
        self.bucket = bucket
        self.verified = 0

    def check(self, table: WireTable) -> None:
        """Read up to the end and look at every row."""
        end = table.offset(LATEST, bucket=self.bucket)
        while self.verified < end:
            records = table.fetch(self.verified, bucket=self.bucket).records
            for span in walk_batches(records):
                assert crc_is_right(records, span)
                assert span.header.base_offset == self.verified
                ids = read_batch(bytes(records[span.start : span.end]), IDS).column(0)
                assert ids.equals(pa.array(range(self.verified, self.verified + len(ids)), pa.int64()))
                self.verified += len(ids)


@pytest.mark.crash
@pytest.mark.timeout(60 + 20 * ROUNDS)
def test_acknowledged_rows_survive(new_server: Callable[..., ServerProcess]) -> None:
    """Writers go on through every crash; in the end each bucket holds 0, 1, 2 … up to the last promise."""
    print(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    server = new_server(**OPTIONS)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "crash")
        WireTable.create(cluster, "crash", "numbers", bucket_count=BUCKETS)
    writers = [SteadyWriter(server.bootstrap, PATH, bucket) for bucket in range(BUCKETS)]
    readers = [Reader(bucket) for bucket in range(BUCKETS)]
    for writer in writers:
        writer.start()
    for _ in range(ROUNDS):
        time.sleep(chance.uniform(0.01, 0.5))
        promised = [writer.acknowledged for writer in writers]
        server.restart(kill=True)
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireTable.find(cluster, PATH)
            for reader, rows in zip(readers, promised, strict=True):
                reader.check(table)
                assert reader.verified >= rows, f"{rows - reader.verified} acknowledged rows are gone"
    totals = [writer.finish() for writer in writers]
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        for reader in readers:
            reader.check(table)
    assert [reader.verified for reader in readers] == totals
    print(f"rows: {totals}")
    assert all(total > 0 for total in totals)
    assert server.stop() == 0


@pytest.mark.crash
@pytest.mark.timeout(60 + 20 * ROUNDS)
def test_the_catalog_survives(new_server: Callable[..., ServerProcess]) -> None:
    """Tables that were acknowledged are there after a crash, dropped ones are not, and files match the catalog."""
    chance = random.Random(SEED + 1)
    server = new_server(**OPTIONS)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "crash")
    there: set[str] = set()
    unknown: set[str] = set()
    for number in range(ROUNDS):
        deadline = time.monotonic() + chance.uniform(0.02, 0.3)
        count = 0
        with WireCluster.of(server.bootstrap) as cluster:
            while time.monotonic() < deadline:
                name = f"t_{number}_{count}"
                count += 1
                WireTable.create(cluster, "crash", name)
                there.add(name)
                if chance.random() < 0.4:
                    gone = chance.choice(sorted(there))
                    there.discard(gone)
                    path = PbTablePath(database_name="crash", table_name=gone)
                    cluster.coordinator.call(
                        Api.DROP_TABLE, DropTableRequest(table_path=path, ignore_if_not_exists=False)
                    )
            last = f"last_{number}"  # in the middle of this one it is killed
            unknown.add(last)
            cluster.coordinator.send(Api.CREATE_TABLE, _create(last))
        server.restart(kill=True)
        with WireCluster.of(server.bootstrap) as cluster:
            found = set(cluster.coordinator.call(Api.LIST_TABLES, ListTablesRequest(database_name="crash")).table_name)
            assert there <= found <= there | unknown
    assert server.stop() == 0


def _create(name: str) -> object:
    from wire_tables import ID, table_json

    from lakeward.protocol.messages.table import CreateTableRequest

    path = PbTablePath(database_name="crash", table_name=name)
    return CreateTableRequest(table_path=path, table_json=table_json(ID), ignore_if_exists=False)
