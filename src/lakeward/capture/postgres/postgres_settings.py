"""PostgresSettings: settings of options, and the name of a slot for a stream of any name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Self

from lakeward.capture.name_pattern import NamePattern
from lakeward.capture.postgres import postgres_options as rows
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode, LakewardError

_ANY_DOT = "\0"
_NAME_BYTES_MAX = 63


class PostgresSettings(ServerSettings):
    """Settings that are made of options."""

    __slots__ = ()

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """The settings of options that were checked before; what is missing or cannot be read is an error."""
        files = {"sslrootcert": rows.SSL_ROOT, "sslcert": rows.SSL_CERT, "sslkey": rows.SSL_KEY}
        rows.PLUGIN.read(options)
        database = _need("database-name", rows.DATABASE_NAME.read(options))
        slot = _checked_slot(rows.SLOT_NAME.read(options))
        return cls(
            hostname=_need("hostname", rows.HOSTNAME.read(options)),
            port=rows.PORT.read(options),
            username=_need("username", rows.USERNAME.read(options)),
            password=rows.PASSWORD.read(options) or "",
            database=database,
            slot=slot,
            publication=rows.PUBLICATION_NAME.read(options) or slot,
            included=_included_tables(options, database),
            excluded=_full_names("tables.exclude", rows.TABLES_EXCLUDE.read(options) or "", database),
            publishes_all=rows.PUBLICATION_TABLES.read(options) == "all",
            connect_timeout_s=max(rows.CONNECT_TIMEOUT.read(options) / 1000, 1),
            read_timeout_s=max(rows.READ_TIMEOUT.read(options) / 1000, 0.1),
            ssl_mode=rows.SSL_MODE.read(options),
            ssl_files={name: file for name, row in files.items() if (file := row.read(options))},
            nulls_odd=rows.ODD_VALUES.read(options) == "null",
            looks_up_unchanged=rows.UNCHANGED_VALUES.read(options) == "lookup",
        )


def slot_name_of(stream: str) -> str:
    """A name for the slot of a stream that has any name: PostgreSQL takes lower-case letters, digits and _ only."""
    plain = re.sub(r"[^a-z0-9_]+", "_", stream.lower()).strip("_")
    name = f"lakeward_{plain}"
    if plain == stream and len(name) <= _NAME_BYTES_MAX:
        return name
    # Two streams must not meet in one slot because their names differ in a dash.
    mark = hashlib.sha256(stream.encode()).hexdigest()[:8]
    return f"{name[: _NAME_BYTES_MAX - 9].rstrip('_')}_{mark}"


def _need(key: str, value: str | None) -> str:
    if not value:
        raise ErrorCode.INVALID_CONFIG.error(f"A PostgreSQL source needs the option '{key}'.")
    return value


def _checked_slot(name: str) -> str:
    if not re.fullmatch(rf"[a-z0-9_]{{1,{_NAME_BYTES_MAX}}}", name):
        raise _wrong(
            "slot.name", f"'{name}' is not made of lower-case letters, digits and _, {_NAME_BYTES_MAX} at most"
        )
    return name


def _included_tables(options: Mapping[str, str], database: str) -> tuple[NamePattern, ...]:
    tables, table = rows.TABLES.read(options), rows.TABLE_NAME.read(options)
    if bool(tables) == bool(table):
        raise ErrorCode.INVALID_CONFIG.error(
            "A PostgreSQL source needs either 'tables', or 'table-name' (with 'schema-name', 'public' by default)."
        )
    if tables:
        return _full_names("tables", tables, database)
    name = _regex("table-name", table or "")
    return tuple(NamePattern(_regex("schema-name", space), name) for space in rows.SCHEMA_NAME.read(options))


def _full_names(key: str, text: str, database: str) -> tuple[NamePattern, ...]:
    r"""Names such as `public.orders` and `public.\.*`; the database may stand before them."""
    patterns = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        words = part.replace("\\.", _ANY_DOT).split(".")
        if len(words) == 3 and words[0] == database:
            words = words[1:]
        if len(words) != 2 or not all(words):
            raise _wrong(key, f"'{part}' is not a schema and a table with a dot between them, such as public.\\.*")
        patterns.append(NamePattern(*(_regex(key, word.replace(_ANY_DOT, ".")) for word in words)))
    return tuple(patterns)


def _regex(key: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as wrong:
        raise _wrong(key, f"'{text}' is not a regular expression: {wrong}") from None


def _wrong(key: str, why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"Invalid value for '{key}': {why}.")
