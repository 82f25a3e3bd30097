"""Requests to the servers: one after another is tried while they are busy or away; nothing secret is ever told."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from lakeward.errors import ErrorCode, LakewardError
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import BulkSettings

TOO_LARGE = 413
_OK = range(200, 300)
_BUSY = {429, 502, 503, 504}
_UNAUTHORIZED = {401, 403}
_SHOWN_BYTES = 400
_PAUSE_MS_MAX = 10_000


class TooLargeError(Exception):
    """The server takes no request that is so long."""


class BulkClient:
    """Sends bulk requests; for one thread."""

    def __init__(self, settings: BulkSettings) -> None:
        self._settings = settings
        self._host = 0
        self._connection: http.client.HTTPConnection | None = None

    def send(self, body: bytes, pauses: list[int]) -> list[dict[str, Any]]:
        """The answer for each action. `pauses` (ms) are used up, one for each time that it is sent again."""
        while True:
            try:
                status, answer = self._post(body)
            except (OSError, http.client.HTTPException) as wrong:
                self.close()
                self._host = (self._host + 1) % len(self._settings.hosts)
                status, answer = 0, f"{type(wrong).__name__} {wrong}".encode()
            if status in _OK:
                return self._items(answer)
            if status == TOO_LARGE:
                raise TooLargeError
            if (status and status not in _BUSY) or not pauses:
                raise self._error(status, answer)
            self.pause(pauses)

    def pause(self, pauses: list[int]) -> None:
        """Wait for as long as the next pause is."""
        time.sleep(min(pauses.pop(0), _PAUSE_MS_MAX) / 1000)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, body: bytes) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        settings = self._settings
        headers = {"Content-Type": "application/x-ndjson", "Accept": "application/json"}
        if settings.authorization is not None:
            headers["Authorization"] = settings.authorization
        path = f"/{settings.prefix}/_bulk" if settings.prefix else "/_bulk"
        self._connection.request("POST", path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _connect(self) -> http.client.HTTPConnection:
        settings = self._settings
        parts = urlsplit(settings.hosts[self._host])
        assert parts.hostname is not None
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.hostname, parts.port or 9200, timeout=settings.timeout_s)
        trust = ssl.create_default_context(cafile=settings.ca_file)
        if not settings.verifies:
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(
            parts.hostname, parts.port or 9200, timeout=settings.timeout_s, context=trust
        )

    def _items(self, answer: bytes) -> list[dict[str, Any]]:
        try:
            items: list[dict[str, Any]] = [next(iter(item.values())) for item in json.loads(answer)["items"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._error(200, answer) from None
        return items

    def _error(self, status: int, answer: bytes) -> LakewardError:
        host = self._settings.hosts[self._host]
        why = answer[:_SHOWN_BYTES].decode(errors="replace").strip()
        if status in _UNAUTHORIZED:
            return ErrorCode.INVALID_CONFIG.error(
                f"{host} does not let us write (HTTP {status}): check 'username' and 'password', or 'api-key'. {why}"
            )
        if status == 0:
            return ErrorCode.NETWORK.error(f"{', '.join(self._settings.hosts)} cannot be reached. {why}")
        return ErrorCode.NETWORK.error(f"{host} did not take a bulk request (HTTP {status}). {why}")
