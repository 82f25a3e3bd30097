"""A server that is started again: with client.away-timeout every call waits for it, without it none does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest
from server_process import ServerProcess

import lakeward as lw


def test_calls_wait_for_a_server_that_is_away(
    new_server: Callable[..., ServerProcess], caplog: pytest.LogCaptureFixture
) -> None:
    """Listing, creating, writing and reading while it is away: all succeed, and two lines say what happened."""
    server = new_server()
    with lw.connect(server.bootstrap, **{"client.away-timeout": "2 min"}) as conn:
        conn.create_database("d")
        table = conn.create_table("d.t", "id INT")
        table.append({"id": [1]})
        server.stop()
        back = threading.Timer(3, server.start)
        back.start()
        with caplog.at_level(logging.WARNING, logger="lakeward.client.cluster.absence"):
            assert conn.tables("d") == ["t"]
        back.join()
        assert ["Waiting for it for up to 120 s" in m or "is back after" in m for m in caplog.messages] == [True, True]
        server.restart(kill=True)
        conn.create_table("d.u", "id INT")
        table.append({"id": [2]})
        assert table.count() == 2


def test_without_the_option_a_missing_server_is_an_error(new_server: Callable[..., ServerProcess]) -> None:
    """A person at a prompt wants to know at once."""
    server = new_server()
    with lw.connect(server.bootstrap) as conn:
        server.stop()
        with pytest.raises(lw.errors.RetriableError, match="Is the server running"):
            conn.databases()


@pytest.mark.long
def test_the_wait_has_an_end(new_server: Callable[..., ServerProcess]) -> None:
    """A server that does not come back is an error when the time is up."""
    server = new_server()
    with lw.connect(server.bootstrap, away_timeout="1 s") as conn:
        server.stop()
        with pytest.raises(lw.errors.RetriableError, match="Is the server running"):
            conn.databases()


def wait_for(server: ServerProcess, act: Callable[[], object]) -> None:
    """Do something while the server is down, which is started a moment later."""
    server.stop()
    back = threading.Timer(1, server.start)
    back.start()
    try:
        act()
    finally:
        back.join()


@pytest.mark.long
def test_rows_wait_for_a_server_that_is_away(new_server: Callable[..., ServerProcess]) -> None:
    """Writers that are new then, partitions that have to be made, scans and lookups: each waits without the option."""
    server = new_server()
    with lw.connect(server.bootstrap) as conn:
        conn.create_database("d")
        log = conn.create_table("d.log", "id INT")
        keyed = conn.create_table("d.keyed", "id INT, PRIMARY KEY (id)")
        parted = conn.create_table("d.parted", "day STRING, id INT", partition_by="day")
        wait_for(server, lambda: log.append({"id": [1]}))
        wait_for(server, lambda: keyed.upsert({"id": [1]}))
        wait_for(server, lambda: parted.append({"day": ["mon"], "id": [1]}))
        wait_for(server, lambda: keyed.lookup([1]))
        found: list[object] = []
        wait_for(server, lambda: found.append(log.scan().to_arrow().to_pylist()))
        wait_for(server, lambda: found.append(parted.scan().to_arrow().to_pylist()))
        assert found == [[{"id": 1}], [{"day": "mon", "id": 1}]]
