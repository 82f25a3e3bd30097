"""JDBC at `lakeward sql serve`: Postgres's own driver and Arrow's for Flight SQL, both from Maven."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from sql_shop import sql_shop

_POSTGRES, _FLIGHT = os.environ["LAKEWARD_PEER_JDBC"].split(os.pathsep)
_PROGRAM = Path(__file__).parents[1] / "data" / "JdbcReader.java"
_SHOP = "jdbc_shop"
_BOTH = ("schemas", "tables", "keys", "foreign", "words", "typed", "repeated", "parts", "values")
_VALUES = "3.50 2026-11-01 10:00:00.12 2026-11-01 10:00:00.12 2026-11-01 false 0.75 3"
_RIGHT = ["true", "clicks orders", "id/1/orders_pkey", "", "true", "7 8", "45", "499500", _VALUES]


@pytest.fixture(scope="module")
def shop(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerProcess]:
    """One for all tests of this file."""
    with sql_shop(server.bootstrap, tmp_path_factory.mktemp("shop"), _SHOP) as started:
        yield started


def java(jar: str, url: str, *steps: str) -> list[str]:
    """What came of each step."""
    command = ["java", "-Duser.timezone=UTC", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", jar, str(_PROGRAM)]
    done = subprocess.run([*command, url, _SHOP, *steps], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    said = [line for line in done.stdout.splitlines() if line.partition(": ")[0] in steps]
    assert len(said) == len(steps), done.stdout
    return [line.partition(": ")[2] for line in said]


def test_postgres_driver_asks_and_reads(shop: SqlServerProcess) -> None:
    """Metadata, prepared statements, rows in parts; time-outs, cancel, and what is refused."""
    url = f"jdbc:postgresql://{shop.host}:{shop.port}/{_SHOP}"
    assert java(_POSTGRES, url, *_BOTH) == _RIGHT
    columns = "id/-5/0 item/12/1 price/2/1 at/93/1 seen/93/1 day/91/1 ok/-7/1 weight/8/1 tags/2003/1"
    assert java(_POSTGRES, url, "columns", "indexes", "types") == [columns, "orders_pkey/id", "true"]
    told = java(_POSTGRES, url, "time", "cancel", "write", "batch", "wrong")
    assert [line.partition(" ")[0] for line in told] == ["57014", "57014", "25006", "25006", "42P01"]


def test_flight_driver_asks_and_reads(shop: SqlServerProcess) -> None:
    """The same steps, as far as the driver has them."""
    url = f"jdbc:arrow-flight-sql://{shop.flight.removeprefix('grpc://')}?useEncryption=false"
    assert java(_FLIGHT, url, *_BOTH) == _RIGHT
    columns, write, wrong = java(_FLIGHT, url, "columns", "write", "wrong")
    assert columns.startswith("id/-5/0 item/12/1 price/3/1 at/93/1 seen/2014/1 day/91/1")
    assert "SQL only reads here" in write
    assert "does not exist" in wrong
