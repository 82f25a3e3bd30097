"""ServerSettings: which server, as whom, which tables, and by what name the server knows this stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.capture.name_pattern import NamePattern
from lakeward.capture.port import TableId

_SYSTEM_SPACES = re.compile(r"pg_.*|information_schema")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the database is and what of it is captured; made of options by PostgresSettings."""

    hostname: str
    port: int
    username: str
    password: str = field(repr=False)
    database: str
    slot: str
    publication: str
    included: tuple[NamePattern, ...] = ()
    excluded: tuple[NamePattern, ...] = ()
    publishes_all: bool = False
    connect_timeout_s: float = 30.0
    read_timeout_s: float = 60.0
    ssl_mode: str = "prefer"
    ssl_files: Mapping[str, str] = field(default_factory=dict, repr=False)
    nulls_odd: bool = False
    looks_up_unchanged: bool = True

    @property
    def server(self) -> str:
        """The server, for messages."""
        return f"{self.hostname}:{self.port}"

    @property
    def wanted_tables(self) -> str:
        """The patterns, for messages."""
        return ", ".join(f"{p.space.pattern}.{p.table.pattern}" for p in self.included)

    def is_captured(self, table: TableId) -> bool:
        """Whether the settings name that table."""
        return (
            not _SYSTEM_SPACES.fullmatch(table.space)
            and any(pattern.is_of(table) for pattern in self.included)
            and not any(pattern.is_of(table) for pattern in self.excluded)
        )
