"""Variables: what SET sets and SHOW shows. Few change anything: the time zone, time limits, where names are found."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakeward.query.duckdb.question.closed_session import UTC
from lakeward.runtime.version import VERSION
from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.time_zones import zone_of

#: What we say we are: clients choose their questions by it.
SERVER_VERSION = "16.0"
#: Those that a client is told at the start, by the names that it expects.
REPORTED = (
    "server_version",
    "server_encoding",
    "client_encoding",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "integer_datetimes",
    "standard_conforming_strings",
    "is_superuser",
    "session_authorization",
    "default_transaction_read_only",
    "in_hot_standby",
    "application_name",
)
DEFAULTS = {
    "server_version": f"{SERVER_VERSION} (Lakeward {VERSION})",
    "server_version_num": "160000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": UTC,
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "in_hot_standby": "off",
    "application_name": "",
    "search_path": '"$user", public',
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "notice",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "lc_monetary": "C",
    "escape_string_warning": "on",
    "block_size": "8192",
    "max_connections": "2000",
    "ssl": "off",
    "wal_level": "replica",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "work_mem": "4096",
}
#: What stays as it is, whatever is asked for.
_FIXED = {"client_encoding", "server_version", "server_version_num", "server_encoding", "integer_datetimes"}
_FIXED |= {"datestyle", "intervalstyle", "standard_conforming_strings", "is_superuser", "bytea_output", "ssl"}
_UNITS = {"": 0.001, "us": 0.000001, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d{1,12})\s*([a-z]*)")
_OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=((?:\\.|[^\\\s])*)")
_SIZE_MAX = 10_000
_NAMES_MAX = 500


class Variables:
    """Those of one session."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = dict(DEFAULTS)
        self._start: dict[str, str] = {}
        #: What stood before the transaction, and before a SET LOCAL in it.
        self._before: dict[str, str] | None = None
        self._local: dict[str, str | None] = {}
        for name, value in given.items():
            if name.lower() != "timezone" or zone_of(value) is not None:  # the client is told what it has instead
                self.set(name, value)
        self._start = dict(self._values)

    def get(self, name: str) -> str:
        """The value of one; StateError if there is none."""
        found = self.find(name)
        if found is None:
            raise StateError("42704", f'unrecognized configuration parameter "{name}"')
        return found

    def find(self, name: str) -> str | None:
        """The value of one; None if there is none."""
        return self._values.get(name.lower())

    def all(self) -> dict[str, str]:
        """Every one."""
        return dict(sorted(self._values.items()))

    def set(self, name: str, value: str) -> None:
        """Give one a value; those that cannot change stay, and nobody is bothered about it."""
        name = name.lower()
        if name == "statement_timeout":
            _seconds(value)
        if name == "timezone":
            zone = zone_of(value)
            if zone is None:
                raise StateError("22023", f'invalid value for parameter "TimeZone": "{value}"')
            value = zone
        if len(value) > _SIZE_MAX or (name not in self._values and len(self._values) >= _NAMES_MAX):
            raise StateError("53400", "There are too many settings, or one is too long.")
        if name not in _FIXED:
            self._values[name] = value

    def reset(self, name: str | None) -> None:
        """One, or all, as they were when the session began."""
        if name is None:
            self._values = dict(self._start)
        elif name.lower() in self._start:
            self._values[name.lower()] = self._start[name.lower()]
        else:
            self._values.pop(name.lower(), None)

    def set_local(self, name: str, value: str) -> None:
        """Until the transaction ends; outside of one it is nothing, as in Postgres."""
        if self._before is not None:
            self._local.setdefault(name.lower(), self.find(name))
            self.set(name, value)

    def enter(self) -> None:
        """A transaction begins."""
        self._before, self._local = self._before or dict(self._values), {}

    def leave(self, *, keeps: bool) -> None:
        """It ends; what was set in it is kept or not, and what was set for it alone goes."""
        if not keeps and self._before is not None:
            self._values = self._before
        elif keeps:
            self._values = {n: v for n, v in (self._values | self._local).items() if v is not None}
        self._before, self._local = None, {}

    @property
    def time_zone(self) -> str:
        """The zone of days and hours, and of times that are written without one."""
        return self._values["timezone"]

    @property
    def limit_s(self) -> float | None:
        """How long a statement may take by its client's own wish."""
        return _seconds(self._values["statement_timeout"]) or None

    @property
    def database(self) -> str | None:
        """The first database of the search path, where names without one are looked for."""
        for part in self._values["search_path"].split(","):
            name = part.strip()
            name = name[1:-1].replace('""', '"') if name.startswith('"') else name
            if name and name not in {"$user", "public", "pg_catalog"}:
                return name
        return None


def options_of(text: str) -> dict[str, str]:
    """What a client sets when it comes, as for a program: `-c name=value --name=value`."""
    return {n.replace("-", "_"): re.sub(r"\\(.)", r"\1", value) for n, value in _OPTION.findall(text)}


def setting_of(statement: SqlText) -> tuple[str, str | None]:
    """Name and value of `SET [SESSION | LOCAL] name {TO | =} value, …`; no value for DEFAULT."""
    tokens = list(statement.tokens[1:])
    if len(tokens) > 1 and tokens[0].upper in {"SESSION", "LOCAL"}:
        tokens.pop(0)
    words = [token.upper for token in tokens[:3]]
    if words[:2] == ["TIME", "ZONE"]:
        return "timezone", None if words[2:] == ["LOCAL"] else _value(tokens[2:])
    if words[:1] in (["NAMES"], ["TRANSACTION"], ["CHARACTERISTICS"], ["ROLE"], ["AUTHORIZATION"]):
        return "client_encoding", None
    name, rest = _name(tokens)
    if not rest or rest[0].upper not in {"TO", "="}:
        raise StateError("42601", "SET is written SET name = value.")
    return name, _value(rest[1:])


def shown_of(statement: SqlText) -> str:
    """The name of `SHOW name`; `transaction isolation level` and `time zone` are several words."""
    words = [token.upper for token in statement.tokens[1:]]
    if words[:3] == ["TRANSACTION", "ISOLATION", "LEVEL"]:
        return "transaction_isolation"
    if words[:2] == ["TIME", "ZONE"]:
        return "timezone"
    return _name(list(statement.tokens[1:]))[0]


def _name(tokens: list[Token]) -> tuple[str, list[Token]]:
    if not tokens:
        raise StateError("42601", "A name is missing.")
    name = tokens[0].name
    at = 1
    while at + 1 < len(tokens) and tokens[at].text == ".":
        name += "." + tokens[at + 1].name
        at += 2
    return name, tokens[at:]


def _value(tokens: list[Token]) -> str | None:
    if len(tokens) == 1 and tokens[0].upper == "DEFAULT":
        return None
    parts = [t.text[1:-1].replace("''", "'") if t.kind == "text" else t.text for t in tokens if t.text != ","]
    commas = any(t.text == "," for t in tokens)
    return (", " if commas else "").join(parts)


def _seconds(value: str) -> float:
    found = _DURATION.fullmatch(value.strip().lower())
    if found is None or found[2] not in _UNITS:
        raise StateError("22023", f'invalid value for parameter "statement_timeout": "{value}"')
    return int(found[1]) * _UNITS[found[2]]
