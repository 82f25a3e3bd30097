"""One connection: many requests in flight, answers by id, errors with their code, nothing left waiting."""

from __future__ import annotations

import asyncio

import pytest
from fake_transport import FakeTransport, feed

from lakeward.errors import DeniedError, ErrorCode, LakewardError, NotFoundError, UnsupportedError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode_parts
from lakeward.protocol.frames import REQUEST_HEADER, error_frame, failure_frame, response_frame
from lakeward.protocol.messages.auth import AuthenticateRequest, AuthenticateResponse
from lakeward.protocol.messages.database import (
    DatabaseExistsRequest,
    DatabaseExistsResponse,
    ListDatabasesRequest,
    ListDatabasesResponse,
)
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
)
from lakeward.protocol.messages.metadata import ApiVersionsRequest, ApiVersionsResponse, PbApiVersion
from lakeward.rpc.channel import CLIENT_NAME, Channel
from lakeward.rpc.login import Login
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.secret_text import SecretText


def answer(channel: Channel, request_id: int, message: object) -> None:
    """The server answers."""
    feed(channel, b"".join(response_frame(request_id, encode_parts(message))))


async def open_channel(*offered: PbApiVersion) -> tuple[Channel, FakeTransport]:
    """A channel whose server offers some APIs; request 0 was the handshake."""
    channel = Channel("there", 9123)
    transport = FakeTransport()
    channel.connection_made(transport)  # type: ignore[arg-type]
    shaking = asyncio.ensure_future(channel._negotiate(1000))
    await asyncio.sleep(0)
    answer(channel, 0, ApiVersionsResponse(api_versions=offered))
    await shaking
    transport.written.clear()
    return channel, transport


def offers(*apis: Api) -> list[PbApiVersion]:
    """The APIs as a server lists them."""
    return [PbApiVersion(api_key=a.value, min_version=0, max_version=a.version_max) for a in apis]


async def test_the_first_request_says_who_we_are() -> None:
    """A connection opens with API_VERSIONS, version 0, id 0, under our own name."""
    channel = Channel("there", 9123)
    transport = FakeTransport()
    channel.connection_made(transport)  # type: ignore[arg-type]
    shaking = asyncio.ensure_future(channel._negotiate(1000))
    await asyncio.sleep(0)
    _, key, version, request_id = REQUEST_HEADER.unpack_from(transport.written)
    hello = decode(ApiVersionsRequest, bytes(transport.written[REQUEST_HEADER.size :]))
    assert (key, version, request_id, hello.client_software_name) == (1000, 0, 0, CLIENT_NAME)
    channel.close()
    with pytest.raises(LakewardError):
        await shaking


async def test_answers_find_their_requests_in_any_order() -> None:
    """Responses are matched by id, not by order."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES, Api.DATABASE_EXISTS))
    first = channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    second = channel.post(Api.DATABASE_EXISTS, DatabaseExistsRequest(database_name="d"))
    answer(channel, 2, DatabaseExistsResponse(exists=True))
    answer(channel, 1, ListDatabasesResponse(database_name=("a", "b")))
    assert (await second).exists
    assert (await first).database_name == ("a", "b")


async def test_the_highest_common_version_is_spoken() -> None:
    """Where the server knows less than we do, its version is used."""
    channel, _ = await open_channel(
        PbApiVersion(api_key=Api.PUT_KV.value, min_version=0, max_version=1),
        PbApiVersion(api_key=Api.LOOKUP.value, min_version=0, max_version=9),
        PbApiVersion(api_key=4711, min_version=0, max_version=0),
    )
    assert channel.version(Api.PUT_KV) == 1
    assert channel.version(Api.LOOKUP) == Api.LOOKUP.version_max


async def test_an_api_that_is_not_offered_is_never_sent() -> None:
    """Asking for it is an UnsupportedError that names the API and the server."""
    channel, transport = await open_channel()
    with pytest.raises(UnsupportedError, match="there:9123 does not support LIST_DATABASES"):
        channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    assert not transport.written


async def test_an_error_frame_is_the_typed_error() -> None:
    """Code and message of an ERROR answer reach the caller; the connection goes on."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    asked = channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    feed(channel, b"".join(error_frame(1, ErrorCode.DATABASE_NOT_EXIST, "no db 'x'")))
    with pytest.raises(NotFoundError, match="no db 'x'"):
        await asked
    assert not channel.closed


async def test_a_failure_frame_fails_everything_with_its_code() -> None:
    """A frame of type 2 has no request id: all requests fail with its error and the connection is closed."""
    channel, transport = await open_channel(*offers(Api.LIST_DATABASES))
    asked = [channel.post(Api.LIST_DATABASES, ListDatabasesRequest()) for _ in range(2)]
    feed(channel, b"".join(failure_frame(ErrorCode.AUTHENTICATE, "who are you?")))
    for one in asked:
        with pytest.raises(DeniedError, match="who are you"):
            await one
    assert channel.closed
    assert transport.aborted


async def test_a_lost_connection_fails_what_is_in_flight() -> None:
    """Nobody waits for an answer that cannot come; later requests fail at once."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    asked = channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    channel.connection_lost(ConnectionResetError("reset"))
    with pytest.raises(LakewardError, match="there:9123 was closed: reset") as caught:
        await asked
    assert caught.value.code is ErrorCode.NETWORK
    with pytest.raises(LakewardError):
        channel.post(Api.LIST_DATABASES, ListDatabasesRequest())


async def test_an_answer_that_does_not_come_in_time_closes_the_connection() -> None:
    """A request has a time limit, and a server that forgets one answer is not trusted with the next."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    with pytest.raises(LakewardError, match="did not answer LIST_DATABASES") as caught:
        await channel.request(Api.LIST_DATABASES, ListDatabasesRequest(), timeout_ms=1)
    assert caught.value.code is ErrorCode.REQUEST_TIME_OUT
    assert channel.closed


async def test_garbage_closes_the_connection() -> None:
    """Bytes that are no frame fail what is in flight as CORRUPT_MESSAGE."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    asked = channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    feed(channel, b"\xff\xff\xff\xff")
    with pytest.raises(LakewardError) as caught:
        await asked
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


async def test_an_unreadable_body_fails_only_its_request() -> None:
    """A body that is no message is an error for whoever asked."""
    channel, _ = await open_channel(*offers(Api.DATABASE_EXISTS))
    asked = channel.post(Api.DATABASE_EXISTS, DatabaseExistsRequest(database_name="d"))
    feed(channel, b"".join(response_frame(1, [b"\x0f\x0f"])))
    with pytest.raises(LakewardError):
        await asked
    assert not channel.closed


async def test_an_answer_nobody_waits_for_is_ignored() -> None:
    """Unknown ids and cancelled requests disturb nothing."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    channel.post(Api.LIST_DATABASES, ListDatabasesRequest()).cancel()
    answer(channel, 1, ListDatabasesResponse())
    answer(channel, 77, ListDatabasesResponse())
    assert not channel.closed


async def test_requests_wait_while_the_server_does_not_read() -> None:
    """Back-pressure: `request()` writes nothing before the transport has room again."""
    channel, transport = await open_channel(*offers(Api.LIST_DATABASES))
    channel.pause_writing()
    asked = asyncio.ensure_future(channel.request(Api.LIST_DATABASES, ListDatabasesRequest()))
    await asyncio.sleep(0)
    assert not transport.written
    channel.resume_writing()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert transport.written
    answer(channel, 1, ListDatabasesResponse())
    await asked


async def test_a_large_payload_is_a_view_of_its_frame() -> None:
    """A megabyte of records is received once and never copied again."""
    channel, _ = await open_channel(*offers(Api.FETCH_LOG))
    asked = channel.post(Api.FETCH_LOG, FetchLogRequest(follower_server_id=-1, max_bytes=1))
    bucket = PbFetchLogRespForBucket(bucket_id=0, records=b"r" * 1_000_000)
    answer(channel, 1, FetchLogResponse(tables_resp=(PbFetchLogRespForTable(table_id=1, buckets_resp=(bucket,)),)))
    records = (await asked).tables_resp[0].buckets_resp[0].records
    assert isinstance(records, memoryview)
    assert len(records.obj) > len(records)
    assert bytes(records) == b"r" * 1_000_000


# -- logging in --------------------------------------------------------------------------------------------------------


def login(password: str = "alice-secret") -> Login:
    """Alice's."""
    return Login("PLAIN", "alice", SecretText("password", password))


async def test_a_login_is_sent_before_anything_else() -> None:
    """AUTHENTICATE, with the mechanism as its protocol; an empty challenge ends it."""
    channel, transport = await open_channel(*offers(Api.AUTHENTICATE))
    proving = asyncio.ensure_future(channel._log_in(login(), 1000))
    await asyncio.sleep(0)
    asked = decode(AuthenticateRequest, bytes(transport.written[REQUEST_HEADER.size :]))
    assert (asked.protocol, bytes(asked.token)) == ("PLAIN", b"\0alice\0alice-secret")
    answer(channel, 1, AuthenticateResponse(challenge=b""))
    await proving


async def test_a_refused_login_names_address_and_user_and_no_password() -> None:
    """DeniedError, so that nobody tries again by itself."""
    channel, _ = await open_channel(*offers(Api.AUTHENTICATE))
    proving = asyncio.ensure_future(channel._log_in(login(), 1000))
    await asyncio.sleep(0)
    feed(channel, b"".join(error_frame(1, ErrorCode.AUTHENTICATE, "Wrong.")))
    with pytest.raises(DeniedError, match="there:9123 did not let 'alice' in by PLAIN: Wrong") as refused:
        await proving
    assert "alice-secret" not in str(refused.value)


async def test_a_server_that_cannot_tell_now_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the same connection, after a pause."""
    monkeypatch.setattr("lakeward.rpc.channel._LOGIN_BACKOFF", Backoff(0.001, 0.001))
    channel, transport = await open_channel(*offers(Api.AUTHENTICATE))
    proving = asyncio.ensure_future(channel._log_in(login(), 10_000))
    await asyncio.sleep(0)
    transport.written.clear()
    feed(channel, b"".join(error_frame(1, ErrorCode.RETRIABLE_AUTHENTICATE, "Later.")))
    while not transport.written:  # noqa: ASYNC110 - the transport is a fake and tells nobody
        await asyncio.sleep(0.001)
    answer(channel, 2, AuthenticateResponse())
    await proving


async def test_a_server_that_can_never_tell_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time to connect is used up."""
    monkeypatch.setattr("lakeward.rpc.channel._LOGIN_BACKOFF", Backoff(0.001, 0.001))
    channel, _ = await open_channel(*offers(Api.AUTHENTICATE))
    proving = asyncio.ensure_future(channel._log_in(login(), -1))
    await asyncio.sleep(0)
    feed(channel, b"".join(error_frame(1, ErrorCode.RETRIABLE_AUTHENTICATE, "Later.")))
    with pytest.raises(LakewardError, match=r"did not let 'alice' in by PLAIN: Later\."):
        await proving


async def test_a_server_without_logins_is_told_as_such() -> None:
    """It must not look as if somebody had been let in."""
    channel, _ = await open_channel()
    with pytest.raises(DeniedError, match="cannot ask who somebody is"):
        await channel._log_in(login(), 1000)


async def test_silence_is_noticed_while_an_answer_is_owed() -> None:
    """Again and again until the answer comes or its time is up; an idle channel may be silent."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    noticed: list[float] = []
    begun = asyncio.get_running_loop().time()
    channel.on_silence(0.03, lambda: noticed.append(asyncio.get_running_loop().time() - begun))
    owed = channel.post(Api.LIST_DATABASES, ListDatabasesRequest(), timeout_ms=75)
    with pytest.raises(LakewardError, match="did not answer LIST_DATABASES within 75 ms") as caught:
        await owed
    assert caught.value.code is ErrorCode.REQUEST_TIME_OUT
    assert len(noticed) == 5, "after 30 ms, and every 10 from then on"
    assert noticed[0] >= 0.03


async def test_an_answer_in_time_is_no_silence() -> None:
    """Whoever asked is not told of anything."""
    channel, _ = await open_channel(*offers(Api.LIST_DATABASES))
    noticed: list[bool] = []
    channel.on_silence(0.01, lambda: noticed.append(True))
    owed = channel.post(Api.LIST_DATABASES, ListDatabasesRequest())
    answer(channel, 1, ListDatabasesResponse(database_name=()))
    await owed
    await asyncio.sleep(0.03)
    assert not noticed
