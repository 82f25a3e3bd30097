"""MysqlSettings: which server, as whom, and which tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from lakeward.capture.mysql import mysql_options as rows
from lakeward.capture.mysql.cells.temporal import ValueRules, ZeroDates
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.name_pattern import NamePattern
from lakeward.errors import ErrorCode, LakewardError

_ANY_DOT = "\0"


class MysqlSettings(ServerSettings):
    """Settings that were made of options."""

    __slots__ = ()

    @classmethod
    def of(cls, options: Mapping[str, str]) -> MysqlSettings:
        """The settings of options that were checked before; what is missing or cannot be read is an error."""
        files = {"ssl_ca": rows.SSL_CA, "ssl_cert": rows.SSL_CERT, "ssl_key": rows.SSL_KEY}
        _check_zone(rows.SERVER_TIME_ZONE.read(options))
        return cls(
            hostname=_need("hostname", rows.HOSTNAME.read(options)),
            port=rows.PORT.read(options),
            username=_need("username", rows.USERNAME.read(options)),
            password=rows.PASSWORD.read(options) or "",
            included=_patterns_of(options),
            excluded=_full_names("tables.exclude", rows.TABLES_EXCLUDE.read(options) or ""),
            server_ids=_server_ids(rows.SERVER_ID.read(options)),
            connect_timeout_s=max(rows.CONNECT_TIMEOUT.read(options) / 1000, 0.1),
            read_timeout_s=max(rows.READ_TIMEOUT.read(options) / 1000, 0.1),
            ssl_mode=rows.SSL_MODE.read(options),
            ssl_files={name: file for name, row in files.items() if (file := row.read(options))},
            rules=ValueRules(ZeroDates(rows.ZERO_DATES.read(options)), rows.TIME_AS_TEXT.read(options)),
        )


def _need(key: str, value: str | None) -> str:
    if not value:
        raise ErrorCode.INVALID_CONFIG.error(f"A MySQL source needs the option '{key}'.")
    return value


def _patterns_of(options: Mapping[str, str]) -> tuple[NamePattern, ...]:
    tables, database, table = (row.read(options) for row in (rows.TABLES, rows.DATABASE_NAME, rows.TABLE_NAME))
    if tables and not database and not table:
        return _full_names("tables", tables)
    if tables or not database:
        raise ErrorCode.INVALID_CONFIG.error(
            "A MySQL source needs either 'tables', or 'database-name' with 'table-name'."
        )
    # Flink CDC lets 'table-name' carry the database as well: db\.orders.
    name = (table or ".*").replace("\\.", ".") if re.fullmatch(r"\w+", (table or "").replace("\\.", "")) else table
    if name and name.startswith(f"{database}."):
        name = name.removeprefix(f"{database}.")
    return (NamePattern(_regex("database-name", database), _regex("table-name", name or ".*")),)


def _full_names(key: str, text: str) -> tuple[NamePattern, ...]:
    r"""Names such as `shop.orders` and `shop.\.*`: the first plain dot ends the database, `\.` is any character."""
    patterns = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        database, dot, table = part.replace("\\.", _ANY_DOT).partition(".")
        if not dot or not table:
            raise _wrong(key, f"'{part}' is not a database and a table with a dot between them, such as shop.\\.*")
        patterns.append(NamePattern(*(_regex(key, side.replace(_ANY_DOT, ".")) for side in (database, table))))
    return tuple(patterns)


def _regex(key: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as wrong:
        raise _wrong(key, f"'{text}' is not a regular expression: {wrong}") from None


def _server_ids(text: str | None) -> range:
    if not text:
        return range(0)
    found = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text.replace(" ", ""))
    if not found or not 0 < int(found[1]) <= int(found[2] or found[1]) < 1 << 32:
        raise _wrong("server-id", f"'{text}' is neither a number nor a range such as 5400-5408")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _check_zone(name: str | None) -> None:
    if name:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, KeyError):
            raise _wrong("server-time-zone", f"'{name}' is not a time zone such as Europe/Berlin") from None


def _wrong(key: str, why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"Invalid value for '{key}': {why}.")
