"""A lake table whose history is remote: tiering reads it there, and nothing goes before the lake has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eventually import eventually
from query_reads import rows_of
from remote_tables import EAGER, local_start, remote_end
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from wire_client import WireCluster
from wire_tables import EARLIEST, WireTable

from lakeward.protocol.messages.shared import PbTablePath
from lakeward.query.plan.planner import plan_read
from lakeward.query.request.request import ReadRequest

pytestmark = pytest.mark.slow
ROWS = 4000


def test_tiering_and_union_reads_go_through_remote_history(
    new_server: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    """Expired rows stay remote until the lake has them, are tiered from there, go then, and none is missed."""
    server = new_server(**EAGER | {"remote__data__dir": str(tmp_path / "remote"), "log__segment__file_size": "2kb"})
    lake = Warehouse(server.bootstrap, tmp_path / "lake")
    try:
        lake.conn.create_database("db")
        properties = {**TIERED, "table.log.ttl": "100ms", "table.log.tiered.local-segments": "1"}
        table = lake.conn.create_table("db.t", "id BIGINT", buckets=1, properties=properties)
        for first in range(0, ROWS, 500):
            table.append([{"id": i} for i in range(first, first + 500)])
        with WireCluster.of(server.bootstrap) as cluster:
            wire = WireTable.find(cluster, PbTablePath(database_name="db", table_name="t"))
            assert eventually(lambda: remote_end(wire) > 0 and local_start(server.data_dir, wire) > 0)
            assert wire.offset(EARLIEST) == 0, "the lake has not read it"
            lake.round(table)
            assert eventually(lambda: wire.offset(EARLIEST) > 0), "what the lake has may go"
        table.append([{"id": i} for i in range(ROWS, ROWS + 500)])
        request = ReadRequest.of_name("db.t", options={"lake.warehouse": str(lake.directory)})
        rows = rows_of(lake.conn, request, plan_read(lake.conn, request))
        assert sorted(rows["id"].to_pylist()) == list(range(ROWS + 500))
    finally:
        lake.close()
