"""ServerSettings: which server, as whom, and which tables; what every room here is told."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.capture.mysql.cells.temporal import ValueRules
from lakeward.capture.name_pattern import NamePattern
from lakeward.capture.port import TableId
from lakeward.errors import ErrorCode

#: Databases of the server itself.
SYSTEM_DATABASES = frozenset({"information_schema", "mysql", "performance_schema", "sys"})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the database is and what of it is captured."""

    hostname: str
    port: int
    username: str
    password: str = field(repr=False)
    included: tuple[NamePattern, ...] = ()
    excluded: tuple[NamePattern, ...] = ()
    #: The numbers among which one is chosen for each reader of the binlog; empty: any.
    server_ids: range = range(0)
    connect_timeout_s: float = 30.0
    read_timeout_s: float = 60.0
    ssl_mode: str = "preferred"
    ssl_files: Mapping[str, str] = field(default_factory=dict, repr=False)
    rules: ValueRules = field(default_factory=ValueRules)

    @property
    def server(self) -> str:
        """The server, for messages."""
        return f"{self.hostname}:{self.port}"

    def is_captured(self, table: TableId) -> bool:
        """Whether the settings name that table."""
        return (
            table.space.lower() not in SYSTEM_DATABASES
            and any(pattern.is_of(table) for pattern in self.included)
            and not any(pattern.is_of(table) for pattern in self.excluded)
        )

    @property
    def patterns(self) -> str:
        """The patterns, for messages."""
        return ", ".join(f"{p.space.pattern}.{p.table.pattern}" for p in self.included)


def unchecked_context() -> ssl.SSLContext:
    """TLS with whoever answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def tls_arguments(settings: ServerSettings) -> dict[str, Any]:
    """How PyMySQL is told of TLS; `preferred` is what it does by itself."""
    files = settings.ssl_files
    if settings.ssl_mode == "disabled":
        return {"ssl_disabled": True}
    if settings.ssl_mode == "preferred" and not files:
        return {}
    try:
        if settings.ssl_mode.startswith("verify"):
            context = ssl.create_default_context(cafile=files.get("ssl_ca"))
            context.check_hostname = settings.ssl_mode == "verify_identity"
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # what a server made for itself lacks extensions
        else:
            context = unchecked_context()
            if "ssl_ca" in files:
                context.load_verify_locations(files["ssl_ca"])  # not asked, and told when it is no certificate
        if "ssl_cert" in files:
            context.load_cert_chain(files["ssl_cert"], files.get("ssl_key"))
    except (OSError, ssl.SSLError) as wrong:
        names = ", ".join(files.values())
        raise ErrorCode.INVALID_CONFIG.error(
            f"The files of 'ssl.ca', 'ssl.cert', 'ssl.key' ({names}): {wrong}."
        ) from None
    return {"ssl": context}
