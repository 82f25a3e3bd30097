"""API → handler: every request is answered exactly once, whatever happens."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from server_connections import Wire
from wire_client import HELLO

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.protocol.frames import ERROR, SUCCESS
from lakeward.protocol.messages.database import DatabaseExistsRequest, DatabaseExistsResponse
from lakeward.protocol.messages.metadata import ApiVersionsResponse
from lakeward.protocol.messages.shared import ErrorResponse
from lakeward.rpc.dispatch import Dispatcher, Exchange

QUESTION = encode(DatabaseExistsRequest(database_name="db"))


class Office:
    """A dispatcher behind a connection."""

    def __init__(self, handlers: dict[Api, Any]) -> None:
        self.heard: list[Api] = []
        self._dispatcher = Dispatcher(handlers, witness=self)
        self.request = self._dispatcher.request
        self.wire = Wire(self)

    def on_open(self, _connection: object) -> None:
        """Not of interest."""

    on_close = on_open

    def on_request(self, exchange: Exchange, size: int) -> None:
        """One more."""
        self.heard.append(exchange.api)

    def on_answer(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """Not of interest."""

    def on_refusal(self, exchange: Exchange, wrong: LakewardError) -> None:
        """Not of interest."""

    def ask(self, api_key: int, body: bytes, version: int = 0) -> tuple[int, bytes] | None:
        """Kind and body of the answer, or None when there is none yet."""
        before = len(self.wire.transport.written)
        head = (8 + len(body)).to_bytes(4, "big") + api_key.to_bytes(2, "big") + version.to_bytes(2, "big", signed=True)
        self.wire.feed(head + (77).to_bytes(4, "big") + body)
        return self.answer(before)

    def answer(self, at: int) -> tuple[int, bytes] | None:
        """The frame that was written from a position on."""
        data = bytes(self.wire.transport.written[at:])
        if not data:
            return None
        assert int.from_bytes(data[:4], "big") == len(data) - 4, "exactly one frame"
        assert int.from_bytes(data[5:9], "big") == 77
        return data[4], data[9:]


def code_of(answer: tuple[int, bytes] | None) -> int:
    """The code of an error."""
    assert answer is not None
    assert answer[0] == ERROR
    return decode(ErrorResponse, answer[1]).error_code


def test_an_answer_is_encoded() -> None:
    """What a handler returns is what the client gets, and the witness hears of it."""
    office = Office(
        {Api.DATABASE_EXISTS: lambda request, _: DatabaseExistsResponse(exists=request.database_name == "db")}
    )
    assert office.ask(1004, QUESTION) == (SUCCESS, b"\x08\x01")
    assert office.heard == [Api.DATABASE_EXISTS]


def test_an_error_keeps_code_and_sentence() -> None:
    """The message goes along, unless it is the code's own."""

    def refuse(request: DatabaseExistsRequest, _exchange: Exchange) -> None:
        message = "No such thing." if request.database_name == "db" else None
        raise ErrorCode.DATABASE_NOT_EXIST.error(message)

    office = Office({Api.DATABASE_EXISTS: refuse})
    answer = office.ask(1004, QUESTION)
    assert answer is not None
    assert decode(ErrorResponse, answer[1]) == ErrorResponse(error_code=4, error_message="No such thing.")
    plain = office.ask(1004, encode(DatabaseExistsRequest(database_name="other")))
    assert plain is not None
    assert decode(ErrorResponse, plain[1]) == ErrorResponse(error_code=4)


def test_a_long_message_is_cut() -> None:
    """An error is a sentence, not a dump."""

    def refuse(_request: Any, _exchange: Exchange) -> None:
        raise ErrorCode.INVALID_TABLE.error("x" * 100_000)

    answer = Office({Api.DATABASE_EXISTS: refuse}).ask(1004, QUESTION)
    assert answer is not None
    assert len(answer[1]) < 3000


@pytest.mark.parametrize(("key", "version"), [(1, 0), (1065, 0), (65535, 0), (1004, 1), (1004, -1), (1005, 0)])
def test_what_is_not_there_is_unsupported(key: int, version: int) -> None:
    """Unknown keys, APIs without a handler and versions that were not offered."""
    office = Office({Api.DATABASE_EXISTS: lambda *_: DatabaseExistsResponse(exists=True)})
    assert code_of(office.ask(key, QUESTION, version)) == ErrorCode.UNSUPPORTED_VERSION.value
    assert office.heard == []


def test_a_body_that_is_no_message_is_corrupt() -> None:
    """The handler never sees it."""
    office = Office({Api.DATABASE_EXISTS: lambda *_: pytest.fail("called")})
    assert code_of(office.ask(1004, b"\xff\xff")) == ErrorCode.CORRUPT_MESSAGE.value


def test_a_bug_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A handler that fails does not leave its client waiting, and its trace is in our log, not in the answer."""

    def broken(_request: Any, _exchange: Exchange) -> None:
        raise KeyError("secret detail")

    with caplog.at_level(logging.ERROR):
        answer = Office({Api.DATABASE_EXISTS: broken}).ask(1004, QUESTION)
    assert code_of(answer) == ErrorCode.UNKNOWN_SERVER_ERROR.value
    assert answer is not None
    assert b"secret" not in answer[1]
    assert "secret detail" in caplog.text


def test_an_answer_that_cannot_be_encoded_is_an_error() -> None:
    """Even then the client hears something."""
    office = Office({Api.DATABASE_EXISTS: lambda *_: DatabaseExistsResponse(exists="no boolean")})
    assert code_of(office.ask(1004, QUESTION)) == ErrorCode.UNKNOWN_SERVER_ERROR.value


def test_an_answer_may_come_later() -> None:
    """A handler that returns nothing has kept the exchange, and answers it once."""
    kept: list[Exchange] = []
    office = Office({Api.DATABASE_EXISTS: lambda _, exchange: kept.append(exchange)})
    assert office.ask(1004, QUESTION) is None
    kept[0].reply(DatabaseExistsResponse(exists=False))
    assert office.answer(0) == (SUCCESS, b"\x08\x00")
    with pytest.raises(AssertionError):
        kept[0].reply(DatabaseExistsResponse(exists=True))


def test_versions_list_what_has_a_handler() -> None:
    """In order of their keys, itself included, without a role."""
    office = Office({Api.PUT_KV: lambda *_: None, Api.DATABASE_EXISTS: lambda *_: None})
    answer = office.ask(1000, encode(HELLO))
    assert answer is not None
    listed = decode(ApiVersionsResponse, answer[1])
    assert [(row.api_key, row.max_version) for row in listed.api_versions] == [(1000, 0), (1004, 0), (1016, 2)]
    assert listed.server_type is None
