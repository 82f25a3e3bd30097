"""ConsoleSettings: which cluster the console shows, where it listens, and what it allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PORT_DEFAULT = 9180
BIND_DEFAULT = "127.0.0.1"
_IDLE_S = 30 * 60


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """What `lakeward console` is told."""

    bootstrap: str
    #: Options of the client; they may say where a password is, so they are never shown.
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Properties of the lake's catalog, where tables do not say them.
    lake: Mapping[str, str] = field(default_factory=dict, repr=False)
    bind: str = BIND_DEFAULT
    port: int = PORT_DEFAULT
    #: More names under which browsers reach it.
    names: tuple[str, ...] = ()
    read_only: bool = False
    certificate_file: str | None = None
    key_file: str | None = None
    #: How long a login lasts that nobody uses.
    idle_s: float = _IDLE_S

    @property
    def encrypts(self) -> bool:
        """Whether browsers talk to it by TLS."""
        return self.certificate_file is not None
