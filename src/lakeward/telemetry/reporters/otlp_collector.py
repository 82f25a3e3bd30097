"""OtlpCollector: a collector of OpenTelemetry, by HTTP."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from lakeward.telemetry.otlp.metric_messages import metrics_body
from lakeward.telemetry.otlp.resource import Resource
from lakeward.telemetry.otlp.trace_messages import spans_body
from lakeward.telemetry.prometheus_text import Family
from lakeward.telemetry.reporters.http_send import HttpRequest, send
from lakeward.telemetry.tracing.tracer import Tracer

_CONTENT_TYPE = "application/x-protobuf"
#: Spans of one request; a collector takes 4 MB.
_SPANS_AT_ONCE = 2000


class OtlpCollector:
    """A `Reporter`, of metrics and of the spans of a tracer."""

    name = "otlp"

    def __init__(
        self,
        endpoint: str,
        interval_s: float,
        headers: Mapping[str, str],
        resource: Resource,
        begun_ms: int,
        tracer: Tracer | None = None,
    ) -> None:
        """Counters count since `begun_ms`; without a tracer there are no spans."""
        self.interval_s = interval_s
        self._endpoint = endpoint.rstrip("/")
        self._headers = {**headers, "Content-Type": _CONTENT_TYPE}
        self._resource = resource
        self._begun_ms = begun_ms
        self._tracer = tracer

    def encode(self, families: list[Family], now_ms: int) -> Generator[None, None, bytes]:
        """The metrics; without any there is nothing to send."""
        if not families:
            return b""
        return (yield from metrics_body(families, self._resource, self._begun_ms, now_ms))

    def send(self, body: bytes) -> None:
        """Metrics, then spans."""
        if body:
            self._post("metrics", body)
        self._send_spans()

    def close(self) -> None:
        """The last spans."""
        self._send_spans()

    def _send_spans(self) -> None:
        while self._tracer is not None and (spans := self._tracer.take(_SPANS_AT_ONCE)):
            self._post("traces", spans_body(spans, self._resource))

    def _post(self, what: str, body: bytes) -> None:
        send(HttpRequest("POST", f"{self._endpoint}/v1/{what}", body, self._headers))
