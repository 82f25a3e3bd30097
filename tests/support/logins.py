"""Servers that ask who somebody is, and the ways to tell them."""

from __future__ import annotations

from typing import Any

from wire_client import HELLO, WireClient

from lakeward.protocol.api import Api
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.runtime.scram import MECHANISM, NONCE_BYTES, ScramClient, new_nonce

JAAS = 'org.apache.fluss.PlainLoginModule required user_admin="admin-secret" user_alice="alice-secret";'
#: An open listener, and one that asks; ServerProcess knows where each is.
ASKING = {
    "bind__listeners": "FLUSS://localhost:0,CLIENT://localhost:0",
    "security__protocol__map": "CLIENT:SASL",
    "security__login__failure_pause": "10ms",
}


def plain_token(name: str, password: str, for_whom: str = "") -> AuthenticateRequest:
    """A login by PLAIN."""
    return AuthenticateRequest(protocol="PLAIN", token=f"{for_whom}\0{name}\0{password}".encode())


def log_in(client: WireClient, name: str, password: str) -> Any:
    """Say hello, and log in by PLAIN."""
    client.call(Api.API_VERSIONS, HELLO)
    return client.call(Api.AUTHENTICATE, plain_token(name, password))


def log_in_by_scram(client: WireClient, name: str, password: str) -> None:
    """Prove the password, and let the server prove that it knows it."""
    proving = ScramClient(name, password, new_nonce(bytes(NONCE_BYTES)))

    def say(token: bytes) -> bytes:
        challenge = client.call(Api.AUTHENTICATE, AuthenticateRequest(protocol=MECHANISM, token=token)).challenge
        return challenge or b""

    proving.check(say(proving.final(say(proving.first()))))


def fluss_options(bootstrap: str, name: str, password: str) -> dict[str, str]:
    """How pyfluss is told to log in."""
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "sasl",
        "security.sasl.mechanism": "PLAIN",
        "security.sasl.username": name,
        "security.sasl.password": password,
    }
