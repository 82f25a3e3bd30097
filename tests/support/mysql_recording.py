"""What a MariaDB sent once, so that its bytes are read where there is none: `python tests/support/mysql_recording.py`.

A recording is JSON: the packets of the binlog and of a SELECT in base 64, answers to short queries by statement, and
the places between which the binlog was read. It is of the table with every type (mysql_matrix).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "data" / "mysql_matrix.json"
#: Longer values are left out of the recording.
LONGEST = 300
OPTIONS = {"hostname": "recorded", "username": "nobody", "tables": "matrix.t", "time-as-text": "true"}


class Recording:
    """A recording that answers as the server did."""

    def __init__(self) -> None:
        self._parts: dict[str, Any] = json.loads(FILE.read_text())
        self.start, self.end = self._parts["start"], self._parts["end"]
        self.sizes: list[int] = self._parts["sizes"]

    def query(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """The answer to a short query."""
        return [tuple(row) for row in self._parts["queries"][statement]]

    def source(self, part: str, piece_bytes: int) -> RecordedBytes:
        """The packets of `binlog` or `select`, some bytes at a time."""
        return RecordedBytes(base64.b64decode(self._parts[part]), piece_bytes)


class RecordedBytes:
    """A socket that gives what was recorded, in pieces."""

    def __init__(self, data: bytes, piece_bytes: int) -> None:
        self._data, self._piece_bytes, self._at = data, piece_bytes, 0

    def recv_into(self, buffer: memoryview, /) -> int:
        """The next piece."""
        piece = self._data[self._at : self._at + min(self._piece_bytes, len(buffer))]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def _record() -> None:
    """Start a MariaDB, write the table, read it both ways, and keep what was sent."""
    from mariadb import MariaDb
    from mysql_matrix import ROWS, create_table, written

    from lakeward.capture.mysql.mysql_database import MysqlDatabase
    from lakeward.capture.mysql.mysql_settings import MysqlSettings
    from lakeward.capture.mysql.server import mysql_session

    taken: list[bytearray] = []
    queries: dict[str, Any] = {}
    sizes: list[list[int]] = []
    plain_query, plain_select = mysql_session.MysqlSession.query, mysql_session.MysqlSession.select

    class Tap(mysql_session._Socket):
        def __init__(self, connection: Any) -> None:
            super().__init__(connection)
            taken.append(bytearray())

        def recv_into(self, buffer: memoryview) -> int:
            count = super().recv_into(buffer)
            taken[-1] += buffer[:count]
            return count

    def query(self: Any, statement: str) -> Sequence[tuple[Any, ...]]:
        queries[statement] = plain_query(self, statement)
        return queries[statement]

    def select(self: Any, statement: str) -> Any:
        found, blocks = plain_select(self, statement)
        sizes.append(found.tolist())
        return found, blocks

    mysql_session._Socket = Tap
    mysql_session.MysqlSession.query = query  # type: ignore[method-assign]
    mysql_session.MysqlSession.select = select  # type: ignore[method-assign]
    with MariaDb() as server:
        server.execute("CREATE DATABASE matrix", create_table("matrix.t"))
        database = MysqlDatabase(MysqlSettings.of({**server.options, "tables": "matrix.t", "time-as-text": "true"}))
        start = database.begin()
        with server.connect("matrix", sql_mode="") as connection, connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+00:00'")
            for row in range(ROWS):
                values = written(row, longest=LONGEST)
                cursor.execute(f"INSERT INTO t VALUES ({row}{', %s' * len(values)})", values)
            cursor.execute("UPDATE t SET id = id + 100 WHERE id = 1")
            cursor.execute("UPDATE t SET c0 = 5 WHERE id = 2")
        end, tables = database.now(), database.tables()
        taken.clear()
        list(database.changes(start, end, tables))
        binlog = bytes(taken[-1])
        list(database.read_chunk(tables[0], database.chunks(tables[0], 100)[0], end))
        parts = {
            "start": start,
            "end": end,
            "sizes": sizes[-1],
            "queries": queries,
            "binlog": base64.b64encode(binlog).decode(),
            "select": base64.b64encode(bytes(taken[-1])).decode(),
        }
        FILE.write_text(json.dumps(parts, default=str))


if __name__ == "__main__":
    _record()
