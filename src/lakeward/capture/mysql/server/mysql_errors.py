"""What went wrong on a MySQL or MariaDB server, in a sentence that says what to do."""

from __future__ import annotations

from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode, LakewardError

try:
    import pymysql
except ImportError as absent:
    raise ErrorCode.UNSUPPORTED_VERSION.error(
        "Sources of MySQL and MariaDB need PyMySQL, which is not installed: pip install 'lakeward[mysql]'."
    ) from absent

_WRONG_PASSWORD = {1045, 1698, 1251, 2059}
_NO_ROUTE = {1130, 2002, 2003, 2005}
_NO_TLS = 2026
_LOST = {1053, 1152, 1158, 1159, 1160, 1161, 1317, 1927, 2006, 2013, 2014, 2055, 1040, 1203, 1226}
_NO_RIGHT = {1227, 1044, 1142, 1143, 1370}
_LOCK = {1205, 1213, 1412}
_GONE = {1236, 1220, 1373}
_NO_TABLE, _NO_DATABASE, _NO_COLUMN = 1146, 1049, 1054


def binlog_gone(server: str, why: str) -> LakewardError:
    """The place in the binlog where the stream stopped is no longer there."""
    return ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
        f"The binlog of {server} no longer has the place where this stream stopped: {why}. What was changed since then"
        " is lost for this stream: start it anew, with a fresh checkpoint, so that it copies the tables again; and let"
        " the server keep its binlog longer (binlog_expire_logs_seconds in MySQL 8 and MariaDB, expire_logs_days)."
    )


def sentence_of(settings: ServerSettings, wrong: Exception) -> LakewardError:
    """An error of PyMySQL or the network as one of ours, with the server's own words, which hold no password."""
    number = wrong.args[0] if isinstance(wrong, pymysql.err.MySQLError) and wrong.args else 0
    words = str(wrong.args[1]) if len(wrong.args) > 1 else str(wrong) or type(wrong).__name__
    user = settings.username
    if isinstance(wrong, RuntimeError):
        return ErrorCode.AUTHENTICATE.error(
            f"User '{user}' cannot sign in: {words}. Run pip install 'lakeward[mysql]'."
        )
    if number in _WRONG_PASSWORD:
        return ErrorCode.AUTHENTICATE.error(
            f"The server {settings.server} refuses user '{user}': {words}. Check 'username' and 'password'."
        )
    if number == _NO_TLS or "[SSL" in words:
        return ErrorCode.AUTHENTICATE.error(
            f"There is no safe connection to {settings.server} as 'ssl.mode' = '{settings.ssl_mode}' wants it: {words}."
            " Give the server's authority with 'ssl.ca', or choose another mode."
        )
    if number in _NO_RIGHT:
        return ErrorCode.AUTHORIZATION.error(
            f"User '{user}' lacks a right on {settings.server}: {words}. Run there as an administrator: {grant(user)}"
        )
    if number in _NO_ROUTE:
        return ErrorCode.NETWORK.error(
            f"The server {settings.server} cannot be reached: {words}. Check 'hostname', 'port' and 'ssl.mode', and"
            " that the server runs."
        )
    if number in _GONE:
        return binlog_gone(settings.server, words)
    if number in {_NO_TABLE, _NO_COLUMN}:
        return ErrorCode.TABLE_NOT_EXIST.error(f"On {settings.server}: {words}.")
    if number == _NO_DATABASE:
        return ErrorCode.DATABASE_NOT_EXIST.error(f"On {settings.server}: {words}.")
    if number in _LOST or number in _LOCK or isinstance(wrong, OSError | EOFError):
        return ErrorCode.NETWORK.error(
            f"The connection to {settings.server} broke: {words}. It is tried again when the query is."
        )
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server {settings.server} says: {words} ({number}).")


def grant(user: str) -> str:
    """The statement that gives a user what a capture needs."""
    return f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{user}'@'%';"
