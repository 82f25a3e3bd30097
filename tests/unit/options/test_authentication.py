"""How listeners are closed: a wish for security that no listener fulfils is refused."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.options import authentication as rows
from lakeward.options.authentication import ListenerProtocol, protocol_of
from lakeward.options.server_options import ServerOptions

TWO = {"bind.listeners": "FLUSS://localhost:0,CLIENT://localhost:0"}
ASKING = {**TWO, "security.protocol.map": "CLIENT:sasl"}
ENCRYPTING = {**TWO, "security.protocol.map": "CLIENT:SSL", "security.tls.certificate-file": "server.pem"}


@pytest.mark.parametrize(
    ("word", "protocol"),
    [
        ("PLAINTEXT", ListenerProtocol.PLAINTEXT),
        ("sasl", ListenerProtocol.SASL),
        ("SASL_PLAINTEXT", ListenerProtocol.SASL),
        ("Ssl", ListenerProtocol.SSL),
        ("TLS", ListenerProtocol.SSL),
        ("sasl_ssl", ListenerProtocol.SASL_SSL),
        ("SASL_TLS", ListenerProtocol.SASL_SSL),
    ],
)
def test_protocols_have_names(word: str, protocol: ListenerProtocol) -> None:
    """In any case; a listener that is not named is PLAINTEXT."""
    settings = {"security.protocol.map": f"CLIENT:{word}"}
    assert protocol_of(settings, "CLIENT") is protocol
    assert protocol_of(settings, "FLUSS") is ListenerProtocol.PLAINTEXT
    assert (protocol.asks_who, protocol.encrypts) == ("SASL" in protocol.value, "SSL" in protocol.value)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"security.protocol.map": "FLUSS:KERBEROS"}, "not one of PLAINTEXT, SASL, SSL, SASL_SSL"),
        ({"security.protocol.map": "CLIENT:SASL"}, "no listener has that name"),
        ({"security.sasl.plain.credentials": "alice:hush"}, "no listener asks for a login"),
        ({"security.sasl.plain.jaas.config": "hush"}, "no listener asks for a login"),
        ({"security.sasl.enabled.mechanisms": "PLAIN"}, "no listener asks for a login"),
        ({"security.users.first": "alice:hush"}, "no listener asks for a login"),
        ({"security.login.max-failures-per-minute": "9"}, "no listener asks for a login"),
        ({"security.login.timeout": "9s"}, "no listener asks for a login or encrypts"),
        ({**ASKING, "security.sasl.enabled.mechanisms": "GSSAPI"}, "not one of PLAIN, SCRAM-SHA-256"),
        ({**ASKING, "security.sasl.enabled.mechanisms": ","}, "No mechanism is named"),
        ({**ASKING, "security.sasl.listener.name.fluss.plain.jaas.config": "hush"}, "no listener that asks"),
        ({**ASKING, "security.sasl.listener.name.CLIENT.plain.jaas.config": "hush"}, "in small letters"),
        ({"security.protocol.map": "FLUSS:SSL"}, "'security.tls.certificate-file' is not set"),
        ({"security.tls.certificate-file": "x"}, "no listener encrypts"),
        ({**ASKING, "security.tls.key-password": "hush"}, "no listener encrypts"),
        ({**ENCRYPTING, "security.tls.client-auth": "required"}, "whom to trust"),
        ({**ENCRYPTING, "security.tls.client-ca-file": "x"}, "nobody is asked for a certificate"),
        ({**ENCRYPTING, "security.tls.principal": "subject"}, "nobody is asked for a certificate"),
        ({"bind.listeners": "SASL_PLAINTEXT://localhost:0"}, "sounds like more than PLAINTEXT"),
        ({"bind.listeners": "MY_TLS://localhost:0"}, "sounds like more than PLAINTEXT"),
        ({"bind.listeners": "SSL://localhost:0", "security.protocol.map": "SSL:SASL"}, "sounds like more than SASL"),
    ],
)
def test_a_wish_that_is_not_fulfilled_is_refused(settings: dict[str, str], told: str) -> None:
    """Nobody runs a server that is more open than they said; and no secret is repeated."""
    with pytest.raises(LakewardError, match=told) as refused:
        ServerOptions.of(settings)
    assert "hush" not in refused.value.message


def test_listeners_that_are_closed_are_taken() -> None:
    """All four at once, with what each needs."""
    ServerOptions.of(
        {
            "bind.listeners": "FLUSS://localhost:0,SASL://:0,SSL://:0,SASL_SSL://[::]:0",
            "security.protocol.map": "SASL:SASL,SSL:SSL,SASL_SSL:SASL_SSL",
            "security.sasl.enabled.mechanisms": "plain,scram-sha-256",
            "security.sasl.listener.name.sasl_ssl.plain.jaas.config": "x",
            "security.tls.certificate-file": "server.pem",
            "security.tls.client-ca-file": "ca.pem",
            "security.tls.client-auth": "optional",
        }
    )


def test_every_row_is_obeyed() -> None:
    """What is declared here is on the list of what is honoured, by being declared."""
    assert set(rows.HONOURED) == set(rows.AUTHENTICATION_OPTIONS.rows)
