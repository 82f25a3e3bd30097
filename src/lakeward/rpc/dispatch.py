"""API → handler: every request is answered exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from types import GeneratorType
from typing import Any, NamedTuple, Protocol, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import Parts, decode, decode_in_steps, encode_parts
from lakeward.protocol.frames import RequestHeader, response_frame
from lakeward.protocol.messages.metadata import ApiVersionsRequest, ApiVersionsResponse, PbApiVersion
from lakeward.rpc.error_answers import error_of, request_refusal
from lakeward.rpc.server_connection import ServerConnection

#: A larger request may name thousands of things, and is decoded a bit at a time.
_LARGE_BODY_BYTES = 4096
_T = TypeVar("_T")


class EncodedAnswer(NamedTuple):
    """An answer whose parts were encoded one by one: messages joined are one message with longer lists."""

    parts: Parts


class Witness(Protocol):
    """Sees requests come and answers go, and changes neither."""

    def on_request(self, exchange: Exchange, size: int) -> None:
        """A request of so many bytes has come."""

    def on_answer(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """It is answered, with so many bytes."""

    def on_refusal(self, exchange: Exchange, wrong: LakewardError) -> None:
        """The answer says of one bucket or table what is wrong with it."""


class Exchange:
    """One request on its way to its answer. Every exchange is answered exactly once.

    `subject` is what the request is about, if somebody said so for the record.
    """

    __slots__ = ("_more", "_witness", "api", "begun_s", "connection", "is_done", "request_id", "subject", "version")

    def __init__(
        self, connection: ServerConnection, api: Api, version: int, request_id: int, witness: Witness | None = None
    ) -> None:
        self.begun_s = connection.now()
        self.connection = connection
        self.api = api
        self.version = version
        self.request_id = request_id
        self.is_done = False
        self.subject: Any = None
        self._more: Parts = []
        self._witness = witness

    def concern(self, subject: Any) -> None:
        """Say what the request is about."""
        self.subject = subject

    def begin_again(self) -> None:
        """What it waited for has come: only from now on it takes its time."""
        self.begun_s = self.connection.now()

    def note_refusal(self, wrong: LakewardError) -> None:
        """The answer will say of one bucket or table what is wrong with it."""
        if self._witness is not None:
            self._witness.on_refusal(self, wrong)

    def add(self, message: Any) -> None:
        """Answer with this, too: messages joined are one message with longer lists."""
        self._more += encode_parts(message)

    def reply(self, message: Any) -> None:
        """Answer with a message."""
        assert not self.is_done
        # If this fails, the client is still told.
        parts = message.parts if type(message) is EncodedAnswer else encode_parts(message)
        self._send(response_frame(self.request_id, [*parts, *self._more] if self._more else parts), None)

    def fail(self, wrong: LakewardError) -> None:
        """Answer with an error."""
        assert not self.is_done
        self._send(request_refusal(self.request_id, wrong), wrong)

    def _send(self, frame: Parts, wrong: LakewardError | None) -> None:
        self.is_done = True
        self.connection.send(frame)
        if self._witness is not None:
            self._witness.on_answer(self, sum(map(len, frame)), wrong)

    def settle(self, ask: Callable[..., Any], *what: Any) -> None:
        """Answer with what a function returns or raises; if that is nothing, somebody answers later."""
        try:
            answer = ask(*what)
            if type(answer) is GeneratorType:
                self.connection.begin(_SteppedRequest(self, answer))
            elif answer is not None:
                self.reply(answer)
        except Exception as wrong:  # noqa: BLE001 - the seam: a bug in one handler must not leave its client waiting
            self.fail_unless_done(wrong)

    def fail_unless_done(self, wrong: Exception) -> None:
        """Answer with whatever was raised, if nothing has been answered."""
        told = error_of(wrong, self.api.name, self.connection.peer)
        if not self.is_done:
            self.fail(told)


#: Yields wherever others may be served, or a future to go on after, and returns the answer. The request's body stays
#: as it is meanwhile.
Steps = Generator[Any, None, Any]
#: Returns the answer, steps that lead to it, or None when it will be given to the exchange later.
Handler = Callable[[Any, Exchange], Any]


def at_once(steps: Generator[None, None, _T]) -> _T:
    """What steps lead to, without a break."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        value: _T = end.value
        return value


def begin_steps(steps: Steps) -> Any:
    """What steps lead to if the first one is the last; otherwise the steps that are left."""
    try:
        awaited = next(steps)
    except StopIteration as end:
        return end.value
    return _going_on(awaited, steps)


def _going_on(awaited: asyncio.Future[Any] | None, steps: Steps) -> Steps:
    yield awaited
    return (yield from steps)


class _SteppedRequest:
    """A request that is handled a bit at a time, because it names much."""

    def __init__(self, exchange: Exchange, steps: Steps) -> None:
        self._exchange = exchange
        self._steps = steps
        self._is_done = False
        self.awaits: asyncio.Future[Any] | None = None

    def advance(self, until: float) -> bool:
        """Take steps until about that time; True when the request is done."""
        self._exchange.settle(self._walk, until)
        return self._is_done

    def _walk(self, until: float) -> Any:
        self._is_done = True  # also when a step fails
        try:
            awaits = next(self._steps)
            now = self._exchange.connection.now
            while awaits is None and now() < until:
                awaits = next(self._steps)
        except StopIteration as end:
            return end.value
        self._is_done, self.awaits = False, awaits
        return None

    def drop(self) -> None:
        """Nobody waits for the answer any more."""
        self._steps.close()


class Dispatcher:
    """The APIs this server has, each with its handler."""

    def __init__(
        self,
        handlers: Mapping[Api, Handler],
        request_types: Mapping[Api, type[Any]] | None = None,
        elements_max: int = 30_000,
        witness: Witness | None = None,
        on_hello: Callable[[str, str], None] = lambda _name, _version: None,
    ) -> None:
        """`request_types` names other classes than the API's own to read some requests as.

        `on_hello` hears what clients say they are, when they ask for versions.
        """
        self._witness = witness
        self._on_hello = on_hello
        self._elements_max = elements_max
        self._request_types = {api: api.request for api in Api} | dict(request_types or {})
        self._handlers: dict[Api, Handler] = dict(handlers)
        self._handlers[Api.API_VERSIONS] = self._api_versions

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """Handle one request; whatever happens, it is answered."""
        api = Api.of_key(header.api_key)
        handler = self._handlers.get(api) if api is not None else None
        if api is None or handler is None or not 0 <= header.version <= api.version_max:
            what = f"API {header.api_key}" if api is None else f"{api.name} version {header.version}"
            wrong = ErrorCode.UNSUPPORTED_VERSION.error(f"The server does not support {what}.")
            connection.send(request_refusal(header.request_id, wrong))
            return
        exchange = Exchange(connection, api, header.version, header.request_id, self._witness)
        if self._witness is not None:
            self._witness.on_request(exchange, len(body))
        exchange.settle(self._handle, handler, body, exchange)

    def _handle(self, handler: Handler, body: memoryview, exchange: Exchange) -> Any:
        kind = self._request_types[exchange.api]
        if len(body) > _LARGE_BODY_BYTES:
            return self._handle_in_steps(handler, kind, body, exchange)
        return handler(decode(kind, body, self._elements_max), exchange)

    def _handle_in_steps(self, handler: Handler, kind: type[Any], body: memoryview, exchange: Exchange) -> Steps:
        request = yield from decode_in_steps(kind, body, self._elements_max)
        del body  # a handler that waits long may give its memory back
        answer = handler(request, exchange)
        if type(answer) is GeneratorType:
            answer = yield from answer
        return answer

    def _api_versions(self, request: ApiVersionsRequest, _exchange: Exchange) -> ApiVersionsResponse:
        self._on_hello(request.client_software_name, request.client_software_version)
        # server_type is left out: one port plays both roles, and clients then skip their check.
        apis = sorted(self._handlers, key=lambda api: api.value)
        return ApiVersionsResponse(
            api_versions=tuple(
                PbApiVersion(api_key=api.value, min_version=0, max_version=api.version_max) for api in apis
            )
        )
