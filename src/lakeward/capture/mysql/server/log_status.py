"""LogStatus: where the binlog ends, and whether it holds what a capture needs."""

from __future__ import annotations

from typing import Any

from lakeward.capture.mysql.server.mysql_session import MysqlSession
from lakeward.capture.mysql.server.position import position
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import Position
from lakeward.errors import ErrorCode, LakewardError

_NEEDED = {"binlog_format": "ROW", "binlog_row_image": "FULL"}


class LogStatus:
    """Asks one session."""

    def __init__(self, settings: ServerSettings, session: MysqlSession) -> None:
        self._settings = settings
        self._session = session

    def now(self) -> dict[str, Any]:
        """The end of what has been committed."""
        file, at, gtid = self._status()
        return self.at(file, at, gtid)

    def at(self, file: str, at: int, gtid: str = "") -> dict[str, Any]:
        """A place, with its GTIDs where the server can tell them."""
        if self._session.is_mariadb:
            gtid = self._session.query(f"SELECT BINLOG_GTID_POS('{file}', {at})")[0][0] or ""
            return position(file, at, str(gtid), str(self._session.query("SELECT @@server_id")[0][0]))
        return position(file, at, gtid.replace("\n", ""), str(self._session.query("SELECT @@server_uuid")[0][0]))

    def snapshot(self) -> tuple[Position, bool]:
        """Where the snapshot of the session's transaction is, and whether that is exact or only no earlier."""
        if self._session.is_mariadb:
            told = dict(self._session.query("SHOW STATUS LIKE 'binlog_snapshot_%'"))
            lower = {str(key).lower(): value for key, value in told.items()}
            if lower.get("binlog_snapshot_file"):
                return self.at(str(lower["binlog_snapshot_file"]), int(lower["binlog_snapshot_position"])), True
        return self.now(), False

    def check(self) -> None:
        """Refuse a server whose binlog does not tell all changes of rows."""
        values = {
            str(name).lower(): str(value) for name, value in self._session.query("SHOW GLOBAL VARIABLES LIKE '%bin%'")
        }
        if values.get("log_bin", "OFF").upper() not in {"ON", "1"}:
            raise self._refusal("has no binlog. Start it with log_bin=binlog (in its my.cnf) and a server_id")
        for name, needed in _NEEDED.items():
            if values.get(name, needed).upper() != needed:
                raise self._refusal(
                    f"has {name} = {values[name]}, and a capture needs {needed}. Run SET GLOBAL {name} = '{needed}',"
                    " set it in my.cnf too, and let clients connect anew"
                )

    def _refusal(self, why: str) -> LakewardError:
        return ErrorCode.INVALID_CONFIG.error(f"The server {self._settings.server} {why}.")

    def _status(self) -> tuple[str, int, str]:
        try:
            rows = self._session.query("SHOW MASTER STATUS")
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.UNKNOWN_SERVER_ERROR:
                raise
            rows = self._session.query("SHOW BINARY LOG STATUS")  # what MySQL 8.4 calls it
        if not rows:
            raise self._refusal("has no binlog. Start it with log_bin=binlog (in its my.cnf) and a server_id")
        return str(rows[0][0]), int(rows[0][1]), str(rows[0][4]) if len(rows[0]) > 4 else ""
