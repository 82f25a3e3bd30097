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


def test_the_wait_has_an_end(new_server: Callable[..., ServerProcess]) -> None:
    """A server that does not come back is an error when the time is up."""
    server = new_server()
    with lw.connect(server.bootstrap, away_timeout="1 s") as conn:
        server.stop()
        with pytest.raises(lw.errors.RetriableError, match="Is the server running"):
            conn.databases()
