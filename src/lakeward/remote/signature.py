"""The signature of a request to AWS, version 4, for a form that is posted. Pure."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

from lakeward.remote.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"
FORM = "application/x-www-form-urlencoded; charset=utf-8"


def signed_headers(
    url: str, body: bytes, service: str, region: str, credentials: Credentials, time_text: str
) -> dict[str, str]:
    """Headers that prove who posts `body` to `url`; `time_text` is like 20260131T235959Z."""
    parts = urlsplit(url)
    headers = {"content-type": FORM, "host": parts.netloc, "x-amz-date": time_text}
    if credentials.session_token:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        [
            "POST",
            parts.path or "/",
            "",
            *(f"{name}:{headers[name].strip()}" for name in sorted(headers)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{time_text[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join([_ALGORITHM, time_text, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key}".encode()
    for step in (time_text[:8], region, service, "aws4_request"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    headers["authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return headers
