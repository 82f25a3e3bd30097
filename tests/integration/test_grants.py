"""Grants with users who log in: the official client, our own, and the wire."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli_process import Cli
from eventually import eventually
from logins import ASKING, JAAS, fluss_options, log_in
from lost_server import LostServer
from principals import creation, dropping
from rights_cases import CASES, GRANTED, ORDERS, TableIds, outcome
from server_process import ServerProcess
from wire_client import WireClient, WireCluster
from wire_tables import WireTable, create_database

import lakeward
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import CLUSTER, Acl, AclFilter, Operation, Resource
from lakeward.model.principal import ANONYMOUS, Principal
from lakeward.protocol.api import Api

ALICE = Principal("alice")
DENIED, STRANGER = ErrorCode.AUTHORIZATION.value, ErrorCode.AUTHENTICATE.value
OPTIONS = {**ASKING, "authorizer__enabled": "true", "super__users": "User:admin"}
SCHEMA = pa.schema([("id", pa.int32())])
ROWS = pa.record_batch([pa.array([1, 2, 3], pa.int32())], schema=SCHEMA)


def start(directory: Path, **more: str) -> ServerProcess:
    """A server that asks who somebody is and what they may do."""
    return ServerProcess(directory, security__sasl__plain__jaas__config=JAAS, **{**OPTIONS, **more})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One for all tests, with the tables `shop.orders` and, by key, `shop.prices`."""
    with start(tmp_path_factory.mktemp("guarded") / "data") as server:
        with client_of(server, "admin") as admin:
            cluster = WireCluster(admin, admin)
            create_database(cluster, "shop")
            WireTable.create(cluster, "shop", "orders")
            WireTable.create(cluster, "shop", "prices", primary_key=("id",))
        yield server
    assert "Traceback" not in server.log_text
    assert "-secret" not in server.log_text


def client_of(server: ServerProcess, name: str | None) -> WireClient:
    """A connection of somebody, or of a stranger."""
    client = WireClient.of(server.listeners["CLIENT"])
    if name is not None:
        log_in(client, name, f"{name}-secret")
    return client


@pytest.fixture
def admin(guarded: ServerProcess) -> Iterator[WireClient]:
    """The super user, who takes back all grants in the end."""
    with client_of(guarded, "admin") as client:
        yield client
        client.call(Api.DROP_ACLS, dropping(AclFilter()))


@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_every_api_for_strangers_for_users_and_for_those_who_may(
    guarded: ServerProcess, admin: WireClient, api: Api
) -> None:
    """Not logged in: 46, but for what a login takes. Logged in: refused. With the right, and only then: done."""
    case = CASES[api]
    cluster = WireCluster(admin, admin)
    ids = TableIds(*(WireTable.find(cluster, _path(name)).table_id for name in ("orders", "prices")))
    admin.call(Api.CREATE_ACLS, creation(GRANTED))
    with client_of(guarded, None) as stranger:
        is_open = api in {Api.API_VERSIONS, Api.AUTHENTICATE}
        code = stranger.error_code(api, case.request(ids))
        assert (code == STRANGER) is not is_open or api is Api.AUTHENTICATE
    with client_of(guarded, "alice") as alice:
        if case.right is None or case.resource is None:
            assert not outcome(alice, api, case, ids)
            return
        needs_more = api in {Api.GET_PRODUCER_OFFSETS, Api.DELETE_PRODUCER_OFFSETS, Api.DROP_KV_SNAPSHOT_LEASE}
        assert outcome(alice, api, case, ids) or needs_more, "tests/conformance/test_rights.py has what those refer to"
        admin.call(Api.CREATE_ACLS, creation(Acl(case.resource, ALICE, case.right)))
        assert not outcome(alice, api, case, ids) or needs_more


def _path(name: str) -> Any:
    from lakeward.protocol.messages.shared import PbTablePath

    return PbTablePath(database_name="shop", table_name=name)


@pytest.mark.oracle
async def test_the_official_client_does_what_was_granted(guarded: ServerProcess, admin: WireClient) -> None:
    """Create, describe, append and scan: each is refused with 48 until its right is there."""
    fluss = pytest.importorskip("fluss")
    from pyfluss_session import Session, append, error_code, poll_records, scan

    async def session(name: str) -> Any:
        where = guarded.listeners["CLIENT"]
        connection = await fluss.FlussConnection.create(fluss.Config(fluss_options(where, name, f"{name}-secret")))
        return Session(connection, "shop", where)

    def allow(operation: Operation, resource: Resource) -> None:
        admin.call(Api.CREATE_ACLS, creation(Acl(resource, ALICE, operation)))

    official = Resource.table("shop", "official")
    alice = await session("alice")
    assert await error_code(alice.admin.create_database("other", ignore_if_exists=True)) == DENIED
    assert await error_code(alice.create("official", SCHEMA)) == DENIED
    allow(Operation.CREATE, Resource.database("shop"))
    table = await alice.create("official", SCHEMA)
    writer = table.new_append().create_writer()
    with pytest.raises(fluss.FlussError):  # its writers end for good when they are given no id
        await writer.write_arrow_batch(ROWS).wait()
    await alice.connection.close()
    allow(Operation.WRITE, official)
    alice = await session("alice")
    table = await alice.table("official")
    await append(table, ROWS)
    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe_buckets({0: 0})
    with pytest.raises(fluss.FlussError, match="may not READ"):
        await poll_records(scanner, 1)
    allow(Operation.READ, official)
    assert (await scan(table)).num_rows == 3
    assert await alice.admin.list_databases() == ["shop"]
    assert await error_code(alice.admin.drop_table(alice.path("official"), ignore_if_not_exists=False)) == DENIED
    allow(Operation.DROP, official)
    await alice.admin.drop_table(alice.path("official"), ignore_if_not_exists=False)
    await alice.connection.close()


def test_grants_survive_what_ends_a_server(tmp_path: Path) -> None:
    """What was granted is granted, and what was taken back is gone, after kill -9 at once behind the answer."""
    with start(tmp_path / "data") as server:
        with client_of(server, "admin") as admin:
            admin.call(
                Api.CREATE_ACLS, creation(Acl(CLUSTER, ALICE, Operation.CREATE), Acl(ORDERS, ALICE, Operation.READ))
            )
        server.restart(kill=True)
        with client_of(server, "admin") as admin:
            assert _grants(admin) == {"CREATE fluss-cluster", "READ shop.orders"}
            admin.call(Api.DROP_ACLS, dropping(AclFilter(operation=Operation.CREATE)))
        server.restart(kill=True)
        with client_of(server, "admin") as admin:
            assert _grants(admin) == {"READ shop.orders"}


def _grants(admin: WireClient) -> set[str]:
    from lakeward.protocol.acl_forms import filter_message
    from lakeward.protocol.messages.acl import ListAclsRequest

    found = admin.call(Api.LIST_ACLS, ListAclsRequest(acl_filter=filter_message(AclFilter()))).acl
    return {f"{Operation(one.operation_type).name} {one.resource_name}" for one in found}


def test_who_did_what_is_on_the_record(tmp_path: Path) -> None:
    """Changes, refusals and wrong logins, one line of JSON each, for the owner's eyes only; no password is among it."""
    with start(tmp_path / "data") as server:
        with client_of(server, "admin") as admin, client_of(server, "alice") as alice:
            create_database(WireCluster(admin, admin), "shop")
            admin.call(Api.CREATE_ACLS, creation(Acl(ORDERS, ALICE, Operation.READ)))
            admin.call(Api.DROP_ACLS, dropping(AclFilter()))
            with pytest.raises(LakewardError):
                create_database(WireCluster(alice, alice), "mine")
        with WireClient.of(server.listeners["CLIENT"]) as stranger, pytest.raises(LakewardError):
            log_in(stranger, "alice", "wrong-secret")
        _change_users(server.data_dir)
        assert server.stop() == 0
    file = server.data_dir / "audit.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    told = [(line["event"], line["principal"], line["outcome"]) for line in lines]
    assert told == [
        ("CREATE_DATABASE", "User:admin", "done"),
        ("CREATE_ACLS", "User:admin", "done"),
        ("DROP_ACLS", "User:admin", "done"),
        ("CREATE", "User:alice", "refused"),
        ("LOGIN", "User:ANONYMOUS", "refused"),
        ("CREATE_USER", "Command:lakeward users", "done"),
        ("CHANGE_PASSWORD", "Command:lakeward users", "done"),
        ("DROP_USER", "Command:lakeward users", "done"),
    ]
    assert lines[1]["granted"] == lines[2]["revoked"] == ["User:alice may READ table shop.orders"]
    assert lines[3]["resource"] == "the cluster"
    assert all(line["peer"].startswith("127.0.0.1:") for line in lines[:5])
    assert [line["user"] for line in lines[5:]] == ["carol"] * 3
    assert "secret" not in file.read_text()


def _change_users(data_dir: Path) -> None:
    """One user comes, has another password, and goes; the server looks every second."""
    audit = data_dir / "audit.jsonl"
    for number, verb in enumerate(("create", "passwd", "drop"), 1):
        flags = ("--yes",) if verb == "drop" else ("--password-file", "-")
        command = [sys.executable, "-m", "lakeward", "users", verb, "carol", *flags, "--data-dir", str(data_dir)]
        done = subprocess.run(command, input=b"a secret word", capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert eventually(lambda n=number: audit.read_text().count("carol") == n)  # type: ignore[misc]


def test_the_command_line_grants_lists_and_revokes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the public protocol, as whoever it is; here on an open listener whose guests are super users."""
    monkeypatch.chdir(tmp_path)
    with start(tmp_path / "data", super__users="User:ANONYMOUS") as server:
        cli = Cli(server.listeners["FLUSS"], tmp_path)
        cli.ok("acls", "grant", "alice", "read,Write", "--table", "shop.orders")
        cli.ok("acls", "grant", "*", "describe", "--database", "shop", "--host", "127.0.0.1")
        cli.ok("acls", "grant", "User:bob", "all", "--cluster")
        rows = cli.document("acls", "list")
        assert [tuple(row.values()) for row in rows] == [
            ("User:bob", "ALL", "cluster", "fluss-cluster", "*"),
            ("*:*", "DESCRIBE", "database", "shop", "127.0.0.1"),
            ("User:alice", "READ", "table", "shop.orders", "*"),
            ("User:alice", "WRITE", "table", "shop.orders", "*"),
        ]
        assert len(cli.document("acls", "list", "--principal", "alice", "--operation", "write")) == 1
        cli.ok("acls", "revoke", "alice", "write", "--table", "shop.orders")
        assert len(cli.document("acls", "list", "--table", "shop.orders")) == 1
        cli.ok("acls", "revoke", "alice", "--everything")
        assert not cli.document("acls", "list", "--principal", "alice")
        again = cli.run("acls", "revoke", "alice", "--everything")
        assert (again.returncode, again.stderr) == (
            1,
            "Error: There is no such grant; `lakeward acls list` shows those that there are.\n",
        )
        assert cli.run("acls", "grant", "alice", "read").returncode == 2
        assert cli.run("acls", "grant", "alice", "peek", "--cluster").returncode == 2
        assert cli.run("acls", "revoke", "alice").returncode == 2
        assert "no dot" in cli.run("acls", "grant", "alice", "read", "--database", "a.b").stderr


def test_a_server_without_grants_says_so(lakeward: ServerProcess) -> None:
    """47, by our own client too."""
    from lakeward.errors import UnsupportedError

    with _connect(lakeward) as connection, pytest.raises(UnsupportedError) as refused:
        connection.acls.find()
    assert refused.value.code is ErrorCode.SECURITY_DISABLED


def _connect(server: ServerProcess) -> Any:
    return lakeward.connect(server.bootstrap)


@pytest.mark.long
def test_grants_come_back_from_remote_storage(tmp_path: Path) -> None:
    """A server that lost its disk knows who may do what, before anybody is let in."""
    place = {"remote__data__dir": str(tmp_path / "remote")}
    server = LostServer(tmp_path, place, authorizer__enabled="true", super__users="User:ANONYMOUS")
    granted = [Acl(ORDERS, ALICE, Operation.READ), Acl(CLUSTER, ALICE, Operation.DESCRIBE)]
    server.process.start()
    try:
        with server.connect() as connection:
            connection.acls.grant(granted)
            connection.acls.revoke([AclFilter(operation=Operation.DESCRIBE)])
        server.wait_until_copied()
        server.process.kill()
        server.come_back()
        with server.connect() as connection:
            assert connection.acls.find() == granted[:1]
    finally:
        server.process.kill()


def test_a_question_at_a_browser_needs_the_right_to_read(guarded: ServerProcess, admin: WireClient) -> None:
    """Rows that are only in the lake are read with the console's own rights: the cluster is asked before."""
    from lakeward.query.duckdb.question.bounded_sql import BoundedQuestion, QuestionBounds

    unread = Resource.table("shop", "unread")
    with _log_in(guarded, "admin") as owner, _log_in(guarded, "alice") as conn:
        owner.create_table("shop.unread", "id INT")
        admin.call(Api.CREATE_ACLS, creation(Acl(unread, ALICE, Operation.DESCRIBE)))
        question = BoundedQuestion(conn, "SELECT count(*) AS n FROM shop.unread", QuestionBounds())
        with pytest.raises(LakewardError) as refusal:
            question.answer()
        assert refusal.value.code is ErrorCode.AUTHORIZATION
        admin.call(Api.CREATE_ACLS, creation(Acl(unread, ALICE, Operation.READ)))
        assert question.answer().rows.to_pylist() == [{"n": 0}]
        owner.drop_table("shop.unread")


def test_a_question_of_a_guest_needs_the_right_as_well(tmp_path: Path) -> None:
    """Whoever does not log in has the rights of ANONYMOUS: to know of a table is not to read it, in the lake or out."""
    from lakeward.query.duckdb.question.bounded_sql import BoundedQuestion, QuestionBounds

    with start(tmp_path / "data") as server, _log_in(server, "admin") as owner:
        owner.create_database("shop")
        owner.create_table("shop.unread", "id INT")
        owner.create_table("shop.parts", "id INT, day STRING", partition_by=["day"])
        owner.acls.grant([Acl(Resource.database("shop"), ANONYMOUS, Operation.DESCRIBE)])
        with lakeward.connect(server.bootstrap) as conn:
            for name in ("unread", "parts"):  # the latter has no bucket that could be asked
                question = BoundedQuestion(conn, f"SELECT count(*) AS n FROM shop.{name}", QuestionBounds())
                with pytest.raises(LakewardError) as refusal:
                    question.answer()
                assert refusal.value.code is ErrorCode.AUTHORIZATION
                owner.acls.grant([Acl(Resource.table("shop", name), ANONYMOUS, Operation.READ)])
                assert question.answer().rows.to_pylist() == [{"n": 0}]


def _log_in(server: ServerProcess, name: str) -> lakeward.Connection:
    where = server.listeners["CLIENT"]
    options = {f"client.{key}": value for key, value in fluss_options(where, name, f"{name}-secret").items()}
    del options["client.bootstrap.servers"]
    return lakeward.connect(where, **options)
