"""PushGateway: Prometheus' push gateway. Each push replaces the one before."""

from __future__ import annotations

import base64
from collections.abc import Generator, Mapping
from urllib.parse import quote

from lakeward.telemetry.metrics import text_of
from lakeward.telemetry.prometheus_text import CONTENT_TYPE, Family
from lakeward.telemetry.reporters.http_send import HttpRequest, send


def group_url(base: str, job: str, grouping: Mapping[str, str]) -> str:
    """Where the metrics of one job are; what would break a path is written as base64, as the gateway has it."""
    return "/".join((base.rstrip("/"), "metrics", *(_pair(*pair) for pair in (("job", job), *grouping.items()))))


def _pair(name: str, value: str) -> str:
    if value and "/" not in value:
        return f"{name}/{quote(value, safe='')}"
    return f"{name}@base64/{base64.urlsafe_b64encode(value.encode()).decode() or '='}"


class PushGateway:
    """A `Reporter`."""

    name = "prometheus-push"

    def __init__(self, url: str, interval_s: float, headers: Mapping[str, str], *, deletes: bool) -> None:
        """`url` is that of the group; `deletes` means that nothing is left there in the end."""
        self.interval_s = interval_s
        self._url = url
        self._headers = headers
        self._deletes = deletes

    def encode(self, families: list[Family], now_ms: int) -> Generator[None, None, bytes]:  # noqa: ARG002
        """The text for Prometheus; the gateway refuses times."""
        return (yield from text_of(families)).encode()

    def send(self, body: bytes) -> None:
        """PUT replaces all that this job has there."""
        send(HttpRequest("PUT", self._url, body, {**self._headers, "Content-Type": CONTENT_TYPE}))

    def close(self) -> None:
        """A server that has stopped counts nothing."""
        if self._deletes:
            send(HttpRequest("DELETE", self._url, b"", self._headers))
