"""SCRAM-SHA-256: the client proves the password, the server proves that it knows it, and nobody sends it."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.errors import DeniedError
from lakeward.runtime import scram
from lakeward.runtime.scram import ClientFirst, ScramClient, ScramSecret, ServerFirst

FEW = scram.ITERATIONS_MIN
#: The example of RFC 7677, section 3.
RFC_SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
RFC_CLIENT_NONCE, RFC_SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
RFC_SIGNATURE = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
SECRET = ScramSecret.of("pencil", RFC_SALT, FEW)


def client(password: str = "pencil", name: str = "user") -> ScramClient:
    """The client of the RFC's example."""
    return ScramClient(name, password, RFC_CLIENT_NONCE)


def challenge(first: bytes) -> ServerFirst:
    """What the server of the RFC's example says to a first message."""
    return ServerFirst(ClientFirst.read(first), RFC_SERVER_NONCE, RFC_SALT, FEW)


def test_the_example_of_the_rfc_comes_out() -> None:
    """Every message is, byte for byte, the one of RFC 7677."""
    asking = client()
    first = asking.first()
    assert first == b"n,,n=user,r=" + RFC_CLIENT_NONCE.encode()
    said = challenge(first)
    assert said.client.username == "user"
    nonce = RFC_CLIENT_NONCE + RFC_SERVER_NONCE
    assert said.message == f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    final = asking.final(said.message)
    assert final == f"c=biws,r={nonce},p={RFC_PROOF}".encode()
    assert said.check(final, SECRET) == RFC_SIGNATURE
    asking.check(RFC_SIGNATURE)


@pytest.mark.parametrize("name", ["a,b", "a=b", "=2C", "käthe", "\u2168"])
def test_any_name_comes_through(name: str) -> None:
    """Commas, equal signs and letters of all kinds are told apart from the message around them."""
    assert ClientFirst.read(client(name=name).first()).username == scram.prepared_text(name)


def test_a_wrong_password_is_refused() -> None:
    """The proof of another password is no proof, and the error says no more than that."""
    asking = client("pencil case")
    said = challenge(asking.first())
    with pytest.raises(DeniedError, match=r"^Authentication failed\.$"):
        said.check(asking.final(said.message), SECRET)


def test_a_server_without_the_secret_is_found_out() -> None:
    """A server that merely says yes does not have the user's secret, and the client sees it."""
    asking = client()
    said = challenge(asking.first())
    asking.final(said.message)
    with pytest.raises(DeniedError, match="another server"):
        asking.check(b"v=" + base64.b64encode(bytes(32)))
    with pytest.raises(DeniedError, match="did not show"):
        asking.check(b"x=1")
    with pytest.raises(DeniedError, match="did not show"):
        client().check(b"v=")  # before anything was proven


def test_a_secret_tells_its_password_from_others_and_shows_neither() -> None:
    """Passwords are compared in one form, and nothing printable holds a key."""
    secret = ScramSecret.of("\u00e9t\u00e9", b"salt", FEW)
    assert secret.is_of("e\u0301te\u0301")
    assert not secret.is_of("ete")
    assert repr(secret) == f"ScramSecret(iterations={FEW})"


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff",
        b"n,,",
        b"n,,n=,r=x",
        b"n,,n=user",
        b"n,,r=x,n=user",
        b"n,,n=us=er,r=x",
        b"n,,n=user,r=",
        b"n,,n=user,r=\x7f",
        b"n,,n=user,n=user,r=x",
        b"n,,m=what,n=user,r=x",
        b"p=tls-exporter,,n=user,r=x",
        b"n,a=admin,n=user,r=x",
        b"n,,n=user,r=" + b"x" * 300,
        b"n,,n=" + b"x" * scram.MESSAGE_BYTES_MAX + b",r=x",
    ],
)
def test_a_first_message_that_cannot_be_read_is_refused(message: bytes) -> None:
    """Whatever a client sends first, it is a name and a nonce or an error 46."""
    with pytest.raises(DeniedError, match="was refused"):
        ClientFirst.read(message)


def test_who_comes_in_their_own_name_may_say_so() -> None:
    """A name to act for is fine when it is one's own; `y` means that the client knows of bindings, too."""
    assert ClientFirst.read(b"y,a=user,n=user,r=x").username == "user"


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff",
        b"c=biws,r={nonce}",
        b"c=biws,r=other,p={proof}",
        b"c=eSws,r={nonce},p={proof}",
        b"c=!,r={nonce},p={proof}",
        b"r={nonce},c=biws,p={proof}",
        b"c=biws,r={nonce},p=",
        b"c=biws,r={nonce},p=AAAA",
        b"c=biws,r={nonce},p=not base64",
        b"c=biws,r={nonce},p={proof},p={proof}",
    ],
)
def test_a_last_message_that_proves_nothing_is_refused(message: bytes) -> None:
    """A proof counts for the login that it was made for, and only whole."""
    nonce = (RFC_CLIENT_NONCE + RFC_SERVER_NONCE).encode()
    sent = message.replace(b"{nonce}", nonce).replace(b"{proof}", RFC_PROOF.encode())
    with pytest.raises(DeniedError):
        challenge(client().first()).check(sent, SECRET)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"e=other-error",
        b"r=elsewhere,s=AAAA,i=4096",
        b"r={mine},s=AAAA,i=4096",
        b"r={mine}x,s=,i=4096",
        b"r={mine}x,s=AAAA,i=1",
        b"r={mine}x,s=AAAA,i=999999999",
        b"r={mine}x,s=AAAA,i=many",
        b"s=AAAA,r={mine}x,i=4096",
    ],
)
def test_a_challenge_that_is_unsafe_is_not_answered(message: bytes) -> None:
    """A server that asks for too little or far too much gets no proof to guess with."""
    with pytest.raises(DeniedError, match="was refused"):
        client().final(message.replace(b"{mine}", RFC_CLIENT_NONCE.encode()))


def test_names_and_passwords_that_cannot_be_sent_are_not_quoted() -> None:
    """A control character is refused in a sentence that shows neither name nor password."""
    with pytest.raises(DeniedError, match="The name of the user cannot be sent") as wrong:
        client(name="us\x00er")
    assert "us\x00er" not in str(wrong.value)
    asking = client("pen\x00cil")
    with pytest.raises(DeniedError, match="The password cannot be sent") as wrong:
        asking.final(challenge(asking.first()).message)
    assert "pen\x00cil" not in str(wrong.value)


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_garbage_is_an_error_at_every_step(noise: bytes) -> None:
    """No bytes of the other end make anything else than an error 46."""
    with pytest.raises(DeniedError):
        challenge(client().first()).check(noise, SECRET)
    with pytest.raises(DeniedError):
        client().final(noise)
    with pytest.raises(DeniedError):
        client().check(noise)
