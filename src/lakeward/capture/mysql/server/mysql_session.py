"""MysqlSession: one connection. PyMySQL opens it and signs in; long answers are read by ourselves, as packets."""

from __future__ import annotations

import contextlib
import ssl
import struct
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pymysql
from pymysql.constants import ER
from pymysql.protocol import FieldDescriptorPacket

from lakeward.capture.mysql.cells.cells import I64
from lakeward.capture.mysql.server.mysql_errors import sentence_of
from lakeward.capture.mysql.server.packets import Block, Enough, PacketReader
from lakeward.capture.mysql.server.server_settings import ServerSettings, tls_arguments, unchecked_context
from lakeward.runtime.clock import SystemClock

#: Texts in UTF-8, times in UTC, `"` and `\\` as the standard says, and values as they are.
_SET_UP = (
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION net_write_timeout = 3600",
)
#: Too many connections, of the server or of one user.
_NO_PLACE, _PAUSE_S = (ER.CON_COUNT_ERROR, ER.TOO_MANY_USER_CONNECTIONS, ER.USER_LIMIT_REACHED), 0.1
_ERROR = 0xFF
_PREPARE, _EXECUTE = 0x16, 0x17
#: Bytes of numbers by the server's number of their type.
_SIZES = {1: 1, 2: 2, 13: 2, 3: 4, 9: 4, 8: 8, 4: 4, 5: 8}


def _read_columns(connection: Any, count: int) -> list[int]:
    """How wide the numbers of an answer are; 0 for what is no number."""
    kinds = [connection._read_packet(FieldDescriptorPacket).type_code for _ in range(count)]
    connection._read_packet()
    return [_SIZES.get(kind, 0) for kind in kinds]


class _Connection(pymysql.connections.Connection):
    """PyMySQL reads all authorities of the machine for a connection that trusts any of them: 70 ms each."""

    def _create_ssl_ctx(self, given: Any) -> ssl.SSLContext:
        made = super()._create_ssl_ctx(given) if given else _trusting()  # type: ignore[misc]
        assert isinstance(made, ssl.SSLContext)
        return made


@cache
def _trusting() -> ssl.SSLContext:
    return unchecked_context()


def _connect(settings: ServerSettings) -> _Connection:
    """A connection; a server that has no place for one is asked again.

    It holds the place of a reader of its binlog until it has something to send to it, a second at most.
    """
    clock, resting = SystemClock(), threading.Event()
    deadline_s = clock.monotonic() + settings.connect_timeout_s
    while True:
        try:
            return _Connection(
                host=settings.hostname,
                port=settings.port,
                user=settings.username,
                password=settings.password.encode(),  # PyMySQL would take text for latin1
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=settings.connect_timeout_s,
                read_timeout=settings.read_timeout_s,
                write_timeout=settings.read_timeout_s,
                program_name="lakeward",
                **tls_arguments(settings),
            )
        except pymysql.err.OperationalError as wrong:
            if wrong.args[0] not in _NO_PLACE or clock.monotonic() > deadline_s:
                raise
        resting.wait(_PAUSE_S)


class _Socket:
    """The socket of a connection, and what PyMySQL has read of it ahead of us."""

    def __init__(self, connection: Any) -> None:
        self._file = connection._rfile
        self._socket = connection._sock

    def recv_into(self, buffer: memoryview) -> int:
        """What PyMySQL has, then what the socket has."""
        if self._file is None:
            return int(self._socket.recv_into(buffer))
        early, self._file = self._file.read1(len(buffer)), None
        buffer[: len(early)] = early
        return len(early)


class MysqlSession:
    """A connection that opens itself when it is first needed, and whose errors are sentences."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._connection: Any = None

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is a MariaDB."""
        return "mariadb" in str(self._open().server_version).lower()

    def query(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """The rows of an answer that is short."""
        with self._sentences(), self._open().cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())

    def select(self, statement: str) -> tuple[I64, Iterator[Block]]:
        """The rows of a SELECT in the form of prepared statements: how wide numbers are by column, and packets.

        Whoever does not read to the end must close the session.
        """
        with self._sentences():
            connection = self._open()
            connection._execute_command(_PREPARE, statement)
            number, columns = struct.unpack_from("<IH", connection._read_packet()._data, 1)
            _read_columns(connection, columns)
            connection._execute_command(_EXECUTE, struct.pack("<IBI", number, 0, 1))
            connection._read_packet()
            sizes = _read_columns(connection, columns)
        return np.array(sizes, np.int64), self._packets(connection)

    def command(self, number: int, body: bytes, enough: Enough) -> Iterator[Block]:
        """What comes after a command, as packets."""
        with self._sentences():
            connection = self._open()
            connection._execute_command(number, body)
        yield from self._packets(connection, enough)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection._force_close()
            self._connection = None

    def _open(self) -> Any:
        if self._connection is not None and self._connection._sock is not None:
            return self._connection
        with self._sentences():
            self._connection = _connect(self._settings)
            with self._connection.cursor() as cursor:
                for statement in _SET_UP:
                    cursor.execute(statement)
        return self._connection

    def _packets(self, connection: Any, enough: Enough | None = None) -> Iterator[Block]:
        connection._sock.settimeout(self._settings.read_timeout_s)
        connection._current_timeout = self._settings.read_timeout_s
        reader = PacketReader(_Socket(connection), enough)
        blocks = iter(reader)
        while True:
            with self._sentences():
                block = next(blocks, None)
            if block is None:
                break
            yield block
        if reader.ended is not None and reader.ended[:1] == bytes([_ERROR]):
            number = struct.unpack_from("<H", reader.ended, 1)[0]
            words = reader.ended[9:] if reader.ended[3:4] == b"#" else reader.ended[3:]
            raise sentence_of(self._settings, pymysql.err.OperationalError(number, words.decode(errors="replace")))

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except (pymysql.err.MySQLError, OSError, EOFError, RuntimeError) as wrong:
            self.close()
            raise sentence_of(self._settings, wrong) from None
