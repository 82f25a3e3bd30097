"""Console, catalog and SQL server that are started before their cluster: they say so, and go on when it is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from catalog_process import CatalogProcess
from console_process import ConsoleProcess
from eventually import eventually
from server_process import ServerProcess
from sql_server_process import SqlServerProcess

pytestmark = pytest.mark.slow


def test_they_tell_and_go_on(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """One sentence with the address on stderr; clients are told the same; nobody starts anything again."""
    server = new_server()
    server.stop()
    with ExitStack() as held:
        catalog = held.enter_context(CatalogProcess(server.bootstrap, tmp_path / "catalog.log"))
        console = held.enter_context(ConsoleProcess(server.bootstrap, tmp_path / "console.log"))
        sql = held.enter_context(SqlServerProcess(server.bootstrap, tmp_path / "sql.log"))
        told = f"Cannot connect to {server.bootstrap}"
        for one in (catalog, console, sql):
            assert eventually(lambda one=one: f"{told}: " in one.log_text and "--server" in one.log_text)
        with pytest.raises(psycopg.OperationalError, match=told):
            psycopg.connect(sql.url())
        assert told in catalog.ask("GET", "/v1/namespaces").json()["error"]["message"]
        server.start()
        for one in (catalog, console, sql):
            assert eventually(lambda one=one: f"The cluster at {server.bootstrap} is there." in one.log_text)
            assert one.log_text.count(told) == 1
        with psycopg.connect(sql.url(), autocommit=True) as conn:
            assert conn.execute("SELECT 1").fetchone() == (1,)
        assert catalog.ask("GET", "/v1/namespaces").status_code == 200
