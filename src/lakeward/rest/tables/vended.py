"""How a table's files in a bucket are reached: where it is, and temporary keys to this table's folder alone.

Keys are sessions of the role that `s3.assumed.role.arn` names, limited to one prefix, and to reading but for tables of
others. Without a role none are handed out: the catalog's own keys are nobody else's.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from lakeward.lake.files.s3_path import is_s3
from lakeward.lake.files.s3_properties import store_settings
from lakeward.remote.s3.credential_chain import found_credentials
from lakeward.remote.s3.credentials import Credentials
from lakeward.remote.s3.read_policy import folder_policy
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.s3.sts import Sts
from lakeward.runtime.clock import Clock

_DURATION_S = 3600
_TABLES_MAX = 1000


class Vending:
    """Keys for readers; those of a table are used for half of their life."""

    def __init__(self, lake: Mapping[str, str], clock: Clock) -> None:
        self._settings = S3Settings.of(store_settings(lake))
        self._clock = clock
        self._lock = Lock()
        self._known: dict[tuple[str, bool], Credentials] = {}

    def config(self, location: str) -> dict[str, str]:
        """Where the bucket is, by the names that all readers have; nothing for a local lake."""
        if not is_s3(location):
            return {}
        settings = self._settings
        told = {
            "s3.endpoint": settings.endpoint,
            "s3.region": settings.region,
            "client.region": settings.region,
            "s3.path-style-access": str(settings.path_style).lower(),
        }
        return {key: value for key, value in told.items() if value is not None}

    def keys(self, location: str, *, writes: bool = False) -> dict[str, str]:
        """Keys that read, or write as well, below a location; none where there is no role for it."""
        if not is_s3(location) or self._settings.client_role is None:
            return {}
        found = self._session(location, writes=writes)
        return {
            "s3.access-key-id": found.access_key,
            "s3.secret-access-key": found.secret_key,
            **({} if found.session_token is None else {"s3.session-token": found.session_token}),
            **({} if found.expires_ms is None else {"s3.session-token-expires-at-ms": str(found.expires_ms)}),
        }

    def storage_credentials(self, location: str, *, writes: bool = False) -> tuple[dict[str, Any], ...]:
        """The same as the protocol lists keys by prefix."""
        keys = self.keys(location, writes=writes)
        return ({"prefix": location.rstrip("/") + "/", "config": keys},) if keys else ()

    def _session(self, location: str, *, writes: bool) -> Credentials:
        now_ms = self._clock.now_ms()
        with self._lock:
            known = self._known.get((location, writes))
            if known is not None and (known.expires_ms or 0) - now_ms > _DURATION_S * 500:
                return known
        settings, parts = self._settings, urlsplit(location)
        assert settings.client_role is not None
        policy = folder_policy(parts.netloc, parts.path.strip("/"), settings.region, writes=writes)
        sts = Sts(settings.sts_url(), settings.region, self._clock)
        own = found_credentials(settings, self._clock)()
        made = sts.assume_role(own, settings.client_role, settings.role_session, _DURATION_S, policy)
        with self._lock:
            if len(self._known) >= _TABLES_MAX:
                self._known.clear()
            self._known[location, writes] = made
        return made
