"""What obstore says went wrong, as a LakewardError in one sentence and without secrets."""

from __future__ import annotations

import html
import re

from obstore import exceptions

from lakeward.errors import DeniedError, ErrorCode, InvalidError, LakewardError, NotFoundError

_CODE = re.compile(r"(?:<Code>\s*|\(code: )([A-Za-z.]{1,100})")
_MESSAGE = re.compile(r"<Message>\s*([^<]{1,300}?)\s*</Message>")
_STATUS = re.compile(r"status code: (\d{3}[^:\n]{0,40})")

_MAY_PASS = ("408", "409", "429")
_STATUS_416 = "status code: 416"
_KEYS = "check s3.access-key and s3.secret-key"
_DENIED = {
    "AccessDenied": "these keys may not do that",
    "AllAccessDisabled": "these keys may not do that",
    "InvalidAccessKeyId": f"the store does not know the access key; {_KEYS}",
    "SignatureDoesNotMatch": f"the secret does not fit the access key; {_KEYS}",
    "ExpiredToken": "the temporary keys have expired",
    "InvalidToken": "the session token is not valid",
    "RequestTimeTooSkewed": "the clock of this machine is not the store's",
}
_CAUSES = (
    ("Connection refused", "nothing listens at {endpoint}; check s3.endpoint"),
    ("dns error", "the name in {endpoint} cannot be resolved; check s3.endpoint"),
    ("failed to lookup address", "the name in {endpoint} cannot be resolved; check s3.endpoint"),
    ("certificate", "the certificate of {endpoint} is not trusted"),
    ("kind: Timeout", "{endpoint} did not answer in time"),
    ("TimedOut", "{endpoint} did not answer in time"),
    ("operation timed out", "{endpoint} did not answer in time"),
    ("IncompleteMessage", "the connection to {endpoint} broke"),
    ("IncompleteBody", "the connection to {endpoint} broke"),
    ("UnexpectedEof", "the connection to {endpoint} broke"),
    ("ConnectionReset", "the connection to {endpoint} broke"),
    ("BrokenPipe", "the connection to {endpoint} broke"),
)


class ExistsError(LakewardError):
    """Something is there already."""


class BehindEndError(LakewardError):
    """The bytes asked for begin where the file ends, or behind."""


def failure(place: str, bucket: str, endpoint: str, done: str, wrong: Exception) -> LakewardError:
    """`place` could not be `done` (read, written, …): why."""
    text = str(wrong)
    code = _first(_CODE, text)
    if code == "NoSuchBucket":
        return NotFoundError(ErrorCode.STORAGE, f"The bucket '{bucket}' does not exist; create it, or name another.")
    if code == "InvalidRange" or _STATUS_416 in text:
        return BehindEndError(ErrorCode.STORAGE, f"{place} has no bytes there.")
    if isinstance(wrong, exceptions.AlreadyExistsError | exceptions.PreconditionError):
        return ExistsError(ErrorCode.STORAGE, f"{place} is there already.")
    refused = isinstance(wrong, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError)
    if code in _DENIED or refused:
        why = _DENIED.get(code or "AccessDenied", "these keys may not do that")
        return DeniedError(ErrorCode.STORAGE, f"{place} cannot be {done}: {why} ({code or 'denied'}).")
    if isinstance(wrong, FileNotFoundError):
        return NotFoundError(ErrorCode.STORAGE, f"{place} does not exist.")
    message = f"{place} cannot be {done}: {_cause(text, code, endpoint)}."
    status = _first(_STATUS, text)
    if status is not None and status.startswith("4") and not status.startswith(_MAY_PASS):
        return InvalidError(ErrorCode.STORAGE, message)
    return ErrorCode.STORAGE.error(message)


def _cause(text: str, code: str | None, endpoint: str) -> str:
    if code is not None:
        message = _first(_MESSAGE, text)
        return f"the store answered {code}" + (f", {html.unescape(message).rstrip('.')}" if message else "")
    for sign, cause in _CAUSES:
        if sign in text:
            return cause.format(endpoint=endpoint)
    status = _first(_STATUS, text)
    if status is not None:
        return f"the store answered {status.strip()}"
    return text.strip().split("\n")[0].rstrip(". ")


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else found[1]
