"""SignedCalls: requests to AWS and its like, signed by us: the few that obstore does not make. They block."""

from __future__ import annotations

import html
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime

from lakeward.errors import DeniedError, ErrorCode, InvalidError, LakewardError, RetriableError
from lakeward.remote.s3.credentials import Credentials
from lakeward.remote.s3.signature import signed_headers
from lakeward.runtime.clock import Clock

_TIMEOUT_S = 10
_ANSWER_BYTES_MAX = 4 << 20
_PAUSES_S = (0.1, 0.2, 0.4, 0.8)


class _BusyError(RetriableError):
    """The service is there, and answered that it cannot now."""


class SignedCalls:
    """Calls of one service in one region; what fails is a LakewardError with the given code."""

    def __init__(self, service: str, region: str, clock: Clock, code: ErrorCode) -> None:
        self._scope = (service, region)
        self._clock = clock
        self._code = code

    def call(
        self, method: str, url: str, what: str, by: Credentials | None, headers: Mapping[str, str], body: bytes = b""
    ) -> str:
        """The text of the answer; `what` names the call in errors. Unsigned, where `by` is None.

        A store that is busy is asked again a few times.
        """
        for pause_s in _PAUSES_S:
            try:
                return self._call_once(method, url, what, by, headers, body)
            except _BusyError:
                time.sleep(pause_s)
        return self._call_once(method, url, what, by, headers, body)

    def _call_once(
        self, method: str, url: str, what: str, by: Credentials | None, headers: Mapping[str, str], body: bytes
    ) -> str:
        sent = dict(headers)
        if by is not None:
            now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
            sent = signed_headers(method, url, headers, body, self._scope, by, now.strftime("%Y%m%dT%H%M%SZ"))
        request = urllib.request.Request(url, body or None, sent, method=method)  # noqa: S310 - http and https only
        root = "/".join(url.split("/")[:3])
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return str(answer.read(_ANSWER_BYTES_MAX), "utf-8", "replace")
        except urllib.error.HTTPError as wrong:
            with wrong:
                text = str(wrong.read(_ANSWER_BYTES_MAX), "utf-8", "replace")
            raise self._refusal(root, what, wrong.code, text) from wrong
        except OSError as wrong:
            inner = getattr(wrong, "reason", wrong)
            reason = str(getattr(inner, "strerror", None) or inner).lower()
            raise RetriableError(self._code, f"{root} did not answer {what}: {reason}.") from wrong

    def _refusal(self, root: str, what: str, status: int, text: str) -> LakewardError:
        code, message = element("Code", text), element("Message", text)
        why = ", ".join(part.rstrip(".") for part in (code, message) if part) or f"status {status}"
        said = f"{root} refused {what} ({why})."
        if status in {401, 403}:
            return DeniedError(self._code, said)
        return InvalidError(self._code, said) if status < 500 or status == 501 else _BusyError(self._code, said)


def element(name: str, text: str) -> str | None:
    """The text of the first element with this name, None when it is empty or not there."""
    return next(iter(elements(name, text)), None)


def elements(name: str, text: str) -> list[str]:
    """The texts of all elements with this name that have one."""
    return [html.unescape(found) for found in re.findall(rf"<{name}>\s*([^<]*?)\s*</{name}>", text) if found]
