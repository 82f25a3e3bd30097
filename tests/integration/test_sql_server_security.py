"""Who may ask what of `lakeward sql serve`: users, passwords and grants are the cluster's."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import adbc_driver_flightsql.dbapi as flight_sql
import psycopg
import pytest
from certificates import Authority
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.model.acl import Acl, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.access.known.users import new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cannot disable autocommit")]
NAMES = ("admin", "alice", "mallory")


@pytest.fixture
def secured(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[ServerProcess]:
    """A server with three users, of whom alice may read one table, part of which is in a lake."""
    data = tmp_path / "data-0"
    data.mkdir(mode=0o700)
    users = {name: new_user(f"{name}-secret", SystemEntropy(), SystemClock().now_ms()) for name in NAMES}
    write_users(LocalFiles(), data / USERS_FILE, users)
    started = new_server(
        security__protocol__map="FLUSS:SASL",
        authorizer__enabled="true",
        super__users="User:admin",
        security__login__failure_pause="10ms",
    )
    admin = lakeward.connect(started.bootstrap, user="admin", password="admin-secret")
    lake = Warehouse.__new__(Warehouse)
    lake.bootstrap, lake.directory, lake.conn = started.bootstrap, tmp_path / "lake", admin
    admin.create_database("shop")
    for name in ("orders", "salaries"):
        table = admin.create_table(f"shop.{name}", "id BIGINT", buckets=1, properties=TIERED)
        table.append([{"id": n} for n in range(10)])
        lake.round(table)
    admin.acls.grant([Acl(Resource.table("shop", "orders"), Principal("alice"), Operation.READ)])
    yield started
    admin.close()


@pytest.fixture(params=["sent", "proven"])
def sql_server(request: pytest.FixtureRequest, secured: ServerProcess, tmp_path: Path) -> Iterator[SqlServerProcess]:
    """One that asks for passwords, and one to which they are proven."""
    more = ("--users-from", str(tmp_path / "data-0")) if request.param == "proven" else ()
    warehouse = ("--warehouse", str(tmp_path / "lake"))
    with SqlServerProcess(secured.bootstrap, tmp_path / "sql.log", *warehouse, *more) as started:
        yield started
    assert "Traceback" not in started.log_text, started.log_text[-8000:]
    assert "secret" not in started.log_text


@pytest.mark.covering("proven")
def test_grants_of_the_cluster_hold_at_every_door(sql_server: SqlServerProcess) -> None:
    """Alice reads what she may, knows of nothing else; a wrong password and a name that is not known are refused."""
    with psycopg.connect(sql_server.url("alice", "shop", "alice-secret"), autocommit=True) as conn:
        assert conn.execute("SELECT count(*) FROM orders").fetchone() == (10,)
        with pytest.raises(psycopg.Error):
            conn.execute("SELECT * FROM salaries")
        assert conn.execute("SELECT tablename FROM pg_tables").fetchall() == [("orders",)]
    with pytest.raises(psycopg.OperationalError):  # who may know of no database
        psycopg.connect(sql_server.url("mallory", "shop", "mallory-secret"))
    for user in ("alice", "nobody"):
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            psycopg.connect(sql_server.url(user, "lakeward", "wrong"))
    with pytest.raises(subprocess.CalledProcessError):
        sql_server.psql("-w", "-c", "SELECT 1", user="alice")


@pytest.mark.covering("sent")
def test_flight_asks_once_and_gives_a_token(sql_server: SqlServerProcess) -> None:
    """The same rights by Flight SQL."""
    login = {"username": "alice", "password": "alice-secret"}
    with flight_sql.connect(sql_server.flight, db_kwargs=login) as conn, conn.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM shop.orders")
        assert cursor.fetchone() == (10,)
        with pytest.raises(flight_sql.Error):
            cursor.execute("SELECT * FROM shop.salaries")
    for wrong in ({}, {"username": "alice", "password": "wrong"}):
        with pytest.raises(flight_sql.Error), flight_sql.connect(sql_server.flight, db_kwargs=wrong) as conn:
            conn.cursor().execute("SELECT 1")


@pytest.mark.covering("proven")
def test_plans_are_for_those_who_may_read(sql_server: SqlServerProcess) -> None:
    """Files and offsets are told to nobody else."""
    assert _plan(sql_server, "shop.orders", "alice:alice-secret") == 200
    assert _plan(sql_server, "shop.salaries", "alice:alice-secret") in {403, 404}
    assert _plan(sql_server, "shop.orders", "alice:wrong") == 401
    assert _plan(sql_server, "shop.orders", None) == 401


def _plan(sql_server: SqlServerProcess, table: str, login: str | None) -> int:
    headers = {} if login is None else {"Authorization": "Basic " + b64encode(login.encode()).decode()}
    asked = urllib.request.Request(f"{sql_server.http}/v1/plan", json.dumps({"table": table}).encode(), headers)
    try:
        with urllib.request.urlopen(asked) as answer:
            assert json.load(answer)["plan"]["splits"]
            return answer.status
    except urllib.error.HTTPError as wrong:
        with wrong:
            return wrong.code


@pytest.mark.long
def test_all_doors_encrypt(secured: ServerProcess, tmp_path: Path) -> None:
    """One certificate for the three of them."""
    made = Authority(tmp_path)
    certificate, key = made.sign("sql", "localhost", "127.0.0.1")
    more = ("--certificate", str(certificate), "--key", str(key), "--warehouse", str(tmp_path / "lake"))
    with SqlServerProcess(secured.bootstrap, tmp_path / "sql.log", *more) as started:
        url = started.url("alice", "shop", "alice-secret").replace("127.0.0.1", "localhost")
        url += f"?sslmode=verify-full&sslrootcert={made.ca_file}&hostaddr=127.0.0.1"
        with psycopg.connect(url, autocommit=True) as conn:
            assert conn.execute("SELECT count(*) FROM orders").fetchone() == (10,)
            assert conn.pgconn.ssl_in_use
        login = {
            "username": "alice",
            "password": "alice-secret",
            "adbc.flight.sql.client_option.tls_root_certs": made.ca_file.read_text(),
        }
        place = started.flight.replace("127.0.0.1", "localhost")
        with flight_sql.connect(place, db_kwargs=login) as conn, conn.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM shop.orders")
            assert cursor.fetchone() == (10,)
