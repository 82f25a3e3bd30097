"""The schema registry, over HTTP: schemas by number, and a number for a schema. What it said once is known."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.formats.avro.avro_options import CA_FILE, TOKEN, URL, USER_INFO
from lakeward.options.secrets import without_passwords

_TIMEOUT_S = 10
_ATTEMPTS = 5
_PAUSE_S = 0.2
_NOT_FOUND = 404
_BUSY = 429
_SERVER_ERROR = 500


class SchemaRegistry:
    """One registry."""

    def __init__(self, options: Mapping[str, str]) -> None:
        url = URL.read(options)
        if not url:
            raise ErrorCode.INVALID_CONFIG.error(
                f"The format 'avro-confluent' needs the option '{URL.key}', for example 'http://localhost:8081'."
            )
        if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
            raise ErrorCode.INVALID_CONFIG.error(f"'{URL.key}' is not an address of HTTP: '{without_passwords(url)}'.")
        parts = urllib.parse.urlsplit(url)
        self._url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")
        self._headers = {
            "Content-Type": "application/vnd.schemaregistry.v1+json",
            **_credentials(options, parts.netloc.rpartition("@")[0]),
        }
        ca_file = CA_FILE.read(options)
        self._trust = ssl.create_default_context(cafile=ca_file) if url.startswith("https") else None
        self._schemas: dict[int, tuple[Any, dict[str, Any]] | None] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def schema(self, number: int) -> tuple[Any, dict[str, Any]] | None:
        """The schema with that number, and those that it names; None if there is none."""
        if number not in self._schemas:
            found = self._ask("GET", f"/schemas/ids/{number}")
            self._schemas[number] = None if found is None else (json.loads(found["schema"]), self._references(found))
        return self._schemas[number]

    def number(self, subject: str, schema: Mapping[str, Any]) -> int:
        """The number of a schema under a subject; it is registered if it is new."""
        text = json.dumps(schema)
        if (subject, text) not in self._numbers:
            place = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions"
            found = self._ask("POST", place, {"schema": text})
            if found is None:
                raise ErrorCode.INVALID_CONFIG.error(f"The schema registry at {self._url} has no {place}.")
            self._numbers[subject, text] = int(found["id"])
        return self._numbers[subject, text]

    def _references(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Schemas that a schema refers to, by name."""
        named: dict[str, Any] = {}
        for reference in found.get("references") or ():
            subject = urllib.parse.quote(reference["subject"], safe="")
            inner = self._ask("GET", f"/subjects/{subject}/versions/{int(reference['version'])}")
            if inner is not None:
                named |= self._references(inner) | {reference["name"]: json.loads(inner["schema"])}
        return named

    def _ask(self, method: str, place: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer, None if there is no such thing; it is asked again while it is away or busy."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}{place}", data, self._headers, method=method)  # noqa: S310 - checked
        why = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_S * 2**attempt)
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=self._trust) as answer:  # noqa: S310
                    return json.load(answer)
            except urllib.error.HTTPError as wrong:
                if wrong.code == _NOT_FOUND:
                    return None
                why = f"HTTP {wrong.code}: {wrong.read(300).decode(errors='replace')}"
                if wrong.code < _SERVER_ERROR and wrong.code != _BUSY:
                    break
            except (OSError, ValueError) as wrong:
                why = str(getattr(wrong, "reason", wrong))
        raise ErrorCode.NETWORK.error(f"The schema registry at {self._url} refused {place}. {why}")


def _credentials(options: Mapping[str, str], in_url: str) -> dict[str, str]:
    user_info, token = USER_INFO.read(options) or urllib.parse.unquote(in_url), TOKEN.read(options)
    if user_info:
        return {"Authorization": f"Basic {base64.b64encode(user_info.encode()).decode()}"}
    return {"Authorization": f"Bearer {token}"} if token else {}
