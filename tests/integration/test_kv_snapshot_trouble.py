"""Snapshots that cannot be written: told, tried again, and nobody else misses theirs."""

from __future__ import annotations

import time
from collections.abc import Callable

from server_process import ServerProcess
from wire_client import WireCluster
from wire_kv import WireKv
from wire_tables import create_database

_PATIENCE_S = 30


def until(found: Callable[[], bool]) -> None:
    """Wait for something that a server does by the clock."""
    end = time.monotonic() + _PATIENCE_S
    while not found():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def test_one_bucket_in_trouble_is_told_and_stops_no_other(new_server: Callable[..., ServerProcess]) -> None:
    """A file stands where a snapshot is to be gathered; once it is gone the snapshot is taken after all."""
    server = new_server(kv__snapshot__interval="100ms")
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "shop")
        blocked, other = (WireKv.create(cluster, "shop", name) for name in ("blocked", "other"))
        state = server.data_dir / "shop" / f"blocked-{blocked.wire.table_id}" / "kv-0"
        obstacle = state / "snapshot-0000000001.taking"
        state.mkdir(parents=True)
        obstacle.write_bytes(b"")
        blocked.upsert((1, "a", 1))
        until(lambda: server.log_text.count("failed and will be tried again") > 1)
        told = next(line for line in server.log_text.splitlines() if "tried again" in line)
        assert "shop.blocked" in told
        assert str(state) in told
        other.upsert((1, "a", 1))
        until(lambda: any(server.data_dir.glob("shop/other-*/kv-0/snapshot-*/manifest.json")))
        obstacle.unlink()
        until(lambda: any(state.glob("snapshot-*/manifest.json")))
        assert blocked.get(1) == [(1, "a", 1)]
