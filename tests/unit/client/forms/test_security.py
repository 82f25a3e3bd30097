"""Options of security: what they mean together, and what is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from certificates import Authority

from lakeward.client.forms.settings import ClientSettings
from lakeward.errors import InvalidError
from lakeward.rpc.client_security import OPEN, ClientSecurity

USER, PASSWORD = "client.security.sasl.username", "client.security.sasl.password"
PROTOCOL, MECHANISM = "client.security.protocol", "client.security.sasl.mechanism"
JAAS = "client.security.sasl.jaas.config"
_JAVA = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required"
ALICE = {USER: "alice", PASSWORD: "alice-secret"}


def security(**options: str) -> ClientSecurity:
    """What a connection with these options does."""
    return ClientSettings.of(options).security


def test_without_options_nothing_is_done() -> None:
    """Plain text, as before."""
    assert security() is not None
    assert security() == OPEN == security(**{PROTOCOL: "plaintext"})


@pytest.mark.parametrize("protocol", ["sasl", "SASL", None])
def test_credentials_log_in(protocol: str | None) -> None:
    """With Apache Fluss's word for it in any case, and without a word, since nothing else could be meant."""
    login = security(**ALICE, **({} if protocol is None else {PROTOCOL: protocol})).login
    assert login is not None
    assert (login.mechanism, login.user, login.password.reveal()) == ("PLAIN", "alice", "alice-secret")


def test_python_names_are_short() -> None:
    """`connect(…, user=…, password=…)`, and the long names with underscores."""
    login = security(user="alice", password="pw", security_sasl_mechanism="scram-sha-256").login
    assert login is not None
    assert (login.mechanism, login.user, login.password.reveal()) == ("SCRAM-SHA-256", "alice", "pw")


def test_javas_line_is_understood() -> None:
    """Quotes and backslashes in it as Java has them."""
    login = security(**{PROTOCOL: "sasl", JAAS: rf'{_JAVA} username="al\"ice" password="a\\b c;";'}).login
    assert login is not None
    assert (login.user, login.password.reveal()) == ('al"ice', "a\\b c;")


def test_references_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users, passwords, Java's line and keys of a store may be kept elsewhere."""
    file = tmp_path / "pw"
    file.touch(0o600)
    file.write_text("alice-secret\n")
    monkeypatch.setenv("WHO", "alice")
    monkeypatch.setenv("LINE", f'{_JAVA} username="bob" password="bob-secret";')
    login = security(**{USER: "${env:WHO}", PASSWORD: f"file:{file}"}).login
    by_line = security(**{JAAS: "${env:LINE}"}).login
    assert login is not None
    assert by_line is not None
    assert (login.user, login.password.reveal(), by_line.user) == ("alice", "alice-secret", "bob")
    settings = ClientSettings.of({"s3.secret-key": f"file:{file}", "s3.endpoint": "file:/x"})
    assert settings.store_options == {"s3.secret-key": "alice-secret", "s3.endpoint": "file:/x"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({PROTOCOL: "sasl"}, USER),
        ({USER: "alice"}, PASSWORD),
        ({PASSWORD: "x-secret"}, USER),
        ({USER: "", PASSWORD: "x-secret"}, "is empty"),
        ({USER: "alice", PASSWORD: ""}, "is empty"),
        ({**ALICE, PROTOCOL: "PLAINTEXT"}, "without SASL"),
        ({**ALICE, PROTOCOL: "SSL"}, "without SASL"),
        ({**ALICE, JAAS: 'username="x-secret" password="x-secret"'}, "beside it"),
        ({JAAS: "x-secret"}, "not of the form"),
        ({PROTOCOL: "kerberos"}, "not one of PLAINTEXT, SASL, SSL, SASL_SSL"),
        ({**ALICE, MECHANISM: "GSSAPI"}, "not one of PLAIN, SCRAM-SHA-256"),
        ({**ALICE, PASSWORD: "${env:LAKEWARD_NONE}"}, "no variable LAKEWARD_NONE"),
        ({**ALICE, "client.security.tls.ca-file": "/x", PROTOCOL: "sasl"}, "without SSL"),
        ({"client.security.tls.key-file": "/x"}, "certificate-file"),
        ({"client.security.tls.ca-file": "/none"}, "/none cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_telling_secrets(options: dict[str, str], why: str) -> None:
    """An option is obeyed or refused, never passed over; the message names it and no value of a secret."""
    with pytest.raises(InvalidError, match=why) as refused:
        security(**options)
    assert "secret" not in str(refused.value)


def test_certificates_encrypt(tmp_path: Path) -> None:
    """A CA file means TLS; with credentials, both."""
    ca = {"client.security.tls.ca-file": str(Authority(tmp_path).ca_file)}
    alone, both = security(**ca), security(**ca, **ALICE)
    assert alone.tls is not None
    assert alone.login is None
    assert both.tls is not None
    assert both.login is not None
    assert security(**{PROTOCOL: "ssl"}).tls is not None


def test_settings_are_shown_without_secrets() -> None:
    """However a trace prints them."""
    assert "alice-secret" not in repr(ClientSettings.of({**ALICE, "s3.secret-key": "alice-secret"}))
