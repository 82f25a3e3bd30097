"""Who may come in: on a listener that asks for a login nobody gets anything before they have shown who they are."""

from __future__ import annotations

import base64
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from logins import ASKING, JAAS, fluss_options, log_in, log_in_by_scram, plain_token
from server_process import ServerProcess
from wire_client import HELLO, WireClient

import lakeward
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.protocol.messages.metadata import MetadataRequest

AUTHENTICATE, RETRIABLE = ErrorCode.AUTHENTICATE.value, ErrorCode.RETRIABLE_AUTHENTICATE.value


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with an open listener, FLUSS, and one that asks, CLIENT."""
    directory = tmp_path_factory.mktemp("asking") / "data"
    options = {**ASKING, "security__login__max_failures_per_minute": "1000"}
    with ServerProcess(directory, security__sasl__plain__jaas__config=JAAS, **options) as server:
        yield server
        assert "-secret" not in server.log_text
    assert "Traceback" not in server.log_text


@pytest.fixture
def client(asking: ServerProcess) -> Iterator[WireClient]:
    """A connection to the listener that asks."""
    with WireClient.of(asking.listeners["CLIENT"]) as opened:
        yield opened


@pytest.mark.oracle
async def test_the_official_client_logs_in_and_works(asking: ServerProcess) -> None:
    """Tables, rows and offsets, on connections that each log in; what it is told leads to the same listener."""
    fluss = pytest.importorskip("fluss")
    from pyfluss_session import Session, append, scan

    for name in ("admin", "alice"):
        where = asking.listeners["CLIENT"]
        options = fluss_options(where, name, f"{name}-secret")
        connection = await fluss.FlussConnection.create(fluss.Config(options))
        session = Session(connection, "fluss", where)
        schema = pa.schema([("id", pa.int32())])
        table = await session.create(f"by_{name}", schema)
        await append(table, pa.record_batch([pa.array([1, 2, 3], pa.int32())], schema=schema))
        assert (await scan(table)).num_rows == 3
        nodes = await session.admin.get_server_nodes()
        assert {f"{node.host}:{node.port}" for node in nodes} == {where}
        await connection.close()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "password"), [("admin", "guess"), ("nonexistent_user", "any-word"), ("admin", "alice-secret")]
)
async def test_the_official_client_is_told_that_it_is_not_let_in(
    asking: ServerProcess, name: str, password: str
) -> None:
    """A wrong password and somebody who is not known: error 46, the same for both."""
    fluss = pytest.importorskip("fluss")
    with pytest.raises(fluss.FlussError) as refused:
        await fluss.FlussConnection.create(fluss.Config(fluss_options(asking.listeners["CLIENT"], name, password)))
    assert refused.value.error_code == AUTHENTICATE
    assert password not in str(refused.value)


@pytest.mark.oracle
async def test_the_official_client_at_the_wrong_listener_fails(asking: ServerProcess) -> None:
    """Whoever logs in where nobody asks, and whoever does not where somebody does."""
    fluss = pytest.importorskip("fluss")
    logging_in = fluss_options(asking.listeners["FLUSS"], "admin", "admin-secret")
    for options in (logging_in, {"bootstrap.servers": asking.listeners["CLIENT"]}):
        with pytest.raises(fluss.FlussError) as refused:
            await fluss.FlussConnection.create(fluss.Config(options))
        assert refused.value.error_code == AUTHENTICATE


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_our_client_logs_in(asking: ServerProcess, mechanism: str) -> None:
    """By a password that is sent, and by one that is proven; a wrong one is refused."""
    where = asking.listeners["CLIENT"]
    options = {"client.security.sasl.mechanism": mechanism, "client.security.sasl.username": "alice"}
    with lakeward.connect(where, **options, **{"client.security.sasl.password": "alice-secret"}) as connection:
        assert "fluss" in connection.databases()
    with (
        pytest.raises(DeniedError),
        lakeward.connect(where, **options, **{"client.security.sasl.password": "admin-secret"}) as connection,
    ):
        connection.databases()


@pytest.mark.parametrize("api", [api for api in Api if api not in (Api.API_VERSIONS, Api.AUTHENTICATE)])
def test_a_stranger_may_ask_nothing(client: WireClient, api: Api) -> None:
    """Whatever the API and whatever the body: 46, and the connection is good for a login afterwards."""
    client.call(Api.API_VERSIONS, HELLO)
    request_id, frame = client.frame(api.value, 0, b"\xff garbage")
    client.send_bytes(frame)
    assert client.frame_of(request_id).error.error_code == AUTHENTICATE
    log_in(client, "alice", "alice-secret")
    client.call(Api.GET_METADATA, MetadataRequest())


def test_many_at_once_before_the_login_get_nothing(client: WireClient) -> None:
    """Requests that come behind a login in one piece wait for it; those in front of it are refused."""
    early, login, late = client.send_all(
        [
            (Api.GET_METADATA, MetadataRequest()),
            (Api.AUTHENTICATE, plain_token("alice", "alice-secret")),
            (Api.GET_METADATA, MetadataRequest()),
        ]
    )
    assert client.frame_of(early).error.error_code == AUTHENTICATE
    assert client.answer(login).challenge is None
    assert client.answer(late).coordinator_server is not None


def test_a_login_may_be_said_again(client: WireClient) -> None:
    """pyfluss answers an empty challenge; who is in stays who they are, whatever they say."""
    log_in(client, "alice", "alice-secret")
    client.call(Api.AUTHENTICATE, AuthenticateRequest(protocol="PLAIN", token=b""))
    client.call(Api.AUTHENTICATE, plain_token("admin", "wrong"))
    client.call(Api.GET_METADATA, MetadataRequest())


@pytest.mark.parametrize(
    "request_",
    [
        plain_token("alice", "wrong"),
        plain_token("alice", ""),
        plain_token("", "alice-secret"),
        plain_token("alice", "alice-secret", for_whom="admin"),
        AuthenticateRequest(protocol="PLAIN", token=b""),
        AuthenticateRequest(protocol="PLAIN", token=b"\xff\0\xff\0\xff"),
        AuthenticateRequest(protocol="PLAIN", token=b"\0" * 2000),
        AuthenticateRequest(protocol="PLAIN", token=b"\0alice\0" + b"x" * 8000),
        AuthenticateRequest(protocol="GSSAPI", token=b"\0alice\0alice-secret"),
        AuthenticateRequest(protocol="\x1b[31m", token=b""),
        AuthenticateRequest(protocol="SCRAM-SHA-256", token=b"\0alice\0alice-secret"),
        AuthenticateRequest(protocol="PLAINTEXT", token=b""),
    ],
    ids=lambda request: repr(request)[:60],
)
def test_a_wrong_login_is_the_last_thing_a_client_says(client: WireClient, request_: AuthenticateRequest) -> None:
    """It is answered with 46, and the connection ends in good order."""
    client.call(Api.API_VERSIONS, HELLO)
    assert client.error_code(Api.AUTHENTICATE, request_) == AUTHENTICATE
    assert client.is_closed_by_server()


def test_one_may_say_that_one_comes_for_oneself(client: WireClient) -> None:
    """The first part of a PLAIN message may be one's own name."""
    client.call(Api.AUTHENTICATE, plain_token("alice", "alice-secret", for_whom="alice"))
    client.call(Api.GET_METADATA, MetadataRequest())


def test_a_proof_must_be_for_this_login(client: WireClient) -> None:
    """A second first message is no proof."""
    first = AuthenticateRequest(protocol="SCRAM-SHA-256", token=b"n,,n=alice,r=abcdef")
    challenge = client.call(Api.AUTHENTICATE, first).challenge
    assert challenge.startswith(b"r=abcdef")
    assert client.error_code(Api.AUTHENTICATE, first) == AUTHENTICATE
    assert client.is_closed_by_server()


def test_nobody_learns_who_is_known(asking: ServerProcess) -> None:
    """Somebody who is not known is asked for a proof, always with the same salt, and refused like a wrong password."""
    salts = []
    for _ in range(2):
        with WireClient.of(asking.listeners["CLIENT"]) as client:
            first = AuthenticateRequest(protocol="SCRAM-SHA-256", token=b"n,,n=nobody,r=abcdef")
            challenge = client.call(Api.AUTHENTICATE, first).challenge.decode()
            salts.append(challenge.partition(",s=")[2])
    assert salts[0] == salts[1]
    with WireClient.of(asking.listeners["CLIENT"]) as client, pytest.raises(LakewardError) as refused:
        log_in_by_scram(client, "nobody", "alice-secret")
    assert refused.value.code is ErrorCode.AUTHENTICATE


def test_a_stranger_gets_no_memory(client: WireClient) -> None:
    """A frame that is larger than any login ends the connection before it is read."""
    client.call(Api.API_VERSIONS, HELLO)
    client.send_bytes((50 << 20).to_bytes(4, "big"))
    assert client.is_closed_by_server()


def test_pages_ask_too(asking: ServerProcess) -> None:
    """/health and /metrics of a listener that asks are for users; those of an open one for everybody."""

    def page(listener: str, path: str, login: str | None = None) -> int:
        request = urllib.request.Request(f"http://{asking.listeners[listener]}{path}")
        if login is not None:
            request.add_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
        try:
            with urllib.request.urlopen(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as wrong:
            return wrong.code if wrong.headers["WWW-Authenticate"].startswith("Basic") else 0

    for path in ("/health", "/metrics", "/remote"):
        assert page("CLIENT", path) == 401
        assert page("CLIENT", path, "alice:wrong") == 401
        assert page("CLIENT", path, "nobody:alice-secret") == 401
    assert page("CLIENT", "/health", "alice:alice-secret") == 200
    assert page("CLIENT", "/metrics", "alice:alice-secret") == 200
    assert page("FLUSS", "/metrics") == 200


def test_a_login_has_its_time(tmp_path: Path) -> None:
    """Whoever does not log in, or stops in the middle of it, is sent away; whoever is in stays."""
    with ServerProcess(
        tmp_path / "data", security__sasl__plain__jaas__config=JAAS, security__login__timeout="1s", **ASKING
    ) as server:
        where = server.listeners["CLIENT"]
        with WireClient.of(where) as silent, WireClient.of(where) as half, WireClient.of(where) as inside:
            log_in(inside, "alice", "alice-secret")
            first = AuthenticateRequest(protocol="SCRAM-SHA-256", token=b"n,,n=alice,r=abcdef")
            half.call(Api.AUTHENTICATE, first)
            assert half.is_closed_by_server()
            assert silent.is_closed_by_server()
            inside.call(Api.GET_METADATA, MetadataRequest())


@pytest.mark.long
def test_too_many_wrong_logins_are_told_to_wait(tmp_path: Path) -> None:
    """After so many of an address in a minute even a right password is not looked at, and may be tried again."""
    with ServerProcess(
        tmp_path / "data",
        security__sasl__plain__jaas__config=JAAS,
        security__login__max_failures_per_minute="3",
        **ASKING,
    ) as server:
        where = server.listeners["CLIENT"]
        for _ in range(3):
            with WireClient.of(where) as client:
                assert client.error_code(Api.AUTHENTICATE, plain_token("alice", "wrong")) == AUTHENTICATE
        with WireClient.of(where) as client:
            assert client.error_code(Api.AUTHENTICATE, plain_token("alice", "alice-secret")) == RETRIABLE
            assert client.error_code(Api.AUTHENTICATE, plain_token("alice", "alice-secret")) == RETRIABLE
            client.call(Api.API_VERSIONS, HELLO)
        with urllib.request.urlopen(f"http://{server.listeners['FLUSS']}/metrics") as answer:
            metrics = answer.read().decode()
        assert 'lakeward_logins_total{mechanism="PLAIN",result="refused"} 3' in metrics


def test_a_listener_may_have_users_of_its_own(tmp_path: Path) -> None:
    """Instead of everybody's; those of `security.sasl.plain.credentials` are known on all, and win."""
    with ServerProcess(
        tmp_path / "data",
        bind__listeners="CLIENT://localhost:0,ADMIN://localhost:0",
        security__protocol__map="CLIENT:SASL,ADMIN:sasl",
        security__sasl__enabled__mechanisms="plain",
        security__sasl__plain__jaas__config='x required user_alice="of-all" user_bob="of-all";',
        security__sasl__listener__name__admin__plain__jaas__config='x required user_root="of-admin";',
        security__sasl__plain__credentials="bob:wins,carol:everywhere",
        security__login__failure_pause="10ms",
    ) as server:
        cases = [
            ("CLIENT", "alice", "of-all", True),
            ("ADMIN", "alice", "of-all", False),
            ("ADMIN", "root", "of-admin", True),
            ("CLIENT", "root", "of-admin", False),
            ("CLIENT", "bob", "of-all", False),
            ("CLIENT", "bob", "wins", True),
            ("ADMIN", "carol", "everywhere", True),
        ]
        for listener, name, password, is_let_in in cases:
            with WireClient.of(server.listeners[listener]) as client:
                code = client.error_code(Api.AUTHENTICATE, plain_token(name, password))
                assert (code == 0) is is_let_in, (listener, name)
        with WireClient.of(server.listeners["CLIENT"]) as client, pytest.raises(DeniedError, match="these are: PLAIN"):
            log_in_by_scram(client, "alice", "of-all")


def test_an_open_door_to_others_is_told(tmp_path: Path) -> None:
    """At each start: a listener that other machines reach and that asks nobody; one on this machine is nobody's."""
    listeners = "FLUSS://localhost:0,ALL://0.0.0.0:0,SOME://0.0.0.0:0"
    with ServerProcess(tmp_path / "data", bind__listeners=listeners, security__protocol__map="SOME:SASL") as server:
        said = server.log_text
    assert "The listener ALL://0.0.0.0:0 is PLAINTEXT and asks nobody for a login" in said
    assert "The listener SOME://0.0.0.0:0 is SASL, not encrypted" in said
    assert "FLUSS://" not in said
