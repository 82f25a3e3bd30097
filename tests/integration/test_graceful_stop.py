"""Services that are told to stop while everybody is busy: they go, cleanly, and keep what they promised."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from cli_process import Cli
from eventually import eventually
from server_process import ServerProcess
from steady_upserter import SteadyUpserter
from steady_writer import SteadyWriter
from wire_client import WireCluster
from wire_kv import WireKv
from wire_tables import LATEST, WireTable, create_database

_BUCKETS = 2


class _Waiting(threading.Thread):
    """A reader at the end of a table to which nobody writes. `outcome` is how its fetch ended."""

    def __init__(self, bootstrap: str, quiet: WireTable) -> None:
        super().__init__(daemon=True)
        self._server, self._quiet = bootstrap, quiet
        self.is_waiting = threading.Event()
        self.outcome = ""

    def run(self) -> None:
        """Fetch, for two minutes if nothing comes."""
        with WireCluster.of(self._server) as cluster:
            table = WireTable(cluster, self._quiet.path, self._quiet.table_id)
            self.is_waiting.set()
            try:
                answer = table.fetch(0, min_bytes=1, max_wait_ms=120_000)
                self.outcome = "an error" if answer.error_code else "an answer"
            except ConnectionError:
                self.outcome = "a close"


def test_a_busy_server_stops_by_itself_and_keeps_what_it_acknowledged(
    new_server: Callable[..., ServerProcess],
) -> None:
    """Writers of rows and keys, and fetches that wait: it ends with 0, they are answered or closed, no row is lost."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "busy")
        rows = WireTable.create(cluster, "busy", "rows", bucket_count=_BUCKETS)
        keys = WireKv.create(cluster, "busy", "keys", bucket_count=_BUCKETS)
        quiet = WireTable.create(cluster, "busy", "quiet")
    appending = [SteadyWriter(server.bootstrap, rows.path, bucket) for bucket in range(_BUCKETS)]
    upserting = [
        SteadyUpserter(server.bootstrap, keys.wire.path, bucket, _BUCKETS, bucket) for bucket in range(_BUCKETS)
    ]
    waiting = [_Waiting(server.bootstrap, quiet) for _ in range(3)]
    for thread in (*appending, *upserting, *waiting):
        thread.start()
    assert all(reader.is_waiting.wait(60) for reader in waiting)
    assert eventually(lambda: all(writer.acknowledged > 200 for writer in (*appending, *upserting)))

    begun = time.monotonic()
    assert server.stop() == 0, server.log_text[-4000:]
    print(f"stopped under load in {time.monotonic() - begun:.2f} s")
    acknowledged = [writer.acknowledged for writer in appending]
    promised = [writer.promised_end for writer in upserting]
    for reader in waiting:
        reader.join(60)
    assert {reader.outcome for reader in waiting} <= {"an answer", "a close"}

    server.start()
    with WireCluster.of(server.bootstrap) as cluster:
        again, state = WireTable.find(cluster, rows.path), WireTable.find(cluster, keys.wire.path)
        for bucket in range(_BUCKETS):
            assert again.offset(LATEST, bucket=bucket) >= acknowledged[bucket]
            assert state.offset(LATEST, bucket=bucket) >= promised[bucket]
        for writer in (*appending, *upserting):
            writer.finish()
        for bucket, writer in enumerate(upserting):
            expected = {key[0]: row for key, row in writer.model.state.items()}
            assert WireKv(state).state(bucket=bucket) == expected
    assert "Traceback" not in server.log_text


def test_a_tiering_service_stops_when_it_is_told_to(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """SIGTERM in the middle of its work: the rounds under way end, and so does the process, with 0."""
    server = new_server()
    cli = Cli(server.bootstrap, tmp_path)
    cli.ok("databases", "create", "shop")
    lake = ("-p", "table.datalake.enabled=true", "-p", "table.datalake.freshness=1s")
    cli.ok("tables", "create", "shop.visits", "id BIGINT", *lake)
    cli.ok("append", "shop.visits", "-", "--format", "json", stdin='{"id": 1}\n' * 100)
    service = cli.start("tier", "--engine", "local", "--warehouse", str(tmp_path / "lake"))
    try:
        assert eventually(lambda: any((tmp_path / "lake").rglob("*.parquet")))
        service.terminate()
        _, said = service.communicate(timeout=100)
        assert service.returncode == 0, said
        assert "every round is finished" in said
    finally:
        service.kill()
