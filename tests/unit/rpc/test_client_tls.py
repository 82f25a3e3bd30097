"""TLS of the client: whom it trusts, what it shows, and what it says when it does not come about."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from certificates import Authority

from lakeward.errors import DeniedError, InvalidError, LakewardError
from lakeward.rpc.client_tls import ClientTls, refusal
from lakeward.runtime.secret_text import SecretText


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Whom both ends trust."""
    return Authority(tmp_path)


@asynccontextmanager
async def served(authority: Authority, *hosts: str, asks: bool = False) -> AsyncIterator[int]:
    """A port that answers one byte by TLS, with a certificate for some hosts; it may ask for the client's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign("server", *hosts))
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.ca_file)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def call(tls: ClientTls, port: int) -> bytes:
    """One byte of the server, or why not."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls.context())
        got = await reader.read(1)
        writer.close()
    except ssl.SSLError as wrong:
        raise refusal(f"127.0.0.1:{port}", wrong) from wrong
    return got


async def test_a_server_of_the_authority_is_trusted(authority: Authority) -> None:
    """The CA file is all that is needed."""
    async with served(authority, "127.0.0.1") as port:
        assert await call(ClientTls(ca_file=str(authority.ca_file)), port) == b"x"


async def test_a_server_of_another_authority_is_not(authority: Authority, tmp_path: Path) -> None:
    """Neither without a CA file, since this machine does not know it, nor with another's."""
    other = Authority(tmp_path, "other")
    async with served(authority, "127.0.0.1") as port:
        for tls in (ClientTls(), ClientTls(ca_file=str(other.ca_file))):
            with pytest.raises(DeniedError, match=f"127.0.0.1:{port}: its certificate is not trusted"):
                await call(tls, port)


async def test_a_certificate_for_another_host_is_refused_unless_names_do_not_count(authority: Authority) -> None:
    """The name is checked by default; who turns that off still checks the authority."""
    async with served(authority, "elsewhere.example") as port:
        with pytest.raises(DeniedError, match="not trusted"):
            await call(ClientTls(ca_file=str(authority.ca_file)), port)
        assert await call(ClientTls(ca_file=str(authority.ca_file), verify_hostname=False), port) == b"x"
        with pytest.raises(DeniedError, match="not trusted"):
            await call(ClientTls(verify_hostname=False), port)


async def test_a_client_shows_its_certificate(authority: Authority) -> None:
    """With its key in a file of its own, encrypted or not."""
    ca = str(authority.ca_file)
    plain = tuple(map(str, authority.sign("alice")))
    locked = tuple(map(str, authority.sign("bob", password="key-secret")))
    async with served(authority, "127.0.0.1", asks=True) as port:
        assert await call(ClientTls(ca, *plain), port) == b"x"
        assert await call(ClientTls(ca, *locked, SecretText("k", "key-secret")), port) == b"x"


async def test_a_changed_file_makes_a_new_context(authority: Authority, tmp_path: Path) -> None:
    """Certificates are renewed while programs run; meanwhile the context is made once."""
    certificate, key = authority.sign("alice")
    tls = ClientTls(str(authority.ca_file), str(certificate), str(key))
    first = tls.context()
    assert tls.context() is first
    authority.sign("alice", "127.0.0.1")
    assert tls.context() is not first


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"ca_file": "none.pem"}, "cannot be read"),
        ({"ca_file": "alice.key"}, "no certificates"),
        ({"certificate_file": "none.pem"}, "cannot be read"),
        ({"certificate_file": "alice.pem", "key_file": "ca.pem"}, "chmod 600"),
        ({"certificate_file": "alice.pem", "key_file": "bob.key"}, "no certificate with its key"),
        ({"certificate_file": "locked.pem", "key_file": "locked.key"}, "no certificate with its key"),
    ],
)
def test_files_that_cannot_be_used_are_named(
    authority: Authority, tmp_path: Path, files: dict[str, str], why: str
) -> None:
    """Missing, of another kind, readable by others, not a pair, or encrypted without a password: never a question."""
    authority.sign("alice")
    authority.sign("bob")
    authority.sign("locked", password="key-secret")
    authority.ca_file.chmod(0o644)  # whatever umask the tests run under
    with pytest.raises(InvalidError, match=why):
        ClientTls(**{name: str(tmp_path / file) for name, file in files.items()}).context()


def test_old_versions_are_not_spoken(authority: Authority) -> None:
    """TLS 1.2 at least."""
    assert ClientTls().context().minimum_version >= ssl.TLSVersion.TLSv1_2


async def test_a_server_without_tls_is_told_as_such() -> None:
    """Not as a version number that is wrong."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\0\0\0\1\2")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        with pytest.raises(LakewardError, match="does not speak TLS"):
            await call(ClientTls(), server.sockets[0].getsockname()[1])
