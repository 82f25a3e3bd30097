"""Options of grants, of the record and of quotas."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.model.principal import Principal
from lakeward.options import authorization as rows
from lakeward.options.server_options import ServerOptions

GUARDED = {"authorizer.enabled": "true"}


def test_super_users_are_principals_by_semicolons() -> None:
    """As Apache Fluss writes them; the name of a certificate may hold commas and colons."""
    options = ServerOptions.of({**GUARDED, "super.users": "User:admin; User:CN=ops:1,O=Shop ;"})
    assert options.get(rows.SUPER_USERS) == (Principal("admin"), Principal("CN=ops:1,O=Shop"))
    assert rows.SUPER_USERS.parse(rows.SUPER_USERS.show(options.get(rows.SUPER_USERS))) == options.get(rows.SUPER_USERS)


@pytest.mark.parametrize("text", ["admin", "User:", ":admin", "User:a;b"])
def test_a_super_user_without_type_or_name_is_refused(text: str) -> None:
    """Nobody shall believe in a super user who is none."""
    with pytest.raises(LakewardError, match=r"super\.users"):
        ServerOptions.of({**GUARDED, "super.users": text})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("super.users", "User:admin"),
        ("security.acl.principal.ignore-case", "true"),
        ("authorizer.max-acls", "10"),
        ("authorizer.tiering-calls", "open"),
    ],
)
def test_settings_of_grants_without_grants_are_refused(key: str, value: str) -> None:
    """The server would be open, and somebody believes that it is not; who says `false` knows."""
    with pytest.raises(LakewardError, match="open to everybody"):
        ServerOptions.of({key: value})
    ServerOptions.of({key: value, "authorizer.enabled": "false"})


def test_another_authorizer_is_refused() -> None:
    """There is one."""
    ServerOptions.of({**GUARDED, "authorizer.type": "default"})
    with pytest.raises(LakewardError, match=r"authorizer\.type"):
        ServerOptions.of({**GUARDED, "authorizer.type": "com.example.MyAuthorizer"})


def test_rates_by_user() -> None:
    """Names may hold what certificates put into them."""
    kind = rows.QUOTA_USERS_BYTES
    assert kind.parse("alice:10mb; CN=bob,O=x:y:1kb") == {"alice": 10 << 20, "CN=bob,O=x:y": 1024}
    assert kind.show({"alice": 10 << 20}) == "alice:10mb"


@pytest.mark.parametrize("text", ["alice", "alice:", ":5", "alice:many", "alice:1;alice:2", "alice:-1"])
def test_rates_that_are_none_are_refused(text: str) -> None:
    """A limit that nobody can read would be no limit."""
    with pytest.raises(LakewardError, match=r"quota\.users"):
        rows.QUOTA_USERS_REQUESTS.parse(text)
