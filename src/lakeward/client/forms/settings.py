"""Options of a connection as values: parsed once, refused early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.client.forms.security import security_of
from lakeward.options import client as rows
from lakeward.options.option import Option
from lakeward.rpc.client_security import OPEN, ClientSecurity
from lakeward.runtime.secret_text import reveal_secrets

_PREFIX = "client."
_MB = 1 << 20
#: Apache Fluss fetches 1 MB of a bucket at a time; bulk scans here want fewer, larger answers.
_BUCKET_FETCH_BYTES = 16 * _MB
_FETCH_BYTES = 32 * _MB


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Everything a connection, its writers and its scans can be told."""

    connect_timeout_ms: int = 120_000
    request_timeout_ms: int = 30_000
    away_ms: int = 0
    #: After so long without an answer we look whether the cluster goes on without the server that owes it.
    silence_ms: int = 3_000
    security: ClientSecurity = OPEN
    acks: int = -1
    buffer_bytes: int = 64 * _MB
    batch_bytes: int = 2 * _MB
    linger_ms: float = 100
    retries: int = 2**31 - 1
    idempotent: bool = True
    in_flight_max: int = 5
    create_partitions: bool = True
    round_robin: bool = False
    check_crc: bool = True
    batch_raw_bytes_max: int = 128 * _MB
    fetch_bytes_max: int = _FETCH_BYTES
    bucket_fetch_bytes_max: int = _BUCKET_FETCH_BYTES
    fetch_wait_ms: int = 500
    fetch_bytes_min: int = 1
    segments_ahead: int = 4
    downloads_at_once: int = 3
    remote_cache_bytes: int = 512 * _MB
    tmp_dir: str | None = None
    #: May hold keys, so it is never shown.
    store_options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ClientSettings:
        """Settings from options, named as in Apache Fluss or with underscores and without `client.`."""
        given = dict(_canonical(key, value) for key, value in options.items())
        rows.CLIENT_OPTIONS.check(given)
        acks = rows.WRITER_ACKS.read(given)
        return cls(
            connect_timeout_ms=rows.CONNECT_TIMEOUT.read(given),
            request_timeout_ms=rows.REQUEST_TIMEOUT.read(given),
            away_ms=rows.AWAY_TIMEOUT.read(given),
            security=security_of(given),
            acks=-1 if acks == "all" else int(acks),
            buffer_bytes=rows.WRITER_BUFFER.read(given),
            batch_bytes=rows.WRITER_BATCH.read(given),
            linger_ms=rows.WRITER_BATCH_TIMEOUT.read(given),
            retries=rows.WRITER_RETRIES.read(given),
            idempotent=rows.WRITER_IDEMPOTENCE.read(given),
            in_flight_max=rows.WRITER_INFLIGHT.read(given),
            create_partitions=rows.WRITER_CREATE_PARTITIONS.read(given),
            round_robin=rows.WRITER_NO_KEY_ASSIGNER.read(given) == "ROUND_ROBIN",
            check_crc=rows.SCANNER_CHECK_CRC.read(given),
            batch_raw_bytes_max=rows.SCANNER_BATCH_MAX.read(given),
            fetch_bytes_max=_option_or(rows.FETCH_MAX, given, _FETCH_BYTES),
            bucket_fetch_bytes_max=_option_or(rows.FETCH_MAX_BUCKET, given, _BUCKET_FETCH_BYTES),
            fetch_wait_ms=rows.FETCH_WAIT.read(given),
            fetch_bytes_min=rows.FETCH_MIN.read(given),
            segments_ahead=rows.REMOTE_PREFETCH.read(given),
            downloads_at_once=rows.REMOTE_DOWNLOADS.read(given),
            remote_cache_bytes=rows.REMOTE_CACHE.read(given),
            tmp_dir=rows.REMOTE_TMP_DIR.read(given),
            store_options=_store_options(given),
        )


def _store_options(given: Mapping[str, str]) -> dict[str, str]:
    """What has no rows; keys among it may be given by reference."""
    return reveal_secrets({key: value for key, value in given.items() if rows.CLIENT_OPTIONS.is_open(key)})


def _option_or(option: Option[int], given: Mapping[str, str], otherwise: int) -> int:
    return option.read(given) if option.key in given else otherwise


def _canonical(key: str, value: Any) -> tuple[str, str]:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _BY_PYTHON_NAME.get(key, key), text


def _python_name(key: str) -> str:
    return key.removeprefix(_PREFIX).replace("-", "_").replace(".", "_")


_BY_PYTHON_NAME = {_python_name(row.key): row.key for row in rows.CLIENT_OPTIONS} | {
    "user": rows.SASL_USERNAME.key,
    "password": rows.SASL_PASSWORD.key,
}
