"""SqlServerSettings: which cluster questions are about, where they come in, and what each may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

POSTGRES_PORT = 9182
FLIGHT_PORT = 9183
HTTP_PORT = 9184
BIND_DEFAULT = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class SqlServerSettings:
    """What `lakeward sql serve` is told. A port that is None is not opened, one that is 0 is any that is free."""

    bootstrap: str
    #: Options of the client; they may say where a password is, so they are never shown.
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Properties of the lake's catalog, where tables do not say them.
    lake: Mapping[str, str] = field(default_factory=dict, repr=False)
    bind: str = BIND_DEFAULT
    postgres_port: int | None = POSTGRES_PORT
    flight_port: int | None = FLIGHT_PORT
    http_port: int | None = HTTP_PORT
    certificate_file: str | None = None
    key_file: str | None = None
    #: The data directory with the cluster's users, by which people may prove a password without sending it.
    users_from: str | None = None
    questions_max: int = 4
    memory_bytes: int = 1 << 30
    time_limit_s: float = 300.0

    @property
    def encrypts(self) -> bool:
        """Whether it can talk TLS."""
        return self.certificate_file is not None
