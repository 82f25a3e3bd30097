"""Our client at listeners that ask who comes, encrypt, or both: who is let in, who is not, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from cli_process import Cli
from server_process import ServerProcess

import lakeward as lw
from lakeward.errors import DeniedError, ErrorCode

_PASSWORD = "alice-s3cret"
_USERS = f'PlainLoginModule required user_alice="{_PASSWORD}" user_bob="bob-s3cret";'
MECHANISMS = ("PLAIN", "SCRAM-SHA-256")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Whom everybody trusts here."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def guarded(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a listener of each kind."""
    directory = tmp_path_factory.mktemp("guarded")
    users = directory / "users"
    users.touch(0o600)
    users.write_text(_USERS)
    certificate, key = authority.sign("server", "localhost", "127.0.0.1")
    words = {"OPEN": "PLAINTEXT", "ASKS": "SASL", "HIDES": "SSL", "BOTH": "SASL_SSL"}
    options = {
        "bind__listeners": ",".join(f"{name}://localhost:0" for name in words),
        "security__protocol__map": ",".join(f"{name}:{word}" for name, word in words.items()),
        "security__sasl__plain__jaas__config": f"file:{users}",
        "security__tls__certificate_file": str(certificate),
        "security__tls__key_file": str(key),
        "security__tls__client_ca_file": str(authority.ca_file),
        "security__tls__client_auth": "optional",
        "security__login__failure_pause": "1 ms",
        "internal__listener__name": "OPEN",
        "remote__data__dir": str(directory / "remote"),
    }
    with ServerProcess(directory / "data", **options) as server:
        yield server


def connect(server: ServerProcess, listener: str, **options: str) -> lw.Connection:
    """A connection to one of the listeners."""
    return lw.connect(server.listeners[listener], **options)


def ca(authority: Authority) -> dict[str, str]:
    """What a client needs to trust the server."""
    return {"client.security.tls.ca-file": str(authority.ca_file)}


def alice(mechanism: str = "PLAIN", password: str = _PASSWORD) -> dict[str, str]:
    """Her login."""
    return {"user": "alice", "password": password, "security_sasl_mechanism": mechanism}


def use(conn: lw.Connection, name: str) -> None:
    """Append, read and look up, so that connections for all purposes are opened."""
    table = conn.create_table(f"fluss.{name}", "id INT, name STRING", primary_key="id", buckets=2)
    table.upsert([{"id": 1, "name": "one"}, {"id": 2, "name": "two"}])
    assert table.lookup([{"id": 2}]).to_pylist() == [{"id": 2, "name": "two"}]
    assert table.scan().to_arrow().num_rows == 2
    conn.drop_table(f"fluss.{name}")


@pytest.mark.covering("SCRAM")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_login_opens_every_connection(guarded: ServerProcess, mechanism: str) -> None:
    """Those for metadata, administration, writes and reads are all asked, and all let in."""
    with connect(guarded, "ASKS", **alice(mechanism)) as conn:
        use(conn, f"log_in_{mechanism.replace('-', '_')}")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_both_at_once(guarded: ServerProcess, authority: Authority, mechanism: str) -> None:
    """A login over TLS."""
    with connect(guarded, "BOTH", **alice(mechanism), **ca(authority)) as conn:
        use(conn, f"both_{mechanism.replace('-', '_')}")


async def test_asyncio_too(guarded: ServerProcess, authority: Authority) -> None:
    """The other door, on asyncio's own loop."""
    async with await lw.aconnect(guarded.listeners["BOTH"], **alice("SCRAM-SHA-256"), **ca(authority)) as conn:
        table = await conn.create_table("fluss.by_asyncio", "id INT")
        await table.append([{"id": 1}])
        assert (await table.scan().to_arrow()).num_rows == 1
        await conn.drop_table("fluss.by_asyncio")


def test_encryption_alone(guarded: ServerProcess, authority: Authority) -> None:
    """Also with rows that fill many records of TLS."""
    with connect(guarded, "HIDES", **ca(authority)) as conn:
        use(conn, "hidden")
        table = conn.create_table("fluss.large", "id INT, text STRING")
        table.append([{"id": i, "text": f"{i}" * 5000} for i in range(2000)])
        assert table.scan().to_arrow().num_rows == 2000
        conn.drop_table("fluss.large")


def test_a_certificate_is_shown(guarded: ServerProcess, authority: Authority) -> None:
    """Where the server takes it, with its key's password from a file."""
    certificate, key = authority.sign("carol", password="key-s3cret")
    password = key.with_suffix(".pw")
    password.touch(0o600)
    password.write_text("key-s3cret\n")
    shown = {
        "client.security.tls.certificate-file": str(certificate),
        "client.security.tls.key-file": str(key),
        "client.security.tls.key-password": f"file:{password}",
    }
    with connect(guarded, "HIDES", **ca(authority), **shown) as conn:
        assert "fluss" in conn.databases()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [("alice", "wr0ng"), ("nobody", _PASSWORD)])
def test_wrong_logins_are_refused_alike(guarded: ServerProcess, mechanism: str, user: str, password: str) -> None:
    """The error names the address and the user; it says neither the password nor which of the two was wrong."""
    with pytest.raises(DeniedError) as refused:
        connect(guarded, "ASKS", user=user, password=password, security_sasl_mechanism=mechanism)
    said = str(refused.value)
    assert refused.value.code is ErrorCode.AUTHENTICATE
    assert guarded.listeners["ASKS"].rpartition(":")[2] in said
    assert password not in said
    assert user in said


def test_who_does_not_log_in_is_told_so(guarded: ServerProcess) -> None:
    """At a listener that asks, without credentials."""
    with pytest.raises(DeniedError):
        connect(guarded, "ASKS")


def test_a_login_where_nobody_asks_is_an_error(guarded: ServerProcess) -> None:
    """Who wants to be somebody must not be nobody unawares."""
    with pytest.raises(DeniedError):
        connect(guarded, "OPEN", **alice())


def test_tls_and_plain_text_do_not_mix(guarded: ServerProcess, authority: Authority) -> None:
    """Neither way around; nothing waits for long."""
    with pytest.raises(DeniedError, match="does not speak TLS"):
        connect(guarded, "OPEN", **ca(authority))
    with pytest.raises(lw.LakewardError, match="may expect TLS"):
        connect(guarded, "HIDES", connect_timeout="3 s")


def test_a_server_that_is_not_trusted_never_hears_the_password(guarded: ServerProcess, tmp_path: Path) -> None:
    """The certificate comes first."""
    other = Authority(tmp_path)
    with pytest.raises(DeniedError, match="not trusted"):
        connect(guarded, "BOTH", **alice(), **ca(other))


def test_a_password_that_changes_in_its_file_is_used_from_then_on(guarded: ServerProcess, tmp_path: Path) -> None:
    """Each new connection looks it up; those that are open stay."""
    file = tmp_path / "pw"
    file.touch(0o600)
    file.write_text("wr0ng")
    with pytest.raises(DeniedError):
        connect(guarded, "ASKS", **alice(password=f"file:{file}"))
    file.write_text(f"{_PASSWORD}\n")
    with connect(guarded, "ASKS", **alice(password=f"file:{file}")) as conn:
        use(conn, "changed_password")


def test_after_a_restart_everybody_logs_in_again(authority: Authority, tmp_path: Path) -> None:
    """A connection that was lost is opened anew, with the same login."""
    certificate, key = authority.sign("again", "localhost")
    options = {
        "bind__listeners": "BOTH://localhost:0",
        "security__protocol__map": "BOTH:SASL_SSL",
        "security__sasl__plain__credentials": f"alice:{_PASSWORD}",
        "security__tls__certificate_file": str(certificate),
        "security__tls__key_file": str(key),
        "internal__listener__name": "BOTH",
    }
    with ServerProcess(tmp_path / "data", **options) as server:
        server.options["bind.listeners"] = f"BOTH://{server.bootstrap}"
        with lw.connect(server.bootstrap, **alice("SCRAM-SHA-256"), **ca(authority)) as conn:
            table = conn.create_table("fluss.kept", "id INT")
            table.append([{"id": 1}])
            server.restart()
            table.append([{"id": 2}])
            assert table.scan().to_arrow().num_rows == 2


@pytest.fixture
def cli(guarded: ServerProcess, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line of alice, who trusts the server's authority, at the listener that asks and encrypts."""
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text(_PASSWORD)
    monkeypatch.setenv("LAKEWARD_USER", "alice")
    monkeypatch.setenv("LAKEWARD_PASSWORD_FILE", str(password))
    monkeypatch.setenv("LAKEWARD_CA_FILE", str(authority.ca_file))
    return Cli(guarded.listeners["BOTH"], tmp_path)


def test_the_command_line_logs_in_over_tls(cli: Cli) -> None:
    """Tables and rows, all from the environment."""
    cli.ok("tables", "create", "fluss.by_hand", "id INT")
    cli.ok("append", "fluss.by_hand", "-", "--format", "csv", stdin="id\n1\n")
    assert cli.rows("head", "fluss.by_hand") == [{"id": 1}]
    cli.ok("tables", "drop", "fluss.by_hand", "--yes")


def test_pages_of_the_server_are_asked_for_by_the_same_login(cli: Cli) -> None:
    """HTTP over TLS, with the password as a header."""
    assert cli.document("remote", "status")["store"]


def test_a_stranger_at_the_command_line_is_told_what_to_do(
    guarded: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1, one sentence, and how to log in."""
    monkeypatch.delenv("LAKEWARD_USER", raising=False)
    done = Cli(guarded.listeners["ASKS"], tmp_path).run("databases", "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--user says who you are" in done.stderr
    assert "Traceback" not in done.stderr
