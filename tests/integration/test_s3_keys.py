"""Keys that are not written into a server's configuration open the store as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from seaweed import ROLE_ARN, Bucket
from server_process import ServerProcess
from wire_client import WireClient

from lakeward.errors import DeniedError, ErrorCode, LakewardError, RetriableError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenRequest
from lakeward.remote.open_store import check_store, open_store

_ENVIRONMENT = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")


@pytest.fixture(autouse=True)
def no_keys_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have keys of their own."""
    for name in _ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def _keyless(bucket: Bucket) -> dict[str, str]:
    return {key: value for key, value in bucket.settings.items() if key not in {"s3.access-key", "s3.secret-key"}}


async def test_keys_of_the_environment(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every tool of AWS takes them; keys in the configuration are not mixed with a token of the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
    await check_store(open_store(s3.url, _keyless(s3)))
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-other-keys")
    await check_store(open_store(s3.url, s3.settings))


async def test_keys_of_a_profile(s3: Bucket, tmp_path: Path) -> None:
    """By its name, or the one called default."""
    (tmp_path / ".aws").mkdir()
    keys = f"aws_access_key_id = {s3.access_key}\naws_secret_access_key = {s3.secret_key}\n"
    (tmp_path / ".aws" / "credentials").write_text(f"[default]\n{keys}[history]\n{keys}")
    await check_store(open_store(s3.url, _keyless(s3)))
    await check_store(open_store(s3.url, {**_keyless(s3), "s3.profile": "history"}))


async def test_no_keys_at_all(s3: Bucket) -> None:
    """Nothing is sent; the sentence says where keys may be put."""
    with pytest.raises(DeniedError, match=r"cannot be used: there are no keys to it; set s3\.access-key"):
        await check_store(open_store(s3.url, _keyless(s3)))


async def test_a_role_that_the_server_works_as(s3: Bucket) -> None:
    """Its own keys only serve to take the role; whatever is stored is stored with the session."""
    store = open_store(s3.url, {**s3.settings, "s3.server.role.arn": ROLE_ARN})
    await check_store(store)
    wrong = {**s3.settings, "s3.server.role.arn": f"{ROLE_ARN}-not", "remote.store.retry-timeout": "300ms"}
    with pytest.raises(DeniedError, match="refused AssumeRole"):
        await check_store(open_store(s3.url, wrong))
    away = {**wrong, "s3.assumed.role.sts.endpoint": "http://127.0.0.1:9"}
    with pytest.raises(RetriableError, match="did not answer AssumeRole: connection refused"):
        await check_store(open_store(s3.url, away))


def test_a_server_with_temporary_keys_needs_a_role_for_clients(
    s3: Bucket, new_server: Callable[..., ServerProcess]
) -> None:
    """A session cannot give sessions of itself; the error names the option for it, and with it clients are served."""
    options = {**s3.server_options, "s3__server__role__arn": ROLE_ARN}
    with (
        WireClient.of(new_server(**options).bootstrap) as client,
        pytest.raises(LakewardError, match=r"Name a role for clients in 's3\.assumed\.role\.arn'") as caught,
    ):
        client.call(Api.GET_FILESYSTEM_SECURITY_TOKEN, GetFileSystemSecurityTokenRequest())
    assert caught.value.code is ErrorCode.SECURITY_TOKEN
