"""RequestSpans: the requests that are followed, and what each has got as a span."""

from __future__ import annotations

from contextlib import AbstractContextManager

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.rpc.dispatch import Exchange
from lakeward.telemetry.tracing.span import Span, SpanKind
from lakeward.telemetry.tracing.tracer import Tracer

#: Requests whose client has gone are never answered; beyond so many all are forgotten.
_OPEN_MAX = 10_000


class RequestSpans:
    """Made only where requests are to be followed."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: dict[Exchange, Span] = {}

    def begin(self, exchange: Exchange, size: int) -> None:
        """A request has come."""
        connection = exchange.connection
        about = {
            "rpc.system": "fluss",
            "rpc.method": exchange.api.name,
            "rpc.request_id": str(exchange.request_id),
            "rpc.request.bytes": str(size),
            "client.address": connection.peer,
            "enduser.id": str(connection.principal),
        }
        span = self._tracer.begin(exchange.api.name, SpanKind.SERVER, about)
        if span is not None:
            if len(self._open) >= _OPEN_MAX:
                self._open.clear()
            self._open[exchange] = span

    def end(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """It is answered."""
        span = self._open.pop(exchange, None)
        if span is not None:
            span.attributes["rpc.response.bytes"] = str(size)
            self._tracer.end(span, None if wrong is None else wrong.code.name)

    def step(self, exchange: Exchange, name: str, bucket: TableBucket) -> AbstractContextManager[object]:
        """Around a step of it."""
        return self._tracer.step(self._open.get(exchange), name, bucket=str(bucket))
