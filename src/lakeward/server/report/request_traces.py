"""RequestTraces: some requests are followed, from their coming to their answer."""

from __future__ import annotations

from lakeward.errors import LakewardError
from lakeward.rpc.dispatch import Exchange, Witness
from lakeward.server.tablet.requests.request_spans import RequestSpans


class RequestTraces:
    """A `Witness` before another one."""

    def __init__(self, spans: RequestSpans, witness: Witness) -> None:
        self._spans = spans
        self._witness = witness

    def on_request(self, exchange: Exchange, size: int) -> None:
        """A request has come."""
        self._spans.begin(exchange, size)
        self._witness.on_request(exchange, size)

    def on_answer(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """It is answered."""
        self._spans.end(exchange, size, wrong)
        self._witness.on_answer(exchange, size, wrong)

    def on_refusal(self, exchange: Exchange, wrong: LakewardError) -> None:
        """A client is told of an error."""
        self._witness.on_refusal(exchange, wrong)
