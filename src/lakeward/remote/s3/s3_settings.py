"""S3Settings: how a bucket is reached and who we are there, read from the properties people know."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lakeward.errors import ErrorCode
from lakeward.options import remote_store as rows
from lakeward.options.option import Option

_DEFAULT_REGION = "us-east-1"
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


@dataclass(frozen=True)
class S3Settings:
    """How a bucket is reached, and who we are there. What is secret is never shown."""

    endpoint: str | None = None
    region: str = _DEFAULT_REGION
    path_style: bool = False
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    profile: str | None = None
    server_role: str | None = None
    client_role: str | None = None
    role_session: str = rows.S3_ROLE_SESSION.default
    sts_endpoint: str | None = None
    request_timeout_ms: int = rows.REQUEST_TIMEOUT.default
    retry_timeout_ms: int = rows.RETRY_TIMEOUT.default
    retries: int = rows.RETRIES.default

    @classmethod
    def of(cls, settings: Mapping[str, str], environment: Mapping[str, str] | None = None) -> S3Settings:
        """From properties under any of their names; other properties are passed over."""
        environment = os.environ if environment is None else environment
        texts = _canonical(settings)
        access_key, secret_key = rows.S3_ACCESS_KEY.read(texts), rows.S3_SECRET_KEY.read(texts)
        if (access_key is None) != (secret_key is None):
            there, lacking = rows.S3_ACCESS_KEY.key, rows.S3_SECRET_KEY.key
            if access_key is None:
                there, lacking = lacking, there
            raise ErrorCode.INVALID_CONFIG.error(f"'{there}' is set and '{lacking}' is not; set both or none.")
        given = rows.S3_ENDPOINT.read(texts) or next(
            (environment[key] for key in _ENDPOINTS if environment.get(key)), None
        )
        endpoint = _checked_url(rows.S3_ENDPOINT, given, texts)
        is_told = rows.S3_PATH_STYLE.key in texts
        return cls(
            endpoint=endpoint,
            region=rows.S3_REGION.read(texts)
            or environment.get("AWS_REGION")
            or environment.get("AWS_DEFAULT_REGION")
            or _DEFAULT_REGION,
            path_style=rows.S3_PATH_STYLE.read(texts) or (not is_told and _is_bare_host(endpoint)),
            access_key=access_key,
            secret_key=secret_key,
            session_token=rows.S3_SESSION_TOKEN.read(texts),
            profile=rows.S3_PROFILE.read(texts),
            server_role=rows.S3_SERVER_ROLE.read(texts),
            client_role=rows.S3_CLIENT_ROLE.read(texts),
            role_session=rows.S3_ROLE_SESSION.read(texts),
            sts_endpoint=_checked_url(rows.S3_STS_ENDPOINT, rows.S3_STS_ENDPOINT.read(texts), texts),
            request_timeout_ms=rows.REQUEST_TIMEOUT.read(texts),
            retry_timeout_ms=rows.RETRY_TIMEOUT.read(texts),
            retries=rows.RETRIES.read(texts),
        )

    def bucket_endpoint(self, bucket: str) -> str | None:
        """The URL that a bucket's requests go to, None for AWS's own; with path style the bucket is not in it."""
        if self.endpoint is None or self.path_style:
            return self.endpoint
        scheme, _, host = self.endpoint.partition("://")
        return f"{scheme}://{bucket}.{host}"

    def sts_url(self) -> str:
        """Where sessions of roles are asked for."""
        if self.sts_endpoint is not None:
            return self.sts_endpoint
        if self.endpoint is not None and not (urlsplit(self.endpoint).hostname or "").endswith(".amazonaws.com"):
            return self.endpoint
        return f"https://sts.{self.region}.amazonaws.com"


def _canonical(settings: Mapping[str, str]) -> dict[str, str]:
    """Under canonical names; a canonical name hides its aliases. An empty text is as good as none."""
    table = rows.REMOTE_STORE_OPTIONS
    found: dict[str, str] = {}
    for key, value in settings.items():
        if not value.strip():
            continue
        canonical, text = table.canonical(key, value)
        if canonical in table.rows and (canonical == key or canonical not in settings):
            found[canonical] = text.strip()
    return found


def _is_bare_host(endpoint: str | None) -> bool:
    """Whether a bucket cannot be put in front of the host, as it is an address or has no domain."""
    host = endpoint and urlsplit(endpoint).hostname
    if not host:
        return False
    return ":" in host or "." not in host or host.rpartition(".")[2].isdigit()


def _checked_url(option: Option[str | None], url: str | None, texts: Mapping[str, str]) -> str | None:
    if url is None:
        return None
    if "://" not in url:
        url = f"{'https' if rows.S3_TLS.read(texts) else 'http'}://{url}"
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ErrorCode.INVALID_CONFIG.error(f"'{option.key}' is no URL: '{url}'; write http://host:port.")
    return url.rstrip("/")
