"""How a lake's bucket is reached: properties by the names of remote storage, of Paimon, of Hadoop or of pyiceberg."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.files.s3_path import is_s3
from lakeward.options.remote_store import REMOTE_STORE_OPTIONS
from lakeward.remote.s3.s3_settings import S3Settings

#: pyiceberg's names → ours.
_ICEBERG = {
    "s3.access-key-id": "s3.access-key",
    "s3.secret-access-key": "s3.secret-key",
    "s3.role-arn": "s3.server.role.arn",
    "s3.role-session-name": "s3.assumed.role.session.name",
    "client.region": "s3.region",
}


def store_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """Of a catalog's properties, those that say how its bucket is reached, as `open_store` takes them."""
    named = {_ICEBERG.get(key, key): value for key, value in sorted(properties.items(), reverse=True)}
    known = REMOTE_STORE_OPTIONS
    return {key: value for key, value in named.items() if known.canonical_key(key) in known.rows}


def iceberg_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The same for pyiceberg, under its own names; what is already there under those stays."""
    given = store_settings(properties)
    if not given and not is_s3(properties.get("warehouse", "")):
        return {}
    settings = S3Settings.of(given)
    told = {
        "s3.endpoint": settings.endpoint,
        "s3.region": settings.region,
        "s3.access-key-id": settings.access_key,
        "s3.secret-access-key": settings.secret_key,
        "s3.session-token": settings.session_token,
        "s3.role-arn": settings.server_role,
        "s3.profile-name": settings.profile,
        "s3.request-timeout": f"{settings.request_timeout_ms / 1000:g}",  # pyarrow's own is 3 s
        "s3.force-virtual-addressing": None if settings.endpoint is None else str(not settings.path_style).lower(),
    }
    return {key: value for key, value in told.items() if value is not None and key not in properties}
