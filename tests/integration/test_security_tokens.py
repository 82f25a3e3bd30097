"""What clients are given to read remote files: temporary keys of a real STS, and nothing more than they need."""

from __future__ import annotations

import json
from collections.abc import Callable

import pyarrow as pa
import pytest
from eventually import eventually
from pyfluss_session import Session, append, scan
from remote_tables import EAGER
from seaweed import ACCESS_KEY, READ_ONLY_KEY, READ_ONLY_SECRET, ROLE_ARN, SECRET_KEY, Bucket
from server_process import ServerProcess
from wire_client import WireClient, WireCluster
from wire_tables import WireTable

from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenRequest, GetFileSystemSecurityTokenResponse
from lakeward.remote.open_store import open_store
from lakeward.runtime.clock import SystemClock

NewServer = Callable[..., ServerProcess]


def _token(server: ServerProcess) -> GetFileSystemSecurityTokenResponse:
    with WireClient(server.host, server.port) as client:
        answer: GetFileSystemSecurityTokenResponse = client.call(
            Api.GET_FILESYSTEM_SECURITY_TOKEN, GetFileSystemSecurityTokenRequest()
        )
        return answer


def _settings(answer: GetFileSystemSecurityTokenResponse) -> dict[str, str]:
    """As a client makes them out of an answer."""
    token = json.loads(answer.token)
    assert token["version"] == 1
    settings = {pair.key: pair.value for pair in answer.addition_info}
    settings |= {"fs.s3a.access.key": token["access_key_id"], "fs.s3a.secret.key": token["access_key_secret"]}
    return settings | ({"fs.s3a.session.token": token["security_token"]} if token["security_token"] else {})


@pytest.mark.parametrize("role", [None, ROLE_ARN], ids=["own user", "role"])
async def test_a_session_reads_segments_and_snapshots_and_nothing_else(
    s3: Bucket, new_server: NewServer, role: str | None
) -> None:
    """Keys from STS end within the hour; they read log and kv below the prefix, write nothing, see nothing else."""
    options = {"s3__assumed__role__arn": role} if role else {}
    answer = _token(new_server(**s3.server_options, **options))
    left_ms = (answer.expiration_time or 0) - SystemClock().now_ms()
    assert answer.schema == "s3"
    assert 50 * 60_000 < left_ms <= 61 * 60_000
    assert SECRET_KEY.encode() not in answer.token
    ours = open_store(s3.url, s3.settings)
    beside = open_store(f"s3://{s3.name}/other", s3.settings)
    for path in ("log/db/t-1/0/x.log", "kv/db/t-1/0/snap-1/_METADATA", "lakeward/metadata/1.db"):
        await ours.put(path, b"rows")
    await beside.put("log/db/t-1/0/x.log", b"rows")
    given = open_store(s3.url, _settings(answer))
    assert await given.get("log/db/t-1/0/x.log") == b"rows"
    assert await given.get_range("kv/db/t-1/0/snap-1/_METADATA", 1, 3) == b"ow"
    assert [found.path async for found in given.list("log/db")] == ["log/db/t-1/0/x.log"]
    for denied in (
        given.get("lakeward/metadata/1.db"),
        given.put("log/db/t-1/0/x.log", b"forged"),
        given.delete(["log/db/t-1/0/x.log"]),
        open_store(f"s3://{s3.name}/other", _settings(answer)).get("log/db/t-1/0/x.log"),
    ):
        with pytest.raises(DeniedError):
            await denied
    assert await ours.get("log/db/t-1/0/x.log") == b"rows"


def test_a_token_is_asked_for_once_a_minute(s3: Bucket, new_server: NewServer) -> None:
    """However many clients ask, they are given the same session for a while."""
    server = new_server(**s3.server_options)
    assert _token(server) == _token(server)


def test_without_sts_the_error_names_the_options_that_help(s3: Bucket, new_server: NewServer) -> None:
    """Nobody is given the server's own keys by accident; the error says which option would do it, and no secret."""
    server = new_server(**s3.server_options, s3__assumed__role__sts__endpoint="http://127.0.0.1:9")
    with pytest.raises(LakewardError) as caught:
        _token(server)
    assert caught.value.code is ErrorCode.SECURITY_TOKEN
    assert caught.value.message == (
        "http://127.0.0.1:9 did not answer GetFederationToken: connection refused. Name a role for clients in "
        "'s3.assumed.role.arn', or give them keys in 'remote.security-token.access-key', or the server's own by "
        "'remote.security-token.allow-static'."
    )
    assert SECRET_KEY not in server.log_text


def test_the_servers_own_keys_are_given_when_it_is_told_to(s3: Bucket, new_server: NewServer) -> None:
    """remote.security-token.allow-static is for stores without STS: the keys never end."""
    server = new_server(
        **s3.server_options,
        s3__assumed__role__sts__endpoint="http://127.0.0.1:9",
        remote__security_token__allow_static="true",
    )
    answer = _token(server)
    assert json.loads(answer.token) == {
        "version": 1,
        "access_key_id": ACCESS_KEY,
        "access_key_secret": SECRET_KEY,
        "security_token": None,
    }
    assert answer.expiration_time is None
    assert {pair.key: pair.value for pair in answer.addition_info} == {
        "fs.s3a.endpoint": s3.endpoint,
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.path.style.access": "true",
    }


def test_a_directory_needs_no_keys(new_server: NewServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty token says so."""
    answer = _token(new_server(remote__data__dir=str(tmp_path_factory.mktemp("remote"))))
    assert (answer.schema, answer.token) == ("file", b"")


@pytest.mark.oracle
async def test_the_official_client_reads_history_with_the_keys_it_is_given(s3: Bucket, new_server: NewServer) -> None:
    """It has none of its own. pyfluss 1.0.0 sends no token of a session, so they are those of a user who only reads."""
    keys = {
        "remote__security_token__access_key": READ_ONLY_KEY,
        "remote__security_token__secret_key": READ_ONLY_SECRET,
    }
    server = new_server(**s3.server_options, **keys, **EAGER)
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    async with await Session.open(server.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        table = await session.create("history", schema)
        for first in range(0, 10_000, 1000):
            ids = range(first, first + 1000)
            names = pa.array([f"{i * 7919:x}" for i in ids])
            await append(table, pa.record_batch([pa.array(ids, pa.int64()), names], schema=schema))
        with WireCluster.of(server.bootstrap) as cluster:
            wire = WireTable.find(cluster, PbTablePath(database_name="fluss", table_name="history"))
            assert eventually(lambda: wire.fetch(0).remote_log_fetch_info is not None)
        assert (await scan(table)).column("id").to_pylist() == list(range(10_000))
    assert json.loads(_token(server).token)["access_key_id"] == READ_ONLY_KEY
    assert not any(secret in server.log_text for secret in (SECRET_KEY, READ_ONLY_SECRET))
