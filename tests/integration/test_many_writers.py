"""Writers that are invented by the thousand: a bucket remembers so many, and nothing is stored twice for that."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from arrow_batches import arrow_batch
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import ID, LATEST, WireTable, create_database

from lakeward.errors import ErrorCode

MOST = 20


def one_row(writer_id: int, sequence: int) -> bytearray:
    """A batch of a writer."""
    rows = pa.record_batch([pa.array([writer_id], pa.int64())], ["id"])
    return arrow_batch(rows, writer_id=writer_id, sequence=sequence)


def test_a_flood_of_writers_is_told_to_wait_and_others_go_on(tmp_path: Path) -> None:
    """Who is known writes on and is answered its duplicates, also after a restart; a new one is told what to do."""
    with ServerProcess(tmp_path / "data", server__writer_id__max_per_bucket=str(MOST)) as server:
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            table = WireTable.create(cluster, "db", "t", ID)
            writers = [table.new_writer() for _ in range(MOST)]
            for writer_id in writers:
                table.append(one_row(writer_id, 0))
            refused = table.produce(one_row(table.new_writer(), 0))
            assert refused.error_code == ErrorCode.STORAGE_BACKPRESSURE.value
            assert "db.t 0 has had 20 writers" in (refused.error_message or "")
            assert table.append(one_row(writers[0], 1)) == MOST
            assert table.append(one_row(-1, -1)) == MOST + 1
            assert table.append(one_row(writers[1], 0)) == 1, "a duplicate is answered, not stored"
            path = table.path
        server.restart(kill=True)
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireTable.find(cluster, path)
            assert table.append(one_row(writers[1], 0)) == 1
            assert table.produce(one_row(table.new_writer(), 0)).error_code == ErrorCode.STORAGE_BACKPRESSURE.value
            assert table.offset(LATEST) == MOST + 2
