"""The signature of a request to AWS, version 4. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlsplit

from lakeward.remote.s3.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    scope: tuple[str, str],
    credentials: Credentials,
    time_text: str,
) -> dict[str, str]:
    """These headers (names in small letters), and those that prove who sends them.

    The path of `url` is encoded already; `scope` is service and region; `time_text` is like 20260131T235959Z.
    """
    service, region = scope
    parts = urlsplit(url)
    digest = hashlib.sha256(body).hexdigest()
    out = {**headers, "host": parts.netloc, "x-amz-date": time_text}
    if service == "s3":
        out["x-amz-content-sha256"] = digest
    if credentials.session_token:
        out["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(out))
    lines = [f"{name}:{out[name].strip()}" for name in sorted(out)]
    canonical = "\n".join([method, parts.path or "/", _canonical_query(parts.query), *lines, "", names, digest])
    day = time_text[:8]
    place = f"{day}/{region}/{service}/aws4_request"
    to_sign = "\n".join([_ALGORITHM, time_text, place, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key}".encode()
    for step in (day, region, service, "aws4_request"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    out["authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{place}, SignedHeaders={names}, Signature={signature}"
    )
    return out


def _canonical_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return "&".join(sorted(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs))
