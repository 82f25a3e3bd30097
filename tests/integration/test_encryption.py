"""TLS: what is said between client and server is theirs, and certificates change without a restart."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import sys
import time
import urllib.request
from pathlib import Path

import forked
import pytest
from eventually import eventually, soon
from logins import JAAS, log_in
from server_process import ServerProcess
from wire_client import HELLO, WireClient

import lakeward
from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.errors import LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.runtime.clock import SystemClock
from lakeward.server.doors import Doors
from lakeward.server.node import start_node


@pytest.fixture
def authority(tmp_path: Path) -> DevAuthority:
    """Certificates for this machine."""
    made = DevAuthority(tmp_path / "certs", SystemClock(), days=2)
    made.server(("localhost", "127.0.0.1", "::1"))
    return made


def encrypting(authority: DevAuthority, protocol: str = "SSL") -> dict[str, str]:
    """Options of a server that encrypts on its one listener."""
    return {
        "security__protocol__map": f"FLUSS:{protocol}",
        "security__tls__certificate_file": str(authority.path("server")),
        "security__tls__key_file": str(authority.path("server", "key")),
    }


def trusting(authority: DevAuthority, user: str | None = None) -> ssl.SSLContext:
    """A client that trusts the authority, and may show who it is."""
    context = ssl.create_default_context(cafile=authority.path("ca"))
    if user is not None:
        context.load_cert_chain(authority.path(user), authority.path(user, "key"))
    return context


def encrypted(server: ServerProcess, context: ssl.SSLContext) -> WireClient:
    """A connection that is encrypted."""
    client = WireClient.of(server.bootstrap)
    client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
    return client


def test_rows_go_and_come_encrypted(tmp_path: Path, authority: DevAuthority) -> None:
    """Our client appends and scans, large batches too; pages are there by https, and nothing without TLS."""
    with ServerProcess(tmp_path / "data", **encrypting(authority)) as server:
        with lakeward.connect(
            server.bootstrap, **{"client.security.tls.ca-file": str(authority.path("ca"))}
        ) as connection:
            table = connection.create_table("fluss.t", "id INT, word STRING", buckets=2)
            table.append([{"id": n, "word": "x" * 1000} for n in range(20_000)])
            assert table.scan().to_arrow().num_rows == 20_000
        page = urllib.request.urlopen(f"https://{server.bootstrap}/health", context=trusting(authority))
        assert page.status == 200
        with encrypted(server, trusting(authority)) as client:
            assert client.socket.version() in {"TLSv1.2", "TLSv1.3"}
            client.call(Api.API_VERSIONS, HELLO)
        with WireClient.of(server.bootstrap) as plain:
            plain.send(Api.API_VERSIONS, HELLO)
            assert plain.is_closed_by_server()


def test_a_login_over_tls(tmp_path: Path, authority: DevAuthority) -> None:
    """Both: encrypted, and nobody gets anything before they log in."""
    options = {**encrypting(authority, "SASL_SSL"), "security__sasl__plain__jaas__config": JAAS}
    with ServerProcess(tmp_path / "data", **options) as server:
        with encrypted(server, trusting(authority)) as client:
            assert client.error_code(Api.GET_METADATA, MetadataRequest()) == 46
            log_in(client, "alice", "alice-secret")
            client.call(Api.GET_METADATA, MetadataRequest())
        given = {
            "client.security.sasl.mechanism": "SCRAM-SHA-256",
            "client.security.sasl.username": "alice",
            "client.security.sasl.password": "alice-secret",
            "client.security.tls.ca-file": str(authority.path("ca")),
        }
        with lakeward.connect(server.bootstrap, **given) as connection:
            assert connection.databases() == ["fluss"]


def test_old_versions_are_refused(tmp_path: Path, authority: DevAuthority) -> None:
    """TLS 1.2 is the oldest that is spoken."""
    with ServerProcess(tmp_path / "data", **encrypting(authority)) as server:
        context = trusting(authority)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="deprecated"):
            context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with pytest.raises(ssl.SSLError):
            encrypted(server, context)
        encrypted(server, trusting(authority)).close()


def test_garbage_instead_of_tls_harms_nobody(tmp_path: Path, authority: DevAuthority) -> None:
    """Noise, a client that says nothing, one that goes in the middle: they are sent away, others are served."""
    with ServerProcess(tmp_path / "data", security__login__timeout="1s", **encrypting(authority)) as server:
        address = server.host, server.port
        silent = socket.create_connection(address, 20)
        hello = socket.create_connection(address, 20)
        hello.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc")  # the beginning of a handshake
        for noise in (b"GET / HTTP/1.1\r\n\r\n", bytes(1000), b"\x16\x03\x01\xff\xff" + b"x" * 65_535):
            with socket.create_connection(address, 20) as client:
                client.sendall(noise)
                assert _is_over(client)
        socket.create_connection(address, 20).close()
        encrypted(server, trusting(authority)).close()
        assert _is_over(silent)
        assert _is_over(hello)
        assert "Traceback" not in server.log_text
        assert "could not be encrypted" in server.log_text
        assert server.stop() == 0


def test_a_new_certificate_is_taken_without_a_restart(tmp_path: Path, authority: DevAuthority) -> None:
    """Those who are connected stay; a pair that does not fit is reported, and what was used before goes on."""
    with ServerProcess(tmp_path / "data", **encrypting(authority)) as server:
        old = encrypted(server, trusting(authority))
        before = old.socket.getpeercert()["serialNumber"]
        authority.server(("localhost",))

        def serial() -> str:
            with encrypted(server, trusting(authority)) as client:
                return str(client.socket.getpeercert()["serialNumber"])

        assert eventually(lambda: serial() != before)
        after = serial()
        authority.path("server", "key").write_text("no key")
        assert eventually(lambda: "do not make a certificate with its key" in server.log_text)
        assert serial() == after
        old.call(Api.API_VERSIONS, HELLO)
        old.close()


@pytest.mark.parametrize(("wanted", "told"), [("subject", "CN=alice"), ("common-name", "alice")])
async def test_a_certificate_says_who_its_owner_is(
    tmp_path: Path, authority: DevAuthority, wanted: str, told: str
) -> None:
    """The subject is the principal; without a certificate, where that may be, one is nobody in particular."""
    authority.client("alice")
    settings = {key.replace("__", ".").replace("_", "-"): value for key, value in encrypting(authority).items()}
    settings |= {
        "data.dir": str(tmp_path / "data"),
        "bind.listeners": "FLUSS://localhost:0",
        "security.tls.client-auth": "optional",
        "security.tls.client-ca-file": str(authority.path("ca")),
        "security.tls.principal": wanted,
    }
    node = await start_node(ServerOptions.of(settings), Doors.of_this_machine())
    try:
        for user, principal in (("alice", told), (None, "ANONYMOUS")):
            _, writer = await asyncio.open_connection(
                "localhost", node.addresses[0].port, ssl=trusting(authority, user)
            )
            assert await soon(lambda: bool(node.front._connections))
            assert {one.principal.name for one in node.front._connections} == {principal}
            writer.close()
            assert await soon(lambda: not node.front._connections)
    finally:
        await node.stop()


def test_a_certificate_may_be_asked_for(tmp_path: Path, authority: DevAuthority) -> None:
    """Then nobody comes in without one, or with one of another authority."""
    authority.client("alice")
    foreign = DevAuthority(tmp_path / "foreign", SystemClock(), days=2)
    foreign.client("mallory")
    options = {
        **encrypting(authority),
        "security__tls__client_auth": "required",
        "security__tls__client_ca_file": str(authority.path("ca")),
    }
    with ServerProcess(tmp_path / "data", **options) as server:
        with encrypted(server, trusting(authority, "alice")) as client:
            client.call(Api.API_VERSIONS, HELLO)
        stranger = trusting(authority)
        stranger.load_cert_chain(foreign.path("mallory"), foreign.path("mallory", "key"))
        for context in (trusting(authority), stranger):
            with pytest.raises((ssl.SSLError, ConnectionError)):  # at the first answer with TLS 1.3
                encrypted(server, context).call(Api.API_VERSIONS, HELLO)


def test_whom_to_trust_is_read_again_too(tmp_path: Path, authority: DevAuthority) -> None:
    """An authority that is taken out of the file vouches for nobody any more."""
    authority.client("alice")
    other = DevAuthority(tmp_path / "other", SystemClock(), days=2)
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(authority.path("ca").read_bytes())
    options = {"security__tls__client_auth": "required", "security__tls__client_ca_file": str(trusted)}
    with ServerProcess(tmp_path / "data", **encrypting(authority), **options) as server:

        def is_let_in() -> bool:
            try:
                with encrypted(server, trusting(authority, "alice")) as client:
                    client.call(Api.API_VERSIONS, HELLO)
            except (ssl.SSLError, ConnectionError):
                return False
            return True

        assert is_let_in()
        trusted.write_bytes(other.path("ca").read_bytes())
        assert eventually(lambda: not is_let_in())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"security.tls.certificate-file": "/no/such/file"}, "it is not there"),
        ({"security.tls.key-file": "{ca.key}"}, "do not make a certificate with its key"),
        ({"security.tls.key-file": "{open}"}, "chmod 600"),
        ({"security.tls.client-auth": "required"}, "'security.tls.client-ca-file', which says whom to trust, is not"),
        ({"security.tls.client-ca-file": "{ca.key}"}, "nobody is asked for a certificate"),
        (
            {"security.tls.client-ca-file": "{ca.key}", "security.tls.client-auth": "optional"},
            "no authority can be read from it",
        ),
        ({"security.protocol.map": "FLUSS:PLAINTEXT"}, "no listener encrypts"),
    ],
)
def test_what_cannot_encrypt_does_not_start(
    tmp_path: Path, authority: DevAuthority, change: dict[str, str], told: str
) -> None:
    """One sentence that says which file, and nothing was made."""
    readable = authority.directory / "open"
    readable.write_bytes(authority.path("server", "key").read_bytes())
    readable.chmod(0o644)
    places = {"{ca.key}": str(authority.path("ca", "key")), "{open}": str(readable)}
    settings = {key.replace("__", ".").replace("_", "-"): value for key, value in encrypting(authority).items()}
    settings |= {key: places.get(value, value) for key, value in change.items()}
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    done = forked.run([*command, *(f"-D{key}={value}" for key, value in settings.items())])
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "data").exists()


def test_our_client_finds_out_a_server_it_cannot_trust(tmp_path: Path, authority: DevAuthority) -> None:
    """Another authority's certificate is an error that says so, soon."""
    foreign = DevAuthority(tmp_path / "foreign", SystemClock(), days=2)
    with ServerProcess(tmp_path / "data", **encrypting(authority)) as server:
        begun = time.monotonic()
        with (
            pytest.raises(LakewardError),
            lakeward.connect(
                server.bootstrap, **{"client.security.tls.ca-file": str(foreign.path("ca"))}
            ) as connection,
        ):
            connection.databases()
        assert time.monotonic() - begun < 60


def _is_over(client: socket.socket) -> bool:
    """Whether the server hangs up, whatever it says before."""
    with contextlib.suppress(ConnectionError):
        while client.recv(4096):
            pass
    return True
