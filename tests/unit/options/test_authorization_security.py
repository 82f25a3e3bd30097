"""Options of security that nothing obeys are refused, and no password in a place is taken."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.options.secrets import may_be_told, without_passwords
from lakeward.options.server_options import ServerOptions

_REFUSED = {
    "security.no.such.thing": "hush",
    "security.sasl.listener.name.fluss.scram.config": "hush",
    "authorizer.no.such.thing": "hush",
    "acl.no.such.thing": "hush",
    "super.users": "User:alice",
}


@pytest.mark.parametrize("key", _REFUSED)
def test_what_nothing_obeys_is_refused(key: str) -> None:
    """It would be open, or more open than somebody believes; the error names the option and not its value."""
    with pytest.raises(LakewardError) as refused:
        ServerOptions.of({key: _REFUSED[key], "security.protocol.map": "FLUSS:SASL"})
    assert "hush" not in refused.value.message
    assert key in refused.value.message


def test_what_holds_anyway_may_be_said() -> None:
    """Plain text and no grants are what an open server does."""
    ServerOptions.of({"security.protocol.map": "FLUSS:PLAINTEXT,CLIENT:plaintext", "authorizer.enabled": "false"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("s3.endpoint", "http://me:hush@minio:9000"),
        ("remote.data.dir", "s3://me:hush@bucket/prefix"),
        ("s3.endpoint", "http://minio:9000?secret=hush"),
    ],
)
def test_a_password_in_a_place_is_refused_and_not_repeated(key: str, value: str) -> None:
    """Places are told to clients and stand in errors."""
    with pytest.raises(LakewardError, match=key) as refused:
        ServerOptions.of({key: value})
    assert "hush" not in refused.value.message


def test_urls_lose_their_passwords() -> None:
    """User and password go, and parameters that look like one; all else stays."""
    assert without_passwords("see http://a:b@host:1/x and s3://bucket/y") == "see http://host:1/x and s3://bucket/y"
    assert (
        without_passwords("jdbc:postgresql://h/db?ssl=1&password=b") == "jdbc:postgresql://h/db?ssl=1&password=******"
    )


@pytest.mark.parametrize(
    "name", ["token", "credential", "s3.secret-access-key", "header.Authorization", "jdbc.password"]
)
def test_what_is_not_listed_is_not_told(name: str) -> None:
    """Names of secrets cannot be listed; names that are none can."""
    assert not may_be_told(name)
    assert may_be_told("s3.endpoint")
    assert may_be_told("warehouse")
