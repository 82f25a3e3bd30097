"""Snapshots, metadata and restores on a store that has bad days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faulty_proxy import Faults, FaultyProxy
from lost_server import LostServer

LOG, STATE = "fluss.log", "fluss.state"
_BUSY_SHARE = 0.2
_QUICK = {"remote__store__retry_timeout": "3s", "remote__store__request_timeout": "2s"}


@pytest.fixture
def proxy(s3: Any) -> Iterator[FaultyProxy]:
    """What stands between the server and its store."""
    with FaultyProxy(s3.endpoint) as made:
        yield made


@pytest.fixture
def server(s3: Any, proxy: FaultyProxy, tmp_path: Path) -> Iterator[LostServer]:
    """A server that reaches its store through the proxy."""
    behind = replace(s3, endpoint=proxy.endpoint)
    made = LostServer(tmp_path, behind.server_options, kv__engine="rocksdb", **_QUICK)
    made.process.start()
    yield made
    made.process.kill()


def rows(first: int, count: int = 300) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"row {i}"} for i in range(first, first + count)]


def contents(server: LostServer) -> tuple[list[Any], list[Any]]:
    """Everything that can be read."""
    with server.connect() as connection:
        state = connection.table(STATE).snapshot().to_pylist()
        log = connection.table(LOG).scan().to_arrow().to_pylist()
    return sorted(map(str, state)), sorted(map(str, log))


@pytest.mark.long
def test_bad_days_cost_nothing(server: LostServer, proxy: FaultyProxy) -> None:
    """The store refuses a fifth of all calls, then is gone, then is back: rows are served all the time, copies resume,

    the log stays readable, and a restore through the same trouble brings everything back.
    """
    with server.connect() as connection:
        log = connection.create_table(LOG, "id INT, name STRING", buckets=1)
        state = connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1)
        proxy.faults = Faults(busy_share=_BUSY_SHARE)
        log.append(rows(0))
        state.upsert(rows(0))
        server.wait_until_copied(LOG, STATE, state=[STATE])
        proxy.go_away()
        for turn in range(1, 4):
            log.append(rows(turn * 300))
            state.upsert(rows(turn * 100))
            assert state.lookup([turn * 100])["name"].to_pylist() == [f"row {turn * 100}"]
            connection.create_table(f"fluss.new_{turn}", "id INT", buckets=1)
        proxy.come_back()
        server.wait_until_copied(LOG, STATE, state=[STATE])
    before = contents(server)
    server.process.kill()
    lines = server.process.log_text.splitlines()
    assert len([line for line in lines if " ERROR " in line]) < 12, server.process.log_text[-4000:]
    assert "Traceback" not in server.process.log_text
    report = server.come_back()
    assert [table["troubles"] for table in report["tables"]] == [[]] * 5
    assert report["lost_rows"] == 0
    assert contents(server) == before


def test_a_store_that_is_gone_fails_a_restore_in_one_sentence(server: LostServer, proxy: FaultyProxy) -> None:
    """Nothing half restored is taken for a server; the next attempt works."""
    with server.connect() as connection:
        connection.create_table(LOG, "id INT, name STRING", buckets=1).append(rows(0))
        connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1).upsert(rows(0))
    server.wait_until_copied(LOG, STATE, state=[STATE])
    before = contents(server)
    server.process.kill()
    proxy.faults = Faults(matches=lambda request: "/kv/" in request.path and request.method == "GET", is_denied=True)
    failed = server.restore("--take-over", "-D", "remote.store.retry-timeout=2s")
    assert failed.returncode == 1
    assert len(failed.stderr.strip().splitlines()[-1]) < 600
    assert "Traceback" not in failed.stderr
    proxy.faults = Faults()
    server.come_back()
    assert contents(server) == before
