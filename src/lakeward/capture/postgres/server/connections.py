"""Connections to the server, ordinary ones and such that replicate; every one writes values in the same way."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from lakeward.capture.postgres.server.failures import map_failures
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode, RetriableError
from lakeward.runtime.clock import SystemClock

try:
    import psycopg
except ImportError:  # said when somebody wants a connection
    psycopg = None  # type: ignore[assignment, unused-ignore]

#: What the text of values looks like; a COPY and a replication stream must not differ in it.
_FORMS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "3",
    "bytea_output": "hex",
    "lc_monetary": "C",
    "synchronous_commit": "local",  # what we write is a mark in the log, for which no standby is waited
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
_VERSION_MIN = 140000
_STARTING, _PAUSE_S = "the database system is", 0.1


def connect(settings: ServerSettings, *, replicates: bool = False, waits: bool = False) -> psycopg.Connection[Any]:
    """A connection in which every statement commits by itself; `waits`: for a server that is being started again."""
    if psycopg is None:
        raise ErrorCode.INVALID_CONFIG.error(
            "Reading PostgreSQL needs psycopg, which is not installed: pip install 'lakeward[postgres]'."
        )
    clock, resting = SystemClock(), threading.Event()
    deadline_s = clock.monotonic() + settings.connect_timeout_s
    while True:
        try:
            return _connect_once(settings, replicates=replicates)
        except RetriableError as away:
            if clock.monotonic() > deadline_s or not (waits or _STARTING in str(away)):
                raise
        resting.wait(_PAUSE_S)


def _connect_once(settings: ServerSettings, *, replicates: bool) -> psycopg.Connection[Any]:
    forms = " ".join(f"-c {key}={value}" for key, value in _FORMS.items())
    more: dict[str, Any] = {**settings.ssl_files, **({"replication": "database"} if replicates else {})}
    with map_failures(settings):
        connection = psycopg.connect(
            host=settings.hostname,
            port=settings.port,
            user=settings.username,
            password=settings.password or None,
            dbname=settings.database,
            connect_timeout=max(2, round(settings.connect_timeout_s)),
            sslmode=settings.ssl_mode,
            client_encoding="UTF8",
            application_name="lakeward",
            options=forms,
            keepalives_idle=30,
            autocommit=True,
            # Statements that are prepared are of no use to a stream, and poolers do not know them.
            prepare_threshold=None,
            **more,
        )
    if connection.info.server_version < _VERSION_MIN:
        version = connection.info.server_version // 10000
        connection.close()
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"The server {settings.server} is PostgreSQL {version}; changes are captured from version 14 on."
        )
    return connection


class Session:
    """One ordinary connection, opened when it is first needed and again when it was lost."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._connection: psycopg.Connection[Any] | None = None
        self._was_open = False

    @property
    def version(self) -> int:
        """The server's version, such as 180004."""
        return self._open().info.server_version

    def rows(self, query: Any, parameters: Any = None) -> list[tuple[Any, ...]]:
        """What a query answers; asked again where the connection turns out to have been lost since it was last used."""
        had_connection = self._connection is not None
        try:
            return self._rows(query, parameters)
        except RetriableError:
            if not had_connection or self._connection is not None:
                raise
        return self._rows(query, parameters)

    def _rows(self, query: Any, parameters: Any) -> list[tuple[Any, ...]]:
        with map_failures(self.settings, hang_up=self.close), self._open().cursor() as cursor:
            cursor.execute(query, parameters)
            return cursor.fetchall() if cursor.description is not None else []

    def row(self, query: Any, parameters: Any = None) -> tuple[Any, ...]:
        """The first row of what a query answers."""
        return self.rows(query, parameters)[0]

    @contextlib.contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection itself, for what is more than a query."""
        with map_failures(self.settings, hang_up=self.close):
            yield self._open()

    def close(self) -> None:
        """End the connection; the next query opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed or self._connection.broken:
            self._connection = connect(self.settings, waits=self._was_open)
            self._was_open = True
        return self._connection
